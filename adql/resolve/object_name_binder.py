"""ivo_simbadpoint: the name of an object becomes a constant position before anything else is done with the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adql.errors import AdqlSemanticError, AdqlUnsupported, Span
from adql.functions.object_name_functions import MAX_NAME_CHARACTERS, MAX_NAMES, NameLookupError, PositionLookup
from adql.ir import Call, Expr, Literal
from adql.syntax import nodes
from clickhouse_schema.datatypes import DOUBLE, POINT

if TYPE_CHECKING:
    from adql.resolve.expression_binder import Binder


class KnownNames:
    """The positions of one query's names, each asked for once. ``ask`` None: nobody may be asked."""

    def __init__(self, ask: PositionLookup | None) -> None:
        self._ask = ask
        self._found: dict[str, tuple[float, float]] = {}

    def position(self, name: str, span: Span) -> tuple[float, float]:
        if self._ask is None:
            raise AdqlUnsupported(
                "ivo_simbadpoint is switched off: this service does not ask others for positions",
                span,
                "give the position itself, POINT(ra, dec)",
            )
        if not name or len(name) > MAX_NAME_CHARACTERS:
            raise AdqlSemanticError(f"the name of an object has 1 to {MAX_NAME_CHARACTERS} characters", span)
        if name not in self._found:
            if len(self._found) == MAX_NAMES:
                raise AdqlSemanticError(f"one query takes at most {MAX_NAMES} names of objects", span)
            try:
                self._found[name] = self._ask(name)
            except NameLookupError as fault:
                raise AdqlSemanticError(str(fault), span) from fault
        return self._found[name]


def bind_named_position(binder: Binder, node: nodes.FunctionCall) -> Expr:
    if len(node.args) != 1 or not isinstance(node.args[0], nodes.StringLiteral):
        raise AdqlSemanticError("ivo_simbadpoint takes one text, as a literal", node.span, "ivo_simbadpoint('M 31')")
    argument = node.args[0]
    position = binder.queries.context.names.position(" ".join(argument.value.split()), argument.span)
    lon, lat = (Literal(DOUBLE, float(degrees), span=node.span) for degrees in position)
    return Call(POINT, "POINT", (lon, lat), span=node.span)
