"""The dependencies of handlers: the services, and the user, the client and the origin of the request.

All are coroutines: the framework would call plain functions on threads, which takes 0.2 ms per call.
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
    """Return the services, as a dependency of handlers."""
    return find_services(request)


def find_services(request: Request) -> Services:
    """Return the services of the application."""
    return cast(Services, request.app.state.services)


async def get_origin(request: Request) -> RequestOrigin:
    """Return the address of the client, and the URL of the service for this client; found once per request.

    Parameters
    ----------
    request : Request
        The request. Its scope keeps the origin, from which ``find_client`` reads it.
    """
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
    """Create a file for the body of a request.

    Parameters
    ----------
    request : Request
        A request whose user was identified: the file counts for the quota of its client.

    Returns
    -------
    IncomingFile
        The file, which the caller closes.

    Raises
    ------
    OSError
        The file cannot be created.
    """
    client = find_client(request.scope)
    return find_services(request).incoming.create_file(client.key, is_anonymous=client.name is None)


async def identify_user(request: Request) -> Identity | None:
    """Authenticate the user of a request, also if the service does not admit anonymous clients.

    Returns
    -------
    Identity or None
        The user; None for an anonymous client.

    Raises
    ------
    Unauthorized
        The credentials are wrong.
    TooManyPasswords
        Other passwords from the client's address are still being checked.
    Forbidden
        A page of another site made a browser send a remembered password with a request that could change something.
    """
    headers = request.headers.getlist("authorization")
    if request.method not in ("GET", "HEAD"):
        await refuse_remembered_password(request)
    address = (await get_origin(request)).address if headers else ""
    request.state.user = await find_services(request).authenticator.identify(headers, address)
    return cast("Identity | None", request.state.user)


async def refuse_remembered_password(request: Request) -> None:
    """Raise Forbidden if a page of another site made a browser send a remembered password."""
    if await has_remembered_password(request):
        raise Forbidden(
            "a page of another site sent your password: it must use a token. If it is a page of this service, its "
            "operator must set SKYHOUSE_PUBLIC_URL to the URL of the service"
        )


async def has_remembered_password(request: Request) -> bool:
    """Return whether a page of another site made a browser send a remembered password."""
    headers = request.headers.getlist("authorization")
    return any(header.lower().startswith("basic") for header in headers) and await is_from_other_site(request)


async def is_from_other_site(request: Request) -> bool:
    """Return whether a page of another site made a browser send the request."""
    return is_cross_site(request.headers, ((await get_origin(request)).base_url, _find_request_url(request)))


def is_from_unknown_name(request: Request) -> bool:
    """Return whether a page made a browser send the request, and somebody else may control the name of its host.

    An attacker can bind the name of a page's host to the address of this service (DNS rebinding); the page and its
    requests then have the same origin. Only the host of ``SKYHOUSE_PUBLIC_URL`` certainly belongs to the service, or
    without this setting numeric addresses and localhost. Requests without the header Origin are not tested.
    """
    page = request.headers.get("origin")
    if not page:
        return False
    public_url = find_services(request).config.public_url
    return is_cross_site({"origin": page}, (public_url,)) if public_url else not is_unnamed_host(page)


async def admit_user(request: Request, user: Annotated[Identity | None, Depends(identify_user)]) -> Identity | None:
    """Return the user of a request, if the service admits the client.

    Parameters
    ----------
    request : Request
        The request.
    user : Identity or None
        The user whom ``identify_user`` has found.

    Returns
    -------
    Identity or None
        The user; None for an anonymous client.

    Raises
    ------
    Unauthorized
        The client is anonymous, and the service admits only users.
    """
    find_services(request).authenticator.check_admission(user)
    return user


def find_client(scope: Scope) -> Client:
    """Return the client of a request.

    Parameters
    ----------
    scope : Scope
        The ASGI scope of a request whose origin was found.

    Returns
    -------
    Client
        The client, which counts as anonymous until its user is identified.
    """
    state = scope["state"]
    user: Identity | None = state.get("user")
    services: Services = scope["app"].state.services
    return services.clients.find_client(state["origin"].address, user.name if user else None)


async def get_client(request: Request, _: Annotated[Identity | None, Depends(admit_user)]) -> Client:
    """Return the client of a request, as a dependency of handlers; its origin is found first.

    Raises
    ------
    Unauthorized
        As for ``admit_user``.
    """
    await get_origin(request)
    return find_client(request.scope)


async def require_user(user: Annotated[Identity | None, Depends(admit_user)]) -> Identity:
    """Return the user of a request for a per-user resource.

    Raises
    ------
    Unauthorized
        The client is anonymous.
    """
    if user is None:
        raise Unauthorized("sign in to use this resource, with your name and password or a token")
    return user


async def admit_operator(request: Request, user: Annotated[Identity | None, Depends(identify_user)]) -> None:
    """Let administrators pass, and clients at an address of ``SKYHOUSE_METRICS_FROM``.

    Raises
    ------
    Forbidden
        The client is neither.
    """
    if user is not None and user.admin:
        return
    origin = await get_origin(request)
    if not (origin.is_client_known and is_within(origin.address, find_services(request).config.metrics_from)):
        through = "" if origin.is_client_known else ", a proxy that is not trusted or does not name its client"
        raise Forbidden(
            f"only the service's operator may use this. Your address is {origin.address or 'unknown'}{through}. "
            "Send the request from an address that SKYHOUSE_METRICS_FROM names, or as an administrator"
        )


Skyhouse = Annotated[Services, Depends(get_services)]
#: the user of a per-user resource
User = Annotated[Identity, Depends(require_user)]
#: the user of a resource that anonymous clients may use too, unless the service admits only users
OptionalUser = Annotated[Identity | None, Depends(admit_user)]
#: the user of a public resource
IdentifiedUser = Annotated[Identity | None, Depends(identify_user)]
Origin = Annotated[RequestOrigin, Depends(get_origin)]
RequestClient = Annotated[Client, Depends(get_client)]
