"""Refuse requests from blocked addresses with 403, and from addresses that exceed the request rate with 429."""

from __future__ import annotations

import math

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from tap_service.factory.services import Services
from tap_service.handlers.error_responses import error_response
from tap_service.handlers.request_context import current_request, get_origin
from tap_service.models.client import find_network


class AdmitClients:
    """ASGI middleware in front of all handlers. A refusal costs little, because no credentials are checked."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._blocked = services.blocked_networks
        self._rates = services.request_rates
        contact = services.config.contact
        self._way_out = f"write to {contact}" if contact else "ask the operator of the service"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = (await get_origin(Request(scope))).address
        current_request.set((scope, receive))
        if self._blocked.is_blocked(address):
            message = f"requests from {address} are blocked: {self._way_out}"
            await error_response(scope, 403, message)(scope, receive, send)
        elif self._rates is not None and (seconds := self._rates.take_token(find_network(address))):
            message = (
                f"{find_network(address)} sends too many requests per minute: wait {math.ceil(seconds)} seconds. "
                "Instead of many queries, send one query that joins your list as an uploaded table"
            )
            headers = {"Retry-After": str(math.ceil(seconds))}
            await error_response(scope, 429, message, headers)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
