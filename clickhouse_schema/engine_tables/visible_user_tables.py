"""Which user tables a user sees, own and shared, and the catalogue that contains them.

The document of a table names its readers, so that one INSERT changes table and readers together: a table that is
dropped is dropped for its readers too. ``skyhouse.user_table_readers`` finds the documents of a reader. It is written
before a document, and a row that no document confirms has no effect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.user_table_record import (
    ID,
    READERS,
    REGISTRY,
    SCHEMA,
    SCHEMA_NAME,
    Reader,
    UserTable,
    description_table,
    hash_text,
    is_owner_sql,
    read_records,
)
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.servers import Servers
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME
from clickhouse_schema.whole_tables import delete_rows_later

_KEYS = "reader_key, owner_key, name_key"
_SHARED_DESCRIPTION = "Tables of another user, shared with you. You can read them."

#: ClickHouse moves no condition of a query below a LIMIT: an error in a condition could reveal rows of other users
_ALL_ROWS = 1_000_000_000


def list_roles(user: str, groups: Iterable[str]) -> frozenset[Reader]:
    """Return the readers that a user may be for tables of others: the user, and the groups."""
    return frozenset({Reader(kind="user", name=user), *(Reader(kind="group", name=group) for group in groups)})


def read_visible_version(engine: Engine, owner: str, roles: Collection[Reader]) -> tuple[int, int]:
    """Return numbers that change with the tables that a user sees; (0, 0) if there have never been any."""
    answer = engine.fetch_table(
        f"SELECT max(version) AS version, uniqExact(owner_key, name_key) AS n FROM {REGISTRY}"
        f" WHERE {is_owner_sql(owner)} OR {_is_shared_sql(roles)}"
    ).to_pylist()
    return int(answer[0]["version"]), int(answer[0]["n"])


def read_shared_tables(engine: Engine, owner: str, roles: frozenset[Reader]) -> tuple[UserTable, ...]:
    """Return the tables of others that a user may read, ordered by owner and name."""
    found = read_records(engine, f"WHERE {_is_shared_sql(roles)}")
    return tuple(record for record in found if record.owner != owner and not roles.isdisjoint(record.readers))


def write_readers(engine: Engine, record: UserTable) -> None:
    """Let the readers of a record find it; the caller publishes it next."""
    rows = [_list_keys(record, reader) for reader in record.readers]
    if rows:
        columns = {name: list(values) for name, values in zip(_KEYS.split(", "), zip(*rows, strict=True), strict=True)}
        Servers(engine).insert_batches(READERS, [pa.record_batch(columns)])


def forget_readers(engine: Engine, records: Iterable[UserTable]) -> None:
    """Delete the rows that no record confirms. ``records``: all; the caller prevents concurrent changes."""
    wanted = {_list_keys(record, reader) for record in records for reader in record.readers}
    found = engine.fetch_table(f"SELECT DISTINCT {_KEYS} FROM {READERS}").to_pylist()
    gone = [keys for row in found if (keys := tuple(row.values())) not in wanted]
    if gone:
        named = ", ".join(f"({', '.join(map(quote_string, keys))})" for keys in gone)
        delete_rows_later(Servers(engine), READERS, f"({_KEYS}) IN ({named})")


def add_user_tables(base: Catalogue, own: tuple[UserTable, ...], shared: tuple[UserTable, ...] = ()) -> Catalogue:
    """Return the catalogue of a user: with own and shared tables, and a TAP_SCHEMA that describes them."""
    if not own and not shared:
        return base
    tap_schema = tuple(
        _add_descriptions(entry, own, shared) for entry in base.entries if entry.schema.name == TAP_SCHEMA_NAME
    )
    entries = (*(record.entry for record in own), *(record.shared_entry for record in shared))
    return base.replace_entries(tap_schema).add_entries(entries)


def _add_descriptions(entry: TableEntry, own: tuple[UserTable, ...], shared: tuple[UserTable, ...]) -> TableEntry:
    names = ", ".join(quote_identifier(column.name) for column in entry.table.columns)
    parts = [f"SELECT {names} FROM {entry.storage_sql}"]
    if entry.table.name == "schemas":
        if own:
            parts.append(f"SELECT {quote_string(SCHEMA_NAME)}, NULL, {quote_string(SCHEMA.description)}, NULL")
        if shared:
            parts.append(
                f"SELECT DISTINCT schema_name, NULL, {quote_string(_SHARED_DESCRIPTION)}, NULL"
                f" FROM {description_table('tables')} WHERE {ID} IN ({_quote_all(each.shared for each in shared)})"
                f" LIMIT {_ALL_ROWS}"
            )
    else:
        ids = _quote_all([*(each.described for each in own), *(each.shared for each in shared)])
        table = description_table(entry.table.name)
        parts.append(f"SELECT {names} FROM {table} WHERE {ID} IN ({ids}) LIMIT {_ALL_ROWS}")
    return TableEntry(entry.schema, entry.table, entry.rows, entry.local_density, f"({' UNION ALL '.join(parts)})")


def _is_shared_sql(roles: Collection[Reader]) -> str:
    keys = _quote_all(sorted(map(_hash_reader, roles)))
    return f"(owner_key, name_key) IN (SELECT owner_key, name_key FROM {READERS} WHERE reader_key IN ({keys}))"


def _list_keys(record: UserTable, reader: Reader) -> tuple[str, ...]:
    return _hash_reader(reader), hash_text(record.owner), hash_text(record.table.name.lower())


def _hash_reader(reader: Reader) -> str:
    return hash_text(f"{reader.kind}:{reader.name}")


def _quote_all(texts: Iterable[str]) -> str:
    return ", ".join(map(quote_string, texts))
