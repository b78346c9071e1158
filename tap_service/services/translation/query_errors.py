"""The errors that ``adql`` finds in a query, with their lines and columns."""

from __future__ import annotations

from adql import NOWHERE, AdqlError, AdqlErrors, offset_to_line_column
from tap_service.models.query_errors import QueryError, QueryFix
from tap_service.service_errors import InvalidQueryError, ServiceError


def list_query_errors(error: ServiceError) -> tuple[QueryError, ...]:
    """Return the errors of a query that caused an error of the service.

    Parameters
    ----------
    error : ServiceError
        The error of a request.

    Returns
    -------
    tuple[QueryError, ...]
        The errors with their lines and columns in the query; empty if ``adql`` did not find the error.
    """
    cause = error.__cause__
    if not (isinstance(error, InvalidQueryError) and isinstance(cause, AdqlError)):
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
