"""Count and log each HTTP request when the last byte of its response has been sent."""

from __future__ import annotations

import time

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tap_service.factory.services import Services
from tap_service.handlers.protocol_paths import find_protocol
from tap_service.handlers.request_context import get_origin
from tap_service.models.identity import Identity
from tap_service.service_errors import ClientGone
from tap_service.services.queries.sync_answer import SyncAnswer

#: labels of a metric must not come from clients, which could create any number of labels
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
_OTHER_METHOD = "other"
_NO_ROUTE = "none"
#: files of the portal, each of which has its own route
_PORTAL_PREFIX = "/assets/"

#: maximum length of text that a client chooses
_MAX_LOGGED = 300


class ObserveRequests:
    """ASGI middleware that counts requests in the metrics, and writes them to the request log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = size = 0

        async def counted(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            await _record_request(scope, status or ClientGone.status, size, time.perf_counter() - began)


async def _record_request(scope: Scope, status: int, size: int, seconds: float) -> None:
    services: Services = scope["app"].state.services
    route, lane = _find_route(scope), _find_lane(scope)
    method = scope["method"] if scope["method"] in _METHODS else _OTHER_METHOD
    services.metrics.record_request(route, method, status, lane, seconds)
    if not services.request_log.is_on:
        return
    request = Request(scope)
    user = scope.get("state", {}).get("user")
    services.request_log.write_record(
        client=(await get_origin(request)).address,
        user=user.name if isinstance(user, Identity) else None,
        method=scope["method"][:_MAX_LOGGED],
        route=route,
        path=scope["path"][:_MAX_LOGGED],
        lane=lane,
        status=status,
        bytes=size,
        seconds=round(seconds, 6),
        agent=request.headers.get("user-agent", "")[:_MAX_LOGGED],
    )


def _find_route(scope: Scope) -> str:
    """Return the template of the route, such as ``/tap/async/{job_id}``."""
    path: str | None = getattr(scope.get("route"), "path", None)
    if path is None:
        return _NO_ROUTE
    if protocol := find_protocol(scope["path"]):
        return f"{protocol}{path.rstrip('/')}"  # the route lacks the prefix of its router
    return f"{_PORTAL_PREFIX}*" if path.startswith(_PORTAL_PREFIX) else path


def _find_lane(scope: Scope) -> str:
    """Return the last lane of a query, '' for other requests."""
    answer = scope.get("state", {}).get("answer")
    return answer.slot.lane if isinstance(answer, SyncAnswer) and answer.slot is not None else ""
