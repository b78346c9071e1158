"""Announcements of the operator, in JSON for the portal. Public, like /availability. TAP does not define it.

GET /tap/announcements     draining, downtimes, notes
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from tap_service.handlers.content_negotiation import JSON
from tap_service.handlers.request_context import Skyhouse
from tap_service.handlers.route_description import describe
from tap_service.models.timestamps import format_instant
from tap_service.services.announcements import Announced

router = APIRouter()


@router.api_route("/announcements", methods=["GET", "HEAD"], **describe("Downtimes and notes", JSON))
async def show_announcements(skyhouse: Skyhouse) -> Response:
    return JSONResponse(announced_as_json(skyhouse.announcements.current), headers={"Cache-Control": "no-cache"})


def announced_as_json(announced: Announced) -> dict[str, Any]:
    """Return the JSON of the announcements.

    ``draining`` is the reason why the service refuses new queries, '' while it accepts them. Instants are in ISO 8601.
    """
    return {
        "draining": announced.drain,
        "downtimes": [
            {
                "id": each.downtime_id,
                "from": format_instant(each.start),
                "to": format_instant(each.end),
                "note": each.note,
            }
            for each in announced.downtimes
        ],
        "notes": [{"id": each.note_id, "text": each.text} for each in announced.notes],
    }
