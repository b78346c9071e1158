"""What every handler needs of the request around it."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from tap_service.factory import Services
from tap_service.services.address import Origin, origin


def services_of(request: Request) -> Services:
    return cast(Services, request.app.state.services)


def origin_of(request: Request) -> Origin:
    """Who asks, and the service's own address for this client."""
    config = services_of(request).config
    headers = {name: ", ".join(request.headers.getlist(name)) for name in request.headers}
    request_url = str(request.base_url).rstrip("/")
    peer = request.client.host if request.client else ""
    return origin(headers, peer, request_url, config.trusted_proxies, config.public_url)


Skyhouse = Annotated[Services, Depends(services_of)]
Asker = Annotated[Origin, Depends(origin_of)]
