"""The application, and the settings of the server that runs it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import h11
from fastapi import Depends, FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

import web
from tap_service.config import Config
from tap_service.constants import LINGER_SECONDS, MAX_REQUEST_HEAD, PRODUCT
from tap_service.documents.error_document import CONTENT_TYPE, error_document
from tap_service.factory.service_factory import build_services
from tap_service.handlers import (
    async_routes,
    estimate_routes,
    page_routes,
    result_routes,
    sync_routes,
    user_table_routes,
    vosi_routes,
)
from tap_service.handlers.error_responses import CatchFaults, add_error_handlers
from tap_service.handlers.portal_routes import portal_router
from tap_service.handlers.request_context import identify_visitor
from tap_service.handlers.response_compression import CompressResponses
from tap_service.handlers.response_headers import CommonHeaders
from tap_service.storage.engine.engine import Engine

_TAP_ROUTERS = (
    sync_routes.router,
    async_routes.router,
    result_routes.router,
    user_table_routes.router,
    vosi_routes.router,
    estimate_routes.router,
    page_routes.tap_router,
)


def create_app(config: Config, engine: Engine, portal: Path | None = None) -> FastAPI:
    """Build the service.

    Parameters
    ----------
    config
        The settings.
    engine
        An initialised engine; the caller closes it after the service.
    portal
        The folder of a built portal, by default the project's own. Without one, `/` is a plain page.
    """
    services = build_services(config, engine)
    root_router = portal_router(portal or web.DIST) or page_routes.door_router

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        services.start()
        yield
        await services.close()

    app = FastAPI(title=config.title, lifespan=lifespan, openapi_url=None, redirect_slashes=False)
    app.state.services = services
    tap_routers = (("/tap", router) for router in _TAP_ROUTERS)
    #: each with the prefix of its paths
    app.state.routers = (*tap_routers, ("", page_routes.router), ("", root_router))
    for prefix, router in app.state.routers:
        app.include_router(router, prefix=prefix, dependencies=[Depends(identify_visitor)] if prefix else [])
    add_error_handlers(app)
    app.add_middleware(CompressResponses)
    app.add_middleware(CatchFaults)
    app.add_middleware(CommonHeaders)
    return app


class Protocol(H11Protocol):
    """uvicorn's HTTP with an error document for requests that are not HTTP.

    The rest of such a request is read and dropped for a while: closing at once would reset the connection before the
    client has read the error.
    """

    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set TCP_NODELAY, without which some pieces wait 40 ms; asyncio does it only for sockets of proto TCP."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        if not self._refused:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's signature)
        body = error_document(
            "this is not a valid HTTP request, or its address and headers are longer than "
            f"{MAX_REQUEST_HEAD} bytes: send a long query by POST"
        )
        headers = [("Content-Type", CONTENT_TYPE), ("Server", PRODUCT), ("Connection", "close")]
        response = h11.Response(status_code=400, headers=headers)
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self._refused = True
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)


#: for uvicorn.Config: the service itself evaluates headers of proxies and sets the header Server
SERVER: dict[str, Any] = {
    "http": Protocol,
    "ws": "none",
    "server_header": False,
    "proxy_headers": False,
    "access_log": False,
    "h11_max_incomplete_event_size": MAX_REQUEST_HEAD,
}
