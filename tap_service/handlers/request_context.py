"""The dependencies of handlers: the services, the caller and the origin of the request.

All are coroutines: the framework would call plain functions on threads, at 0.2 ms each.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import lru_cache
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.types import Receive, Scope

from tap_service.factory.services import Services
from tap_service.handlers.cross_site_requests import is_cross_site, is_unnamed_host
from tap_service.models.client import Client
from tap_service.models.identity import Identity
from tap_service.scratch_files import IncomingFile
from tap_service.service_errors import Forbidden, Unauthorized
from tap_service.services.site.request_origin import RequestOrigin, find_origin, is_within

#: the request that this task handles; its origin is known
current_request: ContextVar[tuple[Scope, Receive]] = ContextVar("request")


async def get_services(request: Request) -> Services:
    return find_services(request)


def find_services(request: Request) -> Services:
    return cast(Services, request.app.state.services)


async def get_origin(request: Request) -> RequestOrigin:
    """Return the client's address, and the service's address for this client. A request's are found once."""
    scope = request.scope
    state = scope.setdefault("state", {})
    if "origin" not in state:
        state["origin"] = _find_origin(request)
    return cast(RequestOrigin, state["origin"])


def _find_origin(request: Request) -> RequestOrigin:
    config, scope = find_services(request).config, request.scope
    names = {name.decode("latin-1") for name, _ in scope["headers"] if b"forwarded" in name}
    headers = {name: ", ".join(request.headers.getlist(name)) for name in names}
    request_url = _find_request_url(request)
    peer = request.client.host if request.client else ""
    return find_origin(headers, peer, request_url, config.trusted_proxies, config.public_url, config.proxy_header)


def _find_request_url(request: Request) -> str:
    scope = request.scope
    root_path = scope.get("app_root_path", scope.get("root_path", ""))
    host = next((value for name, value in scope["headers"] if name == b"host"), None)
    return _build_request_url(scope.get("scheme", "http"), scope.get("server"), root_path, host)


@lru_cache(256)
def _build_request_url(scheme: str, server: tuple[str, int | None] | None, root_path: str, host: bytes | None) -> str:
    headers = [] if host is None else [(b"host", host)]
    scope = {"type": "http", "scheme": scheme, "server": server, "root_path": root_path, "headers": headers}
    return str(Request(scope).base_url).rstrip("/")


def create_incoming_file(request: Request) -> IncomingFile:
    """Create a file for the body of a request whose sender was identified. Raises OSError."""
    client = find_client(request.scope)
    return find_services(request).incoming.create_file(client.key, is_anonymous=client.name is None)


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
    if request.method not in ("GET", "HEAD"):
        await refuse_remembered_password(request)
    address = (await get_origin(request)).address if headers else ""
    request.state.visitor = await find_services(request).authenticator.identify(headers, address)
    return cast("Identity | None", request.state.visitor)


async def refuse_remembered_password(request: Request) -> None:
    """Raise Forbidden if a page of another site made a browser send a remembered password."""
    if await has_remembered_password(request):
        raise Forbidden(
            "a page of another site sent your password: it must use a token. If it is a page of this service, its "
            "operator gives the service's address as SKYHOUSE_PUBLIC_URL"
        )


async def has_remembered_password(request: Request) -> bool:
    """Return whether a page of another site made a browser send a remembered password."""
    headers = request.headers.getlist("authorization")
    return any(header.lower().startswith("basic") for header in headers) and await is_from_other_site(request)


async def is_from_other_site(request: Request) -> bool:
    """Return whether a page of another site made a browser send the request."""
    return is_cross_site(request.headers, ((await get_origin(request)).base_url, _find_request_url(request)))


def is_from_unknown_name(request: Request) -> bool:
    """Return whether a page made a browser send the request, and its host may be a name of others for this service.

    A page whose host was bound anew to the service's address (DNS rebinding) has the same origin as its requests.
    Surely the service's are ``SKYHOUSE_PUBLIC_URL`` and, without it, addresses in numbers and localhost.
    """
    page = request.headers.get("origin")
    if not page:
        return False
    public_url = find_services(request).config.public_url
    return is_cross_site({"origin": page}, (public_url,)) if public_url else not is_unnamed_host(page)


async def admit_caller(
    request: Request, visitor: Annotated[Identity | None, Depends(identify_visitor)]
) -> Identity | None:
    """Return the visitor if they may use the service. Raise Unauthorized unless anonymous access is allowed."""
    find_services(request).authenticator.check_admission(visitor)
    return visitor


def find_client(scope: Scope) -> Client:
    """Return the client of a request whose origin was found, and whose sender was identified or needs no name."""
    state = scope["state"]
    visitor: Identity | None = state.get("visitor")
    services: Services = scope["app"].state.services
    return services.clients.find_client(state["origin"].address, visitor.name if visitor else None)


async def get_client(request: Request, _: Annotated[Identity | None, Depends(admit_caller)]) -> Client:
    await get_origin(request)
    return find_client(request.scope)


async def require_user(caller: Annotated[Identity | None, Depends(admit_caller)]) -> Identity:
    """Return the caller of a resource that each user has for themselves. Raise Unauthorized for anonymous ones."""
    if caller is None:
        raise Unauthorized("only users have this: sign in with your name and password, or a token")
    return caller


async def admit_operator(request: Request, visitor: Annotated[Identity | None, Depends(identify_visitor)]) -> None:
    """Let administrators pass, and whoever asks from an address of ``SKYHOUSE_METRICS_FROM``. Raise Forbidden."""
    if visitor is not None and visitor.admin:
        return
    origin = await get_origin(request)
    if not (origin.is_client_known and is_within(origin.address, find_services(request).config.metrics_from)):
        through = "" if origin.is_client_known else ", a proxy that does not say for whom it asks or is not trusted"
        raise Forbidden(
            f"this is for the service's operator. You are {origin.address or 'without an address'}{through}. "
            "Ask from an address that SKYHOUSE_METRICS_FROM names, or as an administrator"
        )


Skyhouse = Annotated[Services, Depends(get_services)]
Caller = Annotated[Identity | None, Depends(admit_caller)]
User = Annotated[Identity, Depends(require_user)]
#: the caller of a resource that is open to all
Visitor = Annotated[Identity | None, Depends(identify_visitor)]
Origin = Annotated[RequestOrigin, Depends(get_origin)]
RequestClient = Annotated[Client, Depends(get_client)]
