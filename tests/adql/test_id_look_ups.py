"""Look-ups by id read the projections of small parts, with the answers of tables without projections."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from clickhouse_schema.table_index import TableIndex
from tap_service.storage.engine.engine import Engine
from tests.support.adql_rows import make_comparable, query_rows

_SETTING = "min_table_rows_to_use_projection_index"
_BY_PROJECTION = "Projection has been analyzed and will be applied during reading"

_PARTS = 3
_PART_ROWS = 12_000  # more than the setting requires, far fewer than ClickHouse's default requires

_TABLES = {
    "stars": (
        Layout(position=("ra", "dec"), id=("id",)),
        (
            Column(name="id", datatype="long"),
            Column(name="ra", datatype="double"),
            Column(name="dec", datatype="double"),
            Column(name="name", datatype="char", arraysize="*"),
        ),
    ),
    "named": (
        Layout(position=("ra", "dec"), id=("name",)),
        (
            Column(name="name", datatype="char", arraysize="*"),
            Column(name="ra", datatype="double"),
            Column(name="dec", datatype="double"),
        ),
    ),
    "seen": (
        Layout(
            position=("ra", "dec"),
            id=("field", "number"),
            indexes=(TableIndex(columns=("number", "ra")), TableIndex(columns=("field", "turn"))),
        ),
        (
            Column(name="field", datatype="int", nullable=False),
            Column(name="number", datatype="int", nullable=False),
            Column(name="turn", datatype="int"),
            Column(name="ra", datatype="double"),
            Column(name="dec", datatype="double"),
        ),
    ),
    "few": (
        Layout(),
        (
            Column(name="id", datatype="long"),
            Column(name="word", datatype="char", arraysize="*"),
            Column(name="target", datatype="long"),
            Column(name="turn", datatype="double"),
        ),
    ),
}


def _make_catalogue(*, has_layouts: bool) -> Catalogue:
    tables = tuple(
        Table(name=name, columns=columns, layout=layout if has_layouts else Layout())
        for name, (layout, columns) in _TABLES.items()
    )
    counts = {("looked", name): 40 if name == "few" else 20_000_000 for name in _TABLES}
    return Catalogue((Schema(name="looked", tables=tables),), counts if has_layouts else {})


LOOKED, PLAIN = _make_catalogue(has_layouts=True), _make_catalogue(has_layouts=False)


def _make_id(row: int) -> int | None:
    """Return an id: unordered, some negative, None in each 50th row; 100 and 200 are in all parts, and twice in one."""
    if row % 50 == 49:
        return None
    return {100: 100, 200: 200, 201: 200}.get(row % _PART_ROWS, (row * 7919 + 1) % 50_021 - 20_000)


def _make_columns(name: str, rows: range) -> list[list[object]]:
    positions = [[None if r % 40 == 7 else r * 0.618 * 360 % 360 for r in rows], [r * 0.01 % 180 - 90 for r in rows]]
    ids = [_make_id(r) for r in rows]
    texts = [None if i is None else f"star {i}" for i in ids]
    return {
        "stars": [ids, *positions, texts],
        "named": [texts, *positions],
        "seen": [[r % 700 for r in rows], [r // 700 for r in rows], [r // 700 % 10 for r in rows], *positions],
        "few": [ids, texts, [r * 37 % 750 for r in rows], [None if r % 7 == 3 else r % 12 for r in rows]],
    }[name]


@pytest.fixture(scope="module")
def looked(engine: Engine) -> Engine:
    engine.execute("CREATE DATABASE IF NOT EXISTS looked")
    for table in LOOKED.schemas[0].tables:
        stored = f"looked.{table.name}"
        engine.execute(create_table_sql(table, stored) + ", index_granularity = 64")
        engine.execute(f"SYSTEM STOP MERGES {stored}")
        schema = pa.schema([(column.name, column.type.arrow) for column in table.columns])
        count, parts = (40, 1) if table.name == "few" else (_PART_ROWS, _PARTS)
        for part in range(parts):
            columns = _make_columns(table.name, range(part * count, (part + 1) * count))
            arrays = [pa.array(values, each.type) for values, each in zip(columns, schema, strict=True)]
            engine.insert_batches(stored, [pa.RecordBatch.from_arrays(arrays, schema=schema)])
    return engine


#: Query -> columns that are looked up by the values of a small table: also later columns of an index
TOGETHER = {
    "SELECT a.word, b.ra FROM looked.few AS a JOIN looked.seen AS b ON a.target = b.field AND b.turn = a.turn": (
        ["field", "turn"]
    ),
    "SELECT a.target, q.d FROM looked.few AS a LEFT JOIN (SELECT field AS f, turn AS n, dec AS d FROM looked.seen) AS q"
    " ON q.n = a.turn AND q.f = a.target": ["field", "turn"],
    "SELECT a.word, b.ra FROM looked.few AS a JOIN looked.seen AS b ON b.turn = a.turn WHERE b.field = 37": ["turn"],
    "SELECT a.word, b.ra FROM looked.few AS a JOIN looked.seen AS b ON b.turn = a.turn WHERE a.target = b.field": (
        ["field", "turn"]
    ),
    "SELECT a.word, b.ra FROM looked.few AS a JOIN looked.seen AS b ON a.turn = b.turn AND a.target = b.field + 1": [],
    "SELECT a.word, b.ra FROM looked.few AS a JOIN looked.seen AS b ON a.turn = b.turn WHERE b.field > 3": [],
}

#: Queries that read the table by a projection
BY_PROJECTION = [
    "SELECT * FROM looked.stars WHERE id = 13838",
    "SELECT * FROM looked.stars WHERE 100 = id AND dec < 80",
    "SELECT * FROM looked.stars WHERE id IN (100, 200, -4, 999999)",
    "SELECT ra, COUNT(*) FROM looked.stars WHERE id = 200 OR id IN (3, 100) GROUP BY ra",
    "SELECT * FROM looked.stars WHERE id = 99 + 1",
    "SELECT a.ra, b.dec FROM looked.stars AS a JOIN looked.stars AS b ON a.id = b.id AND b.id = 200",
    "SELECT COUNT(ra) FROM looked.stars WHERE id IN (SELECT id FROM looked.few WHERE word <> 'a')",
    "SELECT q.x, q.n FROM (SELECT id AS n, ra AS x FROM looked.stars WHERE dec < 0) AS q WHERE q.n = 100",
    "WITH q AS (SELECT id AS n, ra FROM looked.stars) SELECT * FROM q WHERE n IN (100, 200)",
    "SELECT a.word, b.ra FROM looked.few AS a JOIN looked.stars AS b ON a.id = b.id",
    "SELECT ra FROM looked.stars WHERE id = 100 UNION ALL SELECT ra FROM looked.stars WHERE id > 30010",
    "SELECT * FROM looked.named WHERE name = 'star 100'",
    "SELECT * FROM looked.named WHERE name IN ('star -4', 'star', '')",
    "SELECT * FROM looked.seen WHERE field = 17 AND number = 5",
    "SELECT * FROM looked.seen WHERE field = 17 AND number < 5",
    "SELECT dec FROM looked.seen WHERE number = 5",
    "SELECT dec FROM looked.seen WHERE number IN (5, 7) AND ra BETWEEN 10 AND 20",
    *(query for query, columns in TOGETHER.items() if columns),
]

#: Further look-ups: no part has the ids, the projection has all columns, or a cone leaves fewer rows
LOOK_UPS = [
    *BY_PROJECTION,
    "SELECT * FROM looked.stars WHERE id = 9223372036854775807",
    "SELECT * FROM looked.stars WHERE id = 100.5",
    "SELECT id, COUNT(*) FROM looked.stars WHERE id IN (100, 200) GROUP BY id",
    "SELECT a.id, b.dec FROM looked.few AS a JOIN looked.seen AS b ON a.id = b.number",
    "SELECT * FROM looked.stars WHERE id = 100 AND 1 = CONTAINS(POINT(ra, dec), CIRCLE(61.8, -89, 20))",
    "SELECT * FROM looked.stars WHERE id IN (100, 24147, -3733) AND ra IS NULL",
    "SELECT a.id, b.id FROM looked.stars AS a LEFT JOIN looked.stars AS b ON a.id = b.id + 1 WHERE a.id IN (100, 4)",
    "SELECT a.id, b.id FROM looked.stars AS a LEFT JOIN looked.stars AS b ON a.id = b.id + 1 WHERE b.id IN (100, 4)",
    "SELECT COUNT(ra) FROM looked.seen WHERE field IN (SELECT id + 4294967296 FROM looked.few)",
    "SELECT word FROM looked.few WHERE id IN (SELECT id FROM looked.stars WHERE id IN (1, 7920, 100))",
    "SELECT a.id, b.ra FROM looked.few AS a LEFT JOIN looked.stars AS b ON a.id = b.id AND b.id = 100",
]

OTHERS = [
    "SELECT COUNT(*) FROM looked.stars WHERE id NOT IN (SELECT id FROM looked.few)",
    "SELECT COUNT(*) FROM looked.stars WHERE id > 100",
    "SELECT COUNT(*) FROM looked.stars WHERE id = 100 OR dec > 0",
    "SELECT COUNT(*) FROM looked.stars WHERE NOT id = 100",
    "SELECT COUNT(*) FROM looked.stars WHERE name = 'star 100'",
    "SELECT COUNT(*) FROM looked.stars WHERE id = FLOOR(ra)",
    "SELECT COUNT(*) FROM looked.seen WHERE ra = 5",
    "SELECT COUNT(*) FROM looked.stars WHERE id IN (SELECT number FROM looked.seen)",
]


@pytest.mark.parametrize("query", [*LOOK_UPS, *OTHERS, *TOGETHER])
def test_answers_equal_those_without_an_index(query: str, looked: Engine) -> None:
    found, plain = (sorted(query_rows(looked, catalogue, query), key=repr) for catalogue in (LOOKED, PLAIN))
    assert make_comparable(found) == make_comparable(plain)


#: Queries with an AND that ClickHouse would evaluate as true if it read a projection
ANDS = [
    "SELECT * FROM looked.stars WHERE id = 100 AND NOT (dec > 1000 AND ra > 1000)",
    "SELECT * FROM looked.stars WHERE id = 100 AND CASE WHEN dec > 1000 AND ra > 1000 THEN 0 ELSE 1 END = 1",
    "SELECT * FROM looked.stars WHERE id IN (100, 200) AND NOT (dec BETWEEN 1000 AND 1001)",
    "SELECT * FROM looked.stars WHERE id = 100 AND 0 = CONTAINS(POINT(ra, dec), BOX(266, 0, 0.1, 0.1))",
    "SELECT * FROM (SELECT id, ra, CASE WHEN dec > 99 AND ra > 999 THEN 0 ELSE 1 END AS x FROM looked.stars) AS q"
    " WHERE id = 100 AND x = 1",
    "SELECT a.ra FROM looked.stars AS a JOIN looked.few AS b ON a.id = b.id AND NOT (a.dec > 1000 AND a.ra > 1000)",
    "SELECT id, MIN(ra) FROM looked.stars WHERE id = 100 GROUP BY id HAVING NOT (MIN(ra) > 999 AND id > 999)",
    "SELECT * FROM looked.stars WHERE NOT (id = 100 OR dec > 0)",  # an error if a projection is read
    "SELECT * FROM looked.stars WHERE NOT (NOT (id = 100 AND dec IS NOT NULL))",
]


@pytest.mark.parametrize("query", ANDS)
def test_an_and_inside_a_condition_loses_no_row(query: str, looked: Engine) -> None:
    translation = translate(query, LOOKED)
    eager = translation.settings | {_SETTING: 0}
    found = looked.fetch_table(translation.sql, eager).num_rows
    assert found == len(query_rows(looked, PLAIN, query)) > 0


@pytest.mark.parametrize("query", BY_PROJECTION)
def test_a_look_up_reads_the_projections_of_small_parts(query: str, looked: Engine) -> None:
    translation = translate(query, LOOKED)
    assert _BY_PROJECTION in looked.explain_query(translation.sql, translation.settings)
    without = {name: value for name, value in translation.settings.items() if name != _SETTING}
    assert _BY_PROJECTION not in looked.explain_query(translation.sql, without)


def test_a_look_up_reads_a_granule_of_each_projection(looked: Engine) -> None:
    translation = translate("SELECT ra FROM looked.stars WHERE id = 100", LOOKED)
    plan = looked.explain_query(translation.sql, translation.settings)
    assert re.findall(r"^ *(Parts|Marks): (\d+)$", plan[plan.index("Name: by_id") :], re.MULTILINE) == [
        ("Parts", str(_PARTS)),
        ("Marks", str(_PARTS)),
    ], plan


@pytest.mark.parametrize("query", TOGETHER)
def test_columns_of_an_index_are_looked_up_together(query: str) -> None:
    assert sorted(re.findall(r"`(\w+)` IN \(SELECT", translate(query, LOOKED).sql)) == TOGETHER[query]


@pytest.mark.parametrize("query", BY_PROJECTION)
def test_a_look_up_has_the_setting(query: str) -> None:
    assert _SETTING in translate(query, LOOKED).settings


@pytest.mark.parametrize(
    ("condition", "word"),
    [
        ("name = 'star 100'", "PREWHERE"),
        ("name IN ('star 100', 'star 200') AND dec > 0", "PREWHERE"),
        ("name = 'star 100' AND name LIKE '%1%'", "WHERE"),
        ("name > 'star 100'", "WHERE"),
    ],
)
def test_a_look_up_by_texts_is_planned_by_the_translator(condition: str, word: str) -> None:
    sql = translate(f"SELECT ra FROM looked.named WHERE {condition}", LOOKED).sql
    assert f" {word} " in sql


@pytest.mark.parametrize("query", OTHERS)
def test_conditions_of_many_rows_leave_the_choice_to_clickhouse(query: str) -> None:
    assert _SETTING not in translate(query, LOOKED).settings


def test_a_table_without_an_id_has_no_look_up() -> None:
    assert _SETTING not in translate("SELECT * FROM looked.stars WHERE id = 100", PLAIN).settings


_PREFERRED = "preferred_optimize_projection_name"

#: Query -> index that is read alone: of several with a column of the condition, all its first columns are compared
ALONE = {
    "SELECT ra FROM looked.seen WHERE field = 4294967297 AND number = 5 AND ra > 1": "by_id",
    "SELECT dec FROM looked.seen WHERE number = 5 AND ra = 12": "by_columns_number__ra",
    "SELECT dec FROM looked.seen WHERE number = 5 AND field > 1": "",  # the id begins with field
    "SELECT COUNT(*) FROM looked.seen WHERE number = 5 AND dec > 0": "by_columns_number__ra",
    "SELECT dec FROM looked.seen WHERE number = 5 AND ra IN (SELECT id FROM looked.few)": "",
    "SELECT a.ra FROM looked.stars AS a JOIN looked.few AS b ON a.id = b.id WHERE a.id = 100": "",
}


@pytest.mark.parametrize("query", ALONE)
def test_one_index_is_read_alone(query: str, looked: Engine) -> None:
    translation = translate(query, LOOKED)
    assert translation.settings.get(_PREFERRED, "") == ALONE[query]
    if ALONE[query]:
        plan = looked.fetch_table(f"EXPLAIN indexes = 1, projections = 1 {translation.sql}", translation.settings)
        lines = [line.strip() for line in plan.column(0).to_pylist()]
        assert {line for line in lines if line.startswith("Name: by_")} == {f"Name: {ALONE[query]}"}
    assert make_comparable(query_rows(looked, LOOKED, query)) == make_comparable(query_rows(looked, PLAIN, query))
