"""The record of additions to watched tables, ``skyhouse.additions``, and a table with the rows of each addition.

An addition is the rows that one append adds to a table. While a table is watched, each loader copies the rows that it
adds to ``skyhouse_additions`` before it records the addition, so readers of the record find exactly these rows,
whatever happens to the table later. A row of the record is one INSERT. It stays when the rows are dropped, so that no
addition is recorded twice. Watches outlive the record if tables are not restored; the numbers of a new record are
therefore raised above the numbers that watches know.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pyarrow as pa

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.version_sql import fetch_next_version, is_table_sql
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.quoting import quote_string, quote_table
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.servers import Servers
from clickhouse_schema.whole_tables import create_database, create_whole_table

#: Database of the rows
DATABASE = "skyhouse_additions"

ADDITIONS, WATCHED = "skyhouse.additions", "skyhouse.watched_tables"

_ADDITION_COLUMNS = (
    "schema_name String, table_name String, version UInt64, addition_id String, number UInt64, rows UInt64,"
    " finished String, document String"
)
_WATCHED_COLUMNS = "schema_name String, table_name String, version UInt64, is_watched UInt8"


@dataclass(frozen=True, slots=True)
class Addition:
    """One addition whose rows are kept.

    Attributes
    ----------
    addition_id
        Unique among all tables, and the name of the table with its rows in ``DATABASE``.
    schema
        The schema with only this table, as they were at the time.
    number
        Number of the addition to the table, from 1.
    rows
        Number of rows.
    finished
        When the load ended (UTC).
    """

    addition_id: str
    schema: Schema
    number: int
    rows: int
    finished: datetime

    @property
    def table_name(self) -> str:
        """``schema.table``"""
        return f"{self.schema.name}.{self.schema.tables[0].name}"

    def restrict_entry(self, entry: TableEntry) -> TableEntry:
        """Return the table's entry with only the rows of the addition, all of which every server has.

        Parameters
        ----------
        entry : TableEntry
            The current entry of the table.

        Returns
        -------
        TableEntry
            An entry with the columns that the table had at the time of the addition.
        """
        return replace(
            entry,
            table=self.schema.tables[0],
            rows=self.rows,
            local_density=None,
            stored_sql=quote_rows(self.addition_id),
            is_sharded=False,
            number=0,
            base_name="",
            stray_radius=0.0,
        )


def make_addition_id(schema_name: str, table_name: str, origin: str, fingerprint: str) -> str:
    """Return the id of an addition. ``origin``: of the append; ``fingerprint``: of the files."""
    parts = "\n".join([schema_name, table_name, origin, fingerprint])
    return f"a_{hashlib.sha256(parts.encode()).hexdigest()[:32]}"


def quote_rows(addition_id: str) -> str:
    """Return the quoted name of the table with the rows of an addition."""
    return quote_table(DATABASE, addition_id)


def create_addition_record(servers: Servers[Engine]) -> None:
    create_database(servers, DATABASE)
    for name, columns in ((ADDITIONS, _ADDITION_COLUMNS), (WATCHED, _WATCHED_COLUMNS)):
        create_whole_table(servers, *name.split("."), columns, "(schema_name, table_name)")


# --- which tables are watched -----------------------------------------------------------------------------------------


def read_watched(engine: Engine) -> set[tuple[str, str]]:
    """Return schema and table of each watched table."""
    found = engine.fetch_table(
        f"SELECT schema_name, table_name FROM {WATCHED} GROUP BY schema_name, table_name"
        " HAVING argMax(is_watched, version) = 1"
    )
    return {(row["schema_name"], row["table_name"]) for row in found.to_pylist()}


def mark_watched(engine: Engine, schema_name: str, table_name: str, *, is_watched: bool) -> None:
    """Set whether loaders keep the rows that they add to a table.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names.
    is_watched : bool
        Whether any watch needs the rows.
    """
    row = {
        "schema_name": [schema_name],
        "table_name": [table_name],
        "version": pa.array([fetch_next_version(engine, WATCHED)], pa.uint64()),
        "is_watched": pa.array([int(is_watched)], pa.uint8()),
    }
    Servers(engine).insert_batches(WATCHED, [pa.record_batch(row)])


# --- the record -------------------------------------------------------------------------------------------------------


def is_recorded(engine: Engine, addition_id: str) -> bool:
    """Whether an addition is recorded, even if its rows have been dropped."""
    sql = f"SELECT count() AS n FROM {ADDITIONS} WHERE addition_id = {quote_string(addition_id)}"
    return bool(engine.fetch_table(sql).column(0)[0].as_py())


def record_addition(engine: Engine, addition_id: str, schema: Schema, rows: int) -> None:
    """Record an addition whose rows are kept. ``schema`` has only this table."""
    table = schema.tables[0]
    number = read_last_number(engine, schema.name, table.name) + 1
    document = schema.model_dump_json(by_alias=True, exclude_defaults=True)
    _write_row(engine, schema.name, table.name, number, addition_id=addition_id, rows=rows, document=document)


def raise_last_number(engine: Engine, schema_name: str, table_name: str, number: int) -> None:
    """Make the next addition to a table have the number after a given one.

    The row that this writes to the record is not an addition.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names.
    number : int
        The greatest number that watches know. It has no effect if the record already has a greater number.
    """
    _write_row(engine, schema_name, table_name, number)


def _write_row(
    engine: Engine,
    schema_name: str,
    table_name: str,
    number: int,
    *,
    addition_id: str = "",
    rows: int = 0,
    document: str = "",
) -> None:
    row = {
        "schema_name": [schema_name],
        "table_name": [table_name],
        "version": pa.array([fetch_next_version(engine, ADDITIONS)], pa.uint64()),
        "addition_id": [addition_id],
        "number": pa.array([number], pa.uint64()),
        "rows": pa.array([rows], pa.uint64()),
        "finished": [datetime.now(UTC).isoformat(timespec="seconds")],
        "document": [document],
    }
    Servers(engine).insert_batches(ADDITIONS, [pa.record_batch(row)], point=Failpoint.ADDITIONS_WRITE)


def read_last_numbers(engine: Engine) -> dict[tuple[str, str], int]:
    """Return the number of the last addition to each table that had one, by schema and table."""
    found = engine.fetch_table(
        f"SELECT schema_name, table_name, max(number) AS n FROM {ADDITIONS} GROUP BY schema_name, table_name"
    )
    return {(row["schema_name"], row["table_name"]): int(row["n"]) for row in found.to_pylist()}


def read_last_number(engine: Engine, schema_name: str, table_name: str) -> int:
    """Return the number of the last addition to a table.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names.

    Returns
    -------
    int
        Numbers count from 1; 0 if there was no addition.
    """
    sql = f"SELECT max(number) AS n FROM {ADDITIONS} WHERE {is_table_sql(schema_name, table_name)}"
    return int(engine.fetch_table(sql).column(0)[0].as_py() or 0)


def read_kept_additions(engine: Engine) -> tuple[Addition, ...]:
    """Return the additions whose rows are kept, the oldest first."""
    return _read_additions(engine, f"addition_id IN ({_kept_sql()})")


def read_kept_ids(engine: Engine) -> frozenset[str]:
    """Return the ids of the additions, recorded or not, whose rows are kept."""
    return frozenset(engine.fetch_table(_kept_sql()).column(0).to_pylist())


def find_addition(engine: Engine, addition_id: str) -> Addition | None:
    """Return an addition whose rows are kept.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    addition_id : str
        Id from ``make_addition_id``.

    Returns
    -------
    Addition or None
        None if it is not recorded, or if its rows have been dropped.
    """
    found = _read_additions(engine, f"addition_id = {quote_string(addition_id)} AND addition_id IN ({_kept_sql()})")
    return found[0] if found else None


def _read_additions(engine: Engine, where: str) -> tuple[Addition, ...]:
    # a repaired server may have a row twice
    found = engine.fetch_table(
        f"SELECT * FROM {ADDITIONS} WHERE {where} ORDER BY schema_name, table_name, number LIMIT 1 BY addition_id"
    )
    return tuple(
        Addition(
            row["addition_id"],
            Schema.model_validate_json(row["document"]),
            int(row["number"]),
            int(row["rows"]),
            datetime.fromisoformat(row["finished"]),
        )
        for row in found.to_pylist()
    )


def _kept_sql() -> str:
    return f"SELECT name FROM system.tables WHERE database = {quote_string(DATABASE)}"


# --- the rows ---------------------------------------------------------------------------------------------------------


def count_kept_rows(engine: Engine, addition_id: str) -> int | None:
    """Return how many rows of an addition, recorded or not, are kept; None if there is no table with them."""
    names = engine.fetch_table(f"{_kept_sql()} AND name = {quote_string(addition_id)}")
    if not names.num_rows:
        return None
    return int(engine.fetch_table(f"SELECT count() AS n FROM {quote_rows(addition_id)}").column(0)[0].as_py())


def drop_rows(engine: Engine, addition_ids: Iterable[str]) -> None:
    """Drop the rows of additions; the record stays."""
    servers = Servers(engine)
    for addition_id in addition_ids:
        drop = f"DROP TABLE IF EXISTS {quote_rows(addition_id)}{servers.topology.drop_clause}"
        servers.execute_everywhere(drop)


def find_unrecorded(engine: Engine, minimum_age: float) -> list[str]:
    """Return the tables of rows that belong to no recorded addition and are at least this old, in seconds."""
    sql = (
        f"{_kept_sql()} AND name NOT IN (SELECT addition_id FROM {ADDITIONS})"
        f" AND dateDiff('second', metadata_modification_time, now()) >= {minimum_age!r}"
    )
    return [str(name) for name in engine.fetch_table(sql).column(0).to_pylist()]
