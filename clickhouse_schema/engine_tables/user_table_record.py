"""The record of user tables in the engine: which tables exist, their owners, and the storage of their rows.

Each user has a schema ``mydb`` that nobody else sees. ``skyhouse.user_tables`` holds documents; the latest of each
table is valid, an empty one means that the table is gone. The rows are in the database ``skyhouse_users``, in tables
with random names. Storage never changes once a document names it: a load, an index or a replacement creates new
storage, and one INSERT of a document is the whole change. So a query reads what existed when it was translated, and a
crash leaves the table as it was before or after the change.

The rows of TAP_SCHEMA that describe these tables are stored beside its own, under ids that the documents name.
User text never enters a statement: names of users and tables are looked up by their digests.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterable
from datetime import datetime

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.version_sql import fetch_next_version
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.table_ddl import column_type
from clickhouse_schema.tap_schema import TAP_SCHEMA, build_table_rows
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME as TAP_SCHEMA_NAME
from clickhouse_schema.whole_tables import create_database, create_whole_table, delete_rows_later, read_columns

#: The schema of every user.
SCHEMA_NAME = "mydb"
SCHEMA = Schema(name=SCHEMA_NAME, description="Your own tables, which nobody else sees.")

#: The database of the rows; prefixes of tables that a document names, and of those that are being filled.
DATABASE = "skyhouse_users"
LIVE_PREFIX, STAGING_PREFIX = "t_", "l_"

_REGISTRY = "skyhouse.user_tables"
_USES = "skyhouse.user_table_uses"
_ID = "described"

_REGISTRY_COLUMNS = "owner_key String, name_key String, version UInt64, document String"
_REGISTRY_ENGINE = ("(owner_key, name_key)", "ReplacingMergeTree", "version")


class UserTable(BaseModel):
    """The document of a user table; times are UTC.

    Attributes
    ----------
    storage
        Name in ``DATABASE``.
    described
        Id of its rows of TAP_SCHEMA; a load that changes no description keeps it.
    size
        Bytes on disk.
    crowding
        ``TableEntry.local_density``.
    origin
        Id of the job whose result it is; '' if there is none.
    """

    model_config = ConfigDict(frozen=True)

    owner: str
    table: Table
    storage: str
    described: str
    rows: int
    size: int
    crowding: float | None = None
    created: datetime
    changed: datetime
    origin: str = ""

    @property
    def qualified_name(self) -> str:
        return f"{SCHEMA_NAME}.{self.table.name}"

    @property
    def entry(self) -> TableEntry:
        return TableEntry(SCHEMA, self.table, self.rows, self.crowding, quote_storage(self.storage))


def quote_storage(storage: str) -> str:
    """Return the quoted name of a table in ``DATABASE``."""
    return f"{quote_identifier(DATABASE)}.{quote_identifier(storage)}"


def new_name(prefix: str = "") -> str:
    """Return a name that no other storage or description has had."""
    return prefix + secrets.token_hex(12)


# --- the registry -----------------------------------------------------------------------------------------------------


def create_user_tables(servers: Servers[Engine]) -> None:
    """Create missing tables; rewrite rows of TAP_SCHEMA that another version of Skyhouse wrote."""
    create_database(servers, DATABASE)
    create_whole_table(servers, "skyhouse", "user_tables", _REGISTRY_COLUMNS, *_REGISTRY_ENGINE)
    uses = f"{_ID} String, day Date"
    create_whole_table(servers, "skyhouse", "user_table_uses", uses, _ID, "ReplacingMergeTree", "day")
    described = [table for table in TAP_SCHEMA.tables if table.name != "schemas"]
    present = read_columns(servers.engine, "skyhouse")
    rewritten = [table for table in described if present.get(f"own_{table.name}") != _describe_columns(table)]
    for table in rewritten:
        servers.execute_everywhere(f"DROP TABLE IF EXISTS {_description_table(table.name)} SYNC")
    for table in described:
        columns = ", ".join(f"{quote_identifier(name)} {kind}" for name, kind in _describe_columns(table))
        create_whole_table(servers, "skyhouse", f"own_{table.name}", columns, _ID)
    if rewritten:
        for record in read_all_user_tables(servers.engine):
            write_descriptions(servers.engine, record, [table.name for table in rewritten])


def list_record_tables() -> list[str]:
    """Return the names of the tables of the record."""
    described = (table.name for table in TAP_SCHEMA.tables if table.name != "schemas")
    return [_REGISTRY, _USES, *map(_description_table, described)]


def read_user_version(engine: Engine, owner: str) -> int:
    """Return a number that grows with each change of a user's tables; 0 if there never were any."""
    answer = engine.fetch_table(f"SELECT max(version) AS version FROM {_REGISTRY} WHERE {_is_owner_sql(owner)}")
    return int(answer["version"][0].as_py())


def read_user_tables(engine: Engine, owner: str) -> tuple[UserTable, ...]:
    """Return a user's tables, ordered by name."""
    return _read_records(engine, f"WHERE {_is_owner_sql(owner)}")


def find_user_table(engine: Engine, owner: str, name: str) -> UserTable | None:
    """Return a user's table by name, ignoring case."""
    found = _read_records(
        engine, f"WHERE {_is_owner_sql(owner)} AND name_key = {quote_string(_hash_text(name.lower()))}"
    )
    return found[0] if found else None


def read_all_user_tables(engine: Engine) -> tuple[UserTable, ...]:
    """Return all tables, ordered by user and name."""
    return _read_records(engine, "")


def write_user_table(engine: Engine, record: UserTable) -> None:
    """Publish ``record`` as the table's state. The caller prevents concurrent changes of the same user's tables."""
    _write_document(
        engine, record.owner, record.table.name, record.model_dump_json(by_alias=True, exclude_defaults=True)
    )


def remove_user_table(engine: Engine, owner: str, name: str) -> None:
    """Remove a table from the record; expiry drops its storage later."""
    _write_document(engine, owner, name, "")


def _read_records(engine: Engine, where: str) -> tuple[UserTable, ...]:
    answer = engine.fetch_table(
        f"SELECT argMax(document, version) AS latest FROM {_REGISTRY} {where}"
        " GROUP BY owner_key, name_key HAVING latest != ''"
    )
    found = [UserTable.model_validate_json(document) for document in answer["latest"].to_pylist()]
    return tuple(sorted(found, key=lambda record: (record.owner, record.table.name.lower())))


def _write_document(engine: Engine, owner: str, name: str, document: str) -> None:
    version = fetch_next_version(engine, _REGISTRY)
    row = {"owner_key": [_hash_text(owner)], "name_key": [_hash_text(name.lower())], "document": [document]}
    batch = pa.record_batch({**row, "version": pa.array([version], pa.uint64())})
    Servers(engine).insert_batches(_REGISTRY, [batch])
    _changes.add_change()


class _ChangeCounter:
    """Counts the changes that this process has made."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def add_change(self) -> None:
        with self._lock:
            self.count += 1


_changes = _ChangeCounter()


def count_changes() -> int:
    """Return the number of changes that this process has made."""
    return _changes.count


def _is_owner_sql(owner: str) -> str:
    return f"owner_key = {quote_string(_hash_text(owner))}"


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --- uses -------------------------------------------------------------------------------------------------------------


def write_uses(engine: Engine, described: Iterable[str]) -> None:
    """Record that the tables with these ids were used today."""
    ids = list(described)
    today = engine.fetch_table("SELECT today() AS day")["day"].cast(pa.date32())[0].as_py()
    rows = pa.record_batch({_ID: ids, "day": pa.array([today] * len(ids), pa.date32())})
    Servers(engine).insert_batches(_USES, [rows])


def read_last_uses(engine: Engine, described: Iterable[str]) -> dict[str, str]:
    """Return the last day of use, such as 2026-01-31, by id; unused tables are absent."""
    ids = ", ".join(quote_string(name) for name in described) or "NULL"
    answer = engine.fetch_table(
        f"SELECT {_ID}, toString(max(day)) AS day FROM {_USES} WHERE {_ID} IN ({ids}) GROUP BY {_ID}"
    )
    return dict(zip(answer[_ID].to_pylist(), answer["day"].to_pylist(), strict=True))


# --- TAP_SCHEMA -------------------------------------------------------------------------------------------------------


def write_descriptions(engine: Engine, record: UserTable, names: Iterable[str] | None = None) -> None:
    """Write the rows of TAP_SCHEMA that describe a table, under its id; they are visible once a document names it."""
    batches, servers = build_table_rows(record.entry), Servers(engine)
    for name in batches if names is None else names:
        batch = batches[name]
        ids = pa.array([record.described] * batch.num_rows, pa.string())
        servers.insert_batches(_description_table(name), [batch.append_column(_ID, ids)])


def add_user_tables(base: Catalogue, records: tuple[UserTable, ...]) -> Catalogue:
    """Return the catalogue of their owner: with these tables, and with a TAP_SCHEMA that describes them."""
    if not records:
        return base
    tap_schema = tuple(
        _add_descriptions(entry, records) for entry in base.entries if entry.schema.name == TAP_SCHEMA_NAME
    )
    return base.replace_entries(tap_schema).add_entries(tuple(record.entry for record in records))


def _add_descriptions(entry: TableEntry, records: tuple[UserTable, ...]) -> TableEntry:
    names = ", ".join(quote_identifier(column.name) for column in entry.table.columns)
    if entry.table.name == "schemas":
        own = f"SELECT {quote_string(SCHEMA_NAME)}, NULL, {quote_string(SCHEMA.description)}, NULL"
    else:
        ids = ", ".join(quote_string(record.described) for record in records)
        own = f"SELECT {names} FROM {_description_table(entry.table.name)} WHERE {_ID} IN ({ids})"
    both = f"(SELECT {names} FROM {entry.storage_sql} UNION ALL {own})"
    return TableEntry(entry.schema, entry.table, entry.rows, entry.local_density, both)


def _description_table(name: str) -> str:
    return f"skyhouse.{quote_identifier('own_' + name)}"


def _describe_columns(table: Table) -> list[tuple[str, str]]:
    return [*((column.name, column_type(column)) for column in table.columns), (_ID, "String")]


# --- unreferenced storage ---------------------------------------------------------------------------------------------


def find_unknown_storage(engine: Engine, records: Iterable[UserTable]) -> dict[str, int]:
    """Return the tables in ``DATABASE`` that no record names, with the seconds since the last write to each."""
    answer = engine.fetch_table(
        "SELECT t.name AS name, dateDiff('second', greatest(t.metadata_modification_time, p.written), now()) AS age"
        " FROM system.tables AS t LEFT JOIN (SELECT table, max(modification_time) AS written FROM system.parts"
        f" WHERE database = {quote_string(DATABASE)} GROUP BY table) AS p ON t.name = p.table"
        f" WHERE t.database = {quote_string(DATABASE)}"
    )
    known = {record.storage for record in records}
    found = zip(answer["name"].to_pylist(), answer["age"].to_pylist(), strict=True)
    return {name: int(age) for name, age in found if name not in known}


def find_unknown_descriptions(engine: Engine, records: Iterable[UserTable]) -> set[str]:
    """Return the ids of rows of TAP_SCHEMA that no record names."""
    found = engine.fetch_table(f"SELECT DISTINCT {_ID} FROM {_description_table('tables')}")[_ID].to_pylist()
    return set(found) - {record.described for record in records}


def drop_storage(engine: Engine, storage: str) -> None:
    """Drop a table that no query reads."""
    engine.execute(f"DROP TABLE IF EXISTS {quote_storage(storage)} SYNC")


def is_storage_read(engine: Engine, storage: str) -> bool:
    """Whether a query reads the table; DROP would wait for it."""
    # the name is written in two parts, so that this query does not find itself
    name = f"concat({quote_string(storage[:4])}, {quote_string(storage[4:])})"
    return bool(engine.fetch_table(f"SELECT 1 AS one FROM system.processes WHERE position(query, {name}) > 0").num_rows)


def forget_user_tables(engine: Engine, described: Iterable[str], storages: Iterable[str]) -> None:
    """Delete descriptions, uses and density of tables that are gone."""
    servers = Servers(engine)
    ids = ", ".join(quote_string(name) for name in described)
    if ids:
        for table in TAP_SCHEMA.tables:
            if table.name != "schemas":
                delete_rows_later(servers, _description_table(table.name), f"{_ID} IN ({ids})")
        delete_rows_later(servers, _USES, f"{_ID} IN ({ids})")
    names = ", ".join(quote_string(name) for name in storages)
    if names:
        delete_rows_later(
            servers, "skyhouse.density", f"schema_name = {quote_string(DATABASE)} AND table_name IN ({names})"
        )
