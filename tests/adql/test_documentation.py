"""docs/adql.md and docs/functions.md list all functions of ``adql.functions``; examples return the documented values."""

from __future__ import annotations

import math
import re

import pytest

from adql import limits
from adql.errors import AdqlError
from adql.functions import (
    GEOMETRY_NAMES,
    MATHEMATICAL_FUNCTIONS,
    SET_FUNCTIONS_BY_NAME,
    STATISTICAL_FUNCTIONS,
    STRING_FUNCTIONS,
    USER_DEFINED,
)
from adql.functions.set_functions import ADQL_SET_FUNCTIONS
from adql.resolve.geometry_binder import GEOMETRY
from adql.resolve.type_rules import CAST_TARGETS
from adql.resolve.window_binder import WINDOW_FUNCTIONS
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine, EngineValueError
from tests.support.adql_rows import Ask, query_rows
from tests.support.environment import ROOT

_DOCS = ROOT / "docs"
_TEXT = (_DOCS / "adql.md").read_text(encoding="utf-8")
_FUNCTIONS = (_DOCS / "functions.md").read_text(encoding="utf-8")
_ROWS = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| `([^`]+)` \| ([^|]+) \|$", _FUNCTIONS, re.MULTILINE)
_UNSUPPORTED = _TEXT.split("## Not supported")[1]


def test_every_function_is_documented() -> None:
    functions = (
        *MATHEMATICAL_FUNCTIONS,
        *STRING_FUNCTIONS,
        *SET_FUNCTIONS_BY_NAME.values(),
        *(f for f in USER_DEFINED if f not in STATISTICAL_FUNCTIONS),
    )
    assert [row[:2] for row in _ROWS] == [(f.usage, f.description) for f in functions]


def test_set_functions_geometry_and_types_are_documented() -> None:
    for name in (*(f.name for f in ADQL_SET_FUNCTIONS), *GEOMETRY, *CAST_TARGETS):
        assert f"`{name}" in _TEXT
    for function in WINDOW_FUNCTIONS.values():
        assert f"`{function.usage}`" in _TEXT
    for name in GEOMETRY:
        assert (f"`{name}`" in _UNSUPPORTED) == (name not in GEOMETRY_NAMES)


def test_limits_are_documented() -> None:
    numbers = {name: value for name, value in vars(limits).items() if name.startswith("MAX_")}
    listed = re.findall(r"^\| (\d+) \| ", _TEXT.split("## Limits")[1], re.MULTILINE)
    assert [int(number) for number in listed] == list(numbers.values())


def _is_set_function(usage: str) -> bool:
    return usage.split("(")[0].upper() in SET_FUNCTIONS_BY_NAME


@pytest.mark.parametrize(("example", "value"), [row[2:] for row in _ROWS if not _is_set_function(row[0])])
def test_examples_return_documented_values(example: str, value: str, engine: Engine, small: Catalogue) -> None:
    query = f"SELECT {example} FROM small.stars WHERE id = 1"
    translation = translate(query, small, positions={"GJ 699": (269.452076958619, 4.69336496657667)}.__getitem__)
    [given] = engine.fetch_table(translation.sql, translation.settings).column(0).cast(translation.fields[0].type.arrow)
    assert str(given.as_py()) == value


@pytest.mark.parametrize(("example", "value"), [row[2:] for row in _ROWS if _is_set_function(row[0])])
def test_examples_of_set_functions_return_documented_values(example: str, value: str, ask: Ask) -> None:
    """The examples are over the four rows in the document."""
    rows = re.findall(r"^\| (\w+) \| (\w+) \| (\w+) \|$", _FUNCTIONS, re.MULTILINE)
    assert rows[0] == ("x", "y", "word")
    given = [f"SELECT {x} AS x, {y} AS y, {w if w == 'NULL' else repr(w)} AS word FROM stars WHERE id = 1" for x, y, w in rows[1:]]  # fmt: skip
    [(answer,)] = ask(f"SELECT {example} FROM ({' UNION ALL '.join(given)}) AS four")
    assert str(answer) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 / 0", None),
        ("1.5 / 0", None),
        ("MOD(1, 0)", None),
        ("MOD(-9223372036854775808, -1)", 0),
        ("CASE WHEN 9223372036854775807 = 9223372036854775808 THEN 1 ELSE 0 END", 0),
        ("CASE WHEN 9007199254740993 > 9007199254740992e0 THEN 1 ELSE 0 END", 1),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7.0 / 2", 3.5),
        ("ROUND(-2.5)", -3.0),
        ("CAST(-2.7 AS INTEGER)", -2),
        ("CAST('abcdef' AS CHAR(3))", "abc"),
        ("CASE WHEN SQRT(-1) = SQRT(-1) THEN 1 ELSE 0 END", 0),
        ("CASE WHEN 'a' ILIKE 'A' THEN 1 ELSE 0 END", 1),
        ("CASE WHEN '\\' LIKE '\\' THEN 1 ELSE 0 END", 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", 2.0**63),
        ("CAST('alpha' AS VARCHAR(3))", "alp"),
        ("CAST(1e40 AS REAL)", math.inf),
        ("CAST(CAST('2026-01-31T12:00' AS TIMESTAMP) AS VARCHAR)", "2026-01-31T12:00:00.000000"),
        ("0x1F", 31),
        ("6 & 3", 2),
        ("CONTAINS(POINT(0, 1), CIRCLE(0, 0, 1))", 1),
    ],
)  # fmt: skip
def test_documented_choices(expression: str, value: object, ask: Ask) -> None:
    assert ask(f"SELECT {expression} FROM small.stars WHERE id = 1") == [(value,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT big + 1 FROM small.stars",
        "SELECT SUM(big) FROM small.stars WHERE big > 1000000 OR id = 5",
        "SELECT 9223372036854775807 * id FROM small.stars",
        "SELECT -9223372036854775808 / -1 FROM small.stars",
        "SELECT CAST(1e10 AS INTEGER) FROM small.stars",
        "SELECT CAST('1x' AS INTEGER) FROM small.stars",
        "SELECT CAST(name AS DOUBLE PRECISION) FROM small.stars",
    ],
)
def test_documented_errors(query: str, engine: Engine, small: Catalogue) -> None:
    with pytest.raises(EngineValueError):
        query_rows(engine, small, query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON EXISTS (SELECT * FROM small.stars AS t WHERE t.id = p.id AND t.mag = s.mag)",
        "SELECT id FROM (SELECT TOP 5 * FROM small.stars) AS s WHERE (SELECT COUNT(*) FROM small.spectra AS p WHERE p.id < s.id) > 1",
        "SELECT id FROM small.stars AS s WHERE (SELECT SUM(s.mag) FROM small.spectra AS p) > 1",
    ],
)
def test_unsupported_features_have_an_alternative(query: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError) as caught:
        translate(query, small)
    assert caught.value.hint


@pytest.mark.parametrize("query", re.findall(r"```sql\n(.+?)```", _TEXT, re.DOTALL))
def test_whole_examples_run_on_the_demo(query: str, demo_engine: Engine, demo_catalogue: Catalogue) -> None:
    assert query_rows(demo_engine, demo_catalogue, query)
