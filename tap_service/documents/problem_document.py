"""Errors in JSON: the problem details of RFC 9457, with the errors of a query and their positions."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from pydantic import Field

from tap_service.models.json_document import JsonDocument
from tap_service.models.query_errors import QueryError

CONTENT_TYPE = "application/problem+json"


class ProblemDocument(JsonDocument):
    """What is wrong: ``detail`` is the message for the user, with the way out."""

    type: str = "about:blank"
    title: str = Field(description="The meaning of the status in HTTP")
    status: int
    detail: str
    errors: list[QueryError] = Field(description="The errors of the query, if it is ADQL that is wrong")


def describe_problem(status: int, message: str, errors: Sequence[QueryError] = ()) -> ProblemDocument:
    """``status`` is that of HTTP; ``message`` is for the user."""
    return ProblemDocument(title=HTTPStatus(status).phrase, status=status, detail=message, errors=list(errors))
