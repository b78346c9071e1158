"""Errors as clients get them: under /tap a DALI error document, elsewhere a line of text. Never the framework's own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tap_service.documents.error_document import CONTENT_TYPE, error_document
from tap_service.service_errors import ServiceError, ServiceUnavailable

_log = logging.getLogger("skyhouse")

_MEANINGS = {
    404: "there is nothing at {path}; the endpoints are /tap/sync, /tap/async, /tap/tables, /tap/capabilities, "
    "/tap/availability and /tap/examples",
    405: "{method} is not allowed at {path}; allowed: {allow}",
}


def error_response(path: str, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    if path == "/tap" or path.startswith("/tap/"):
        return Response(error_document(message), status, headers, media_type=CONTENT_TYPE)
    return PlainTextResponse(message + "\n", status, headers)


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)


class CatchFaults:
    """What no handler caught is a fault of ours: it goes to the log, and the client gets a document all the same."""

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
        except asyncio.CancelledError:  # by the server, which shuts down and has waited long enough
            if not started:
                said = "the service is shutting down; ask again later"
                await error_response(scope["path"], 503, said, ServiceUnavailable.headers)(scope, receive, send)
        except Exception as error:
            _log.error("%s %r failed", scope["method"], scope["path"], exc_info=error)
            if not started:
                said = "the service failed on this request; the fault is ours, and its operator finds it in the log"
                await error_response(scope["path"], 500, said)(scope, receive, send)


async def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)  # noqa: S101 (the type that it is registered for)
    return error_response(request.url.path, error.status, str(error), error.headers)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    headers = dict(error.headers or {})
    allow = ", ".join(_allowed_methods(request))
    if error.status_code == 405:
        headers["Allow"] = allow
    said = _MEANINGS.get(error.status_code, "{detail}").format(
        path=request.url.path, method=request.method, allow=allow, detail=error.detail
    )
    return error_response(request.url.path, error.status_code, said, headers)


def _allowed_methods(request: Request) -> list[str]:
    """Of all routes at this path: the framework names those of the first alone."""
    found: set[str] = set()
    for prefix, router in request.app.state.routers:
        scope = {"type": "http", "method": "", "path": request.scope["path"].removeprefix(prefix)}
        for route in router.routes:
            if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE:
                found |= route.methods or set()
    return sorted(found)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    said = "; ".join(f"{fault['loc'][-1]}: {fault['msg']}" for fault in error.errors())
    return error_response(request.url.path, 400, f"the request is not valid: {said}")
