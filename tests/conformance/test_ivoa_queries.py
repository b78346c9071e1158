"""The IVOA's validation queries for ADQL 2.1, if their file is here: IVOA_QUERIES names it.

They are GPL and not part of this repository. The file has a query a line: label (valid or invalid), version, source and
the query with \\n, \\t and \\\\ escaped, separated by tabs; lines that begin with # are comments.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from adql.errors import AdqlError, AdqlSyntaxError
from adql.resolve.tableless_check import check_without_tables
from adql.syntax.parser import parse

# functions that the suite declares
FUNCTIONS = frozenset({"ivo_healpix_index", "eso_dateadd_sec", "eso_intersection"})

# INNER JOIN without a condition: invalid for the suite, valid by the grammar of ADQL 2.1, which makes it optional; refused
# beyond the syntax.
DISPUTED = "2_from.xml#d4c3a72c"

# Valid as syntax: a shape that a point is to contain, and columns of a table that FROM does not have.
MEANINGLESS = ("O1_geometrical_functions.xml#6297254e", "O1_geometrical_functions.xml#e03ce418")

_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}


class Case(NamedTuple):
    label: str
    source: str
    query: str


def read_cases(text: str) -> list[Case]:
    cases = []
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            label, _, source, query = line.split("\t", 3)
            cases.append(Case(label, source, re.sub(r"\\([nt\\])", lambda found: _ESCAPED[found[1]], query)))
    return cases


def verdict(query: str) -> str:
    """Check the syntax, with the functions that the suite declares."""
    try:
        parse(query, FUNCTIONS)
    except AdqlSyntaxError:
        return "invalid"
    return "valid"


def judgement(query: str) -> str:
    """Check everything that can be checked without tables, with our own functions."""
    try:
        check_without_tables(query)
    except AdqlError:
        return "invalid"
    return "valid"


def ivoa_cases() -> list[Case]:
    path = os.environ.get("IVOA_QUERIES")
    return read_cases(Path(path).read_text(encoding="utf-8")) if path else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Return our own lines, and the IVOA's lines if they are present: never an empty list, which would be a skip."""
    if "case" in metafunc.fixturenames:
        cases = read_cases(OWN) + ivoa_cases()
        metafunc.parametrize("case", cases, ids=[case.source for case in cases])


OWN = r"""# label, version, source, query
valid	2.1	own#1	SELECT a -- 'c'\n\tFROM t\nWHERE b = 'x\\n'
invalid	2.1	own#2	SELECT a\nFROM t\nWHERE f(b) = 1
valid	2.1	own#3	SELECT ivo_healpix_index(6, ra, dec) FROM t
"""


def test_reader_undoes_the_escapes() -> None:
    cases = read_cases(OWN)
    assert [case.label for case in cases] == ["valid", "invalid", "valid"]
    assert cases[0] == Case("valid", "own#1", "SELECT a -- 'c'\n\tFROM t\nWHERE b = 'x\\n'")


def test_verdict(case: Case) -> None:
    expected = "valid" if case.source.endswith(DISPUTED) else case.label
    assert verdict(case.query) == expected


def test_judgement(case: Case) -> None:
    undeclared = any(f"{function}(" in case.query.lower() for function in FUNCTIONS - {"ivo_healpix_index"})
    refused = undeclared or case.source.endswith(MEANINGLESS)
    assert judgement(case.query) == ("invalid" if refused else case.label)
