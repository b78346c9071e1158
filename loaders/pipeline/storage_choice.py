"""Which storage a table of the catalogue has: that of one server, or that of a cluster."""

from __future__ import annotations

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.schema_model import Table
from loaders.cluster.cluster_storage import ClusterStorage
from loaders.pipeline.load_plan import split_name
from loaders.storage.load_state import TableState, read_state
from loaders.storage.server_storage import Storage
from tap_service.storage.engine.engine import Engine


def storage_of(engine: Engine, schema_name: str, table: Table, catalogue: Catalogue) -> Storage:
    """The storage of ``table``, or that which it shall have. Raises ``LoadError`` if its parent is not there."""
    if catalogue.sharding is None:
        return Storage(engine, schema_name, table.name)
    return ClusterStorage(engine, schema_name, table, catalogue)


def known_storage(engine: Engine, name: str, catalogue: Catalogue) -> Storage | None:
    """The storage of the table ``name`` (schema.table); None if a cluster's catalogue does not know it."""
    schema_name, table_name = split_name(name)
    if catalogue.sharding is None:
        return Storage(engine, schema_name, table_name)
    found = catalogue.find_tables(table_name, True, schema_name, True)
    return ClusterStorage(engine, schema_name, found[0].table, catalogue) if found else None


def live_state(engine: Engine, name: str, catalogue: Catalogue) -> TableState | None:
    """What the table ``name`` that is read was loaded from; None if there is none."""
    storage = known_storage(engine, name, catalogue)
    return None if storage is None else storage.live_state()


def begun_storage(engine: Engine, name: str) -> Storage | None:
    """The storage of a table that a cluster's catalogue does not know yet, for its first load was stopped."""
    sql = f"SELECT comment FROM system.tables WHERE startsWith(comment, {quote_string('{')})"
    for row in engine.fetch_table(sql).to_pylist():
        state = read_state(row["comment"])
        if state is not None and (state.entry.name, state.entry.tables[0].name) == split_name(name):
            return storage_of(engine, state.entry.name, state.entry.tables[0], read_catalogue(engine))
    return None
