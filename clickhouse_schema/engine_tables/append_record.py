"""The record of what was added to tables in place, in ``skyhouse.appends``: a row before each change, one after it.

An addition is known by ``origin``, which stands for the table that rows were added to, and by ``fingerprint``, which
stands for the rows. That of one that is not done yet has ``finished`` ''.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clickhouse_schema.cluster_topology import Topology
from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.replicated_tables import create_replicated_table, delete_rows_later

_COLUMNS = (
    "schema_name String, table_name String, version UInt64, origin String, fingerprint String, rows UInt64,"
    " rejected UInt64, files Array(String), finished String, state String"
)

#: Nanoseconds since 1970; after the last one even if the clock was set back.
NEXT_VERSION_SQL = "greatest(toUInt64(toUnixTimestamp64Nano(now64(9))), max(version) + 1)"


@dataclass(frozen=True, slots=True)
class AppendOrigin:
    """The table that rows are added to, as it was first loaded or last replaced."""

    schema_name: str
    table_name: str
    origin: str

    @property
    def condition_sql(self) -> str:
        return f"{is_table_sql(self.schema_name, self.table_name)} AND origin = {quote_string(self.origin)}"


def create_append_record(engine: Engine, topology: Topology) -> None:
    create_replicated_table(
        engine, topology, "skyhouse", "appends", _COLUMNS, "(schema_name, table_name, origin, fingerprint)"
    )


def write_append(
    engine: Engine,
    to: AppendOrigin,
    fingerprint: str,
    rows: int,
    rejected: int,
    files: Sequence[str],
    *,
    finished: str = "",
    state: str = "",
) -> None:
    """Before the change with its ``state``, after it with the instant ``finished``.

    Who reads the table in between finds that it is another (``apply.contents``).
    """
    values = ", ".join(
        [
            *(quote_string(text) for text in (to.schema_name, to.table_name)),
            NEXT_VERSION_SQL,
            *(quote_string(text) for text in (to.origin, fingerprint)),
            *(str(number) for number in (rows, rejected)),
            f"[{', '.join(quote_string(file) for file in files)}]",
            quote_string(finished),
            quote_string(state),
        ]
    )
    engine.execute(f"INSERT INTO skyhouse.appends SELECT {values} FROM skyhouse.appends")


def is_append_done(engine: Engine, to: AppendOrigin, fingerprint: str) -> bool:
    is_fingerprint = f"fingerprint = {quote_string(fingerprint)}"
    sql = f"SELECT count() AS n FROM skyhouse.appends WHERE {to.condition_sql} AND {is_fingerprint}"
    return bool(engine.fetch_table(f"{sql} AND finished != ''").column(0)[0].as_py())


def find_known_digests(engine: Engine, to: AppendOrigin, among: Sequence[str]) -> set[str]:
    """Those of ``among`` that the states of additions name as the digests of their files (``load.digests`` in JSON)."""
    each = "arrayJoin(JSONExtract(state, 'load', 'digests', 'Array(String)'))"
    wanted = ", ".join(quote_string(digest) for digest in among)
    sql = f"SELECT DISTINCT {each} AS digest FROM skyhouse.appends WHERE {to.condition_sql} AND digest IN ({wanted})"
    return set(engine.fetch_table(sql).column(0).to_pylist())


def read_begun_state(engine: Engine, to: AppendOrigin) -> str:
    """The state of the addition that is not done; '' if there is none."""
    sql = f"SELECT any(state) AS state FROM skyhouse.appends WHERE {to.condition_sql} GROUP BY fingerprint"
    found = engine.fetch_table(f"{sql} HAVING max(finished) = ''").to_pylist()
    return str(found[0]["state"]) if found else ""


@dataclass(frozen=True, slots=True)
class AppendTotals:
    """So many additions of so many rows; ``last`` is an instant, '' if there are none."""

    appends: int
    rows: int
    last: str


def sum_appends(engine: Engine, to: AppendOrigin) -> AppendTotals:
    """What was added and is done."""
    each = (
        "SELECT any(rows) AS rows_of_it, max(finished) AS instant FROM skyhouse.appends"
        f" WHERE {to.condition_sql} AND finished != '' GROUP BY fingerprint"
    )
    [row] = engine.fetch_table(
        f"SELECT count() AS n, sum(rows_of_it) AS total, max(instant) AS last FROM ({each})"
    ).to_pylist()
    return AppendTotals(int(row["n"]), int(row["total"] or 0), row["last"] or "")


def forget_appends(engine: Engine, schema_name: str, table_name: str, kept: str = "") -> None:
    """Drop the record of a table but for that of the origin ``kept``."""
    delete_rows_later(
        engine, "skyhouse.appends", f"{is_table_sql(schema_name, table_name)} AND origin != {quote_string(kept)}"
    )


def is_table_sql(schema_name: str, table_name: str) -> str:
    return f"schema_name = {quote_string(schema_name)} AND table_name = {quote_string(table_name)}"
