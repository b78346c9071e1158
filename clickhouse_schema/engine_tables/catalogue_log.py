"""The catalogue in the engine: models kept, TAP_SCHEMA rewritten, rows counted per cell of the sky.

``skyhouse.catalogue`` is an append-only log of model documents; the latest of each table counts, an empty one means
that the table is gone. Of a cluster it has the map too, under no name. One INSERT is one change, so a crash leaves the
catalogue as it was before or after. TAP_SCHEMA's tables are made from it and are made anew by ``initialise``, which
heals a crash between the two.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_topology import ClusterError, Topology, read_topology
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables import append_record, user_table_record
from clickhouse_schema.healpix import ORDER
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.replicated_tables import (
    create_database,
    create_replicated_table,
    delete_rows_later,
    find_table_uuid,
)
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.shard_map import CLUSTER_NAME, LOCAL, ROWS_SUFFIX, Sharding, ShardMap, quote_table
from clickhouse_schema.table_ddl import HPX29, column_type, create_table_sql
from clickhouse_schema.tap_schema import TAP_SCHEMA, build_tap_schema

_CATALOGUE = "version UInt64, schema_name String, table_name String, document String, number UInt32"
_DENSITY = "schema_name String, table_name String, version UInt64, cell UInt32, rows UInt64, bytes UInt64"

#: Nanoseconds since 1970; after the last one even if the clock was set back.
NEXT = "greatest(toUInt64(toUnixTimestamp64Nano(now64(9))), max(version) + 1)"

#: SQL of the table whose rows one of the engine's has: itself, or the one that it is a part of on a cluster
_PART = quote_string(r"^(.+?)(__[0-9]+(_[0-9]+)?)?__local(_rows)?$|^(.+?)__0_[0-9]+$")
_TABLE_OF = f"replaceRegexpOne(name, {_PART}, {quote_string(chr(92) + '1' + chr(92) + '5')})"

#: How long a server that came later may take to get the catalogue
_REPLICA_SECONDS = 60

#: One change at a time: the tables written aside have fixed names, and one process holds a data path.
_changing = threading.Lock()

#: Ending of the names of the tables in which the next content of TAP_SCHEMA's tables is written.
_ASIDE = "__new"


def prepare_engine(engine: Engine) -> None:
    """Make what Skyhouse keeps for itself in the engine, and TAP_SCHEMA as the catalogue says.

    The first map of a cluster gives each shard as much of the sky. Raises ``ClusterError``.
    """
    topology = read_topology(engine)
    _refuse_other_topology(engine, topology)
    with _changing:
        create_database(engine, topology, "skyhouse")
        create_replicated_table(engine, topology, "skyhouse", "catalogue", _CATALOGUE, "version")
        _add_number_column(engine)
        _wait_for_replicas(engine, topology, "catalogue")
        create_replicated_table(
            engine, topology, "skyhouse", "density", _DENSITY, "(schema_name, table_name, version, cell)"
        )
        append_record.create_append_record(engine, topology)
        _wait_for_replicas(engine, topology, "appends")
        create_database(engine, topology, TAP_SCHEMA.name)
        if topology.is_cluster and read_sharding(engine) is None:
            _write_document(
                engine, "", "", Sharding(CLUSTER_NAME, ShardMap.build_uniform(topology.shards)).to_document()
            )
        create_tap_schema(engine, topology)
        write_tap_schema(engine)
        user_table_record.create_user_tables(engine, topology)


def _refuse_other_topology(engine: Engine, topology: Topology) -> None:
    """Raises ``ClusterError`` if the tables that are there were made for other servers than those there are."""
    sql = "SELECT engine FROM system.tables WHERE database = 'skyhouse' AND name = 'catalogue'"
    found = engine.fetch_table(sql).to_pylist()
    if not found:
        return
    is_of_cluster = read_sharding(engine) is not None
    if is_of_cluster and not topology.is_cluster:
        raise ClusterError(
            f"the tables are those of a cluster, but remote_servers of the ClickHouse server has no cluster"
            f" {CLUSTER_NAME}: put it there again"
        )
    is_replicated = found[0]["engine"].startswith("Replicated")
    if topology.is_cluster and (
        is_replicated == topology.is_one_server or not (is_of_cluster or _is_catalogue_empty(engine))
    ):
        raise ClusterError(
            f"the tables were made before the cluster {CLUSTER_NAME} was: load them into new servers, or take the"
            " cluster out of remote_servers"
        )


def _is_catalogue_empty(engine: Engine) -> bool:
    return not engine.fetch_table("SELECT 1 AS one FROM skyhouse.catalogue LIMIT 1").num_rows


def _wait_for_replicas(engine: Engine, topology: Topology, name: str) -> None:
    """Until the server connected to has what any other has of a table in ``skyhouse``: what is done next goes by it."""
    sql = f"SELECT max(version) AS version FROM {topology.all_servers_sql(f'skyhouse.{name}')}"
    newest = engine.fetch_table(sql).column(0)[0].as_py()
    until = time.monotonic() + _REPLICA_SECONDS
    own = f"SELECT max(version) AS version FROM skyhouse.{name}"
    while engine.fetch_table(own).column(0)[0].as_py() < newest:
        if time.monotonic() > until:
            raise ClusterError(f"the ClickHouse server does not get {name} from its replicas: see its log")
        time.sleep(0.05)


def _add_number_column(engine: Engine) -> None:
    """Catalogues of earlier versions of Skyhouse have no such column."""
    engine.execute("ALTER TABLE skyhouse.catalogue ADD COLUMN IF NOT EXISTS number UInt32")


def read_catalogue_version(engine: Engine) -> int:
    """Grows with every change of the catalogue; 0 for an empty one."""
    answer = engine.fetch_table("SELECT max(version) AS version FROM skyhouse.catalogue").to_pylist()
    return int(answer[0]["version"])


def read_catalogue(engine: Engine) -> Catalogue:
    """All schemas with their tables, TAP_SCHEMA first, then by name."""
    latest = engine.fetch_table(
        "SELECT schema_name, table_name, argMax(document, version) AS document, max(version) AS changed,"
        " argMax(number, version) AS number"
        " FROM skyhouse.catalogue GROUP BY schema_name, table_name ORDER BY schema_name, table_name"
    ).to_pylist()
    by_schema: dict[str, list[tuple[int, Schema]]] = {}
    placement = None
    for row in latest:
        if not row["schema_name"]:
            placement = Sharding.from_document(row["document"])
        elif row["document"]:
            schema = Schema.model_validate_json(row["document"])
            by_schema.setdefault(row["schema_name"], []).append((row["changed"], schema))
    schemas = (TAP_SCHEMA, *(_merge_documents(parts) for parts in by_schema.values()))
    counts, occupancy = read_row_counts(engine)
    layouts = {(schema.name, table.name): table.layout for schema in schemas for table in schema.tables}
    crowding = {
        key: rows_per_square_degree(mean, layouts[key].healpix_order)
        for key, mean in occupancy.items()
        if key in layouts and layouts[key].position
    }
    numbers = {(row["schema_name"], row["table_name"]): row["number"] for row in latest if row["number"]}
    return Catalogue(schemas, counts, crowding, placement, numbers)


def read_registered(engine: Engine, schema_name: str, table_name: str) -> tuple[int, Schema | None]:
    """The version of the catalogue's last word on a table, 0 if there is none, and its schema with this table alone."""
    [row] = engine.fetch_table(
        "SELECT max(version) AS changed, argMax(document, version) AS document FROM skyhouse.catalogue"
        f" WHERE {_is_table_sql(schema_name, table_name)}"
    ).to_pylist()
    return int(row["changed"] or 0), Schema.model_validate_json(row["document"]) if row["document"] else None


def read_sharding(engine: Engine) -> Sharding | None:
    """Where the rows of sharded tables are; None on a single server."""
    sql = "SELECT document FROM skyhouse.catalogue WHERE schema_name = '' ORDER BY version DESC LIMIT 1"
    documents = engine.fetch_table(sql).to_pylist()
    return Sharding.from_document(documents[0]["document"]) if documents else None


def write_sharding(engine: Engine, placement: Sharding) -> None:
    """From now on rows are where ``placement`` says. Its tables exist and have all the rows."""
    with _changing:
        _write_document(engine, "", "", placement.to_document())


def rows_per_square_degree(rows: float, order: int) -> float:
    """How many rows a square degree has where a cell of ``order`` has so many."""
    cells: int = 12 * 4**order
    return rows * cells / 41252.96125


def read_row_counts(engine: Engine) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], float]]:
    """Rows of each table, as its last load left them, and how many a typical row's cell has."""
    counted = engine.fetch_table(
        "SELECT schema_name, table_name, sum(counted) AS total, sum(pow(counted, 2)) / sum(counted) AS occupancy FROM"
        " (SELECT schema_name, table_name, cell, sum(rows) AS counted"
        " FROM skyhouse.density WHERE (schema_name, table_name, version) IN"
        " (SELECT schema_name, table_name, max(version) FROM skyhouse.density GROUP BY schema_name, table_name)"
        " GROUP BY schema_name, table_name, cell) GROUP BY schema_name, table_name"
    ).to_pylist()
    by_key = {(row["schema_name"], row["table_name"]): row for row in counted}
    counts = {key: int(row["total"]) for key, row in by_key.items()}
    return counts, {key: float(row["occupancy"]) for key, row in by_key.items() if row["total"]}


def _merge_documents(parts: list[tuple[int, Schema]]) -> Schema:
    """One schema of the tables' documents; what is said of the schema itself is taken from the newest one."""
    newest = max(parts, key=lambda part: part[0])[1]
    tables = [table for _, schema in parts for table in schema.tables]
    return newest.model_copy(update={"tables": tuple(tables)})


def register_table(engine: Engine, schema: Schema, table: Table, number: int | None = None) -> None:
    """Publish ``table``, whose storage exists, as part of ``schema``.

    On a cluster its storage is that of the ``number``, from now on; by default that which it has now.
    """
    document = schema.model_copy(update={"tables": (table,)}).model_dump_json(by_alias=True, exclude_defaults=True)
    _change_table(engine, schema.name, table.name, document, number)


def unregister_table(engine: Engine, schema_name: str, table_name: str) -> None:
    """Take a table out of the catalogue, before its storage goes."""
    _change_table(engine, schema_name, table_name, "")
    own = _is_table_sql(schema_name, table_name)
    delete_rows_later(engine, "skyhouse.density", own)


def _change_table(engine: Engine, schema_name: str, table_name: str, document: str, number: int | None = None) -> None:
    with _changing:
        _write_document(engine, schema_name, table_name, document, number)
        write_tap_schema(engine)


def _write_document(
    engine: Engine, schema_name: str, table_name: str, document: str, number: int | None = None
) -> None:
    values = ", ".join(quote_string(value) for value in (schema_name, table_name, document))
    kept = f"argMaxIf(number, version, {_is_table_sql(schema_name, table_name)})"
    engine.execute(
        "INSERT INTO skyhouse.catalogue (version, schema_name, table_name, document, number)"
        f" SELECT {NEXT}, {values}, {kept if number is None else number} FROM skyhouse.catalogue"
    )


def create_tap_schema(engine: Engine, topology: Topology) -> None:
    """The tables of TAP_SCHEMA, each with its double aside, made anew if this version of Skyhouse has other columns."""
    for table in TAP_SCHEMA.tables:
        for name in (table.name, table.name + _ASIDE):
            where = f"database = {quote_string(TAP_SCHEMA.name)} AND table = {quote_string(name)}"
            columns = engine.fetch_table(
                f"SELECT name, type FROM system.columns WHERE {where} ORDER BY position"
            ).to_pylist()
            if [(row["name"], row["type"]) for row in columns] != [(c.name, column_type(c)) for c in table.columns]:
                if columns:
                    engine.execute(f"DROP TABLE {_quote_tap_schema_table(name)}{topology.on_cluster} SYNC")
                uuid = find_table_uuid(engine, topology, TAP_SCHEMA.name, name)
                engine.execute(
                    create_table_sql(table, _quote_tap_schema_table(name), topology, uuid=uuid, if_missing=True)
                )


def write_tap_schema(engine: Engine) -> None:
    """Each table is written aside and its content replaced in one step: no reader sees half of it.

    Exchanging the tables themselves would leave one to drop, and a DROP waits for whoever still reads it. No table is
    ever empty, for TAP_SCHEMA describes itself.
    """
    batches = build_tap_schema(read_catalogue(engine))
    for table in TAP_SCHEMA.tables:
        live, aside = _quote_tap_schema_table(table.name), _quote_tap_schema_table(table.name + _ASIDE)
        engine.execute(f"TRUNCATE TABLE {aside}")
        engine.insert_batches(aside, [batches[table.name]])
        engine.execute(f"ALTER TABLE {live} REPLACE PARTITION tuple() FROM {aside}")


def _quote_tap_schema_table(name: str) -> str:
    return f"{quote_identifier(TAP_SCHEMA.name)}.{quote_identifier(name)}"


def read_content_stamps(engine: Engine, tables: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """What is another one as soon as one of these tables, by (schema, table), has other rows or another description.

    For each its name, its version in the catalogue, which a load changes last, and the engine's numbers of its storage,
    one of which it changes first; and the version of what was added to it, which changes before and after it.
    """
    names = ", ".join(f"({quote_string(schema)}, {quote_string(table)})" for schema, table in sorted(set(tables)))
    found = engine.fetch_table(
        "SELECT t.database AS schema, t.whole AS name, t.storage AS storage, c.version AS version, a.version AS added"
        f" FROM (SELECT database, {_TABLE_OF} AS whole, toString(groupArraySorted(9)(uuid)) AS storage"
        f" FROM system.tables WHERE (database, whole) IN ({names}) GROUP BY database, whole) AS t"
        " LEFT JOIN (SELECT schema_name, table_name, max(version) AS version"
        " FROM skyhouse.catalogue GROUP BY schema_name, table_name) AS c"
        " ON t.database = c.schema_name AND t.whole = c.table_name"
        " LEFT JOIN (SELECT schema_name, table_name, max(version) AS version"
        " FROM skyhouse.appends GROUP BY schema_name, table_name) AS a"
        " ON t.database = a.schema_name AND t.whole = a.table_name ORDER BY schema, name"
    ).to_pylist()
    return tuple(tuple(str(value) for value in row.values()) for row in found)


# --- density ----------------------------------------------------------------------------------------------------------


def update_density(engine: Engine, schema_name: str, table: Table, base: str = "") -> None:
    """Count rows and bytes of ``table`` per cell of its ``healpix_order``, in place of what was counted before."""
    _delete_old_density(engine, schema_name, table.name, count_density(engine, schema_name, table, base))


def _delete_old_density(engine: Engine, schema_name: str, table_name: str, version: int) -> None:
    """Drop the counts of a table before this version."""
    delete_rows_later(engine, "skyhouse.density", f"{_is_table_sql(schema_name, table_name)} AND version < {version}")


def count_density(engine: Engine, schema_name: str, table: Table, base: str = "") -> int:
    """Count rows and bytes per cell; the version of these counts. Rows without a position count in cell 12*4^order.

    ``base``: the table's name in ClickHouse, where that is another (``Sharding.base_name``).
    """
    base = base or table.name
    names = ", ".join(quote_string(base + part) for part in ("", LOCAL, LOCAL + ROWS_SUFFIX))
    key = f"{quote_string(schema_name)}, {quote_string(table.name)}"
    where = f"database = {quote_string(schema_name)} AND table IN ({names}) AND active"
    parts = read_topology(engine).all_servers_sql("system.parts") if table.is_sharded else "system.parts"
    row_bytes = f"(SELECT sum(bytes_on_disk) / greatest(sum(rows), 1) FROM {parts} WHERE {where})"
    cell = _cell_sql(table)
    version = _next_version(engine)
    engine.execute(
        f"INSERT INTO skyhouse.density SELECT {key}, {version}, {cell} AS cell, count() AS rows,"
        f" toUInt64(count() * {row_bytes}) AS bytes FROM {quote_table(schema_name, base)} GROUP BY cell"
    )
    return version


def _cell_sql(table: Table) -> str:
    """SQL of the cell that a row is counted in."""
    order = table.layout.healpix_order
    return f"intDiv({HPX29}, {4 ** (ORDER - order)})" if table.layout.position else str(12 * 4**order)


def read_density_stamp(engine: Engine, schema_name: str, table_name: str) -> str:
    """What is another one as soon as rows of a table are counted, or counted on top."""
    where = _is_table_sql(schema_name, table_name)
    sql = f"SELECT version, count() AS lines FROM skyhouse.density WHERE {where} GROUP BY version"
    found = engine.fetch_table(f"{sql} ORDER BY version DESC LIMIT 1").to_pylist()
    return f"{found[0]['version']} {found[0]['lines']}" if found else ""


def add_density(engine: Engine, schema_name: str, table: Table, added: str) -> None:
    """Count the rows of ``added``, SQL of rows with their ``hpx29``, on top of what is counted of ``table``.

    The newest counts get further lines: a cell may have several.
    """
    newest = (
        f"FROM skyhouse.density WHERE {_is_table_sql(schema_name, table.name)} AND version = (SELECT max(version) FROM"
    )
    newest += f" skyhouse.density WHERE {_is_table_sql(schema_name, table.name)})"
    row_bytes = f"(SELECT sum(bytes) / greatest(sum(rows), 1) {newest})"
    engine.execute(
        f"INSERT INTO skyhouse.density SELECT {quote_string(schema_name)}, {quote_string(table.name)},"
        f" (SELECT max(version) {newest}), {_cell_sql(table)} AS cell, count() AS rows,"
        f" toUInt64(count() * {row_bytes}) AS bytes FROM {added} GROUP BY cell"
    )


def _is_table_sql(schema_name: str, table_name: str) -> str:
    return f"schema_name = {quote_string(schema_name)} AND table_name = {quote_string(table_name)}"


def _next_version(engine: Engine) -> int:
    return int(engine.fetch_table(f"SELECT {NEXT} AS version FROM skyhouse.density").column(0)[0].as_py())


def read_density(engine: Engine, schema_name: str, table_name: str) -> pa.Table:
    """Columns cell (NESTED, the table's ``healpix_order``), rows, bytes of one table."""
    where = _is_table_sql(schema_name, table_name)
    newest = f"(SELECT max(version) FROM skyhouse.density WHERE {where})"
    return engine.fetch_table(
        "SELECT cell, sum(rows) AS rows, sum(bytes) AS bytes FROM"
        f" (SELECT cell, rows, bytes FROM skyhouse.density WHERE {where} AND version = {newest})"
        " GROUP BY cell ORDER BY cell"
    )
