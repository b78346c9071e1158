"""Positions of named objects, looked up once for each name in a query."""

from __future__ import annotations

from adql.errors import AdqlSemanticError, AdqlUnsupported, Span
from adql.functions.object_name_functions import MAX_NAME_CHARACTERS, MAX_NAMES, NameLookupError, PositionLookup


class ObjectPositions:
    """The positions of one query's names. Without ``look_up`` every name is refused."""

    def __init__(self, look_up: PositionLookup | None) -> None:
        self._look_up = look_up
        self._found: dict[str, tuple[float, float]] = {}

    def find_position(self, name: str, span: Span) -> tuple[float, float]:
        if self._look_up is None:
            raise AdqlUnsupported(
                "ivo_simbadpoint is switched off: this service does not look up positions",
                span,
                "give the position itself, POINT(ra, dec)",
            )
        if not name or len(name) > MAX_NAME_CHARACTERS:
            raise AdqlSemanticError(f"the name of an object has 1 to {MAX_NAME_CHARACTERS} characters", span)
        if name not in self._found:
            if len(self._found) == MAX_NAMES:
                raise AdqlSemanticError(f"a query may have at most {MAX_NAMES} names of objects", span)
            try:
                self._found[name] = self._look_up(name)
            except NameLookupError as error:
                raise AdqlSemanticError(str(error), span) from error
        return self._found[name]
