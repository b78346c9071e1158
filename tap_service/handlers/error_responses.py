"""Error responses: a VOTable under /tap and /scs, a line of text elsewhere.

Clients that prefer JSON get problem details (RFC 9457) under all paths.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clickhouse_schema.cluster_topology import ClusterError
from tap_service.constants import STATUS_HEADER
from tap_service.documents import problem_document
from tap_service.documents.error_document import (
    CONE_SEARCH_TYPE,
    CONTENT_TYPE,
    cone_error_document,
    error_document,
)
from tap_service.handlers.allowed_methods import list_allowed_methods
from tap_service.handlers.content_negotiation import JSON, TEXT, choose_media_type, encode_json, read_accept
from tap_service.handlers.protocol_paths import CONE_SEARCH, TAP, find_protocol
from tap_service.models.query_errors import QueryError
from tap_service.service_errors import ServiceError, ServiceUnavailable, TooManyPasswords, Unauthorized, UserError
from tap_service.services.translation.query_errors import list_query_errors

_log = logging.getLogger("skyhouse")

_MESSAGES = {
    404: "there is nothing at {path}; the endpoints are /tap/sync, /tap/async, /tap/tables, /tap/capabilities, "
    "/tap/availability and /tap/examples, and /scs/{{table}} for cone searches",
    405: "{method} is not allowed at {path}; allowed: {allow}",
}

#: media types of errors by protocol; other errors are a line of text
_ERROR_TYPES = {TAP: CONTENT_TYPE, CONE_SEARCH: CONE_SEARCH_TYPE}


def error_response(
    scope: Scope,
    status: int,
    message: str,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[QueryError] = (),
) -> Response:
    """Return the answer to a request that failed.

    Parameters
    ----------
    scope : Scope
        The ASGI scope of the request, whose path and Accept header determine the media type.
    status : int
        The status; a cone search answers 200 instead of 400.
    message : str
        The message for the client.
    headers : Mapping[str, str], optional
        Headers of the response.
    errors : Sequence[QueryError]
        The errors of the query with their positions, for problem details.

    Returns
    -------
    Response
        The response.
    """
    protocol = find_protocol(scope["path"])
    default = _ERROR_TYPES.get(protocol, TEXT)
    chosen = choose_media_type(read_accept(Headers(scope=scope)), (default, problem_document.CONTENT_TYPE, JSON))
    varied = {**(headers or {}), "Vary": "Accept"}
    if chosen != default:
        return problem_response(status, message, errors, varied)
    if protocol == CONE_SEARCH:
        return _cone_error_response(status, message, varied)
    if protocol == TAP:
        return Response(error_document(message), status, varied, media_type=CONTENT_TYPE)
    return PlainTextResponse(message + "\n", status, varied)


def problem_response(
    status: int, message: str, errors: Sequence[QueryError] = (), headers: Mapping[str, str] | None = None
) -> Response:
    """Return problem details (RFC 9457); parameters as in ``error_response``."""
    document = problem_document.describe_problem(status, message, errors)
    return Response(encode_json(document), status, headers, media_type=problem_document.CONTENT_TYPE)


def _cone_error_response(status: int, message: str, headers: Mapping[str, str]) -> Response:
    """Return the error of a cone search, with 200 for an error of the user: TOPCAT shows the message only with 200."""
    status = 200 if status == UserError.status else status
    headers = {**headers, STATUS_HEADER: "ERROR"}
    return Response(cone_error_document(message), status, headers, media_type=CONE_SEARCH_TYPE)


def add_error_handlers(app: FastAPI) -> None:
    """Make an application answer errors with error documents.

    Parameters
    ----------
    app : FastAPI
        The application, which then answers ``ServiceError``, ``ClusterError`` and ``HTTPException``. ``CatchErrors``
        answers all other errors.
    """
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(ClusterError, _cluster_error)
    app.add_exception_handler(HTTPException, _http_error)


class CatchErrors:
    """ASGI middleware that logs exceptions which no handler expected, and answers them with an error document."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:  # the shutdown's time limit has passed
            if not started:
                message = "the service is shutting down; try again later"
                await error_response(scope, 503, message, ServiceUnavailable.headers)(scope, receive, send)
        except Exception as error:
            _log.error("%s %r failed", scope["method"], scope["path"], exc_info=error)
            if not started:
                message = "the service failed because of a bug; its operator can find the details in the log"
                await error_response(scope, 500, message)(scope, receive, send)


async def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)  # noqa: S101 (the registered type)
    if isinstance(error, (Unauthorized, TooManyPasswords)):
        request.app.state.services.metrics.refused_logins.labels(_name_refusal(request, error)).inc()
    return error_response(request.scope, error.status, str(error), error.headers, list_query_errors(error))


def _name_refusal(request: Request, error: Exception) -> str:
    """Return the label of a metric: the wrong kind of credentials, ``missing`` or ``too many`` passwords at once."""
    if isinstance(error, TooManyPasswords):
        return "too many"
    scheme = request.headers.get("authorization", "").partition(" ")[0].lower()
    return {"": "missing", "basic": "password", "bearer": "token"}.get(scheme, "other scheme")


async def _cluster_error(request: Request, error: Exception) -> Response:
    """Answer while servers are being added to the cluster."""
    _log.error("%s %r failed: %s", request.method, request.url.path, error)
    message = "the servers of this service are being reconfigured; try again later"
    return error_response(request.scope, 503, message, ServiceUnavailable.headers)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    headers = dict(error.headers or {})
    allow = ", ".join(list_allowed_methods(request.app, request.scope["path"]))
    if error.status_code == 405:
        headers["Allow"] = allow
    message = _MESSAGES.get(error.status_code, "{detail}").format(
        path=request.url.path, method=request.method, allow=allow, detail=error.detail
    )
    return error_response(request.scope, error.status_code, message, headers)
