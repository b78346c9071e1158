"""Binding of CAST. Texts of geometries are DALI's numbers (``12.5 -3``); literal texts may also be STC-S."""

from __future__ import annotations

import re

from adql.errors import AdqlSemanticError, Span
from adql.functions.argument_kinds import is_null
from adql.ir import Call, Expr, Literal, Shape
from adql.regions import Cone, Polygon, Region, ShapeError, make_circle, stcs
from adql.resolve.binder import Binder, BindFunctions
from adql.resolve.type_rules import CAST_TARGETS, text_to_timestamp
from adql.syntax import nodes
from clickhouse_schema.datatypes import CIRCLE, DOUBLE, INT, POINT, POLYGON, TIMESTAMP, UNICODE, ColumnType

GEOMETRY_TARGETS: dict[str, ColumnType] = {"POINT": POINT, "CIRCLE": CIRCLE, "POLYGON": POLYGON}

_NUMBER_COUNTS = {"POINT": "2", "CIRCLE": "3", "POLYGON": "at least 6"}

_NUMBERS = re.compile(r"[-+.\d\seE,]+")


def _bind_cast(binder: Binder, node: nodes.Cast) -> Expr:
    operand = binder.bind(node.operand)
    if node.target in GEOMETRY_TARGETS:
        return _cast_to_geometry(node, operand)
    if operand.type.is_geometry and operand.type.is_array:
        return _cast_geometry_to_text(node, operand)
    target = CAST_TARGETS[node.target]
    if operand.type.is_array:
        raise AdqlSemanticError(f"CAST cannot convert {operand.type.adql} to {node.target}", node.span)
    if target.is_timestamp and not (operand.type.is_text or operand.type.is_timestamp or is_null(operand)):
        raise AdqlSemanticError(
            f"CAST cannot convert {operand.type.adql} to TIMESTAMP",
            node.span,
            "only text in ISO 8601 converts to a timestamp",
        )
    if operand.type.is_timestamp and not (target.is_timestamp or target.is_text):
        raise AdqlSemanticError(f"CAST cannot convert TIMESTAMP to {node.target}", node.span)
    if target.is_timestamp and isinstance(operand, Literal):
        return text_to_timestamp(operand, TIMESTAMP)
    length = (Literal(INT, node.length),) if node.length is not None else ()
    return Call(target, "CAST", (operand, *length), span=node.span)


def _cast_to_geometry(node: nodes.Cast, operand: Expr) -> Expr:
    target = GEOMETRY_TARGETS[node.target]
    if operand.type.xtype == target.xtype:
        return operand
    if isinstance(operand, Literal) and isinstance(operand.value, str):
        return _cast_literal(node.target, operand.value, node.operand.span, node.span)
    if not (operand.type.is_text or is_null(operand)) or isinstance(operand, Shape):
        raise AdqlSemanticError(f"CAST cannot convert {operand.type.adql} to {node.target}", node.span)
    return Call(target, "SHAPE OF TEXT", (operand,), span=node.span)


def _cast_geometry_to_text(node: nodes.Cast, shape: Expr) -> Expr:
    if node.target not in ("CHAR", "VARCHAR"):
        raise AdqlSemanticError(f"CAST cannot convert {shape.type.adql} to {node.target}", node.span)
    text = Call(UNICODE, "TEXT OF SHAPE", (shape,), span=node.span)
    if node.length is None:
        return text
    return Call(UNICODE, "CAST", (text, Literal(INT, node.length)), span=node.span)


def _cast_literal(target: str, text: str, at: Span, span: Span) -> Expr:
    try:
        region = _parse_shape(target, text)
    except ShapeError as error:
        raise AdqlSemanticError(f"CAST to {target}: {error.message}", at, error.hint) from error
    if target == "POLYGON":
        return Shape(POLYGON, region, span=span)
    assert isinstance(region, Cone)  # noqa: S101  see _parse_shape
    numbers = [region.lon, region.lat]
    if target == "CIRCLE":
        numbers.append(region.radius)
    parts = tuple(Literal(DOUBLE, float(n), span=at) for n in numbers)
    return Call(GEOMETRY_TARGETS[target], target, parts, span=span)


def _parse_shape(target: str, text: str) -> Region:
    region = stcs.parse_region(f"{target} {text}" if _NUMBERS.fullmatch(text) and text.strip() else text)
    kind = "POLYGON" if isinstance(region, Polygon) else "CIRCLE" if isinstance(region, Cone) else ""
    if isinstance(region, Cone) and target == "POINT" and region.radius == 0:
        kind = "POINT"
    if kind != target:
        raise ShapeError(f"'{text}' is not a {target}", f"write {_NUMBER_COUNTS[target]} numbers, in degrees")
    return make_circle(region.lon, region.lat, region.radius) if isinstance(region, Cone) else region


CAST_BINDERS: BindFunctions = {nodes.Cast: _bind_cast}
