"""Mistakes of users of other dialects: each error has a position and a hint, and its fix works."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from adql.errors import AdqlError, AdqlErrors, Fix, Span, offset_to_line_column
from adql.functions import FUNCTIONS, SET_FUNCTIONS_BY_NAME
from adql.syntax.hints.other_dialects import find_function_hint
from adql.syntax.reserved_functions import ARGUMENTS
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Schema, Table
from tests.support.small_tables import SMALL

QUERIES = Path(__file__).parent / "queries"
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}


def read_rows(name: str) -> list[list[str]]:
    lines = (QUERIES / name).read_text(encoding="utf-8").rstrip("\n").split("\n")
    cells = [line.split("\t") for line in lines if not line.startswith("#")]
    return [[re.sub(r"\\([nt\\])", lambda m: _ESCAPED[m[1]], cell) for cell in row] for row in cells]


SLIPS = [(*row, "")[:5] for row in read_rows("slips.tsv")]
#: Queries of other tests, for their fixes
REFUSED = sorted({row[-1] for name in ("refused.tsv", "invalid.tsv") for row in read_rows(name)})

_COLUMNS = {
    ("tycho2", "bright"): "tyc_id:unicode hip:int ra:double dec:double vt_mag:float origin:unicode date_obs:timestamp",
    ("hip", "hip_main"): "HIP:int RAICRS:double DEICRS:double Vmag:float",
    ("viz", "I/239/hip_main"): "HIP:int",
    ("gaiadr3", "gaia_source"): "source_id:long ra:double dec:double parallax:double phot_g_mean_mag:float",
    ("TAP_SCHEMA", "tables"): "table_name:unicode",
}


def make_table(name: str, columns: str) -> Table:
    pairs = (column.split(":") for column in columns.split())
    return Table(name=name, columns=tuple(Column(name=name, datatype=datatype) for name, datatype in pairs))


CATALOGUE = Catalogue(
    (SMALL, *(Schema(name=schema, tables=(make_table(name, columns),)) for (schema, name), columns in _COLUMNS.items()))
)


def find_error(query: str) -> AdqlError | None:
    """Return the first error of a query."""
    try:
        translate(query, CATALOGUE)
    except AdqlErrors as errors:
        return errors.errors[0]
    except AdqlError as error:
        return error
    return None


def apply_fixes(query: str, fixes: Sequence[Fix]) -> str:
    for fix in reversed(fixes):
        query = query[: fix.span.start] + fix.text + query[fix.span.end :]
    return query


def repair_query(query: str) -> str:
    """Apply the fixes of the first error, then of the next error, and so on."""
    for _ in range(5):
        error = find_error(query)
        if error is None or not error.fixes:
            break
        assert all(0 <= fix.span.start < fix.span.end <= len(query) for fix in error.fixes), query
        assert all(one.span.end <= other.span.start for one, other in pairwise(error.fixes)), query
        query = apply_fixes(query, error.fixes)
        left = find_error(query)
        assert left is None or (left.message, left.span) != (error.message, error.span), query
    return query


@pytest.mark.parametrize(("position", "message", "hint", "query", "better"), SLIPS, ids=[row[3] for row in SLIPS])
def test_slip(position: str, message: str, hint: str, query: str, better: str) -> None:
    error = find_error(query)
    assert error is not None
    assert (error.message, error.hint) == (message, hint)
    assert "{}:{}".format(*offset_to_line_column(query, error.span.start)) == position
    assert repair_query(query) == (better or query)
    if better:
        assert find_error(better) is None


def test_no_slip_is_listed_twice() -> None:
    queries = [query for _, _, _, query, _ in SLIPS]
    assert len(set(queries)) == len(queries)


def test_every_fix_moves_the_error_forward() -> None:
    assert sum(repair_query(query) != query for query in REFUSED) > len(REFUSED) / 4


def test_damaged_slips_are_refused_with_a_position() -> None:
    """Queries with mistakes stay refused with a position when tokens are removed, doubled or moved."""
    dice = random.Random(20)
    pieces = [re.findall(r"\w+|\s+|\S", query) for query in (*REFUSED, *(query for _, _, _, query, _ in SLIPS))]
    for _ in range(3000):
        damaged = list(dice.choice(pieces))
        for _ in range(dice.randint(1, 2)):
            at = dice.randint(0, len(damaged))
            damaged[at : at + dice.randint(0, 2)] = [dice.choice(dice.choice(pieces) or [" "])] * dice.randint(0, 2)
        query = "".join(damaged)
        error = find_error(query)
        if error is not None:
            assert 0 <= error.span.start <= error.span.end <= len(query)
            assert all(0 <= fix.span.start < fix.span.end <= len(query) for fix in error.fixes), query
            assert all(one.span.end <= other.span.start for one, other in pairwise(error.fixes)), query
            assert not error.fixes or apply_fixes(query, error.fixes) != query


def test_hints_for_other_dialects_hide_no_function() -> None:
    """No hint for a function of another dialect has the name of a function of this service."""
    span = Span(0, 1)
    assert not [name for name in (*FUNCTIONS, *SET_FUNCTIONS_BY_NAME, *ARGUMENTS) if find_function_hint(name, span)]
    assert find_function_hint("IFNULL", span).fixes == (Fix(span, "COALESCE"),)


def test_a_polygon_of_too_many_vertices() -> None:
    """The limit is checked first: comparing all sides would take minutes."""
    vertices = ", ".join(f"{10 + i / 1e4:.4f}, {i % 2}" for i in range(5001))
    query = f"SELECT ra FROM gaiadr3.gaia_source WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON({vertices}))"
    error = find_error(query)
    assert error is not None
    assert error.message == "a polygon of 5001 vertices; at most 5000 are allowed"
    assert "MOC" in error.hint
    assert query[slice(*error.span)].startswith("POLYGON(")
