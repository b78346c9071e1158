"""The health of the process, for load balancers, containers and monitors. Public, without secrets, and cheap."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from tap_service.handlers.content_negotiation import JSON
from tap_service.handlers.request_context import Skyhouse
from tap_service.handlers.route_description import describe

router = APIRouter(prefix="/health")

_READ = ["GET", "HEAD"]
_NOT_STORED = {"Cache-Control": "no-store"}


@router.api_route("/live", methods=_READ, **describe("Liveness of the process", JSON))
async def show_live() -> JSONResponse:
    """Return 200. Nothing else is checked: a restart would not repair a server that this process needs."""
    return JSONResponse({"live": True}, headers=_NOT_STORED)


@router.api_route("/ready", methods=_READ, **describe("Readiness of the service", JSON))
async def show_ready(skyhouse: Skyhouse) -> JSONResponse:
    """Return 200 if the service accepts queries, otherwise 503 with the reasons that /tap/availability states."""
    availability = await skyhouse.availability.check_recently()
    reasons = [] if availability.available else list(availability.notes)
    status = 200 if availability.available else 503
    return JSONResponse({"ready": availability.available, "reasons": reasons}, status, _NOT_STORED)
