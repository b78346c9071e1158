"""Queries that try to get more than ADQL: each is refused with AdqlError, or answered as ADQL and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adql.errors import AdqlError
from adql.functions import FUNCTIONS, SET_FUNCTIONS_BY_NAME
from adql.resolve.geometry_binder import GEOMETRY
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.support.adql_rows import Ask

#: Queries with a gap in each clause: SELECT list, WHERE, TOP, FROM, alias ...
_CLAUSES = (
    "SELECT {} FROM small.stars",
    "SELECT id FROM small.stars WHERE {} = 1",
    "SELECT id FROM {}",
    "SELECT id AS {} FROM small.stars",
    "SELECT TOP {} id FROM small.stars",
    "SELECT id FROM small.stars ORDER BY {}",
    "SELECT id FROM small.stars {}",
)
_PIECES = (
    "file('/etc/passwd')",
    "url('http://127.0.0.1/x', CSV)",
    "remote('127.0.0.1', system.one)",
    "s3('http://127.0.0.1/x')",
    "numbers(10)",
    "executable('id', TabSeparated, 'x String')",
    "system.tables",
    "information_schema.tables",
    "skyhouse.catalogue",
    "default.x",
    '"system"."tables"',
    '"small`.`stars"',
    "sleep(3)",
    "getSetting('max_threads')",
    "dictGet('d', 'a', 1)",
    "toString(id)",
    "arrayJoin([1])",
    "version()",
    "currentUser()",
    "hostName()",
    "{x:String}",
    "{x:Identifier}",
    "`id`",
    "$$id$$",
    "@@version",
    "@x := 1",
    "id::String",
    "x -> x",
    "(SELECT * FROM system.users)",
    "(SELECT 1)",
    "id; DROP TABLE small.stars",
    "id); DROP TABLE small.stars --",
    "1 SETTINGS max_threads = 1",
    "1 FORMAT JSON",
    "1 INTO OUTFILE '/tmp/x'",
    "/* */ id",
    "id /* x */",
    "# id",
    "'a\\'",
    "'a' 'b'",
    "'\\' || file('/etc/passwd') || '",
    "x'41'",
    "b'01'",
    "E'\\n'",
    "N'x'",
    "_utf8'x'",
    "0b1",
    "1_000",
    "1e400",
    "0x",
    "inf",
    "nan",
    "NULL::Int8",
    "INTERVAL 1 DAY",
    "DATE '2020-01-01'",
    "now()",
    "* EXCEPT (id)",
    "COLUMNS('.*')",
    "* REPLACE (1 AS id)",
    "APPLY(sum)",
    "_part",
    "_table",
    "rowNumberInAllBlocks()",
    "t1.id",
    "c1",
    "hpx29",
    "\ufeffid",
    "i\u200bd",
    "id\u00a0",
    "\u0456d",
    "\uff49\uff44",
    "'\u202e'",
    "\u2028id",
)
_QUERIES = (
    "",
    ";",
    "--",
    "SELECT 1",
    "DROP TABLE small.stars",
    "INSERT INTO small.stars VALUES (1)",
    "INSERT INTO FUNCTION file('x') SELECT id FROM small.stars",
    "CREATE TABLE x AS SELECT id FROM small.stars",
    "ALTER TABLE small.stars DELETE WHERE 1",
    "SYSTEM SHUTDOWN",
    "KILL QUERY WHERE 1",
    "SET max_threads = 1",
    "USE system",
    "EXPLAIN SELECT id FROM small.stars",
    "SHOW TABLES",
    "DESCRIBE TABLE small.stars",
    "FROM small.stars SELECT id",
    "SELECT id FROM small.stars FINAL",
    "SELECT id FROM small.stars SAMPLE 0.1",
    "SELECT id FROM small.stars PREWHERE id = 1",
    "SELECT id FROM small.stars ARRAY JOIN [1] AS x",
    "SELECT id FROM small.stars LIMIT 1 BY id",
    "SELECT id FROM small.stars GROUP BY id WITH TOTALS",
    "SELECT id FROM small.stars GROUP BY ROLLUP(id)",
    "SELECT id FROM small.stars UNION DISTINCT SELECT id FROM small.stars",
    "SELECT id FROM small.stars ASOF JOIN small.spectra USING (id)",
    "SELECT id FROM merge('small', '.*')",
    "SELECT id FROM cluster('x', small.stars)",
    "SELECT id FROM view(SELECT id FROM small.stars)",
    "WITH 1 AS x SELECT x FROM small.stars",
    "WITH RECURSIVE x AS (SELECT id FROM x) SELECT id FROM x",
    "SELECT id FROM small.stars\0",
    "SELECT\0id FROM small.stars",
    "SELECT 'a\0b' FROM small.stars",
    "SELECT id FROM small.stars WHERE name = 'a\ud800'",
    "SELECT " + "(" * 10_000 + "1" + ")" * 10_000 + " FROM small.stars",
    "SELECT " + "-" * 10_000 + "1 FROM small.stars",
    "SELECT " + "NOT " * 10_000 + "id FROM small.stars",
    "SELECT " + "ABS(" * 10_000 + "id FROM small.stars",
    "SELECT " + "1 + " * 10_000 + "1 FROM small.stars",
    "SELECT id FROM " + "(SELECT id FROM " * 10_000 + "small.stars",
    "SELECT id FROM small.stars WHERE " + "CASE WHEN " * 10_000,
    "SELECT '" + "x" * 1_000_000 + "' FROM small.stars",
    "SELECT id" + ", id" * 300_000 + " FROM small.stars",
    "SELECT " + "9" * 100_000 + " FROM small.stars",
    "x" * 1_000_000,
    "'" * 999_999,
)
HOSTILE = (*(clause.replace("{}", piece) for piece in _PIECES for clause in _CLAUSES), *_QUERIES)

#: Queries of HOSTILE that are valid ADQL: texts, and words of ClickHouse as aliases
_ADQL = {
    *(_CLAUSES[i].format(text) for i in (0, 5) for text in ("'a\\'", "'a' 'b'", "'\u202e'")),
    *(_CLAUSES[i].format(name) for i in (3, 6) for name in ("inf", "nan", "c1", "hpx29", '"small`.`stars"')),
    "SELECT id FROM small.stars FINAL",
    "SELECT id FROM small.stars ASOF JOIN small.spectra USING (id)",
}


def _is_answered(query: str, engine: Engine, small: Catalogue) -> bool:
    try:
        translation = translate(query, small)
    except AdqlError as error:
        return not error.describe(query)
    engine.fetch_table(translation.sql, translation.settings)
    assert {entry.schema.name for entry in translation.tables} == {"small"}
    return True


def test_hostile_queries_are_refused_or_are_adql(engine: Engine, small: Catalogue) -> None:
    assert {query for query in HOSTILE if _is_answered(query, engine, small)} == _ADQL


@pytest.mark.parametrize("table", ["system.tables", "system.one", "information_schema.tables", "INFORMATION_SCHEMA.TABLES", "skyhouse.catalogue", '"default".x', "one", "tables", '"small.stars"', "small.small.stars"])  # fmt: skip
def test_the_engines_own_tables_are_unknown(table: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError, match="there is no table"):
        translate(f"SELECT * FROM {table}", small)


def test_the_engines_own_functions_are_unknown(engine: Engine, small: Catalogue) -> None:
    ours = {*FUNCTIONS, *SET_FUNCTIONS_BY_NAME, *GEOMETRY, "COALESCE"}
    names = engine.fetch_table("SELECT name FROM system.functions").column(0).to_pylist()
    assert len(names) > 1000
    for name in names:
        if name.upper() not in ours:
            for call in (f"{name}(id)", f"{name}()", f'"{name}"(id)'):
                with pytest.raises(AdqlError):
                    translate(f"SELECT {call} FROM small.stars", small)


#: Texts that a query may contain: no control characters except tab and line ends, no lone surrogates
_TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc"), whitelist_characters="\t\n\r"), max_size=40)
_SPECIAL_TEXTS = st.lists(st.sampled_from([*"\\'\"`%_{}:;-?\n\t", "''", "\\'", "--", "/*", "{x:String}", "\\n", "\\0", "é", "\U0001f52d"]), max_size=12).map("".join)  # fmt: skip
_ANY = st.one_of(_TEXTS, _SPECIAL_TEXTS)


@settings(max_examples=50, deadline=None)
@given(text=_ANY, name=_ANY)
def test_texts_and_names_return_unchanged(text: str, name: str, engine: Engine, small: Catalogue) -> None:
    literal, alias = "'" + text.replace("'", "''") + "'", '"' + (name or "x").replace('"', '""') + '"'
    query = f"SELECT {literal} AS {alias}, COUNT(*) FROM small.stars WHERE {literal} = {literal} GROUP BY {literal}"
    translation = translate(query, small)
    assert translation.fields[0].name == (name or "x")
    assert engine.fetch_table(translation.sql, translation.settings).to_pydict().popitem()[1] == [9]
    assert engine.fetch_table(translation.sql, translation.settings).column(0).to_pylist() == [text]


@settings(max_examples=50, deadline=None)
@given(text=_ANY, other=_ANY)
def test_patterns_have_only_two_wildcards(text: str, other: str, engine: Engine, small: Catalogue) -> None:
    def matches(pattern: str) -> int:
        quoted = [s.replace("'", "''") for s in (text, pattern)]
        translation = translate(f"SELECT COUNT(*) FROM small.stars WHERE id = 1 AND '{quoted[0]}' LIKE '{quoted[1]}'", small)  # fmt: skip
        return int(engine.fetch_table(translation.sql, translation.settings).column(0)[0].as_py())

    assert matches(text) == 1
    assert matches("_" * len(text)) == 1
    assert matches(text + "%") == 1
    if not {"%", "_"} & set(other):
        assert matches(other) == (text == other)


def test_texts_reach_the_engine_and_return_unchanged(ask: Ask) -> None:
    assert ask("SELECT 'a\\', 'b''c', '\\n', '`', '{x:Int8}' FROM small.stars WHERE id = 1") == [
        ("a\\", "b'c", "\\n", "`", "{x:Int8}")
    ]
