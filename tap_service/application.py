"""The FastAPI application of the service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI
from fastapi.responses import Response

import web
from tap_service.config import Config
from tap_service.factory.services import build_services
from tap_service.handlers import (
    admin_routes,
    announcement_routes,
    async_routes,
    cone_search_routes,
    datalink_routes,
    estimate_routes,
    hats_routes,
    health_routes,
    history_routes,
    name_routes,
    openapi_routes,
    page_routes,
    registry_routes,
    result_routes,
    share_routes,
    sync_routes,
    table_grant_routes,
    token_routes,
    user_table_routes,
    vosi_routes,
    watch_routes,
)
from tap_service.handlers.admit_clients import AdmitClients
from tap_service.handlers.common_headers import CommonHeaders
from tap_service.handlers.compress_responses import CompressResponses
from tap_service.handlers.error_responses import CatchErrors, add_error_handlers
from tap_service.handlers.observe_requests import ObserveRequests
from tap_service.handlers.portal_routes import portal_router
from tap_service.handlers.protocol_paths import CONE_SEARCH, HATS, MCP, TAP
from tap_service.handlers.request_context import identify_user
from tap_service.http_server.open_connections import OpenConnections
from tap_service.storage.engine.engine import Engine

if TYPE_CHECKING:
    from tap_service.handlers.mcp_endpoint import McpEndpoint

_TAP_ROUTERS = (
    sync_routes.router,
    async_routes.router,
    result_routes.router,
    history_routes.router,
    share_routes.router,
    share_routes.admin_router,
    watch_routes.router,
    user_table_routes.router,
    table_grant_routes.router,
    vosi_routes.router,
    estimate_routes.router,
    name_routes.router,
    datalink_routes.router,
    token_routes.router,
    announcement_routes.router,
    openapi_routes.router,
    admin_routes.router,
    page_routes.tap_router,
)


def create_app(
    config: Config, engine: Engine, portal: Path | None = None, *, are_helpers_kept_ready: bool = True
) -> FastAPI:
    """Build the application.

    Parameters
    ----------
    config : Config
        The settings.
    engine : Engine
        An initialised engine. The calling function closes it after the application has ended.
    portal : Path, optional
        The folder of a built portal, by default ``web/dist``. Without a build, ``/`` is a plain page.
    are_helpers_kept_ready : bool
        Whether the processes for uploads and for long queries start with the application, instead of with the first
        upload and the first long query.

    Raises
    ------
    ConfigError, EngineError, ServiceError, OSError
        As in ``build_services``.
    """
    services = build_services(config, engine, are_helpers_kept_ready=are_helpers_kept_ready)
    root_router = portal_router(portal or web.DIST, config.surveys, config.aladin_lite) or page_routes.door_router

    mcp = _open_mcp_endpoint(config) if config.mcp else None

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        services.start()
        async with mcp.run() if mcp else nullcontext():
            yield
        await services.close()

    app = FastAPI(title=config.title, lifespan=lifespan, openapi_url=None, redirect_slashes=False)
    app.state.services = services
    app.state.open_connections = connections = OpenConnections(
        config, config.trusted_proxies, lambda status: services.metrics.refused_connections.labels(str(status)).inc()
    )
    services.metrics.connections.set_function(lambda: connections.count)
    protocol_routers = [
        *((TAP, router) for router in _TAP_ROUTERS),
        (CONE_SEARCH, cone_search_routes.router),
        (HATS, hats_routes.router),
    ]
    if mcp is not None:
        protocol_routers.append((MCP, mcp.router))
    root_routers = (page_routes.router, health_routes.router, registry_routes.router, root_router)
    app.state.routers = (*protocol_routers, *(("", router) for router in root_routers))
    for prefix, router in app.state.routers:
        app.include_router(
            router,
            prefix=prefix,
            dependencies=[Depends(identify_user)] if prefix else [],
            default_response_class=Response,
            responses=openapi_routes.ERROR_ANSWERS,
            include_in_schema=router is not root_router,  # the portal's files
        )
    add_error_handlers(app)
    app.add_middleware(CompressResponses)
    app.add_middleware(CatchErrors)
    app.add_middleware(AdmitClients, services=services)
    app.add_middleware(CommonHeaders)
    app.add_middleware(ObserveRequests)
    return app


def _open_mcp_endpoint(config: Config) -> McpEndpoint:
    from tap_service.handlers.mcp_endpoint import McpEndpoint  # needs an optional package

    return McpEndpoint(config)
