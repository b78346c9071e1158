"""The dependencies of handlers: the services, the caller and the origin of the request.

All are coroutines: the framework would call plain functions on threads, at 0.2 ms each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, cast

from fastapi import Depends, Request

from tap_service.factory.service_factory import Services
from tap_service.models.identity import Identity
from tap_service.service_errors import Forbidden
from tap_service.services.site.client_address import RequestOrigin, find_origin


async def get_services(request: Request) -> Services:
    return find_services(request)


def find_services(request: Request) -> Services:
    return cast(Services, request.app.state.services)


async def get_origin(request: Request) -> RequestOrigin:
    """Return the client's address, and the service's address for this client."""
    config, scope = find_services(request).config, request.scope
    names = {name.decode("latin-1") for name, _ in scope["headers"] if b"forwarded" in name}
    headers = {name: ", ".join(request.headers.getlist(name)) for name in names}
    root_path = scope.get("app_root_path", scope.get("root_path", ""))
    host = next((value for name, value in scope["headers"] if name == b"host"), None)
    request_url = _build_request_url(scope.get("scheme", "http"), scope.get("server"), root_path, host)
    peer = request.client.host if request.client else ""
    return find_origin(headers, peer, request_url, config.trusted_proxies, config.public_url)


@lru_cache(256)
def _build_request_url(scheme: str, server: tuple[str, int | None] | None, root_path: str, host: bytes | None) -> str:
    headers = [] if host is None else [(b"host", host)]
    scope = {"type": "http", "scheme": scheme, "server": server, "root_path": root_path, "headers": headers}
    return str(Request(scope).base_url).rstrip("/")


async def identify_visitor(request: Request) -> Identity | None:
    """Authenticate the caller of a request below /tap; None is anonymous.

    Raises
    ------
    Unauthorized
        The credentials are wrong.
    TooManyPasswords
        Other passwords of the client's address are still checked.
    Forbidden
        A page of another site made the browser send a remembered password with a request that could change something.
    """
    headers = request.headers.getlist("authorization")
    if (
        any(header.lower().startswith("basic") for header in headers)
        and request.method not in ("GET", "HEAD")
        and request.headers.get("sec-fetch-site") == "cross-site"
    ):
        raise Forbidden("a page of another site sent your password: it must use a token")
    client = (await get_origin(request)).client if headers else ""
    request.state.visitor = await find_services(request).authenticator.identify(headers, client)
    return cast("Identity | None", request.state.visitor)


async def admit_caller(
    request: Request, visitor: Annotated[Identity | None, Depends(identify_visitor)]
) -> Identity | None:
    """Return the visitor if they may use the service. Raise Unauthorized unless anonymous access is allowed."""
    find_services(request).authenticator.check_admission(visitor)
    return visitor


Skyhouse = Annotated[Services, Depends(get_services)]
Caller = Annotated[Identity | None, Depends(admit_caller)]
Origin = Annotated[RequestOrigin, Depends(get_origin)]
