"""Numbers of two types compared in every clause of a query, against Python, which compares int and float exactly.

Each template is queried for many pairs of types at once, in a UNION ALL.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tap_service.services.queries.value_errors import explain_value_error
from tap_service.storage.engine.engine import Engine, EngineValueError
from tests.adql.storing import catalogue_of, store
from tests.support.adql_rows import Rows, query_rows

NAN, INF = math.nan, math.inf
Number = int | float | None
VALUES: dict[str, list[Number]] = {
    "byte": [0, 1, 255, None],
    "short": [0, 1, -1, 255, 32767, -32768, None],
    "int": [0, 1, 2**24 - 1, 2**24, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), None],
    "long": [0, 1, 2**24 + 1, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, -(2**53), 2**63 - 1, 2**63 - 1024,
             2**63 - 1023, -(2**63), -(2**63) + 1, 1, None],
    "float": [0.0, -0.0, 1.0, 0.5, float(np.float32(0.1)), 2.0**24, 2.0**24 + 2, 2.0**53, 2.0**63, -(2.0**63), -(2.0**53),
              2.0**31, NAN, INF, 255.0, None],
    "double": [-0.0, 1.0, 1.5, 0.1, 2.0**24 + 1, 2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**63, -(2.0**63), 2.0**63 - 1024,
               2.0**31 - 1, 1e300, NAN, -INF, None],
}  # fmt: skip
_COUNT = max(map(len, VALUES.values()))
COLUMNS = {f"{kind}_": [*values, *[None] * (_COUNT - len(values))] for kind, values in VALUES.items()}
#: Pairs for comparisons by hash: each kind once or twice
PAIRS = [("long_", "double_"), ("double_", "long_"), ("long_", "float_"), ("int_", "float_"), ("float_", "int_"),
         ("double_", "short_"), ("byte_", "double_"), ("int_", "long_"), ("float_", "double_"), ("double_", "double_")]  # fmt: skip

LITERALS = ("0", "-1", "1.5", "16777217", "16777217.0", "9007199254740992", "9007199254740992.0", "9007199254740993",
            "-9007199254740993", "9223372036854775807", "9223372036854775808", "9.223372036854775808e18",
            "-9223372036854775808", "1e19", "1e300")  # fmt: skip
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _make_table(name: str, layout_id: str = "id") -> Table:
    columns = [Column(name="id", datatype="int", nullable=False), Column(name="one", datatype="int")]
    columns += [Column(name=f"{kind}_", datatype=kind, nullable=f"{kind}_" != layout_id) for kind in VALUES]
    return Table(name=name, columns=tuple(columns), layout=Layout(id=(layout_id,)))


A, B, LARGE = _make_table("a"), _make_table("b"), _make_table("large", "long_")
SCHEMA = Schema(name="numbers", tables=(A, B, LARGE))


def _make_batch(table: Table) -> pa.RecordBatch:
    content = {"id": list(range(_COUNT)), "one": [1] * _COUNT, **COLUMNS}
    schema = pa.schema([(c.name, c.type.arrow) for c in table.columns])
    batch = pa.RecordBatch.from_arrays([pa.array(content[f.name], f.type) for f in schema], schema=schema)
    return batch.slice(0, _COUNT - 1) if table is LARGE else batch  # its id is never NULL


@pytest.fixture(scope="module")
def catalogue(engine: Engine) -> Catalogue:
    engine.execute("CREATE DATABASE IF NOT EXISTS numbers")
    for table in SCHEMA.tables:
        store(engine, "numbers", table, [_make_batch(table)])
    return catalogue_of(engine, SCHEMA)


def _is_equal(x: Number, y: Number) -> bool:
    return x is not None and y is not None and x == y


def _list_matches(x: str, y: str) -> Rows:
    return [(i, j) for i, j in product(range(_COUNT), repeat=2) if _is_equal(COLUMNS[x][i], COLUMNS[y][j])]


def _list_joined(x: str, y: str, *, left: bool, right: bool) -> Rows:
    found = _list_matches(x, y)
    rows: Rows = list(found)
    rows += [(i, None) for i in range(_COUNT) if left and i not in {i for i, _ in found}]
    return rows + [(None, j) for j in range(_COUNT) if right and j not in {j for _, j in found}]


_KEYED = "FROM (SELECT id AS i, {x} AS k FROM a) AS a {join} (SELECT id AS j, {y} AS k FROM b) AS b {using}"

#: Join of the rows with equal numbers -> sides whose unmatched rows it keeps
JOINS = {
    "FROM a JOIN b ON a.{x} = b.{y} OR (a.{x} = b.{y} AND a.id < b.id)": "",
    "FROM a JOIN b ON NOT (a.{x} <> b.{y})": "",
    "FROM a JOIN b ON a.one = b.one WHERE a.{x} = b.{y}": "",
    "FROM a JOIN b ON a.one = b.one AND a.{x} BETWEEN b.{y} AND b.{y}": "",
    "FROM a, b WHERE a.{x} = b.{y}": "",
    "FROM a, b WHERE a.{x} IN (b.{y}, NULL)": "",
    "FROM a, b WHERE CASE a.{x} WHEN b.{y} THEN 1 END = 1": "",
    "FROM a LEFT JOIN b ON a.one = b.one WHERE a.{x} = b.{y}": "",
    "FROM a LEFT JOIN b ON a.{x} = b.{y}": "left",
    "FROM a LEFT JOIN b ON a.{x} = b.{y} JOIN (SELECT one FROM a WHERE id = 0) AS c ON"
    " DISTANCE(POINT(COALESCE(b.one, a.one), a.one), POINT(c.one, c.one)) < 1": "left",
    "FROM a RIGHT JOIN b ON a.{x} = b.{y}": "right",
    "FROM a FULL JOIN b ON a.{x} = b.{y}": "left right",
    "FROM a FULL JOIN b ON a.{x} IN (b.{y}, b.{y})": "left right",
    _KEYED.format(x="{x}", y="{y}", join="JOIN", using="USING (k)"): "",
    _KEYED.format(x="{x}", y="{y}", join="FULL JOIN", using="USING (k)"): "left right",
    _KEYED.format(x="{x}", y="{y}", join="NATURAL RIGHT JOIN", using=""): "right",
}


Pairs = Iterable[tuple[str, str]]


def _write_union(template: str, pairs: Pairs = PAIRS) -> str:
    return " UNION ALL ".join(
        f"SELECT {number} AS pair, {template.format(x=x, y=y)}" for number, (x, y) in enumerate(pairs)
    )


def _list_expected(rows_of: Callable[[str, str], Rows], pairs: Pairs = PAIRS) -> Rows:
    return [(number, *row) for number, (x, y) in enumerate(pairs) for row in rows_of(x, y)]


def _assert_same(found: Rows, expected: Rows) -> None:
    assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("template", JOINS)
def test_joins(template: str, engine: Engine, catalogue: Catalogue) -> None:
    sides = JOINS[template]
    columns = "i, j" if "AS i" in template else "a.id, b.id"
    query = _write_union(f"{columns} {template}")
    expected = _list_expected(lambda x, y: _list_joined(x, y, left="left" in sides, right="right" in sides))
    _assert_same(query_rows(engine, catalogue, query), expected)


# --- conditions in three-valued logic ---------------------------------------------------------------------------------


def _write_truth(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1 WHEN NOT ({condition}) THEN 0 ELSE 2 END"


def _number_truth(truth: bool | None) -> int:
    return 2 if truth is None else int(truth)


def _is_member(x: Number, values: list[Number]) -> bool | None:
    if any(_is_equal(x, y) for y in values):
        return True
    return None if values and (x is None or None in values) else False


def test_comparisons(engine: Engine, catalogue: Catalogue) -> None:
    pairs = list(combinations_with_replacement(COLUMNS, 2))
    shown = ", ".join(_write_truth(f"a.{{x}} {op} b.{{y}}") for op in COMPARISONS)
    found = query_rows(engine, catalogue, _write_union(f"a.id, b.id, {shown} FROM a, b", pairs))

    def rows(x: str, y: str) -> Iterator[tuple[Any, ...]]:
        for (i, v), (j, w) in product(enumerate(COLUMNS[x]), enumerate(COLUMNS[y])):
            known = v is not None and w is not None
            yield i, j, *(_number_truth(compare(v, w) if known else None) for compare in COMPARISONS.values())

    _assert_same(found, _list_expected(lambda x, y: list(rows(x, y)), pairs))


#: Members of IN: the subquery, and which rows of b it has for row i of a
SUBQUERIES: dict[str, Callable[[int, str], list[Number]]] = {
    "SELECT {y} FROM b": lambda _, y: COLUMNS[y],
    "SELECT {y} FROM b WHERE {y} IS NOT NULL": lambda _, y: [v for v in COLUMNS[y] if v is not None],
    "SELECT {y} FROM b WHERE id < 0": lambda _i, _y: [],
    "SELECT b.{y} FROM b WHERE b.id = a.id": lambda i, y: COLUMNS[y][i : i + 1],
    "SELECT b.{y} FROM b WHERE b.id <= a.id AND b.{y} IS NOT NULL": lambda i, y: [
        v for v in COLUMNS[y][: i + 1] if v is not None
    ],
}


@pytest.mark.parametrize("subquery", SUBQUERIES)
def test_in_subquery(subquery: str, engine: Engine, catalogue: Catalogue) -> None:
    """Test it as a value, and in WHERE, where some become joins."""

    def truth(i: int, x: str, y: str) -> bool | None:
        return _is_member(COLUMNS[x][i], SUBQUERIES[subquery](i, y))

    condition = f"a.{{x}} IN ({subquery})"
    _assert_same(
        query_rows(engine, catalogue, _write_union(f"a.id, {_write_truth(condition)} FROM a")),
        _list_expected(lambda x, y: [(i, _number_truth(truth(i, x, y))) for i in range(_COUNT)]),
    )
    both = " UNION ALL ".join(_write_union(f"{wanted}, a.id FROM a WHERE {condition}") for wanted, condition in
                              ((1, condition), (0, f"NOT {condition}")))  # fmt: skip
    wanted = [
        [(truth_number, i) for truth_number in (1, 0) for i in range(_COUNT) if truth(i, x, y) is bool(truth_number)]
        for x, y in PAIRS
    ]
    _assert_same(query_rows(engine, catalogue, both), [(n, *row) for n, rows in enumerate(wanted) for row in rows])


def _count_partners(i: int, x: str, y: str) -> int:
    return sum(_is_equal(COLUMNS[x][i], v) for v in COLUMNS[y])


@pytest.mark.parametrize(
    ("template", "rows"),
    [
        ("WHERE EXISTS (SELECT 1 FROM b WHERE b.{y} = a.{x})", lambda n: n > 0),
        ("WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.{y} = a.{x})", lambda n: n == 0),
        ("WHERE (SELECT COUNT(*) FROM b WHERE b.{y} = a.{x} AND b.id + a.id > -1) > 1", lambda n: n > 1),
        ("WHERE CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.{y} = a.{x}) THEN 1 END = 1", lambda n: n > 0),
        (
            "WHERE EXISTS (SELECT b.{x} FROM b WHERE b.id = a.id AND b.{x} = b.{x}"
            " INTERSECT SELECT b.{y} FROM b WHERE b.id + a.id > -1)",
            lambda n: n > 0,
        ),
        ("WHERE (SELECT MAX(b.one) FROM b WHERE b.{y} = a.{x}) = 1", lambda n: n > 0),
    ],
)
def test_correlated(template: str, rows: Callable[[int], bool], engine: Engine, catalogue: Catalogue) -> None:
    _assert_same(
        query_rows(engine, catalogue, _write_union(f"a.id FROM a {template}")),
        _list_expected(lambda x, y: [(i,) for i in range(_COUNT) if rows(_count_partners(i, x, y))]),
    )


def test_literals(engine: Engine, catalogue: Catalogue) -> None:
    """Test one literal, chains and lists: the engine's IN converts literals to the type of the compared value."""
    numbers = [float(text) if set(text) & {".", "e"} else int(text) for text in LITERALS]
    pairs = list(zip(LITERALS, numbers, LITERALS[1:], numbers[1:], strict=False))
    shown = [f"{{0}} {op} {text}" for text in LITERALS for op in ("=", "<", "<=")]
    for first, _, second, _ in pairs:
        shown += [f"{{0}} IN ({first}, {second})", f"{{0}} = {first} OR {{0}} = {second}"]
        shown += [f"NOT ({{0}} <> {first} AND {{0}} <> {second})", f"{{0}} NOT IN ({first}, NULL)"]
    columns = list(COLUMNS)
    selected = ", ".join(map(_write_truth, shown))
    query = " UNION ALL ".join(f"SELECT {n}, id, {selected.format(c)} FROM a" for n, c in enumerate(columns))

    def row(value: Number) -> Iterator[bool | None]:
        for number in numbers:
            yield from (None if value is None else COMPARISONS[op](value, number) for op in ("=", "<", "<="))
        for _, first, _, second in pairs:
            yield from [_is_member(value, [first, second])] * 3
            yield False if _is_equal(value, first) else None

    expected = [(n, i, *map(_number_truth, row(v))) for n, c in enumerate(columns) for i, v in enumerate(COLUMNS[c])]
    _assert_same(query_rows(engine, catalogue, query), expected)


def test_literals_compared_with_each_other(engine: Engine, catalogue: Catalogue) -> None:
    pairs = ("9007199254740993 = 9007199254740992.0", "9007199254740993 IN (9007199254740992.0, 5)",
             "9223372036854775807 = 9223372036854775808", "16777217 = CAST(16777216 AS REAL)")  # fmt: skip
    shown = ", ".join(map(_write_truth, pairs))
    assert query_rows(engine, catalogue, f"SELECT {shown} FROM a WHERE id = 0") == [(0,) * len(pairs)]
    # a condition that is never true, combined with a position
    query = "SELECT COUNT(*) FROM a WHERE {} OR (id < 0 AND 1 = CONTAINS(POINT(double_, double_), CIRCLE(0, 0, 1)))"
    assert query_rows(engine, catalogue, query.format("9007199254740993 <> 9007199254740992.0")) == [(_COUNT,)]
    assert query_rows(engine, catalogue, query.format("9007199254740992 + 1 = 9007199254740993")) == [(_COUNT,)]
    assert query_rows(
        engine, catalogue, "SELECT id FROM a WHERE id = 0 AND 2 * 4503599627370496 + 1 = -(-9007199254740993)"
    ) == [(0,)]


# --- set operations ---------------------------------------------------------------------------------------------------


def _make_key(value: Number) -> Any:
    """Return a key that is equal for equal rows of set operations, also for NaN."""
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def _apply_set_operation(op: str, left: list[Any], right: list[Any]) -> list[Any]:
    rest, rows = [_make_key(v) for v in right], []
    for value in [_make_key(v) for v in left]:
        partner = next((k for k, v in enumerate(rest) if v == value), None)
        if (partner is not None) == op.startswith("INTERSECT"):
            rows.append(value)
        if partner is not None and op.endswith("ALL"):
            del rest[partner]
    return rows if op.endswith("ALL") else list(dict.fromkeys(rows))


@pytest.mark.parametrize("op", ["EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"])
def test_except_and_intersect_keep_the_left_sides_values(op: str, engine: Engine, catalogue: Catalogue) -> None:
    integers = [c for c in COLUMNS if c not in ("float_", "double_")]
    for lefts in (integers, ["float_", "double_"]):
        parts, expected = [], []
        for number, (x, y) in enumerate(product(lefts, COLUMNS)):
            parts.append(f"SELECT {number}, q.v FROM (SELECT {x} AS v, one FROM a {op} SELECT {y}, one FROM b) AS q")
            expected += [(number, v) for v in _apply_set_operation(op, COLUMNS[x], COLUMNS[y])]
        found = [(n, _make_key(v)) for n, v in query_rows(engine, catalogue, " UNION ALL ".join(parts))]
        plain = [[(n, v + 0.0 if isinstance(v, float) else v) for n, v in rows] for rows in (found, expected)]
        _assert_same(*plain)


#: Queries that convert a BIGINT to DOUBLE
CHOICES = (
    "SELECT {long} FROM a UNION SELECT double_ FROM b",
    "SELECT double_ FROM a UNION ALL SELECT {long} FROM b",
    "SELECT COALESCE(double_, {long}) FROM a",
    "SELECT CASE WHEN id > 2 THEN {long} ELSE 0.5 END FROM a",
    "SELECT greatest({long}, double_) FROM a",
    "SELECT LAG(double_, 1, {long}) OVER (ORDER BY id DESC) FROM a WHERE id < 12",
    "SELECT k FROM (SELECT {long} AS k FROM a) AS a FULL JOIN (SELECT double_ AS k FROM b) AS b USING (k)",
)


@pytest.mark.parametrize("query", CHOICES)
def test_a_bigint_is_rounded_only_by_a_cast(query: str, engine: Engine, catalogue: Catalogue) -> None:
    with pytest.raises(EngineValueError) as caught:
        query_rows(engine, catalogue, query.format(long="long_"))
    assert "a BIGINT has too many digits for a column of DOUBLE" in explain_value_error(caught.value)
    assert query_rows(engine, catalogue, query.format(long="CAST(long_ AS DOUBLE PRECISION)"))


def test_integers_that_double_holds_unite_with_reals(engine: Engine, catalogue: Catalogue) -> None:
    query = "SELECT long_ AS v FROM a WHERE id IN (0, 3, 4, 12) UNION SELECT double_ FROM a WHERE id IN (0, 5, 9)"
    assert sorted(query_rows(engine, catalogue, query)) == [(-(2.0**63),), (0.0,), (2.0**53 - 1,), (2.0**53,)]


# --- look-ups by the values of a small table ---------------------------------------------------------------------------


@pytest.mark.parametrize("column", COLUMNS)
def test_ids_of_a_small_table(column: str, engine: Engine, catalogue: Catalogue) -> None:
    """An upload with NULLs among its ids often has them as DOUBLE: the large table is still looked up by id."""
    counted = catalogue_of(engine, SCHEMA, counts={("numbers", "large"): 10_000_000, ("numbers", "b"): _COUNT})
    query = f"SELECT a.id, b.id FROM large AS a JOIN b ON a.long_ = b.{column}"
    assert " IN (SELECT " in translate(query, counted).sql
    _assert_same(
        query_rows(engine, counted, query), [(i, j) for i, j in _list_matches("long_", column) if i < _COUNT - 1]
    )
