"""``skyhouse rebuild``: rewrites a table in the layout of this version (codecs, granules, NULLs, few parts).

    T__loading, comment "rebuild" -> INSERT SELECT of all rows in the order of the table -> hashes checked
      -> comment "verified" -> EXCHANGE with T -> density, catalogue -> DROP of the old T

Queries read the old table until the EXCHANGE. A killed rebuild has changed nothing, and starts from the beginning.
"""

from __future__ import annotations

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_registered
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Table
from clickhouse_schema.stored_nulls import list_changeable
from clickhouse_schema.table_ddl import given_columns, sort_key_sql
from loaders.load_error import LoadError
from loaders.pipeline.append_rows import TableAppends
from loaders.pipeline.load_checks import refuse_attached
from loaders.pipeline.storage_choice import find_known_storage
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import TableState
from loaders.storage.row_sums import fetch_row_sums
from loaders.storage.server_storage import ServerStagingTable
from loaders.storage.storage_protocol import TableStorage
from loaders.storage.stored_table import CHUNK_COLUMN, COPY_SETTINGS, find_nulls
from tap_service.storage.engine.engine import Engine


def rebuild_table(engine: Engine, name: str, reporter: Reporter) -> None:
    """Rewrite a table in the layout of this version.

    Parameters
    ----------
    engine : Engine
        The engine, which is not a cluster.
    name : str
        ``schema.table``.
    reporter : Reporter
        Receives the number of rows.

    Raises
    ------
    LoadError
        The table cannot be rebuilt, and has not changed.
    """
    catalogue = read_catalogue(engine)
    refuse_attached(catalogue, name)
    storage = find_known_storage(engine, name, catalogue)
    live = None if storage is None else storage.live.read_state()
    if storage is None or live is None:
        raise LoadError(f"there is no loaded table {name}; see skyhouse tables")
    if not isinstance(storage.staging, ServerStagingTable):
        raise LoadError(
            f"{name} is on a cluster: load it again with --replace, or move its shards, to rebuild it there"
        )
    appends = TableAppends(storage, live)
    if (unfinished := appends.read_unfinished()) is not None:
        raise LoadError(
            f"the append of {', '.join(unfinished.load.files)} was stopped: any load into {name} finishes it"
        )
    table = live.entry.tables[0]
    sums = fetch_row_sums(engine, table, storage.live.rows_sql)
    _copy_rows(storage, storage.staging, live, table)
    reporter.check()
    copied = fetch_row_sums(engine, table, storage.staging.storage_sql)
    if not sums == copied == fetch_row_sums(engine, table, storage.live.rows_sql):
        storage.staging.drop_table()
        raise LoadError(
            f"{name} was changed while it was rebuilt, so the old table stays: start the same rebuild again"
        )
    version, _ = read_registered(engine, storage.schema_name, storage.table_name)
    storage.staging.mark_verified(live.model_copy(update={"verified": True, "catalogue": version}))
    storage.publication.publish_staging()
    reporter.output(f"rebuilt {name}: {sums.rows:,} rows")


def _copy_rows(storage: TableStorage, staging: ServerStagingTable, live: TableState, table: Table) -> None:
    state = live.model_copy(update={"fingerprint": "rebuild", "verified": False})
    staging.create_table(live.entry, table, state, onto_live=False)
    if with_nulls := find_nulls(storage.engine, storage.live.rows_sql, list_changeable(table)):
        staging.allow_nulls(table, with_nulls)
    columns = ", ".join(quote_identifier(name) for name in given_columns(table))
    # rows come in the order of the table, so each inserted block becomes a part with a separate range
    storage.engine.execute(
        f"INSERT INTO {staging.storage_sql} ({columns}, {CHUNK_COLUMN})"
        f" SELECT {columns}, 1 FROM {storage.live.rows_sql} ORDER BY {sort_key_sql(table)}",
        COPY_SETTINGS,
    )
