"""The errors of a query with their positions, for clients that show them in the query."""

from __future__ import annotations

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from adql import NOWHERE, AdqlError, AdqlErrors, offset_to_line_column
from tap_service.models.json_document import JsonDocument
from tap_service.service_errors import QueryFault, ServiceError


class QueryFix(JsonDocument):
    """A replacement in the query: ``text`` for the characters from ``start``, counted from 0, to before ``end``."""

    start: int
    end: int
    text: str


class QueryError(JsonDocument):
    """One error. Lines and columns count from 1, in characters; the end is exclusive. What is unknown is left out."""

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


def list_query_errors(error: ServiceError) -> tuple[QueryError, ...]:
    """Return the errors that ``adql`` has found in a query; nothing for other errors."""
    cause = error.__cause__
    if not (isinstance(error, QueryFault) and isinstance(cause, AdqlError)):
        return ()
    all_errors = cause.errors if isinstance(cause, AdqlErrors) else (cause,)
    return tuple(_describe_error(each, error.query) for each in all_errors)


def _describe_error(error: AdqlError, query: str) -> QueryError:
    fixes = [QueryFix(start=fix.span.start, end=fix.span.end, text=fix.text) for fix in error.fixes] or None
    if error.span == NOWHERE:
        return QueryError(message=error.message, hint=error.hint, fixes=fixes)
    (line, column), (end_line, end_column) = (offset_to_line_column(query, offset) for offset in error.span)
    return QueryError(
        message=error.message,
        hint=error.hint,
        fixes=fixes,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
    )
