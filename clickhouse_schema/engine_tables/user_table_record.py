"""The record of user tables in the engine: which tables exist, their owners, and the storage of their rows.

Each user has a schema ``mydb``. The document of a table names the others who may read it (``visible_user_tables``).
``skyhouse.user_tables`` holds the documents; the latest document of each table is valid, and an empty one means that
the table has been removed. The rows are in the database ``skyhouse_users``, in tables with random names. Storage never
changes once a document names it: a load, an index or a replacement creates new storage, and one INSERT of a document
makes the change. So a query reads the storage that existed when it was translated, and a crash leaves the table as it
was before or after the change.

The rows of TAP_SCHEMA that describe these tables are stored in separate tables, under ids that the documents name.
Text of users never becomes part of a statement: names of users and tables are looked up by their digests.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.version_sql import fetch_next_version
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.table_ddl import column_type
from clickhouse_schema.tap_schema import TAP_SCHEMA, build_table_rows
from clickhouse_schema.whole_tables import create_database, create_whole_table, delete_rows_later, read_columns

#: The schema of every user.
SCHEMA_NAME = "mydb"
SCHEMA = Schema(name=SCHEMA_NAME, description="Your own tables. Others see only what you share with them.")

#: Prefix of the schema of another user's tables; the user's name follows
SHARED_PREFIX = f"{SCHEMA_NAME}_"

#: Database of the rows; prefixes of tables that a document names, and of tables that are being filled
DATABASE = "skyhouse_users"
LIVE_PREFIX, STAGING_PREFIX = "t_", "l_"

REGISTRY = "skyhouse.user_tables"
READERS = "skyhouse.user_table_readers"
_USES = "skyhouse.user_table_uses"
#: Column with the id of a description
ID = "described"

_REGISTRY_COLUMNS = "owner_key String, name_key String, version UInt64, document String"
_READERS_TABLE = (
    "reader_key String, owner_key String, name_key String",
    "(reader_key, owner_key, name_key)",
    "ReplacingMergeTree",
)
_REGISTRY_ENGINE = ("(owner_key, name_key)", "ReplacingMergeTree", "version")


class Reader(BaseModel):
    """A user, or the members of a group, who may read another user's table."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["user", "group"]
    name: str


class UserTable(BaseModel):
    """The document of a user table; times are UTC.

    Attributes
    ----------
    storage
        Name in ``DATABASE``.
    described
        Id of its rows in TAP_SCHEMA; a load that changes no description keeps the id.
    size
        Bytes on disk.
    crowding
        Its ``TableEntry.local_density``.
    origin
        Id of the job whose result it is; '' if there is none.
    readers
        Others who may read it.
    shared
        Id of its rows in TAP_SCHEMA for readers; '' without readers.
    appended
        Tokens of appends that must not be repeated, such as appends of watches, while they may be requested again.
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
    readers: tuple[Reader, ...] = ()
    shared: str = ""
    appended: tuple[str, ...] = ()

    @property
    def qualified_name(self) -> str:
        return f"{SCHEMA_NAME}.{self.table.name}"

    @property
    def entry(self) -> TableEntry:
        return TableEntry(SCHEMA, self.table, self.rows, self.crowding, quote_storage(self.storage))

    @property
    def shared_entry(self) -> TableEntry:
        """The table as its readers see it: in a schema with its owner's name, without keys to hidden tables."""
        schema = Schema.model_construct(  # user names of issuers may have any characters
            name=SHARED_PREFIX + self.owner, description=f"Tables of {self.owner}, shared with you. You can read them."
        )
        table = self.table.model_copy(update={"keys": ()})
        return TableEntry(schema, table, self.rows, self.crowding, quote_storage(self.storage), is_shared=True)

    @property
    def descriptions(self) -> dict[str, TableEntry]:
        """The entries that TAP_SCHEMA describes, by id: for the owner and, if the table is shared, for its readers."""
        return {self.described: self.entry} | ({self.shared: self.shared_entry} if self.shared else {})


def quote_storage(storage: str) -> str:
    """Return the quoted name of a table in ``DATABASE``."""
    return f"{quote_identifier(DATABASE)}.{quote_identifier(storage)}"


def new_name(prefix: str = "") -> str:
    """Return a name that no other storage or description has ever had."""
    return prefix + secrets.token_hex(12)


# --- the registry -----------------------------------------------------------------------------------------------------


def create_user_tables(servers: Servers[Engine]) -> None:
    """Create missing tables, and rewrite rows of TAP_SCHEMA that another version of Skyhouse wrote."""
    create_database(servers, DATABASE)
    create_whole_table(servers, "skyhouse", "user_tables", _REGISTRY_COLUMNS, *_REGISTRY_ENGINE)
    uses = f"{ID} String, day Date"
    create_whole_table(servers, "skyhouse", "user_table_readers", *_READERS_TABLE)
    create_whole_table(servers, "skyhouse", "user_table_uses", uses, ID, "ReplacingMergeTree", "day")
    described = [table for table in TAP_SCHEMA.tables if table.name != "schemas"]
    present = read_columns(servers.engine, "skyhouse")
    rewritten = [table for table in described if present.get(f"own_{table.name}") != _describe_columns(table)]
    for table in rewritten:
        servers.execute_everywhere(f"DROP TABLE IF EXISTS {description_table(table.name)} SYNC")
    for table in described:
        columns = ", ".join(f"{quote_identifier(name)} {kind}" for name, kind in _describe_columns(table))
        create_whole_table(servers, "skyhouse", f"own_{table.name}", columns, ID)
    if rewritten:
        for record in read_all_user_tables(servers.engine):
            write_descriptions(servers.engine, record.descriptions, [table.name for table in rewritten])


def list_record_tables() -> list[str]:
    """Return the names of the tables in which the record is kept."""
    described = (table.name for table in TAP_SCHEMA.tables if table.name != "schemas")
    return [REGISTRY, READERS, _USES, *map(description_table, described)]


def read_user_tables(engine: Engine, owner: str) -> tuple[UserTable, ...]:
    """Return a user's tables, ordered by name."""
    return read_records(engine, f"WHERE {is_owner_sql(owner)}")


def find_user_table(engine: Engine, owner: str, name: str) -> UserTable | None:
    """Return a user's table by name, ignoring case."""
    found = read_records(engine, f"WHERE {is_owner_sql(owner)} AND name_key = {quote_string(hash_text(name.lower()))}")
    return found[0] if found else None


def read_all_user_tables(engine: Engine) -> tuple[UserTable, ...]:
    """Return all tables, ordered by user and name."""
    return read_records(engine, "")


def write_user_table(engine: Engine, record: UserTable) -> None:
    """Publish ``record`` as the table's state. The caller prevents concurrent changes of the same user's tables."""
    _write_document(
        engine, record.owner, record.table.name, record.model_dump_json(by_alias=True, exclude_defaults=True)
    )


def remove_user_table(engine: Engine, owner: str, name: str) -> None:
    """Remove a table from the record; its storage is dropped later, when it expires."""
    _write_document(engine, owner, name, "")


def read_records(engine: Engine, where: str) -> tuple[UserTable, ...]:
    """Return the user tables that a WHERE clause selects, ordered by user and name."""
    answer = engine.fetch_table(
        f"SELECT argMax(document, version) AS latest FROM {REGISTRY} {where}"
        " GROUP BY owner_key, name_key HAVING latest != ''"
    )
    found = [UserTable.model_validate_json(document) for document in answer["latest"].to_pylist()]
    return tuple(sorted(found, key=lambda record: (record.owner, record.table.name.lower())))


def _write_document(engine: Engine, owner: str, name: str, document: str) -> None:
    version = fetch_next_version(engine, REGISTRY)
    row = {"owner_key": [hash_text(owner)], "name_key": [hash_text(name.lower())], "document": [document]}
    batch = pa.record_batch({**row, "version": pa.array([version], pa.uint64())})
    Servers(engine).insert_batches(REGISTRY, [batch])
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


def is_owner_sql(owner: str) -> str:
    """Return the condition that selects the rows of a user's tables."""
    return f"owner_key = {quote_string(hash_text(owner))}"


def hash_text(text: str) -> str:
    """Return the digest that stands for a name in SQL."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --- uses -------------------------------------------------------------------------------------------------------------


def write_uses(engine: Engine, described: Iterable[str]) -> None:
    """Record that the tables with these ids were used today."""
    ids = list(described)
    today = engine.fetch_table("SELECT today() AS day")["day"].cast(pa.date32())[0].as_py()
    rows = pa.record_batch({ID: ids, "day": pa.array([today] * len(ids), pa.date32())})
    Servers(engine).insert_batches(_USES, [rows])


def read_last_uses(engine: Engine, described: Iterable[str]) -> dict[str, str]:
    """Return the last day of use, such as 2026-01-31, by id; unused tables are absent."""
    ids = ", ".join(quote_string(name) for name in described) or "NULL"
    answer = engine.fetch_table(
        f"SELECT {ID}, toString(max(day)) AS day FROM {_USES} WHERE {ID} IN ({ids}) GROUP BY {ID}"
    )
    return dict(zip(answer[ID].to_pylist(), answer["day"].to_pylist(), strict=True))


# --- TAP_SCHEMA -------------------------------------------------------------------------------------------------------


def write_descriptions(
    engine: Engine, descriptions: Mapping[str, TableEntry], names: Iterable[str] | None = None
) -> None:
    """Write the rows of TAP_SCHEMA that describe tables, under ids; they are visible once a document names these."""
    servers = Servers(engine)
    for described, entry in descriptions.items():
        batches = build_table_rows(entry)
        for name in batches if names is None else names:
            batch = batches[name]
            ids = pa.array([described] * batch.num_rows, pa.string())
            servers.insert_batches(description_table(name), [batch.append_column(ID, ids)])


def description_table(name: str) -> str:
    """Return the quoted name of the table with the rows for the table ``name`` of TAP_SCHEMA."""
    return f"skyhouse.{quote_identifier('own_' + name)}"


def _describe_columns(table: Table) -> list[tuple[str, str]]:
    return [*((column.name, column_type(column)) for column in table.columns), (ID, "String")]


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
    found = engine.fetch_table(f"SELECT DISTINCT {ID} FROM {description_table('tables')}")[ID].to_pylist()
    return set(found) - {described for record in records for described in record.descriptions}


def drop_storage(engine: Engine, storage: str) -> None:
    """Drop a table that no query reads."""
    engine.execute(f"DROP TABLE IF EXISTS {quote_storage(storage)} SYNC")


def is_storage_read(engine: Engine, storage: str) -> bool:
    """Whether a query reads the table; DROP would wait for it."""
    # the name is written in two parts, so that this query does not find itself
    name = f"concat({quote_string(storage[:4])}, {quote_string(storage[4:])})"
    return bool(engine.fetch_table(f"SELECT 1 AS one FROM system.processes WHERE position(query, {name}) > 0").num_rows)


def forget_user_tables(engine: Engine, described: Iterable[str], storages: Iterable[str]) -> None:
    """Delete the descriptions, uses and densities of removed tables."""
    servers = Servers(engine)
    ids = ", ".join(quote_string(name) for name in described)
    if ids:
        for table in TAP_SCHEMA.tables:
            if table.name != "schemas":
                delete_rows_later(servers, description_table(table.name), f"{ID} IN ({ids})")
        delete_rows_later(servers, _USES, f"{ID} IN ({ids})")
    names = ", ".join(quote_string(name) for name in storages)
    if names:
        delete_rows_later(
            servers, "skyhouse.density", f"schema_name = {quote_string(DATABASE)} AND table_name IN ({names})"
        )
