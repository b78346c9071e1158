"""Storage of user tables in the engine. A change becomes visible in one step, or not at all.

Rows are inserted into a staging table, which is renamed when it is complete. Changes become visible one after another,
each by a single write: see ``clickhouse_schema.engine_tables.user_table_record``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext

import numpy as np
import pyarrow as pa

from clickhouse_schema.engine_tables import density_table, user_table_record, visible_user_tables
from clickhouse_schema.engine_tables.user_table_record import (
    DATABASE,
    LIVE_PREFIX,
    STAGING_PREFIX,
    Reader,
    UserTable,
    new_name,
    quote_storage,
)
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Table
from clickhouse_schema.table_ddl import create_table_sql, given_columns
from tap_service.config import Config
from tap_service.models.timestamps import now
from tap_service.service_errors import Conflict, Forbidden, InvalidQueryError, NotFound
from tap_service.storage.engine.engine import Engine
from tap_service.storage.engine.memory_settings import choose_memory_settings
from tap_service.storage.engine.query_tables import group_batches
from tap_service.storage.jobs.redis_lock import hold_cluster_lock

#: the lock of this process; a lock in Redis excludes the other processes of a cluster
_change_lock = threading.Lock()

#: maximum number of parts of a table before it is merged explicitly
_MAX_PARTS = 20


class TableChanged(Exception):
    """The table has changed since the start of a change; ``now`` is its present state."""

    def __init__(self, present: UserTable) -> None:
        super().__init__(present.qualified_name)
        self.now = present


class UserTableStorage:
    """The stored user tables. Safe for threads and processes.

    Methods raise EngineError, and JobStoreUnavailable if Redis cannot grant the lock.
    """

    def __init__(self, config: Config, engine: Engine) -> None:
        self._engine = engine
        self._redis_url = config.redis_url
        self._max_tables = config.user_tables
        self._max_bytes = config.user_table_bytes
        self._settings = choose_memory_settings(config.query_memory)

    def get_table(self, owner: str, name: str) -> UserTable:
        """Return the record of a user's table; ``name`` is without its schema. Raises NotFound."""
        found = user_table_record.find_user_table(self._engine, owner, name)
        if found is None:
            raise NotFound(f"you have no table {user_table_record.SCHEMA_NAME}.{name}; /tap/mydb lists yours")
        return found

    # --- staging tables

    @contextmanager
    def staging_table(self, table: Table, neighbour: str = "") -> Iterator[str]:
        """Create a staging table, and drop it at the end of the context unless it was published.

        Parameters
        ----------
        table : Table
            The definition of the table.
        neighbour : str
            A stored table on the same server, '' for any server.

        Yields
        ------
        str
            The name of the staging table.
        """
        name = new_name(STAGING_PREFIX)
        try:
            self._create_table(table, name, neighbour)
            yield name
        finally:
            user_table_record.drop_storage(self._engine, name)

    def insert_batches(self, owner: str, name: str, batches: Iterable[pa.RecordBatch], replaced: str = "") -> None:
        """Insert rows into a staging table.

        Parameters
        ----------
        owner : str
            The user whose quota counts.
        name : str
            The staging table.
        batches : Iterable of RecordBatch
            The rows.
        replaced : str
            A stored table that will be replaced, whose bytes do not count; '' for none.

        Raises
        ------
        Forbidden
            The rows exceed the quota.
        """
        room = self._free_bytes(owner, replaced)
        for block in group_batches(batches):
            self._engine.insert_batches(quote_storage(name), block)
            if self._table_size(name)[1] > room:
                raise self._quota_error(room)

    def copy_rows(self, source: UserTable, table: Table, name: str, query_id: str) -> None:
        """Copy the rows of a table into a staging table with another layout.

        Parameters
        ----------
        source : UserTable
            The table.
        table : Table
            The definition of the staging table.
        name : str
            The staging table.
        query_id : str
            The engine's id of the query.
        """
        columns = ", ".join(quote_identifier(column) for column in given_columns(table))
        rows = f"SELECT {columns} FROM {quote_storage(source.storage)}"
        self._engine.execute(f"INSERT INTO {quote_storage(name)} ({columns}) {rows}", self._settings, query_id=query_id)

    def count_invalid_positions(self, source: UserTable, position: tuple[str, str]) -> int:
        """Count the rows with a position that is out of range. Rows with NULL or NaN do not count.

        Parameters
        ----------
        source : UserTable
            The table.
        position : tuple of str
            The columns with longitude and latitude, in degrees.
        """
        longitude, latitude = (quote_identifier(name) for name in position)
        outside = f"{longitude} NOT BETWEEN 0 AND 360 OR {latitude} NOT BETWEEN -90 AND 90"
        not_nan = f"NOT isNaN(toFloat64({longitude})) AND NOT isNaN(toFloat64({latitude}))"
        where = f"({outside}) AND {not_nan}"
        answer = self._engine.fetch_table(f"SELECT count() AS n FROM {quote_storage(source.storage)} WHERE {where}")
        return int(answer["n"][0].as_py())

    # --- visible changes

    def publish_table(self, owner: str, table: Table, filled: str, *, replace: bool, origin: str = "") -> UserTable:
        """Publish a staging table as a new table without readers.

        Parameters
        ----------
        owner : str
            The user.
        table : Table
            The definition of the table.
        filled : str
            The staging table.
        replace : bool
            Whether to replace an existing table with this name.
        origin : str
            The job that creates the table; a table that this job has already published stays.

        Raises
        ------
        Conflict
            The user has a table with this name.
        Forbidden
            The user's tables would exceed a quota.
        InvalidQueryError
            The values of a unique index are not unique.
        """
        with self.change_lock():
            present = user_table_record.find_user_table(self._engine, owner, table.name)
            if present is not None and origin and present.origin == origin:
                return present
            if present is not None and not replace:
                raise table_exists_error(present)
            if present is None:
                self.check_count(owner)
            return self._put_record(owner, table, self._rename_staging_table(filled), replaced=present, origin=origin)

    def append_rows(
        self, base: UserTable, filled: str, token: str = "", can_recur: Callable[[str], bool] = bool
    ) -> UserTable:
        """Add the rows of a staging table to a table.

        Parameters
        ----------
        base : UserTable
            The table as the rows were read for it.
        filled : str
            The staging table.
        token : str
            The identity of the rows, '' for none. The record of the table stores it in the same step as the rows, so
            the rows of a token are added once.
        can_recur : Callable[[str], bool]
            Returns whether rows with an earlier token may be added again; other tokens are dropped from the record.

        Raises
        ------
        TableChanged, NotFound
            The definition of the table has changed, or the table was removed.
        Forbidden
            The rows exceed the quota.
        """
        with self.change_lock():
            present = self.get_table(base.owner, base.table.name)
            if token and token in present.appended:
                return present
            if present.table != base.table:
                raise TableChanged(present)
            both = new_name(LIVE_PREFIX)
            self._create_table(base.table, both, neighbour=present.storage)
            with self._dropped_on_failure(both):
                for part in (present.storage, filled):
                    self._engine.execute(
                        f"ALTER TABLE {quote_storage(both)} ATTACH PARTITION tuple() FROM {quote_storage(part)}"
                    )
                if self._count_parts(both) > _MAX_PARTS:  # ClickHouse may not have merged the parts of many small loads
                    self._engine.execute(f"OPTIMIZE TABLE {quote_storage(both)}")
            appended = (*filter(can_recur, present.appended), token) if token else present.appended
            return self._put_record(
                base.owner, base.table, both, replaced=present, readers=present.readers, appended=appended
            )

    def exchange_rows(self, base: UserTable, table: Table, filled: str) -> UserTable:
        """Replace the rows of a table; readers and additions of the table stay.

        Parameters
        ----------
        base : UserTable
            The table as it was when the new rows were made.
        table : Table
            The new definition.
        filled : str
            The staging table with the new rows.

        Raises
        ------
        TableChanged, NotFound
            The rows or the definition have changed, or the table was removed.
        Forbidden
            The new rows exceed the quota.
        """
        with self.change_lock():
            present = self.get_table(base.owner, base.table.name)
            if present.storage != base.storage:
                raise TableChanged(present)
            live = self._rename_staging_table(filled)
            return self._put_record(
                base.owner, table, live, replaced=present, readers=present.readers, appended=present.appended
            )

    def exchange_description(self, base: UserTable, table: Table) -> UserTable:
        """Replace the definition of ``base`` by ``table``; its rows stay. Raises TableChanged and NotFound."""
        with self.change_lock():
            present = self.get_table(base.owner, base.table.name)
            if present.table != base.table:
                raise TableChanged(present)
            ids = {"described": new_name(), "shared": new_name() if present.readers else ""}
            record = present.model_copy(update={"table": table, "changed": now(), **ids})
            user_table_record.write_descriptions(self._engine, record.descriptions)
            user_table_record.write_user_table(self._engine, record)
            return record

    def remove_table(self, owner: str, name: str) -> None:
        """Remove a table; queries that are reading it finish. Raises NotFound."""
        with self.change_lock():
            present = self.get_table(owner, name)
            user_table_record.remove_user_table(self._engine, owner, present.table.name)

    def change_readers(self, owner: str, name: str, change: Callable[[set[Reader]], None]) -> UserTable:
        """Change the readers of a table.

        Parameters
        ----------
        owner, name : str
            The user, and the table without its schema.
        change : Callable[[set of Reader], None]
            Changes the set of readers in place; its errors are raised.

        Returns
        -------
        UserTable
            The new record of the table.

        Raises
        ------
        NotFound
            The user has no such table.
        """
        with self.change_lock():
            present = self.get_table(owner, name)
            readers = set(present.readers)
            change(readers)
            if readers == set(present.readers):
                return present
            listed = tuple(sorted(readers, key=lambda reader: (reader.kind, reader.name)))
            shared = (present.shared or new_name()) if readers else ""
            record = present.model_copy(update={"readers": listed, "shared": shared})
            if shared != present.shared and shared:
                user_table_record.write_descriptions(self._engine, {shared: record.shared_entry})
            visible_user_tables.write_readers(self._engine, record)
            user_table_record.write_user_table(self._engine, record)
            return record

    def check_count(self, owner: str) -> None:
        """Raise Forbidden if a user has the maximum number of tables."""
        count = len(user_table_record.read_user_tables(self._engine, owner))
        if count >= self._max_tables:
            raise Forbidden(
                f"you have {count} tables, and the maximum is {self._max_tables}: remove a table that you do not need"
            )

    # --- parts of these changes

    @contextmanager
    def change_lock(self) -> Iterator[None]:
        """Hold the lock that each change of visible tables needs."""
        with _change_lock, hold_cluster_lock(self._redis_url, "user-tables") if self._redis_url else nullcontext():
            yield

    @contextmanager
    def _dropped_on_failure(self, name: str) -> Iterator[None]:
        try:
            yield
        except BaseException:
            user_table_record.drop_storage(self._engine, name)
            raise

    def _create_table(self, table: Table, name: str, neighbour: str) -> None:
        """Create a table; with several servers, on the server of the stored table ``neighbour``, named in a comment."""
        comment = f" /* next to {quote_storage(neighbour)} */" if neighbour else ""
        self._engine.execute(create_table_sql(table, quote_storage(name)) + comment)

    def _rename_staging_table(self, filled: str) -> str:
        live = new_name(LIVE_PREFIX)
        self._engine.execute(f"RENAME TABLE {quote_storage(filled)} TO {quote_storage(live)}")
        return live

    def _put_record(
        self,
        owner: str,
        table: Table,
        live: str,
        *,
        replaced: UserTable | None,
        origin: str = "",
        readers: tuple[Reader, ...] = (),
        appended: tuple[str, ...] = (),
    ) -> UserTable:
        """Publish the storage ``live`` as a table; drop it if it violates the quota or a unique index."""
        with self._dropped_on_failure(live):
            rows, size = self._table_size(live)
            room = self._free_bytes(owner, replaced.storage if replaced else "")
            if size > room:
                raise self._quota_error(room)
            self._check_unique(table, live)
            same = replaced is not None and replaced.table == table
            record = UserTable(
                owner=owner,
                table=table,
                storage=live,
                described=replaced.described if replaced and same else new_name(),
                rows=rows,
                size=size,
                crowding=self._count_density(table, live, rows),
                created=replaced.created if replaced else now(),
                changed=now(),
                origin=origin,
                readers=readers,
                shared=(replaced.shared if replaced and same else new_name()) if readers else "",
                appended=appended,
            )
            if not same:
                user_table_record.write_descriptions(self._engine, record.descriptions)
            user_table_record.write_user_table(self._engine, record)
            return record

    def _count_density(self, table: Table, live: str, rows: int) -> float | None:
        """Fill the density table; return the rows per square degree around a typical row, None without a position."""
        named = table.model_copy(update={"name": live})
        density_table.count_density(self._engine, DATABASE, named)
        if not table.layout.position or not rows:
            return None
        counts = density_table.read_density(self._engine, DATABASE, live)["rows"].to_numpy().astype(np.float64)
        return density_table.rows_per_square_degree(float((counts**2).sum() / counts.sum()), table.layout.healpix_order)

    def _check_unique(self, table: Table, live: str) -> None:
        if not table.primary_key:
            return
        names = ", ".join(quote_identifier(name) for name in table.primary_key)
        counts = f"count() AS n, uniqExact({names}) AS different"
        answer = self._engine.fetch_table(f"SELECT {counts} FROM {quote_storage(live)}", self._settings)
        rows, different = answer["n"][0].as_py(), answer["different"][0].as_py()
        if rows != different:
            shown = ", ".join(table.primary_key)
            raise InvalidQueryError(
                f"{shown} would not be unique: {rows} rows would have {different} values, not counting NULL. "
                "Load other rows, or create an index that is not unique"
            )

    def _free_bytes(self, owner: str, replaced: str) -> int:
        """Return the bytes that are left of the user's quota after the storage ``replaced`` is dropped."""
        kept = (
            record.size
            for record in user_table_record.read_user_tables(self._engine, owner)
            if record.storage != replaced
        )
        return self._max_bytes - sum(kept)

    def _quota_error(self, room: int) -> Forbidden:
        return Forbidden(
            f"the table would take more than the {max(room, 0)} bytes that are left of your quota of "
            f"{self._max_bytes}: remove tables that you no longer need, or load fewer rows"
        )

    def _count_parts(self, name: str) -> int:
        where = f"database = {quote_string(DATABASE)} AND table = {quote_string(name)} AND active"
        return int(self._engine.fetch_table(f"SELECT count() AS n FROM system.parts WHERE {where}")["n"][0].as_py())

    def _table_size(self, name: str) -> tuple[int, int]:
        """Return the number of rows, and the bytes on disk."""
        where = f"database = {quote_string(DATABASE)} AND table = {quote_string(name)} AND active"
        found = self._engine.fetch_table(
            f"SELECT sum(rows) AS n, sum(bytes_on_disk) AS size FROM system.parts WHERE {where}"
        )
        return int(found["n"][0].as_py()), int(found["size"][0].as_py())


def table_exists_error(present: UserTable) -> Conflict:
    """Return the error of a request to create a table whose name is taken."""
    return Conflict(
        f"you already have a table {present.qualified_name}: remove it first, choose another name, or set replace=true"
    )
