"""The record of appends, ``skyhouse.appends``: one row before each change of a table, and one after it.

An append is identified by its ``AppendOrigin``, which stands for the last complete load of the table, and by a
fingerprint of the rows. ``finished`` is empty until the append is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.engine_tables.version_sql import TABLE_LOGS, fetch_next_version, is_table_sql
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.servers import Servers
from clickhouse_schema.whole_tables import create_whole_table, delete_rows_later

_COLUMNS = (
    "schema_name String, table_name String, version UInt64, origin String, fingerprint String, rows UInt64,"
    " rejected UInt64, files Array(String), finished String, state String"
)
_SORT_KEY = "(schema_name, table_name, origin, fingerprint)"


@dataclass(frozen=True, slots=True)
class AppendOrigin:
    """The table that rows are added to; ``origin`` changes whenever the complete table is loaded or replaced."""

    schema_name: str
    table_name: str
    origin: str

    @property
    def condition_sql(self) -> str:
        return f"{is_table_sql(self.schema_name, self.table_name)} AND origin = {quote_string(self.origin)}"


@dataclass(frozen=True, slots=True)
class AppendTotals:
    """Numbers of finished appends and of their rows; ``last`` is the time of the last append, '' if there are none."""

    appends: int
    rows: int
    last: str


def create_append_record(servers: Servers[Engine]) -> None:
    create_whole_table(servers, "skyhouse", "appends", _COLUMNS, _SORT_KEY)


def write_append(
    engine: Engine,
    origin: AppendOrigin,
    fingerprint: str,
    rows: int,
    rejected: int,
    files: Sequence[str],
    *,
    finished: str = "",
    state: str = "",
) -> None:
    """Record an append: before the change with its ``state``, after it with the time ``finished``.

    Both rows change the table's stamp (``catalogue_log.read_content_stamps``).

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    origin : AppendOrigin
        The table and its last complete load.
    fingerprint : str
        Hash of the files and of the table's model, by which a repeated append is recognised.
    rows, rejected : int
        Numbers of rows that are added, and of rows that do not fit.
    files : sequence of str
        Names of the files, for reports.
    finished : str, optional
        Time of the end, ISO 8601; '' before the change.
    state : str, optional
        JSON from which an interrupted append continues; '' after the change.
    """
    row = {
        "schema_name": [origin.schema_name],
        "table_name": [origin.table_name],
        "version": pa.array([fetch_next_version(engine, *TABLE_LOGS)], pa.uint64()),
        "origin": [origin.origin],
        "fingerprint": [fingerprint],
        "rows": pa.array([rows], pa.uint64()),
        "rejected": pa.array([rejected], pa.uint64()),
        "files": pa.array([[*files]], pa.list_(pa.string())),
        "finished": [finished],
        "state": [state],
    }
    Servers(engine).insert_batches("skyhouse.appends", [pa.record_batch(row)], point=Failpoint.APPENDS_WRITE)


def is_append_done(engine: Engine, origin: AppendOrigin, fingerprint: str) -> bool:
    is_fingerprint = f"fingerprint = {quote_string(fingerprint)}"
    sql = f"SELECT count() AS n FROM skyhouse.appends WHERE {origin.condition_sql} AND {is_fingerprint}"
    return bool(engine.fetch_table(f"{sql} AND finished != ''").column(0)[0].as_py())


def find_known_digests(engine: Engine, origin: AppendOrigin, digests: Sequence[str]) -> set[str]:
    """Return the digests that the states of appends contain (``load.digests`` in their JSON).

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    origin : AppendOrigin
        The table and its last complete load.
    digests : sequence of str
        The digests to look for, at least one.

    Returns
    -------
    set of str
        A subset of ``digests``.
    """
    digest = "arrayJoin(JSONExtract(state, 'load', 'digests', 'Array(String)'))"
    wanted = ", ".join(quote_string(digest) for digest in digests)
    where = f"{origin.condition_sql} AND digest IN ({wanted})"
    sql = f"SELECT DISTINCT {digest} AS digest FROM skyhouse.appends WHERE {where}"
    return set(engine.fetch_table(sql).column(0).to_pylist())


def read_started_state(engine: Engine, origin: AppendOrigin) -> str:
    """Return the state of the append that has started and is not done; '' if there is none."""
    sql = f"SELECT any(state) AS state FROM skyhouse.appends WHERE {origin.condition_sql} GROUP BY fingerprint"
    found = engine.fetch_table(f"{sql} HAVING max(finished) = ''").to_pylist()
    return str(found[0]["state"]) if found else ""


def sum_appends(engine: Engine, origin: AppendOrigin) -> AppendTotals:
    """Count the finished appends to a table since it was loaded completely.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    origin : AppendOrigin
        The table and its last complete load.

    Returns
    -------
    AppendTotals
        All zero and '' if there are none.
    """
    appends = (
        "SELECT any(rows) AS rows_of_it, max(finished) AS instant FROM skyhouse.appends"
        f" WHERE {origin.condition_sql} AND finished != '' GROUP BY fingerprint"
    )
    sql = f"SELECT count() AS n, sum(rows_of_it) AS total, max(instant) AS last FROM ({appends})"
    [row] = engine.fetch_table(sql).to_pylist()
    return AppendTotals(int(row["n"]), int(row["total"] or 0), row["last"] or "")


def forget_appends(engine: Engine, schema_name: str, table_name: str) -> None:
    """Delete the records of all appends to a table, whatever their origin.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    schema_name, table_name : str
        Exact names.
    """
    delete_rows_later(Servers(engine), "skyhouse.appends", is_table_sql(schema_name, table_name))
