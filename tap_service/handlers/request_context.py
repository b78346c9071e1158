"""What every handler needs of the request around it."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from tap_service.factory.service_factory import Services
from tap_service.models.identity import Identity
from tap_service.service_errors import Forbidden
from tap_service.services.site.client_address import RequestOrigin, find_origin


def get_services(request: Request) -> Services:
    return cast(Services, request.app.state.services)


def get_origin(request: Request) -> RequestOrigin:
    """Who asks, and the service's own address for this client."""
    config = get_services(request).config
    headers = {name: ", ".join(request.headers.getlist(name)) for name in request.headers}
    request_url = str(request.base_url).rstrip("/")
    peer = request.client.host if request.client else ""
    return find_origin(headers, peer, request_url, config.trusted_proxies, config.public_url)


async def identify_visitor(request: Request) -> Identity | None:
    """Who has proved to ask; None is anonymous. Every request below /tap comes by here.

    Raises Unauthorized for wrong credentials. A browser adds a password that it remembers to whatever another site's
    page makes it send: Forbidden, where that could change something.
    """
    headers = request.headers.getlist("authorization")
    if (
        any(header.lower().startswith("basic") for header in headers)
        and request.method not in ("GET", "HEAD")
        and request.headers.get("sec-fetch-site") == "cross-site"
    ):
        raise Forbidden("a page of another site asks with your password: it needs a token instead")
    request.state.visitor = await get_services(request).authenticator.identify(headers)
    return cast("Identity | None", request.state.visitor)


def admit_caller(request: Request, visitor: Annotated[Identity | None, Depends(identify_visitor)]) -> Identity | None:
    """The visitor, who may use the service. Raises Unauthorized for anonymous ones where the service is closed."""
    get_services(request).authenticator.check_admission(visitor)
    return visitor


Skyhouse = Annotated[Services, Depends(get_services)]
Caller = Annotated[Identity | None, Depends(admit_caller)]
Asker = Annotated[RequestOrigin, Depends(get_origin)]
