"""/scs/{table}: Simple Cone Search, and /scs/{table}/capabilities."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from clickhouse_schema.catalogue import TableEntry
from tap_service.documents.cone_search_document import cone_search_document
from tap_service.documents.service_json import ConeCapabilitiesDocument, describe_cone_capabilities
from tap_service.factory.services import Services
from tap_service.handlers.content_negotiation import XML, as_json, send_preferred, xml
from tap_service.handlers.described_parameters import CONE_PARAMETERS
from tap_service.handlers.protocol_paths import TAP
from tap_service.handlers.query_response import send_answer
from tap_service.handlers.request_context import Origin, RequestClient, Skyhouse
from tap_service.handlers.request_form import read_request_pairs
from tap_service.handlers.route_description import ANY, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.handlers.vosi_routes import cache_headers, find_table
from tap_service.models.client import Client
from tap_service.service_errors import ServiceUnavailable, UserError
from tap_service.services.cone_search.cone_description import describe_cone_search
from tap_service.services.cone_search.cone_parameters import read_cone_parameters
from tap_service.services.cone_search.cone_query import build_cone_query, check_position
from tap_service.services.queries.sync_answer import SyncRequest
from tap_service.services.site.service_capabilities import describe_service
from tap_service.storage.engine.engine import EngineError

router = APIRouter()

_LONGER_SEARCHES = "Send longer searches to /tap/async as ADQL: with SR=0, the INFO named QUERY contains the query"


@router.api_route("/{table}", methods=["GET", "POST"], **describe("Cone search in a table", ANY, query=CONE_PARAMETERS))
async def search_cone(table: str, request: Request, skyhouse: Skyhouse, client: RequestClient) -> Response:
    try:
        entry = await run_in_turn(_find_table, skyhouse, client, table)
        query = build_cone_query(entry, read_cone_parameters(await read_request_pairs(request, skyhouse)))
    except UserError as error:
        skyhouse.queries.record_refusal(error, client)
        raise
    answer = skyhouse.queries.start_query(SyncRequest(query, client, longer=_LONGER_SEARCHES))
    return await send_answer(request, answer)


@router.api_route(
    "/{table}/capabilities",
    methods=["GET", "HEAD"],
    **describe("The capabilities of a cone search", XML, ConeCapabilitiesDocument),
)
async def show_capabilities(
    table: str, request: Request, skyhouse: Skyhouse, client: RequestClient, origin: Origin
) -> Response:
    def send_capabilities() -> Response:
        entry = _find_table(skyhouse, client, table)
        catalogue = skyhouse.catalogue_cache.catalogue_for(client.name)
        service = describe_service(skyhouse.config, skyhouse.authenticator, catalogue, f"{origin.base_url}{TAP}")
        try:
            cone = describe_cone_search(skyhouse.engine, catalogue, entry, origin.base_url)
        except EngineError as error:
            raise ServiceUnavailable("the table cannot be read now; try again later") from error
        return send_preferred(
            request,
            xml(lambda: cone_search_document(cone, service)),
            as_json(lambda: describe_cone_capabilities(cone, service)),
            headers=cache_headers(client.name),
        )

    return await run_in_turn(send_capabilities)


def _find_table(skyhouse: Services, client: Client, name: str) -> TableEntry:
    """Return a table that the client sees. Raises NotFound, also for a table without a position."""
    entry = find_table(skyhouse, client, name)
    check_position(entry)
    return entry
