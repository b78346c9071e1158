"""Views of structured operators, with their operands by role.

``from_call`` reads a call; ``match`` returns None for other expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from adql.errors import NOWHERE, Span
from adql.ir.expressions import Call, Column, Expr, Literal, Shape, evaluate_constant, split_conjuncts
from adql.regions import Cone, Region
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT


class Position(NamedTuple):
    """Longitude and latitude in degrees; in a call, the first two operands."""

    lon: Expr
    lat: Expr

    @classmethod
    def from_call(cls, call: Call) -> Position:
        """Read the first two operands of a call, such as POINT or CIRCLE."""
        lon, lat = call.args[:2]
        return cls(lon, lat)


class Separation(NamedTuple):
    """The two positions of DISTANCE or of a nearness."""

    left: Position
    right: Position

    @classmethod
    def from_call(cls, call: Call) -> Separation:
        left_lon, left_lat, right_lon, right_lat = call.args[:4]
        return cls(Position(left_lon, left_lat), Position(right_lon, right_lat))


#: The calls that ``Nearness`` views as conditions
NEARNESSES = ("NEAR", "NEARER")


class Nearness(NamedTuple):
    """NEAR and NEARER: the separation of two positions is at most (NEARER: below) the radius in degrees."""

    left: Position
    right: Position
    radius: Expr
    is_strict: bool = False

    @classmethod
    def from_call(cls, call: Call) -> Nearness:
        """Read NEAR, NEARER, or the nearness in NEAREST and MUTUAL.

        Parameters
        ----------
        call
            The call. Operands after the radius, such as the number of neighbours, are ignored.

        Returns
        -------
        Nearness
            The positions and the radius in degrees; strict only for NEARER.
        """
        return cls(*Separation.from_call(call), call.args[4], call.name == "NEARER")

    @classmethod
    def match(cls, expr: Expr) -> Nearness | None:
        return cls.from_call(expr) if isinstance(expr, Call) and expr.name in NEARNESSES else None

    def to_call(self, span: Span = NOWHERE) -> Call:
        """Return the condition NEAR or, if the nearness is strict, NEARER.

        Parameters
        ----------
        span
            Where the condition is in the query, for errors.
        """
        name = "NEARER" if self.is_strict else "NEAR"
        return Call(BOOLEAN, name, (*self.left, *self.right, self.radius), span=span)


class VectorNearness(NamedTuple):
    """VECTORS NEAR and VECTORS NEARER: like ``Nearness``, with unit vectors (x, y, z)."""

    left: tuple[Expr, ...]
    right: tuple[Expr, ...]
    radius: Expr
    is_strict: bool

    @classmethod
    def from_call(cls, call: Call) -> VectorNearness:
        *vectors, radius = call.args
        return cls(tuple(vectors[:3]), tuple(vectors[3:]), radius, call.name == "VECTORS NEARER")


class Turn(NamedTuple):
    """TURNED LON and TURNED LAT: a position in the frame ``source``, rotated to the frame ``target``."""

    position: Position
    source: str
    target: str

    @classmethod
    def from_call(cls, call: Call) -> Turn:
        return cls(Position.from_call(call), *read_frames(call))


class Cases(NamedTuple):
    """CASE: conditions with their values, and the value if no condition is true."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr

    @classmethod
    def from_call(cls, call: Call) -> Cases:
        *pairs, otherwise = call.args
        return cls(tuple(zip(pairs[::2], pairs[1::2], strict=True)), otherwise)

    @property
    def values(self) -> tuple[Expr, ...]:
        return (*(value for _, value in self.branches), self.otherwise)


class NamedValues(NamedTuple):
    """``=`` and IN: a column and the values that it may have. The column may be on either side of ``=``."""

    column: Column
    values: tuple[Expr, ...]

    @classmethod
    def match(cls, expr: Expr) -> NamedValues | None:
        """Read a condition.

        Parameters
        ----------
        expr
            Any expression.

        Returns
        -------
        NamedValues or None
            The column and its values, which may depend on rows; None if ``expr`` is not ``=`` or IN, or compares no
            column.
        """
        if not (isinstance(expr, Call) and expr.name in ("=", "IN")):
            return None
        operand, *values = expr.args
        if expr.name == "=" and isinstance(values[0], Column):
            operand, values = values[0], [operand]
        return cls(operand, tuple(values)) if isinstance(operand, Column) else None

    @classmethod
    def match_constants(cls, expr: Expr) -> NamedValues | None:
        """Read a condition whose values are constants; return None for other expressions."""
        named = cls.match(expr)
        return named if named is not None and named.has_constants else None

    @property
    def has_constants(self) -> bool:
        """Whether all values are constants."""
        return all(isinstance(value, Literal) or evaluate_constant(value) is not None for value in self.values)


def walk_listed_constants(
    condition: Expr | None, relation: int, is_listed: Callable[[Column], bool]
) -> Iterator[tuple[Expr, ...]]:
    """Walk the conjuncts that list the values of a column.

    Parameters
    ----------
    condition
        A WHERE or ON; None for none.
    relation
        The number of the relation of the column.
    is_listed
        Returns whether the values of a column of this relation are of interest.

    Yields
    ------
    tuple[Expr, ...]
        The constants of each conjunct with ``=`` or IN. Conjuncts with other values than constants are left out.
    """
    for conjunct in split_conjuncts(condition):
        named = NamedValues.match(conjunct)
        if named is not None and named.column.relation == relation and is_listed(named.column) and named.has_constants:
            yield named.values


def read_frames(call: Call) -> tuple[str, str]:
    """Return the source frame and the target frame of TURNED, TURNED LON or TURNED LAT."""
    source, target = call.args[-2:]
    assert isinstance(source, Literal)  # noqa: S101  frames are constants
    assert isinstance(target, Literal)  # noqa: S101
    return str(source.value), str(target.value)


_ROUND = ("POINT", "CIRCLE")


def read_position(shape: Expr) -> Position:
    """Return the position of a point, or of the centre of a circle.

    Parameters
    ----------
    shape
        A point or circle: a call of POINT or CIRCLE, or any other expression of DALI's numbers, such as a column.

    Returns
    -------
    Position
        Longitude and latitude in degrees, ICRS.
    """
    if isinstance(shape, Call) and shape.name in _ROUND:
        return Position.from_call(shape)
    return Position(_take_element(shape, 1), _take_element(shape, 2))


def read_radius(circle: Expr) -> Expr:
    """Return the radius of a circle.

    Parameters
    ----------
    circle
        A call of CIRCLE, or any other expression of DALI's three numbers.

    Returns
    -------
    Expr
        The radius in degrees.
    """
    if isinstance(circle, Call) and circle.name == "CIRCLE":
        _, _, radius = circle.args
        return radius
    return _take_element(circle, 3)


def _take_element(shape: Expr, index: int) -> Expr:
    return Call(DOUBLE, "ELEMENT", (shape, Literal(INT, index)), span=shape.span)


def evaluate_region(shape: Expr) -> Region | None:
    """Return the region of a constant shape.

    Parameters
    ----------
    shape
        A shape.

    Returns
    -------
    Region or None
        The region, for a point a circle of radius 0; None if the shape depends on rows, or a number in it is NULL or
        not finite.
    """
    if isinstance(shape, Shape):
        return shape.region
    if not (isinstance(shape, Call) and shape.name in _ROUND):
        return None
    numbers = [number for arg in shape.args if (number := evaluate_constant(arg)) is not None]
    if len(numbers) < len(shape.args):
        return None
    lon, lat, *radius = numbers
    return Cone(lon, lat, radius[0] if radius else 0.0)
