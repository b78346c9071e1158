"""Errors in JSON: the problem details of RFC 9457, with the errors of a query and their positions."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from pydantic import Field

from tap_service.models.json_document import JsonDocument
from tap_service.models.query_errors import QueryError

CONTENT_TYPE = "application/problem+json"


class ProblemDocument(JsonDocument):
    """An error: ``detail`` is the message, which says how to correct the request."""

    type: str = "about:blank"
    title: str = Field(description="Meaning of the HTTP status")
    status: int
    detail: str
    errors: list[QueryError] = Field(description="Errors of the ADQL query; empty for other errors")


def describe_problem(status: int, message: str, errors: Sequence[QueryError] = ()) -> ProblemDocument:
    """Return problem details.

    Parameters
    ----------
    status : int
        The HTTP status.
    message : str
        The message for the client.
    errors : Sequence[QueryError]
        The errors of the query, with their positions.
    """
    return ProblemDocument(title=HTTPStatus(status).phrase, status=status, detail=message, errors=list(errors))
