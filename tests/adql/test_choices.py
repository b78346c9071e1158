"""CASE with many branches: look-ups equal branches tested one by one; too many other branches are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adql.errors import AdqlUnsupported
from adql.limits import MAX_BRANCHES
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tests.support.adql_rows import Rows

#: Values of the small tables and their neighbours, some twice, and keys of the other type of number
_KEYS = {
    "n_obs": ["3", "0", "-7", "32767", "32768", "2.0", "2.5", "-1e0", "10", "3", "1e300", "-9223372036854775808", "5"],
    "big": [
        "9000000000", "-9000000000.0", "9223372036854775807", "9223372036854775808", "9.223372036854775807e18", "0",
        "1", "2.5", "-0.0", "3", "4e0", "9007199254740993", "1e30",
    ],
    "mag": ["1.5", "2.5", "12.25", "0", "-0.0", "-1.25", "4", "9", "1e300", "1.1", "9007199254740993", "12", "1"],
    "parallax": ["10", "0.5", "-3.25", "1e10", "7", "7.0", "2.5", "-0.0", "3", "4", "5", "6", "8"],
    "name": ["'alpha'", "'Beta'", "'beta'", "'Éta_é'", "'100%'", "'back\\slash'", "''", "'it''s'", "'alpha'", "'x'", "'y'", "'z'"],
}  # fmt: skip

#: Results of one type, some NULL, and the result of ELSE
_RESULTS = [
    (["5", "NULL", "-2"], "n_obs"),
    (["0.5", "NULL", "7"], "-1"),
    (["'one'", "NULL", "'it''s'"], "name"),
    (["TRUE", "FALSE"], "NULL"),
]


@pytest.mark.parametrize("column", _KEYS)
def test_a_look_up_equals_its_branches(column: str, ask: Callable[[str], Rows], small: Catalogue) -> None:
    """Test both forms of CASE, OR in a branch, and other branches in between, against branches tested one by one."""
    keys = _KEYS[column]
    selected: list[str] = []
    for results, otherwise in _RESULTS:
        pairs = [(key, results[i % len(results)]) for i, key in enumerate(keys)]
        said = " ".join(f"WHEN {key} THEN {result}" for key, result in pairs)
        tested = " ".join(f"WHEN {column} = {key} THEN {result}" for key, result in pairs)
        twice = " ".join(
            f"WHEN {column} = {key} OR {keys[i - 1]} = {column} THEN {result}" for i, (key, result) in enumerate(pairs)
        )
        # TRUE AND ... is not a comparison
        plain = " ".join(f"WHEN TRUE AND {column} = {key} THEN {result}" for key, result in pairs)
        plainly = " ".join(
            f"WHEN TRUE AND ({column} = {key} OR {keys[i - 1]} = {column}) THEN {result}"
            for i, (key, result) in enumerate(pairs)
        )
        first = f"WHEN id = 4 OR name IS NULL THEN {results[0]}"
        for looked_up, one_by_one in (
            (f"CASE {column} {said} ELSE {otherwise} END", f"CASE {plain} ELSE {otherwise} END"),
            (f"CASE {column} {said} END", f"CASE {plain} END"),
            (
                f"CASE {first} {tested} WHEN id > 5 THEN {results[0]} ELSE {otherwise} END",
                f"CASE {first} {plain} WHEN id > 5 THEN {results[0]} ELSE {otherwise} END",
            ),
            (f"CASE {twice} ELSE {otherwise} END", f"CASE {plainly} ELSE {otherwise} END"),
        ):
            assert "transform(" in translate(f"SELECT {looked_up} FROM stars", small).sql
            assert "transform(" not in translate(f"SELECT {one_by_one} FROM stars", small).sql
            selected += [looked_up, one_by_one]
    for row in ask(f"SELECT {', '.join(selected)} FROM stars ORDER BY id"):
        for i in range(0, len(row), 2):
            assert row[i] == row[i + 1], selected[i]


def test_thousands_of_branches(ask: Callable[[str], Rows]) -> None:
    whens = " ".join(f"WHEN {i} THEN {i * i}" for i in range(8000))
    expected = [(i * i,) for i in range(1, 10)]
    assert ask(f"SELECT CASE id {whens} ELSE -1 END FROM stars ORDER BY id") == expected
    assert ask(f"SELECT SUM(CASE id + 7990 {whens} END) FROM stars") == [(sum(i * i for i in range(7991, 8000)),)]


def test_a_look_up_may_be_grouped_and_used_in_conditions(ask: Callable[[str], Rows]) -> None:
    kind = f"CASE id {' '.join(f'WHEN {i} THEN {i % 3}' for i in range(20))} END"
    assert ask(f"SELECT {kind} AS k, COUNT(*) FROM stars GROUP BY {kind} ORDER BY k") == [(0, 3), (1, 3), (2, 3)]
    assert ask(f"SELECT COUNT(*) FROM stars WHERE {kind} = 1 AND id > 1") == [(2,)]
    joined = f"SELECT COUNT(*) FROM stars AS a JOIN stars AS b ON {kind.replace('CASE id', 'CASE a.id')} = b.id"
    assert ask(joined) == [(6,)]


def test_too_many_branches_other_than_a_look_up_are_refused(small: Catalogue) -> None:
    whens = " ".join(f"WHEN mag < {i} THEN {i}" for i in range(MAX_BRANCHES + 1))
    with pytest.raises(AdqlUnsupported, match="branches of CASE that are not look-ups"):
        translate(f"SELECT CASE {whens} END FROM stars", small)
