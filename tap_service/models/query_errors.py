"""The errors of a query with their positions, for clients that mark them in the query."""

from __future__ import annotations

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from tap_service.models.json_document import JsonDocument


class QueryFix(JsonDocument):
    """A fix of the query: ``text`` replaces the characters from ``start``, counted from 0, up to but not ``end``."""

    start: int
    end: int
    text: str


class QueryError(JsonDocument):
    """An error. Lines and columns count from 1, in characters; the end is exclusive. Unknown members are left out."""

    message: str
    hint: str = ""
    fixes: list[QueryFix] | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    @model_serializer(mode="wrap")
    def _leave_out_unknown(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value is not None}
