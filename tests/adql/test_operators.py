"""The table of operators: the emitter has the same names, and views read operands by the table's roles."""

from __future__ import annotations

import pytest

from adql.clickhouse.operator_sql import FORMS
from adql.clickhouse.partial_aggregate_sql import STATE_FORMS
from adql.functions import INTERNAL_SQL
from adql.ir import Call, Cases, Expr, Literal, Nearness, Separation, Turn, VectorNearness, get_operand
from adql.ir.operators import OPERATORS, REPLACED_BY_PASSES
from clickhouse_schema.datatypes import BOOLEAN, UNICODE
from tests.adql.call_check import check_call


def _make_call(name: str) -> Call:
    """Return a call whose operands are literals of their roles."""
    roles = OPERATORS[name].split()
    return Call(BOOLEAN, name, tuple(Literal(UNICODE, role.rstrip("*?")) for role in roles))


def _read_roles(exprs: tuple[Expr, ...]) -> str:
    return " ".join(str(expr.value) for expr in exprs if isinstance(expr, Literal))


def test_emitter_and_table_have_the_same_operators() -> None:
    assert {*FORMS, *INTERNAL_SQL, *STATE_FORMS} == OPERATORS.keys() - {*REPLACED_BY_PASSES}


@pytest.mark.parametrize("name", ["NEAR", "NEARER", "NEAREST", "MUTUAL", "DISTANCE"])
def test_separation_reads_two_positions(name: str) -> None:
    left, right = Separation.from_call(_make_call(name))
    assert (_read_roles(left), _read_roles(right)) == ("left_lon left_lat", "right_lon right_lat")


@pytest.mark.parametrize("name", ["NEAR", "NEARER"])
def test_nearness_is_its_call(name: str) -> None:
    near = Nearness.match(_make_call(name))
    assert near is not None
    assert near.radius == get_operand(_make_call(name), "radius")
    assert near.to_call() == _make_call(name)
    assert Nearness.match(_make_call("DISTANCE")) is None


@pytest.mark.parametrize("name", ["VECTORS NEAR", "VECTORS NEARER"])
def test_vector_nearness(name: str) -> None:
    near = VectorNearness.from_call(_make_call(name))
    assert (*near.left, *near.right, near.radius) == _make_call(name).args
    assert near.is_strict == (name == "VECTORS NEARER")


@pytest.mark.parametrize("name", ["TURNED LON", "TURNED LAT"])
def test_turn(name: str) -> None:
    turn = Turn.from_call(_make_call(name))
    assert (_read_roles(turn.position), turn.source, turn.target) == ("lon lat", "source", "target")


def test_cases() -> None:
    cases = Cases.from_call(_make_call("CASE"))
    assert [_read_roles(branch) for branch in cases.branches] == ["condition value"]
    assert _read_roles(cases.values) == "value otherwise"


@pytest.mark.parametrize(
    ("name", "count"),
    [("NO SUCH", 1), ("NEAR", 4), ("NOT", 2), ("CAST", 3), ("CASE", 2), ("IN", 0), ("SQRT", 2), ("BASE CELLS", 1)],
)
def test_wrong_calls_are_found(name: str, count: int) -> None:
    with pytest.raises(AssertionError, match=name):
        check_call(name, count)
