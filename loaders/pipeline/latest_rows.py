"""The table of latest versions of a table with ``Layout.versions``, which each change of that table updates.

    keys that change -> their latest rows into a gateway -> staging table with links to the live parts
      -> rows of these keys masked -> gateway inserted -> counted, comment "verified" -> published after the table

The latest row of a key is computed from rows that include the present one, so repeating a change has no effect. A
verified staging table has the fingerprint of its table: after a kill, it is published if that table is the live table.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_registered
from clickhouse_schema.engine_tables.density_table import update_density
from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.latest_versions import (
    build_latest_table,
    find_versioned_table,
    key_sql,
    latest_rows_sql,
    sort_latest_rows_sql,
)
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.stored_nulls import list_changeable
from clickhouse_schema.table_ddl import given_columns, stored_columns
from clickhouse_schema.working_tables import CORRECTION_PREFIX
from loaders.load_error import LoadError
from loaders.pipeline.storage_choice import choose_storage
from loaders.storage.load_state import FinishedLoad, TableState
from loaders.storage.row_sums import fetch_row_sums
from loaders.storage.server_storage import ServerStagingTable
from loaders.storage.storage_protocol import TableStorage
from loaders.storage.stored_table import COPY_SETTINGS, find_nulls
from tap_service.storage.engine.engine import Engine

#: Fraction of masked rows above which the parts are rewritten without them
_MAX_MASKED = 0.25


class LatestRows:
    """The table ``latest`` in ``storage``, with the latest versions of ``table``."""

    def __init__(self, storage: TableStorage, schema: Schema, table: Table, latest: Table) -> None:
        self.storage = storage
        self._engine = storage.engine
        self._servers = Servers(storage.engine)
        self._table = table
        self._latest = latest
        self._entry = schema.model_copy(update={"tables": (latest,)})
        self._columns = ", ".join(map(quote_identifier, given_columns(latest)))
        digest = hashlib.sha256(f"{schema.name}\n{latest.name}".encode()).hexdigest()
        self._keys_table = f"skyhouse.{CORRECTION_PREFIX}{digest[:24]}_keys"

    # --- staging ------------------------------------------------------------------------------------------------------

    def is_staged(self, fingerprint: str) -> bool:
        """Whether the staging table is filled for the table with this fingerprint."""
        state = self.storage.staging.read_state()
        return state is not None and state.verified and state.fingerprint == fingerprint

    def stage_all(self, rows_sql: str, fingerprint: str) -> None:
        """Fill the staging table with the latest versions of all rows of the table, ``rows_sql``."""
        state = self._create_staging(fingerprint, onto_live=False)
        latest = latest_rows_sql(self._table, rows_sql)
        staging = self.storage.staging
        if isinstance(staging, ServerStagingTable):
            self._allow_nulls(rows_sql)
            target = f"{staging.storage_sql} ({self._columns})"
            self._engine.execute(f"INSERT INTO {target} {latest}", COPY_SETTINGS)
            reach(Failpoint.LATEST_INSERT)
        else:
            self._insert_rows(latest)
        self._mark_verified(state)

    def stage_keys(self, keys_sql: str, rows_sql: str, fingerprint: str, *, has_few_rows: bool = False) -> None:
        """Fill the staging table with links to the live parts, and replace the rows of some keys.

        Parameters
        ----------
        keys_sql : str
            The SQL of the keys. A key without a row in ``rows_sql`` is removed.
        rows_sql : str
            The SQL of the rows of the table.
        fingerprint : str
            The fingerprint of the table to which the staging table belongs.
        has_few_rows : bool, optional
            Whether sorting the rows of these keys is cheap.
        """
        find_latest = sort_latest_rows_sql if has_few_rows else latest_rows_sql
        try:
            self._write_keys(keys_sql)
            state = self._create_staging(fingerprint, onto_live=True)
            key = key_sql(self._table)
            is_changed = f"({key}) IN (SELECT {key} FROM {self._keys_table})"
            # rows are masked, not removed: 67 k of 3 M rows take 1 s instead of 3.5 s of CPU time
            self.storage.staging.change_rows(f"UPDATE _row_exists = 0 WHERE {is_changed}")
            changed_rows = f"(SELECT {self._columns} FROM {rows_sql} WHERE {is_changed})"
            self._insert_rows(find_latest(self._table, changed_rows))
            if self._has_many_masks():
                self.storage.staging.change_rows("APPLY DELETED MASK")
            self._mark_verified(state)
        except BaseException:
            self.storage.staging.drop_table()
            raise
        finally:
            self._drop_keys()

    def refresh(self, added_sql: str, fingerprint: str) -> None:
        """Update the keys of a small append, whose rows are ``added_sql``, and publish."""
        keys = f"SELECT DISTINCT {key_sql(self._table)} FROM {added_sql}"
        live = self.storage.live.rows_sql
        both = f"(SELECT {self._columns} FROM {added_sql} UNION ALL SELECT {self._columns} FROM {live})"
        self.stage_keys(keys, both, fingerprint, has_few_rows=True)
        self.publish()

    def _create_staging(self, fingerprint: str, *, onto_live: bool) -> TableState:
        state = TableState(fingerprint=fingerprint, entry=self._entry)
        staging = self.storage.staging
        staging.create_table(self._entry, self._latest, state, onto_live=onto_live, has_chunks=False)
        return state

    def _write_keys(self, keys_sql: str) -> None:
        stored = stored_columns(self._latest)
        columns = ", ".join(f"{quote_identifier(name)} {stored[name].type}" for name in self._latest.layout.id)
        self._drop_keys()
        self._servers.execute_everywhere(f"CREATE TABLE {self._keys_table} ({columns}) ENGINE = Memory")
        batches = self._engine.fetch_table(keys_sql).to_batches()
        for engine in self._servers.list_engines():
            engine.insert_batches(self._keys_table, batches)
            reach(Failpoint.LATEST_FILL_KEYS)

    def _insert_rows(self, sql: str) -> None:
        gateway = self.storage.staging.open_gateway(self._latest)
        try:
            gateway.fill_from_query(sql)
            self._allow_nulls(gateway.rows_sql)
            self.storage.staging.insert_gateway(gateway)
        finally:
            gateway.drop_tables()

    def _allow_nulls(self, rows_sql: str) -> None:
        staging = self.storage.staging
        plain = staging.find_plain_columns(self._latest).intersection(list_changeable(self._latest))
        if with_nulls := find_nulls(self._engine, rows_sql, plain):
            staging.allow_nulls(self._latest, with_nulls)

    def _has_many_masks(self) -> bool:
        storage = self.storage
        if storage.is_cluster:
            return True
        is_staging = f"database = {quote_string(storage.schema_name)} AND table = {quote_string(storage.staging.name)}"
        stored = f"(SELECT sum(rows) FROM system.parts WHERE active AND {is_staging})"
        sql = f"SELECT {stored} AS stored, count() AS rows FROM {storage.staging.rows_sql}"
        [found] = self._engine.fetch_table(sql).to_pylist()
        return bool(found["stored"] * (1 - _MAX_MASKED) > found["rows"])

    def _mark_verified(self, state: TableState) -> None:
        """Raise ``LoadError`` unless each key has one row."""
        storage = self.storage
        sql = f"SELECT count() AS __rows, uniqExact({key_sql(self._table)}) AS __keys FROM {storage.staging.rows_sql}"
        [found] = self._engine.fetch_table(sql).to_pylist()
        rows, keys = found["__rows"], found["__keys"]
        errors = [] if rows == keys else [f"{rows:,} rows of {keys:,} keys"]
        errors += storage.staging.find_problems()
        if errors:
            raise LoadError(
                f"the staging table of {storage.schema_name}.{self._latest.name} is wrong: {'; '.join(errors)}."
                " Start the same command again"
            )
        now = datetime.now(UTC).isoformat(timespec="seconds")
        done = FinishedLoad(fingerprint=state.fingerprint, files=(), rows=rows, rejected=0, finished=now)
        version, known = read_registered(self._engine, storage.schema_name, self._latest.name)
        # a description that the catalogue already has is not written again
        is_known = known is not None and known.tables == self._entry.tables
        updates = {"verified": True, "loads": (done,), "catalogue": version - is_known}
        storage.staging.mark_verified(state.model_copy(update=updates))

    # --- publishing ---------------------------------------------------------------------------------------------------

    def publish(self) -> None:
        """Make the staging table visible, after the table to which it belongs."""
        self._drop_keys()
        storage = self.storage
        if not storage.is_cluster:  # where the publication writes the density
            update_density(self._engine, storage.schema_name, self._latest, storage.staging.name)
        storage.publication.publish_staging()

    def finish_publishing(self, fingerprint: str) -> None:
        """Publish the staging table of a killed command if it belongs to the live table, and drop it otherwise."""
        if self.is_staged(fingerprint):
            self.publish()
        elif self.storage.staging.read_state() is not None:
            self._drop_keys()
            self.storage.publication.finish_publishing()

    def _drop_keys(self) -> None:
        self._servers.execute_everywhere(f"DROP TABLE IF EXISTS {self._keys_table} SYNC")

    # --- checking -----------------------------------------------------------------------------------------------------

    def find_problems(self, rows_sql: str) -> list[str]:
        """Compare the table with the latest versions of all rows, ``rows_sql``."""
        wanted, found = (
            fetch_row_sums(self._engine, self._latest, rows)
            for rows in (f"({latest_rows_sql(self._table, rows_sql)})", self.storage.live.rows_sql)
        )
        name = f"{self.storage.schema_name}.{self._latest.name}"
        if found == wanted:
            return []
        return [f"{name} has {found.rows:,} rows that differ from the {wanted.rows:,} latest versions"]


def open_latest_rows(engine: Engine, schema: Schema, table: Table) -> LatestRows | None:
    """Return the table of latest versions of a table.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    schema : Schema
        The schema of the table.
    table : Table
        A table with or without versions; the table of latest versions need not exist.

    Returns
    -------
    LatestRows or None
        None if the table has no versions.
    """
    latest = build_latest_table(table)
    if latest is None:
        return None
    return LatestRows(choose_storage(engine, schema.name, latest, read_catalogue(engine)), schema, table, latest)


def refuse_latest_table(schemas: tuple[Schema, ...], name: str) -> None:
    """Check that a table is not a table of latest versions, which only changes with the table that it is made from.

    Parameters
    ----------
    schemas : tuple of Schema
        The schemas of the catalogue.
    name : str
        ``schema.table``.

    Raises
    ------
    LoadError
        It is a table of latest versions.
    """
    schema_name, _, table_name = name.partition(".")
    versioned = find_versioned_table(schemas, schema_name, table_name)
    if versioned is not None:
        raise LoadError(
            f"{name} has the latest versions of {schema_name}.{versioned.name}, which it follows: change that table "
            "instead"
        )
