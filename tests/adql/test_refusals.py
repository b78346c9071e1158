"""Valid ADQL that is refused: each error has a cause, a position and a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from adql.errors import AdqlError, AdqlErrors, offset_to_line_column
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue

_FILE = Path(__file__).parent / "queries" / "refused.tsv"
CASES = [line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("position", "message", "hint", "query"), CASES)
def test_errors_have_cause_position_and_hint(
    position: str, message: str, hint: str, query: str, small: Catalogue
) -> None:
    with pytest.raises(AdqlError) as caught:
        translate(query, small)
    error = caught.value
    assert message in error.message
    assert hint in error.hint
    assert "{}:{}".format(*offset_to_line_column(query, error.span.start)) == position
    assert error.message in error.describe(query)


def test_several_errors_are_reported_together(small: Catalogue) -> None:
    query = "SELECT a,\n  name + 1\nFROM small.stars WHERE b > 1 ORDER BY c"
    with pytest.raises(AdqlErrors) as caught:
        translate(query, small)
    assert [offset_to_line_column(query, e.span.start) for e in caught.value.errors] == [
        (1, 8),
        (2, 3),
        (3, 24),
        (3, 39),
    ]
    assert caught.value.describe(query).count("line ") == 4


@pytest.mark.parametrize(
    "query",
    [
        "SELECT q.x FROM (SELECT nope AS x FROM small.stars) AS q",
        "WITH q AS (SELECT nope AS x FROM small.stars) SELECT x FROM q",
        "SELECT id FROM small.stars WHERE id > (SELECT q.x FROM (SELECT nope AS x, id FROM small.stars) AS q)",
        "SELECT nope FROM small.stars UNION SELECT id FROM small.stars",
        "SELECT id, mag FROM small.stars EXCEPT SELECT id, nope FROM small.stars",
    ],
)
def test_consequential_errors_are_not_reported(query: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError) as caught:
        translate(query, small)
    assert not isinstance(caught.value, AdqlErrors)
    assert query[slice(*caught.value.span)] == "nope"


def test_exploding_common_tables_are_refused(small: Catalogue) -> None:
    """Each table uses the previous one twice: 2^30 reads are refused before planning."""
    tables = ["t0 AS (SELECT id FROM small.stars)"]
    tables += [f"t{i} AS (SELECT a.id FROM t{i - 1} AS a JOIN t{i - 1} AS b ON a.id = b.id)" for i in range(1, 31)]
    with pytest.raises(AdqlError, match="more than 500 tables"):
        translate(f"WITH {', '.join(tables)} SELECT id FROM t30", small)


@pytest.mark.parametrize(
    "expression",
    [
        "ROUND(" * 40 + "id" + ")" * 40,
        "DISTANCE(1, 2, 3, " * 30 + "4" + ")" * 30,
    ],
)
def test_exploding_expressions_are_refused(expression: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError, match="nested too deeply"):
        translate(f"SELECT {expression} FROM small.stars", small)


def test_exploding_subqueries_are_refused(small: Catalogue) -> None:
    query = "SELECT id FROM small.stars"
    for _ in range(16):
        query = f"SELECT id FROM small.stars WHERE CASE WHEN id NOT IN ({query}) THEN 0 ELSE 1 END = 1"
    with pytest.raises(AdqlError, match="nested too deeply"):
        translate(query, small)
