"""Conditions on texts with a text index: the answers of tables without it, and the engine reads the index."""

from __future__ import annotations

import random
import re

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from clickhouse_schema.table_index import TableIndex
from tap_service.storage.engine.engine import Engine
from tests.support.adql_rows import query_rows

_COLUMNS = (
    Column(name="id", datatype="long", nullable=False),
    Column(name="number", datatype="int"),
    Column(name="note", datatype="unicode"),
    Column(name="label", datatype="char", arraysize="*"),
    Column(name="plain", datatype="unicode", nullable=False),
)
_TEXTS = ("note", "label", "plain")
_INDEXES = (*(TableIndex(columns=(name,), kind="text") for name in _TEXTS), TableIndex(columns=("number", "id")))
_LAYOUT = Layout(id=("id",), indexes=_INDEXES)
_PART_ROWS = 2_000


def _make_catalogue(layout: Layout) -> Catalogue:
    return Catalogue((Schema(name="texted", tables=(Table(name="t", columns=_COLUMNS, layout=layout),)),))


INDEXED, PLAIN = _make_catalogue(_LAYOUT), _make_catalogue(Layout())

_ASCII = [
    *("fork", "FORK", "Fork", "disk", "DISK", "likes", "sold", "m31", "M31", "NGC", "a", "k", "i", "s", "K", "I"),
    *("galaxy", "Galaxies", "clusters of", "1234", "42", " ", "  ", "-", "_", "%", "\\", "'", "#", ".", "\t"),
]
#: Also letters that equal k, s or i regardless of case, or become several letters
_ALL = [*_ASCII, "for\u212a", "di\u017fk", "L\u0130KES", "l\u0131kes", "stra\u00dfe", "STRASSE", "\ufb01ne", "FINE", "\u00c4rzte", "\u00e4rzte", "e\u0301", "\u65e5\u672c\u8a9e", "\u2013", "\u00a0"]  # fmt: skip


def _write_text(chooser: random.Random, parts: list[str]) -> str:
    return "".join(chooser.choice(parts) for _ in range(chooser.randint(0, 6)))


def _make_rows(part: int) -> list[list[object]]:
    chooser = random.Random(part)
    rows = range(part * _PART_ROWS, (part + 1) * _PART_ROWS)

    def texts(parts: list[str], nulls: float) -> list[object]:
        return [None if chooser.random() < nulls else _write_text(chooser, parts) for _ in rows]

    rare = {rows[7]: "the rare theodolites sleep", rows[8]: "RARE Theodolites#quick foxes"}
    columns = [texts(_ALL, 0.2), texts(_ASCII, 0.2), texts(_ALL, 0)]
    columns = [[rare.get(row, text) for row, text in zip(rows, column, strict=True)] for column in columns]
    return [[*rows], [None if row % 7 == 3 else row % 50 for row in rows], *columns]


@pytest.fixture(scope="module")
def texted(engine: Engine) -> Engine:
    """Return an engine with a table of three parts, the second without an index."""
    engine.execute("CREATE DATABASE IF NOT EXISTS texted")
    engine.execute("DROP TABLE IF EXISTS texted.t SYNC")
    table = INDEXED.schemas[0].tables[0]
    engine.execute(create_table_sql(table, "texted.t") + ", index_granularity = 64")
    engine.execute("SYSTEM STOP MERGES texted.t")
    schema = pa.schema([(column.name, column.type.arrow) for column in table.columns])
    for part in range(3):
        columns = _make_rows(part)
        arrays = [pa.array(values, each.type) for values, each in zip(columns, schema, strict=True)]
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        engine.insert_batches("texted.t", [batch], settings={"materialize_skip_indexes_on_insert": int(part != 1)})
    return engine


# --- the same answers -------------------------------------------------------------------------------------------------


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_TEXT = st.lists(st.sampled_from(_ALL), max_size=3).map("".join)
_PATTERN = st.builds(
    lambda before, parts, after: before + "".join(parts) + after,
    st.sampled_from(["%", "%", "%", "", "% ", "_"]),
    st.lists(st.sampled_from([*_ALL, "_", "%", "ork", "laxi", "ikes", "isk"]), max_size=3),
    st.sampled_from(["%", "%", "%", "", " %", "_"]),
)
_TEST = st.one_of(
    st.builds(
        lambda form, name, pattern: form.format(name, _quote(pattern)),
        st.sampled_from(
            ["{} LIKE {}", "{} ILIKE {}", "LOWER({}) LIKE {}", "UPPER({}) LIKE {}", "1 = ivo_nocasematch({}, {})"]
        ),
        st.sampled_from(_TEXTS),
        st.one_of(_PATTERN, _PATTERN.map(str.lower), _PATTERN.map(str.upper)),
    ),
    st.builds(
        lambda form, name, text, other: form.format(name, _quote(text), _quote(other)),
        st.sampled_from(
            [
                *("{} = {}", "LOWER({}) = {}", "{} IN ({}, {})", "1 = ivo_hasword({}, {})"),
                *("1 = ivo_hashlist_has({}, {})", "1 = ivo_hasword({}, {})", "{} <> {}", "{} NOT LIKE {}"),
            ]
        ),
        st.sampled_from(_TEXTS),
        _TEXT,
        _TEXT,
    ),
    st.sampled_from(["number = 3", "id = 77", "number = 3 AND id < 900", "number IS NULL", "note IS NULL"]),
)
_CONDITION = st.recursive(
    _TEST,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
        st.builds("CASE WHEN {} THEN 1 ELSE 0 END = 1".format, inner),
    ),
    max_leaves=5,
)
_FORMS = (
    "SELECT id FROM texted.t WHERE {}",
    "SELECT COUNT(*) FROM texted.t WHERE {}",
    "SELECT number, COUNT(*), MIN(id) FROM texted.t WHERE {} GROUP BY number HAVING MIN(id) > 5",
    "SELECT note, COUNT(*) FROM texted.t GROUP BY note, plain, label, number, id HAVING {}",
    "SELECT * FROM (SELECT id, number, note, label, plain FROM texted.t) AS q WHERE {}",
    "SELECT a.id, b.id FROM texted.t AS b LEFT JOIN (SELECT * FROM texted.t WHERE number < 9) AS a ON a.id = b.id + 1"
    " WHERE b.number IN (2, 3) AND EXISTS (SELECT 1 FROM texted.t WHERE {} AND id = b.id)",
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=st.sampled_from((*_FORMS[:2] * 3, *_FORMS)), condition=_CONDITION, is_eager=st.booleans())
def test_answers_equal_those_without_an_index(texted: Engine, form: str, condition: str, is_eager: bool) -> None:
    query = form.format(condition)
    translation = translate(query, INDEXED)
    eager = {"min_table_rows_to_use_projection_index": 0} if is_eager else {}
    found = texted.fetch_table(translation.sql, translation.settings | eager)
    rows = [tuple(row.values()) for row in found.to_pylist()]
    assert sorted(rows, key=repr) == sorted(query_rows(texted, PLAIN, query), key=repr)


#: Conditions with wrong answers if words were compared as the engine compares words of the index
_HOSTILE = [
    "note ILIKE 'for_%'",
    "note ILIKE '%fork%disk%'",
    "note ILIKE '%fork_%'",
    "LOWER(note) LIKE '%likes%'",
    "LOWER(note) LIKE '%fork%'",
    "UPPER(note) LIKE '%STRASSE%'",
    "UPPER(note) LIKE '%FINE%'",
    "UPPER(label) LIKE '%LIKES%'",
    "LOWER(label) LIKE '%Likes%'",
    "note LIKE '%'",
    "note LIKE '%%'",
    "note LIKE ''",
    "note = ''",
    "1 = ivo_hasword(note, '')",
    "1 = ivo_hasword(note, '\u2013')",
    "1 = ivo_hasword(note, 'galaxy fork')",
    "1 = ivo_hashlist_has(note, 'fork#disk')",
    "1 = ivo_hashlist_has(note, 'fork')",
    "note LIKE '%\u00e4rzte%'",
    "note ILIKE '%\u00c4RZTE%'",
    "note LIKE '%galaxy%' OR note IS NULL",
    "note IN ('m31', 'Galaxies', '')",
    "NOT (number = 3 OR note LIKE '%galaxy%')",
    "NOT (NOT (note IS NULL AND number = 3))",
]


@pytest.mark.parametrize("condition", _HOSTILE)
def test_hostile_conditions(texted: Engine, condition: str) -> None:
    query = f"SELECT id FROM texted.t WHERE {condition}"
    assert sorted(query_rows(texted, INDEXED, query)) == sorted(query_rows(texted, PLAIN, query))


def test_rows_that_are_changed_and_deleted(engine: Engine) -> None:
    table = INDEXED.schemas[0].tables[0].model_copy(update={"name": "changed"})
    catalogue = Catalogue((Schema(name="texted", tables=(table,)),))
    engine.execute("CREATE DATABASE IF NOT EXISTS texted")
    engine.execute("DROP TABLE IF EXISTS texted.changed SYNC")
    engine.execute(create_table_sql(table, "texted.changed"))
    engine.execute("INSERT INTO texted.changed (id, note) SELECT number, 'a rare galaxy' FROM numbers(9000)")
    engine.execute("ALTER TABLE texted.changed UPDATE note = 'Nebula' WHERE id < 10 SETTINGS mutations_sync = 2")
    engine.execute("ALTER TABLE texted.changed DELETE WHERE id % 9 = 5 SETTINGS mutations_sync = 2")
    for condition, ids in (
        ("note LIKE '%galax%'", [number for number in range(10, 9000) if number % 9 != 5]),
        ("1 = ivo_hasword(note, 'nebula')", [0, 1, 2, 3, 4, 6, 7, 8, 9]),
    ):
        for rows, wanted in (("id", [(number,) for number in ids]), ("COUNT(*)", [(len(ids),)])):
            assert (
                sorted(query_rows(engine, catalogue, f"SELECT {rows} FROM texted.changed WHERE {condition}")) == wanted
            )


# --- the index is read ------------------------------------------------------------------------------------------------

#: Condition -> the index that finds the 6 rows of the rare words
_INDEXES_READ = {
    "{} LIKE '%heodolite%'": "pieces_{}",
    "{} ILIKE '%HEODOLITE%'": "pieces_{}",
    "{} LIKE '%rare theodolites%'": "pieces_{}",
    "{} LIKE '%theodolites_sleep'": "pieces_{}",
    "1 = ivo_nocasematch({}, '%theodoliTES%')": "pieces_{}",
    "LOWER({}) LIKE '%theodolites%'": "pieces_{}",
    "1 = ivo_hasword({}, 'theodolites rare')": "words_{}",
    "1 = ivo_hashlist_has({}, 'quick Foxes')": "words_{}",
    "{} = 'the rare theodolites sleep'": "words_{}",
    "{} IN ('the rare theodolites sleep', 'no such')": "words_{}",
    "LOWER({}) = 'the rare theodolites sleep'": "words_{}",
    "{} LIKE '%theodolites%' OR 1 = ivo_hasword({}, 'foxes')": "pieces_{}",
    "({} LIKE '%theodolites%' AND number < 9) OR {} = 'quick foxes'": "pieces_{}",
}


@pytest.mark.parametrize("name", _TEXTS)
@pytest.mark.parametrize("condition", _INDEXES_READ)
@pytest.mark.parametrize("source", ["texted.t", "(SELECT id, number, note, label, plain FROM texted.t) AS q"])
def test_the_index_is_read(texted: Engine, condition: str, name: str, source: str) -> None:
    """One granule is read of each of the two parts with an index; counts of whole words need only the index."""
    query = f"SELECT id FROM {source} WHERE {condition.replace('{}', name)}"
    translation = translate(query, INDEXED)
    plan = texted.explain_query(translation.sql, translation.settings)
    assert f"Name: {_INDEXES_READ[condition].format(name)}" in plan
    granules = [tuple(map(int, pair)) for pair in re.findall(r"Granules: (\d+)/(\d+)", plan)]
    without_index = -(-_PART_ROWS // 64)
    assert min(read for read, _ in granules) <= without_index + 4, plan
    assert "Name: " not in texted.explain_query(*_ask_plain(query))


def _ask_plain(query: str) -> tuple[str, dict[str, str | int]]:
    translation = translate(query, PLAIN)
    return translation.sql, translation.settings


@pytest.mark.parametrize(
    "condition",
    [
        "note LIKE 'abc%'",
        "note LIKE '%abc%'",
        "note NOT LIKE '%theodolites%'",
        "NOT (note LIKE '%theodolites%')",
        "note LIKE '%theodolites%' OR number = 3",
        "note LIKE label",
        "UPPER(note) LIKE '%THEODOLITES%'",
        "1 = gavo_match('theodolites', note)",
        "note > 'theodolites'",
    ],
)
def test_other_conditions_stay_unchanged(condition: str) -> None:
    query = f"SELECT id FROM texted.t WHERE {condition}"
    assert translate(query, INDEXED).sql == translate(query, PLAIN).sql


# --- the plan ---------------------------------------------------------------------------------------------------------

_NO = "  no index for "


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("note LIKE '%galaxy%'", ["words of note by its text index"]),
        ("note = 'm31' AND 1 = ivo_hasword(label, 'fork')", ["words of note by its text index", "words of label by"]),
        ("number = 5 AND note LIKE '%galaxy%'", ["look-up by index number, words of note by its text index"]),
        ("number IN (5, 6) AND id > 7", ["look-up by index number"]),
        ("id = 7", [", by id"]),
        ("number IN (SELECT MAX(id) FROM texted.t)", ["look-up by index number"]),
        ("note LIKE 'gal%'", [_NO + "note LIKE 'gal%': a text index finds pieces of at least 4 letters"]),
        ("note LIKE label", [_NO + "LIKE on note: its pattern differs from row to row"]),
        ("note NOT LIKE '%galaxy%'", [_NO + "NOT on note: a text index finds rows that have a word"]),
        ("note LIKE '%galaxy%' OR number = 5", [_NO + "note under OR: it serves only if a text index serves each"]),
        ("1 = gavo_match('x', note)", [_NO + "this condition on note: a text index serves LIKE, ILIKE, =, IN"]),
        ("ABS(number) = 5", [_NO + "this condition on number: an index serves =, IN and ranges of the column"]),
        ("number > 5", []),
    ],
)
def test_the_plan_names_the_index_or_why_there_is_none(condition: str, wanted: list[str]) -> None:
    plan = "\n".join(translate(f"SELECT id FROM texted.t WHERE {condition}", INDEXED).plan)
    assert all(words in plan for words in wanted), plan
    assert wanted or not re.search("look-up|by id|by its", plan)
    assert (_NO in plan) == any(_NO in words for words in wanted), plan
