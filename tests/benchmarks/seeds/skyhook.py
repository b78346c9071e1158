"""Seed 003, Skyhook: scans and look-ups of a billion lines of TPC-H's lineitem, which Ceph's storage servers filter.

F is the seed's own size: 250 M orders with four lines in the mean. The seed's times are for one to 16 storage servers of
20 cores each: at the client, and at the servers alone.
"""

from __future__ import annotations

import random
from functools import partial

from tests.benchmarks.seeds.seed_workload import AskQuestion, Measure, Question, SeedTable, SeedWorkload, Size
from tests.benchmarks.seeds.skyhook_lineitem import LINEITEM_SCHEMA, ORDERS_A_BATCH, make_lineitem

_ORDERS: dict[Size, int] = {"S": 25_000, "M": ORDERS_A_BATCH, "F": ORDERS_A_BATCH}

LINEITEM = SeedTable(
    "skyhook.lineitem",
    LINEITEM_SCHEMA,
    {"S": 2, "M": 25, "F": 250},
    lambda size, number: make_lineitem(_ORDERS[size], number),
)

_PRICE = "l_extendedprice > 71000.0"
_INDEXED = "l_comment ILIKE '%uriously%'"
#: No quantity is below 1: the index cannot serve the other condition
_SCANNED = f"({_INDEXED} OR l_quantity < 1)"


def _count_rows(condition: str) -> AskQuestion:
    """Count rows, as the seed did; in the tests with sums by which other rows would show."""

    def ask(_: random.Random, size: Size) -> Question:
        sums = ", SUM(l_orderkey) AS keys, MIN(l_comment) AS least" if size == "S" else ""
        text = f"SELECT COUNT(*) AS n{sums} FROM skyhook.lineitem WHERE {condition}"
        return Question(text, text)

    return ask


def _select_rows(condition: str) -> AskQuestion:
    text = f"SELECT * FROM skyhook.lineitem WHERE {condition}"
    return lambda _draw, _size: Question(text, text)


def _look_up(draw: random.Random, size: Size) -> Question:
    orders = LINEITEM.batches[size] * _ORDERS[size]
    order = draw.randrange(orders)
    key = order // 8 * 32 + order % 8
    text = f"SELECT l_extendedprice FROM skyhook.lineitem WHERE l_orderkey = {key} AND l_linenumber = 1"
    return Question(text, text)


def _look_up_without_index(draw: random.Random, size: Size) -> Question:
    """Ask for the part and the quantity of some line, which have no index."""
    lines = make_lineitem(_ORDERS[size], draw.randrange(LINEITEM.batches[size]))
    part, quantity = (lines[name][0].as_py() for name in ("l_partkey", "l_quantity"))
    text = f"SELECT l_extendedprice FROM skyhook.lineitem WHERE l_partkey = {part} AND l_quantity = {quantity}"
    return Question(text, text)


_BOTH = "over 300 s with one server, 150 s with 16; below 50 s at the 16 servers (320 cores)"
_AT_SERVERS = 50.0 * 320
_WITH_CLIENT = 150.0 * 320

_measure = partial(Measure, tables=(LINEITEM,))

WORKLOAD = SeedWorkload(
    number="003",
    title="Skyhook: a billion rows filtered in storage",
    source="TPC-H lineitem, 16 columns, one client; 1 to 16 Ceph servers of 20 cores with one SSD, cold cache.",
    measures=(
        _measure("Qb counted", "a tenth of the rows by price", _count_rows(_PRICE), 8, _BOTH, _AT_SERVERS, is_cold=True),
        _measure("Qb as BINARY2", "a tenth of the rows, all columns", _select_rows(_PRICE), 150, _BOTH, _WITH_CLIENT, format="votable"),
        _measure("Qb as Parquet", "a tenth of the rows, all columns", _select_rows(_PRICE), 60, _BOTH, _WITH_CLIENT, format="parquet"),
        _measure("Qd", "one line by its key", _look_up, 0.010, "a few seconds (10,000 look-ups at the servers)", count=200, is_cold=True, cold_aim=None),
        _measure("Qd without index", "lines of a part and a quantity, by a scan", _look_up_without_index, 8, _BOTH, _AT_SERVERS),
        _measure("Qf counted", "a word in comments, by the text index", _count_rows(_INDEXED), 2, _BOTH, _AT_SERVERS, is_cold=True),
        _measure("Qf counted without index", "a word in comments, by a scan", _count_rows(_SCANNED), 40, _BOTH, _AT_SERVERS),
        _measure("Qf as BINARY2", "the rows with the word, all columns", _select_rows(_INDEXED), 150, _BOTH, _WITH_CLIENT, format="votable"),
    ),
)  # fmt: skip
