"""The examples, the landing page and the metrics."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from tap_service.documents.examples_document import examples_document
from tap_service.handlers.content_negotiation import HTML, TEXT
from tap_service.handlers.landing_page import landing_page
from tap_service.handlers.request_context import IdentifiedUser, Origin, RequestClient, Skyhouse, admit_operator
from tap_service.handlers.route_description import describe
from tap_service.handlers.turns import run_in_turn
from tap_service.handlers.vosi_routes import cache_headers

router = APIRouter()
#: the landing page at /, if the portal has not been built
door_router = APIRouter()
tap_router = APIRouter()

_READ = ["GET", "HEAD"]


@tap_router.api_route("/examples", methods=_READ, **describe("Example queries", "application/xhtml+xml"))
async def show_examples(skyhouse: Skyhouse, client: RequestClient) -> Response:
    def write_examples() -> bytes:
        found = skyhouse.catalogue_cache.snapshot_for(client.name).examples
        return examples_document(found, f"{skyhouse.config.title}: examples")

    return Response(
        await run_in_turn(write_examples), headers=cache_headers(client.name), media_type="application/xhtml+xml"
    )


@door_router.api_route("/", methods=_READ, **describe("Landing page", HTML))
@tap_router.api_route("", methods=_READ, **describe("Landing page", HTML))
@tap_router.api_route("/", methods=_READ, **describe("Landing page", HTML))
async def show_landing_page(skyhouse: Skyhouse, user: IdentifiedUser, origin: Origin) -> HTMLResponse:
    """Public; only clients that may query the service see the names of tables."""
    name, tables = user.name if user else None, None
    if user is not None or skyhouse.authenticator.anonymous:
        catalogue = await run_in_turn(skyhouse.catalogue_cache.catalogue_for, name)
        tables = [entry.qualified_name for entry in catalogue.entries]
    page = landing_page(skyhouse.config, f"{origin.base_url}/tap", tables, skyhouse.announcements.current)
    return HTMLResponse(page, headers=cache_headers(name))


@router.get("/metrics", dependencies=[Depends(admit_operator)], **describe("Metrics for Prometheus", TEXT))
async def show_metrics(skyhouse: Skyhouse) -> Response:
    # without a turn, so that the operator can read metrics while clients wait long for turns
    return Response(await skyhouse.metrics.read_text(), media_type=CONTENT_TYPE_LATEST)
