"""/tap/datalink/links: the links of the data products in ivoa.ObsCore (DataLink 1.1)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tap_service.documents.links_document import links_document
from tap_service.handlers.described_parameters import RESPONSEFORMAT
from tap_service.handlers.error_responses import error_response
from tap_service.handlers.request_context import RequestClient, Skyhouse
from tap_service.handlers.request_form import read_request_pairs
from tap_service.handlers.route_description import ANY, Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.service_errors import InternalError, NotFound, ServiceError, UserError
from tap_service.services.datalink.dataset_links import DatasetLinks
from tap_service.services.datalink.link_request import LinkRequest, read_link_request

router = APIRouter()

_ID = Parameter("ID", "The identifier of a data product", is_repeatable=True)
#: maximum number of parameters of a request: clients send an ID for each row of a result; only the first are answered
_MAX_PARAMETERS = 100_000


@router.api_route(
    "/datalink/links",
    methods=["GET", "POST"],
    **describe("The links of data products", ANY, query=(_ID, RESPONSEFORMAT)),
)
async def answer_links(request: Request, skyhouse: Skyhouse, client: RequestClient) -> Response:

    def find_links(asked: LinkRequest) -> bytes:
        catalogue = skyhouse.catalogue_cache.catalogue_for(client.name)
        found = DatasetLinks(skyhouse.engine, catalogue).find_links(asked.ids)
        return links_document(found, asked.format, skyhouse.config.title, is_cut=asked.is_cut)

    try:
        asked = read_link_request(await read_request_pairs(request, skyhouse, _MAX_PARAMETERS))
        document = await run_in_turn(find_links, asked)
    except ServiceError as error:
        return error_response(request.scope, error.status, f"{_name_error(error)}: {error}", error.headers)
    headers = {"Content-Type": asked.format.content_type, "Cache-Control": "no-store"}
    return Response(document, headers=headers)


def _name_error(error: ServiceError) -> str:
    """Return the first word of an error message by DataLink 1.1, section 3.4."""
    if isinstance(error, NotFound):
        return "NotFoundError"
    if isinstance(error, UserError):
        return "UsageError"
    return "FatalError" if isinstance(error, InternalError) else "TransientError"
