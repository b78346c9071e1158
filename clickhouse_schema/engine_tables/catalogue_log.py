"""The catalogue in the engine: ``skyhouse.catalogue``, an append-only log of model documents.

The latest document of each table is valid; an empty one means that the table has been dropped. Rows without a schema
concern all tables: the sharding of a cluster, whether its shards are being moved, which groups of users see which
tables, and which changes of their tables kept matches still have to follow.
One INSERT is one change, so a crash leaves the catalogue as it was before or after the change; without a Keeper each
server gets that INSERT (``whole_table_repair``).
The files of an attached table are in the row of its document (``attachment``, '' for stored tables).
TAP_SCHEMA is rewritten after each change; if the process crashes in between, ``engine_setup.prepare_engine`` does it.

The documents have a version, ``FORMAT``, which is also in a row without a schema. A new version adds documents and
keeps the old ones, so the log contains the earlier catalogue too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable

import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_topology import Statement
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.density_table import delete_density, read_row_counts, rows_per_square_degree
from clickhouse_schema.engine_tables.match_record import MatchRecord, format_records, parse_records
from clickhouse_schema.engine_tables.tap_schema_tables import write_tap_schema
from clickhouse_schema.engine_tables.version_sql import TABLE_LOGS, fetch_next_version, is_table_sql
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.hats.attachment import Attachment
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import CLUSTER_NAME, Sharding, ShardMap
from clickhouse_schema.tap_schema import TAP_SCHEMA
from clickhouse_schema.whole_tables import create_whole_table

_COLUMNS = "version UInt64, schema_name String, table_name String, document String, number UInt32, attachment String"

#: SQL of the logical table to which a table in the engine belongs: itself, or on a cluster the table whose part it is
_PART_PATTERN = quote_string(r"^(.+?)(__[0-9]+(_[0-9]+)?)?__local$|^(.+?)__0_[0-9]+$")
_LOGICAL_TABLE_SQL = f"replaceRegexpOne(name, {_PART_PATTERN}, {quote_string(chr(92) + '1' + chr(92) + '4')})"

#: Name, without a schema, of the row that announces another sharding
_MOVE = "move"

#: Name, without a schema, of the row with the grants
_GRANTS = "grants"

#: Name, without a schema, of the row with the records of kept matches
_MATCHES = "matches"

#: The version of the documents, and the name of its row. Catalogues of Skyhouse 0.1.0 have no such row.
FORMAT = 1
_FORMAT = "format"


class LaterCatalogue(Exception):
    """The catalogue was written by a later version of Skyhouse; the message says what to do."""


#: One change at a time: TAP_SCHEMA is prepared in tables with fixed names. Only one process uses a data directory.
catalogue_lock = threading.Lock()


def create_catalogue_log(servers: Servers[Engine]) -> None:
    create_whole_table(servers, "skyhouse", "catalogue", _COLUMNS, "version")
    # catalogues of earlier versions of Skyhouse lack these columns
    added = "ADD COLUMN IF NOT EXISTS number UInt32, ADD COLUMN IF NOT EXISTS attachment String CODEC(ZSTD(3))"
    add = f"ALTER TABLE skyhouse.catalogue {added}"
    servers.execute_statement(Statement(add, servers.topology.choose_rows_target(is_sharded=False)))


def upgrade_catalogue(engine: Engine) -> None:
    """Upgrade the documents to ``FORMAT``. The caller holds ``catalogue_lock``.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.

    Raises
    ------
    LaterCatalogue
        A later version of Skyhouse has written the documents.
    """
    found = int(_read_cluster_document(engine, _FORMAT) or 0)
    if found > FORMAT:
        raise LaterCatalogue(
            f"the catalogue was written by a later version of Skyhouse (its version is {found}, this one knows"
            f" {FORMAT}): install that version, or restore a backup made by this one"
        )
    if found < FORMAT:
        _write_document(engine, "", _FORMAT, str(FORMAT))


# --- reading ----------------------------------------------------------------------------------------------------------


def read_catalogue_version(engine: Engine) -> int:
    """Return a number that grows with every change of the catalogue; 0 for an empty one."""
    answer = engine.fetch_table("SELECT max(version) AS version FROM skyhouse.catalogue").to_pylist()
    return int(answer[0]["version"])


def read_catalogue(engine: Engine) -> Catalogue:
    """Read all schemas with their tables.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.

    Returns
    -------
    Catalogue
        TAP_SCHEMA comes first, then the other schemas by name. Row counts and densities are from the last load of each
        table.
    """
    latest = engine.fetch_table(
        "SELECT schema_name, table_name, argMax(document, version) AS document, max(version) AS changed,"
        " argMax(number, version) AS number, argMax(attachment, version) AS attachment"
        " FROM skyhouse.catalogue GROUP BY schema_name, table_name ORDER BY schema_name, table_name"
    ).to_pylist()
    documents: dict[str, list[tuple[int, Schema]]] = {}
    sharding, grants, matches = None, {}, {}
    for row in latest:
        if (row["schema_name"], row["table_name"]) == ("", _GRANTS):
            grants = _parse_grants(row["document"])
        elif (row["schema_name"], row["table_name"]) == ("", _MATCHES):
            matches = parse_records(row["document"])
        elif not row["schema_name"]:
            sharding = sharding if row["table_name"] else Sharding.from_document(row["document"])
        elif row["document"]:
            schema = Schema.model_validate_json(row["document"])
            documents.setdefault(row["schema_name"], []).append((row["changed"], schema))
    schemas = (TAP_SCHEMA, *(_merge_documents(versions) for versions in documents.values()))
    counts, occupancy = read_row_counts(engine)
    numbers = {(row["schema_name"], row["table_name"]): row["number"] for row in latest if row["number"]}
    attachments = {
        (row["schema_name"], row["table_name"]): Attachment.from_document(row["attachment"])
        for row in latest
        if row["attachment"]
    }
    densities = _find_local_densities(schemas, occupancy)
    current = frozenset(name for name, record in matches.items() if record.is_current)
    return Catalogue(schemas, counts, densities, sharding, numbers, grants, attachments, current)


def _parse_grants(document: str) -> dict[str, frozenset[str]]:
    found = json.loads(document) if document else {}
    return {target: frozenset(groups) for target, groups in found.items()}


def _merge_documents(versions: list[tuple[int, Schema]]) -> Schema:
    """Merge the documents of the tables of one schema; the newest document describes the schema itself.

    The examples of all documents are kept, because the tables may come from several files; the newest example of a
    name wins.
    """
    by_age = [schema for _, schema in sorted(versions, key=lambda version: version[0])]
    tables = tuple(table for _, schema in versions for table in schema.tables)
    examples = {example.name: example for schema in by_age for example in schema.examples}
    return by_age[-1].model_copy(update={"tables": tables, "examples": tuple(examples.values())})


def _find_local_densities(
    schemas: tuple[Schema, ...], occupancy: dict[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    layouts = {(schema.name, table.name): table.layout for schema in schemas for table in schema.tables}
    return {
        key: rows_per_square_degree(rows, layouts[key].healpix_order)
        for key, rows in occupancy.items()
        if key in layouts and layouts[key].position
    }


def read_registered(engine: Engine, schema_name: str, table_name: str) -> tuple[int, Schema | None]:
    """Return the latest document of one table.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names.

    Returns
    -------
    tuple of (int, Schema or None)
        Version of the document, 0 if there has never been one; and the schema with only this table, None if it has been
        removed.
    """
    [row] = engine.fetch_table(
        "SELECT max(version) AS changed, argMax(document, version) AS document FROM skyhouse.catalogue"
        f" WHERE {is_table_sql(schema_name, table_name)}"
    ).to_pylist()
    return int(row["changed"] or 0), Schema.model_validate_json(row["document"]) if row["document"] else None


def read_sharding(engine: Engine) -> Sharding | None:
    """Return how sharded tables are distributed; None on a single server."""
    document = _read_cluster_document(engine, "")
    return Sharding.from_document(document) if document else None


def is_move_announced(engine: Engine) -> bool:
    """Whether the shard map is about to change: nothing may be published with the current one."""
    return bool(_read_cluster_document(engine, _MOVE))


def read_table_version(engine: Engine) -> int:
    """Return a number that grows with every change of a table or of the sharding."""
    others = ", ".join(map(quote_string, (_MOVE, _GRANTS, _MATCHES)))
    where = f"NOT (schema_name = '' AND table_name IN ({others}))"
    found = engine.fetch_table(f"SELECT max(version) AS version FROM skyhouse.catalogue WHERE {where}")
    return int(found.column(0)[0].as_py())


def _read_cluster_document(engine: Engine, name: str) -> str:
    """Return a document about the cluster; '' if there is none."""
    where = is_table_sql("", name)
    documents = engine.fetch_table(
        f"SELECT document FROM skyhouse.catalogue WHERE {where} ORDER BY version DESC LIMIT 1"
    ).to_pylist()
    return str(documents[0]["document"]) if documents else ""


def read_grants(engine: Engine) -> dict[str, frozenset[str]]:
    """Return the groups that see what is not public, by schema or schema.table in lower case."""
    return _parse_grants(_read_cluster_document(engine, _GRANTS))


def read_match_records(engine: Engine) -> dict[str, MatchRecord]:
    """Return the records of kept matches by schema.table; a match without a record must be recomputed."""
    return parse_records(_read_cluster_document(engine, _MATCHES))


def read_content_stamps(engine: Engine, tables: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Return texts that change whenever the rows or the description of a table change.

    UUIDs stand for the storage on one server. On a cluster each server has different UUIDs, so the names of the storage
    stand for it, which differ for each load. The storage of an attached table is its files.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    tables : iterable of tuple of str
        Schema and table of each table.

    Returns
    -------
    tuple of tuple of str
        For each table: its schema and name, its storage, which a load changes first, its version in the catalogue,
        which a load changes last, and the version of its appends, which changes before and after each append.
    """
    names = ", ".join(f"({quote_string(schema)}, {quote_string(table)})" for schema, table in sorted(set(tables)))
    is_cluster = f"(SELECT count() FROM system.clusters WHERE cluster = {quote_string(CLUSTER_NAME)}) > 0"
    stored = f"if({is_cluster}, name, toString(uuid))"
    attached = (
        "SELECT schema_name AS database, table_name AS whole,"
        " toString(cityHash64(argMax(attachment, version))) AS storage"
        f" FROM skyhouse.catalogue WHERE (schema_name, table_name) IN ({names}) GROUP BY schema_name, table_name"
        " HAVING argMax(attachment, version) != ''"
    )
    found = engine.fetch_table(
        "SELECT t.database AS schema, t.whole AS name, t.storage AS storage, c.version AS version, a.version AS added"
        f" FROM (SELECT database, {_LOGICAL_TABLE_SQL} AS whole, toString(groupArraySorted(9)({stored})) AS storage"
        f" FROM system.tables WHERE (database, whole) IN ({names}) GROUP BY database, whole UNION ALL {attached}) AS t"
        " LEFT JOIN (SELECT schema_name, table_name, max(version) AS version"
        " FROM skyhouse.catalogue GROUP BY schema_name, table_name) AS c"
        " ON t.database = c.schema_name AND t.whole = c.table_name"
        " LEFT JOIN (SELECT schema_name, table_name, max(version) AS version"
        " FROM skyhouse.appends GROUP BY schema_name, table_name) AS a"
        " ON t.database = a.schema_name AND t.whole = a.table_name ORDER BY schema, name"
    ).to_pylist()
    return tuple(tuple(str(value) for value in row.values()) for row in found)


# --- changes ----------------------------------------------------------------------------------------------------------


def register_table(
    engine: Engine, schema: Schema, table: Table, number: int | None = None, attachment: Attachment | None = None
) -> None:
    """Publish a table, whose storage exists or which is attached.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema : Schema
        The schema of the table.
    table : Table
        The table.
    number : int, optional
        New number of its storage on a cluster. By default the number stays the same.
    attachment : Attachment, optional
        New files of an attached table. By default they stay the same.
    """
    document = schema.model_copy(update={"tables": (table,)}).model_dump_json(by_alias=True, exclude_defaults=True)
    files = None if attachment is None else attachment.to_document()
    _change_table(engine, schema.name, table.name, document, number, files)


def unregister_table(engine: Engine, schema_name: str, table_name: str) -> None:
    """Remove a table from the catalogue, before its storage is dropped.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names. Nothing else happens if there is no such table.
    """
    _change_table(engine, schema_name, table_name, "", attachment="")
    delete_density(engine, schema_name, table_name)


def write_sharding(engine: Engine, sharding: Sharding) -> None:
    """Publish a new sharding, whose tables exist and have all rows."""
    with catalogue_lock:
        _write_document(engine, "", "", sharding.to_document())


def announce_move(engine: Engine, is_ahead: bool) -> None:
    """Announce that the sharding is about to change, or has changed. Loads that end in between publish nothing."""
    with catalogue_lock:
        _write_document(engine, "", _MOVE, "announced" if is_ahead else "")


def write_grants(engine: Engine, change: Callable[[dict[str, frozenset[str]]], None]) -> None:
    """Change the grants and publish them. TAP_SCHEMA stays the same: it is restricted when it is read.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    change : callable
        Changes the groups by target (``visible_tables.Grants``) in place, while ``catalogue_lock`` is held. If it
        raises an exception, nothing is published.
    """
    with catalogue_lock:
        grants = read_grants(engine)
        change(grants)
        document = json.dumps({target: sorted(groups) for target, groups in sorted(grants.items())})
        _write_document(engine, "", _GRANTS, document)


def write_match_records(engine: Engine, change: Callable[[dict[str, MatchRecord]], None]) -> None:
    """Change the records of kept matches, and publish them if they differ.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    change : callable
        Changes the records by ``schema.table`` in place, while ``catalogue_lock`` is held. If it raises an exception,
        nothing is published.
    """
    with catalogue_lock:
        before = _read_cluster_document(engine, _MATCHES)
        records = parse_records(before)
        change(records)
        if (document := format_records(records)) != before:
            _write_document(engine, "", _MATCHES, document)


def write_first_sharding(engine: Engine, shard_count: int) -> None:
    """Give each shard the same share of the sky. The caller holds ``catalogue_lock``."""
    sharding = Sharding(CLUSTER_NAME, ShardMap.build_uniform(shard_count))
    _write_document(engine, "", "", sharding.to_document())


def _change_table(
    engine: Engine,
    schema_name: str,
    table_name: str,
    document: str,
    number: int | None = None,
    attachment: str | None = None,
) -> None:
    with catalogue_lock:
        _write_document(engine, schema_name, table_name, document, number, attachment)
        write_tap_schema(engine, read_catalogue(engine))


def _write_document(
    engine: Engine,
    schema_name: str,
    table_name: str,
    document: str,
    number: int | None = None,
    attachment: str | None = None,
) -> None:
    """Write the next row of a table; what is None stays as it is."""
    if number is None or attachment is None:
        latest = "SELECT argMax(number, version) AS number, argMax(attachment, version) AS attachment"
        is_table = is_table_sql(schema_name, table_name)
        [kept] = engine.fetch_table(f"{latest} FROM skyhouse.catalogue WHERE {is_table}").to_pylist()
        number = int(kept["number"]) if number is None else number
        attachment = str(kept["attachment"]) if attachment is None else attachment
    row = {
        "version": pa.array([fetch_next_version(engine, *TABLE_LOGS)], pa.uint64()),
        "schema_name": [schema_name],
        "table_name": [table_name],
        "document": [document],
        "number": pa.array([number], pa.uint32()),
        "attachment": [attachment],
    }
    Servers(engine).insert_batches("skyhouse.catalogue", [pa.record_batch(row)], point=Failpoint.CATALOGUE_WRITE)
