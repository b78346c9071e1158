"""What users of other dialects write: each message says what is wrong, where, and the way out, which works."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from adql.errors import AdqlError, AdqlErrors, line_and_column
from adql.translate import translate
from clickhouse_schema.catalogue import Catalogue

QUERIES = Path(__file__).parent / "queries"
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}


def rows(name: str) -> list[list[str]]:
    lines = (QUERIES / name).read_text(encoding="utf-8").rstrip("\n").split("\n")
    cells = [line.split("\t") for line in lines if not line.startswith("#")]
    return [[re.sub(r"\\([nt\\])", lambda m: _ESCAPED[m[1]], cell) for cell in row] for row in cells]


SLIPS = [(*row, "")[:5] for row in rows("slips.tsv")]
#: of other tests, for their fixes
REFUSED = sorted({row[-1] for name in ("refused.tsv", "invalid.tsv") for row in rows(name)})


def fault_of(query: str, catalogue: Catalogue) -> AdqlError | None:
    try:
        translate(query, catalogue)
    except AdqlErrors as errors:
        return errors.errors[0]
    except AdqlError as error:
        return error
    return None


def repaired(query: str, fault: AdqlError) -> str:
    for fix in reversed(fault.fixes):
        query = query[: fix.span.start] + fix.text + query[fix.span.end :]
    return query


@pytest.mark.parametrize(("place", "message", "hint", "query", "better"), SLIPS)
def test_slip(place: str, message: str, hint: str, query: str, better: str, small: Catalogue) -> None:
    fault = fault_of(query, small)
    assert fault is not None
    assert message in fault.message
    assert hint in fault.hint
    assert "{}:{}".format(*line_and_column(query, fault.span.start)) == place
    assert repaired(query, fault) == (better or query)
    if better:
        assert fault_of(better, small) is None


def test_no_slip_is_listed_twice() -> None:
    queries = [query for _, _, _, query, _ in SLIPS]
    assert len(set(queries)) == len(queries)


def test_fixes_lead_on(small: Catalogue) -> None:
    """Fixes stand in order and apart from each other, and the fault that they are for is gone."""
    fixed = 0
    for query in [*REFUSED, *(query for _, _, _, query, _ in SLIPS)]:
        fault = fault_of(query, small)
        assert fault is not None
        assert all(0 <= fix.span.start < fix.span.end <= len(query) for fix in fault.fixes), query
        assert all(one.span.end <= other.span.start for one, other in pairwise(fault.fixes)), query
        if fault.fixes:
            fixed += 1
            left = fault_of(repaired(query, fault), small)
            assert left is None or (left.message, left.span) != (fault.message, fault.span), query
    assert fixed > len(SLIPS) / 2
