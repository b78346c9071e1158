"""The health of the process, for balancers, containers and monitors. Public, without secrets, and cheap to ask."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from tap_service.handlers.content_negotiation import JSON
from tap_service.handlers.request_context import Skyhouse
from tap_service.handlers.route_description import describe

router = APIRouter(prefix="/health")

_READ = ["GET", "HEAD"]
_NOT_STORED = {"Cache-Control": "no-store"}


@router.api_route("/live", methods=_READ, **describe("Whether the process lives", JSON))
async def show_live() -> JSONResponse:
    """Return 200: the process answers. Nothing else is asked, for a new process would not mend what this one needs."""
    return JSONResponse({"live": True}, headers=_NOT_STORED)


@router.api_route("/ready", methods=_READ, **describe("Whether the service takes queries, or why not", JSON))
async def show_ready(skyhouse: Skyhouse) -> JSONResponse:
    """Return 200 if the service takes queries, otherwise 503 with the reasons that /tap/availability gives."""
    availability = await skyhouse.availability.check_recently()
    reasons = [] if availability.available else list(availability.notes)
    status = 200 if availability.available else 503
    return JSONResponse({"ready": availability.available, "reasons": reasons}, status, _NOT_STORED)
