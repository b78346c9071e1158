"""A user's own queries, by /sync and as jobs, also of deleted jobs. TAP does not define this resource.

GET /tap/history       AFTER, BEFORE, STATUS (repeatable), SEARCH, LAST, CURSOR: the newest queries, page by page
DELETE /tap/history    deletes the list of queries; jobs stay
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
    Parameter("AFTER", "Queries that arrived after this instant, in ISO 8601"),
    Parameter("BEFORE", "Queries that arrived before this instant, in ISO 8601"),
    Parameter("STATUS", "Queries with this status", STATUSES, is_repeatable=True),
    Parameter("SEARCH", "Queries whose text, name, error or job id contain all these words"),
    Parameter("LAST", f"Maximum number of queries, up to {MAX_LISTED}", kind="integer", example=10),
    Parameter("CURSOR", "Value from the URL of the next page"),
)


class HistoryPage(JsonDocument):
    """Queries, newest first; ``next`` is the URL of the next page, null on the last page."""

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


@router.delete("/history", **describe("Delete the list of your queries", status=204))
async def delete_queries(skyhouse: Skyhouse, user: User) -> Response:
    await run_in_turn(skyhouse.history.delete_queries, user.name)
    return Response(status_code=204)
