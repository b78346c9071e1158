"""The caller's own queries, by /sync and as jobs, also when their jobs are gone. TAP does not define this resource.

GET /tap/history       AFTER, BEFORE, STATUS (may be repeated), SEARCH, LAST, CURSOR: the newest queries, page by page
DELETE /tap/history    forgets all of them; jobs stay
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tap_service.handlers.content_negotiation import as_json, send_preferred
from tap_service.handlers.request_context import Origin, Skyhouse, User
from tap_service.handlers.request_form import read_query_pairs
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.models.history_entry import HistoryEntry
from tap_service.models.json_document import JsonDocument
from tap_service.services.history.history_parameters import MAX_LISTED, STATUSES, parse_history_filter

router = APIRouter()

_NO_STORE = {"Cache-Control": "no-store"}
_FILTERS = (
    Parameter("AFTER", "Queries that came after this instant, in ISO 8601"),
    Parameter("BEFORE", "Queries that came before this instant, in ISO 8601"),
    Parameter("STATUS", "Queries that ended so", STATUSES, is_repeatable=True),
    Parameter("SEARCH", "Queries with all these words in query, name, error or job"),
    Parameter("LAST", f"So many queries, up to {MAX_LISTED}", kind="integer", example=10),
    Parameter("CURSOR", "What the address of the next page has"),
)


class HistoryPage(JsonDocument):
    """Queries, the newest first; ``next`` is the address of the next page, null at the end."""

    owner: str
    limits: dict[str, int]
    queries: list[HistoryEntry]
    next: str | None


@router.api_route("/history", methods=["GET", "HEAD"], **describe("Your queries", HistoryPage, query=_FILTERS))
async def list_queries(request: Request, skyhouse: Skyhouse, user: User, origin: Origin) -> Response:
    pairs = read_query_pairs(request)
    wanted = parse_history_filter(pairs)
    queries, cursor = await run_in_turn(skyhouse.history.list_queries, user.name, wanted)
    following = [*(pair for pair in pairs if pair[0].upper() != "CURSOR"), ("CURSOR", cursor)]
    page = HistoryPage(
        owner=user.name,
        limits={"queries": skyhouse.config.history_queries, "days": skyhouse.config.history_days},
        queries=queries,
        next=f"{origin.base_url}/tap/history?{urlencode(following)}" if cursor else None,
    )
    return send_preferred(request, as_json(lambda: page), headers=_NO_STORE)


@router.delete("/history", **describe("Forget your queries", status=204))
async def delete_queries(skyhouse: Skyhouse, user: User) -> Response:
    await run_in_turn(skyhouse.history.delete_queries, user.name)
    return Response(status_code=204)
