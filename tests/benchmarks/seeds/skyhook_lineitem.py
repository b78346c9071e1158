"""TPC-H's lineitem in batches that do not depend on each other: the table of seed 003.

Keys, quantities, prices and dates follow TPC-H's rules (specification 3.0.1, section 4.2.3): 8 of every 32 order keys
exist, an order has one to seven lines, the price is the quantity times the price of the part. Dates are days since
1970. Comments are slices of a long text of sentences, as dbgen makes them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tests.benchmarks.sentence_words import ADJECTIVES, ADVERBS, NOUNS, VERBS

#: Rows of a batch, about: orders have one to seven lines
ORDERS_A_BATCH = 1_000_000
_PARTS = 20_000_000
_SUPPLIERS = 1_000_000
_FIRST_DAY, _LAST_ORDER_DAY, _CURRENT_DAY = 8035, 10440, 9298  # 1992-01-01, 1998-08-02, 1995-06-17

_TEXT_BYTES = 4_000_000
_COMMENT_LENGTHS = (10, 44)

_INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
_MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")

#: furiously six times more: "uriously" is in a tenth of the comments, as in TPC-H
_ADVERBS = (*ADVERBS, *["furiously"] * 6)

LINEITEM_SCHEMA = """
name: skyhook
tables:
- name: lineitem
  description: Lines of orders, after TPC-H
  columns:
  - {name: l_orderkey, datatype: long, nullable: false}
  - {name: l_partkey, datatype: int, nullable: false}
  - {name: l_suppkey, datatype: int, nullable: false}
  - {name: l_linenumber, datatype: short, nullable: false}
  - {name: l_quantity, datatype: short, nullable: false}
  - {name: l_extendedprice, datatype: double, nullable: false}
  - {name: l_discount, datatype: float, nullable: false}
  - {name: l_tax, datatype: float, nullable: false}
  - {name: l_returnflag, datatype: char, length: 1, nullable: false}
  - {name: l_linestatus, datatype: char, length: 1, nullable: false}
  - {name: l_shipdate, datatype: short, ivoa:unit: d, nullable: false}
  - {name: l_commitdate, datatype: short, ivoa:unit: d, nullable: false}
  - {name: l_receiptdate, datatype: short, ivoa:unit: d, nullable: false}
  - {name: l_shipinstruct, datatype: string, nullable: false}
  - {name: l_shipmode, datatype: string, nullable: false}
  - {name: l_comment, datatype: string, nullable: false}
  skyhouse:layout: {id: [l_orderkey, l_linenumber], indexes: {l_comment: text}}
"""


def make_lineitem(orders: int, batch: int) -> pa.Table:
    """Return the lines of the orders of one batch; ``orders`` is the number of orders of each batch."""
    draw = np.random.default_rng((3, batch))
    order = np.arange(batch * orders, (batch + 1) * orders)
    lines = draw.integers(1, 8, orders)
    rows = int(lines.sum())
    key = np.repeat(order // 8 * 32 + order % 8, lines)
    number = np.arange(rows) - np.repeat(np.cumsum(lines) - lines, lines) + 1
    part = draw.integers(1, _PARTS + 1, rows)
    quantity = draw.integers(1, 51, rows)
    retail = (90_000 + part // 10 % 20_001 + 100 * (part % 1000)) / 100
    ordered = np.repeat(draw.integers(_FIRST_DAY, _LAST_ORDER_DAY - 151, orders), lines)
    shipped = ordered + draw.integers(1, 122, rows)
    received = shipped + draw.integers(1, 31, rows)
    is_returned = received <= _CURRENT_DAY
    flag = np.where(is_returned, draw.integers(0, 2, rows), 2)
    columns: dict[str, pa.Array | NDArray[np.generic]] = {
        "l_orderkey": key,
        "l_partkey": part.astype(np.int32),
        "l_suppkey": (part + draw.integers(0, 4, rows) * (_SUPPLIERS // 4)).astype(np.int32) % _SUPPLIERS + 1,
        "l_linenumber": number.astype(np.int16),
        "l_quantity": quantity.astype(np.int16),
        "l_extendedprice": np.round(quantity * retail, 2),
        "l_discount": (draw.integers(0, 11, rows) / 100).astype(np.float32),
        "l_tax": (draw.integers(0, 9, rows) / 100).astype(np.float32),
        "l_returnflag": _choose_words(("R", "A", "N"), flag),
        "l_linestatus": _choose_words(("O", "F"), (shipped <= _CURRENT_DAY).astype(int)),
        "l_shipdate": shipped.astype(np.int16),
        "l_commitdate": (ordered + draw.integers(30, 91, rows)).astype(np.int16),
        "l_receiptdate": received.astype(np.int16),
        "l_shipinstruct": _choose_words(_INSTRUCTIONS, draw.integers(0, len(_INSTRUCTIONS), rows)),
        "l_shipmode": _choose_words(_MODES, draw.integers(0, len(_MODES), rows)),
        "l_comment": _cut_comments(draw, rows),
    }
    return pa.table(columns)


def _choose_words(words: tuple[str, ...], numbers: NDArray[np.integer]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(numbers.astype(np.int8), pa.array(words)).cast(pa.string())


@cache
def _make_text() -> NDArray[np.uint8]:
    draw = np.random.default_rng(3)
    count = _TEXT_BYTES // 12  # a sentence has about twice as many bytes
    chosen = [draw.choice(words, count) for words in (_ADVERBS, ADJECTIVES, NOUNS, VERBS)]
    has_adverb, has_adjective = draw.random(count) < 0.6, draw.random(count) < 0.5
    sentences = (
        " ".join((*([adverb] if a else []), *([adjective] if b else []), noun, verb))
        for adverb, adjective, noun, verb, a, b in zip(*chosen, has_adverb, has_adjective, strict=True)
    )
    return np.frombuffer(". ".join(sentences).encode()[:_TEXT_BYTES], np.uint8)


def _cut_comments(draw: np.random.Generator, rows: int) -> pa.Array:
    text = _make_text()
    lengths = draw.integers(*_COMMENT_LENGTHS, rows)
    starts = draw.integers(0, len(text) - _COMMENT_LENGTHS[1], rows)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    indexes = np.arange(ends[-1], dtype=np.int32) + np.repeat((starts - ends[:-1]).astype(np.int32), lengths)
    letters = pa.array(text).take(pa.array(indexes))  # numpy would first widen all indexes to 64 bits
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), letters.buffers()[1]]
    return pa.Array.from_buffers(pa.string(), rows, buffers)
