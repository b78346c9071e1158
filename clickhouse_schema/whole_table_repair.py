"""Repairs tables of which every server has all rows, without a Keeper, after a killed change reached only some servers.

This is only for the tables of Skyhouse itself, which are logs: if any server has a row, it was written, and no reader
uses deleted rows, so a deleted row that comes back does no harm.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import pyarrow as pa

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.servers import Servers

#: Rows that are still missing after this time are not being written by another process
_WRITING_SECONDS = 1.0

_ROW_HASH = "cityHash64(tuple(*))"

#: Deleted rows are ignored once their deletion has started; servers do not finish it at the same time
_SETTINGS = "SETTINGS apply_mutations_on_fly = 1"

_BATCH_ROWS = 2000

#: How many copies of each row there are, by its hash
_Counts = Mapping[int, int]


def copy_missing_rows(servers: Servers[Engine], tables: Iterable[str]) -> None:
    """Copy rows that some server lacks from a server that has them.

    Equal rows are counted: afterwards each server has a row as often as the server that had it most often. Nothing
    happens on a single server, and on servers with a Keeper. If servers differ, it waits for a second first, because
    another process may be writing.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the engine.
    tables : iterable of str
        Quoted names of whole tables of Skyhouse.

    Raises
    ------
    EngineError
        A server does not answer; the copy may be repeated.
    """
    if servers.topology.is_replicated or servers.topology.shards < 2:
        return
    engines = servers.list_engines()
    different = [table for table in tables if len({_fetch_sums(engine, table) for engine in engines}) > 1]
    if not different:
        return
    time.sleep(_WRITING_SECONDS)
    for table in different:
        _copy_rows(engines, table)


def _fetch_sums(engine: Engine, table: str) -> tuple[int, int]:
    [row] = engine.fetch_table(f"SELECT count() AS n, sum({_ROW_HASH}) AS hashes FROM {table} {_SETTINGS}").to_pylist()
    return row["n"], row["hashes"]


def _copy_rows(engines: Sequence[Engine], table: str) -> None:
    counts = [_count_rows(engine, table) for engine in engines]
    holders: dict[int, int] = {}
    for number, found in enumerate(counts):
        for row, count in found.items():
            if row not in holders or count > counts[holders[row]][row]:
                holders[row] = number
    for engine, found in zip(engines, counts, strict=True):
        missing: dict[int, dict[int, int]] = defaultdict(dict)
        for row, holder in holders.items():
            if (lacking := counts[holder][row] - found.get(row, 0)) > 0:
                missing[holder][row] = lacking
        for holder, rows in missing.items():
            _insert_rows(engines[holder], engine, table, rows)


def _count_rows(engine: Engine, table: str) -> _Counts:
    found = engine.fetch_table(f"SELECT {_ROW_HASH} AS hash, count() AS n FROM {table} GROUP BY hash {_SETTINGS}")
    return dict(zip(found["hash"].to_pylist(), found["n"].to_pylist(), strict=True))


def _insert_rows(source: Engine, target: Engine, table: str, rows: _Counts) -> None:
    """Insert rows of the source, each as many times as ``rows`` says."""
    left = iter(rows)
    while some := list(islice(left, _BATCH_ROWS)):
        wanted = ", ".join(map(str, some))
        found = source.fetch_table(
            f"SELECT *, {_ROW_HASH} AS __hash FROM {table} WHERE {_ROW_HASH} IN ({wanted})"
            f" LIMIT 1 BY __hash {_SETTINGS}"
        )
        times = [rows[row] for row in found["__hash"].to_pylist()]
        repeated = [index for index, count in enumerate(times) for _ in range(count)]
        copies = found.drop_columns(["__hash"]).take(pa.array(repeated, pa.int64()))
        target.insert_batches(table, copies.combine_chunks().to_batches())
