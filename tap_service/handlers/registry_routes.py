"""The publishing registry: OAI-PMH at /oai, for harvesters of the IVOA registry."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tap_service.handlers.request_context import Skyhouse
from tap_service.handlers.request_form import read_request_pairs
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.service_errors import NotFound, ParameterError

router = APIRouter()

_XML = "text/xml"


@router.api_route(
    "/oai",
    methods=["GET", "HEAD", "POST"],
    **describe(
        "Records for harvesters of the registry, by OAI-PMH",
        _XML,
        query=(Parameter("verb", "OAI-PMH request", example="Identify"),),
    ),
)
async def answer_harvester(request: Request, skyhouse: Skyhouse) -> Response:
    """Public, also if only users may query the service: the operator has written the records for the public."""
    if skyhouse.registry is None:
        raise NotFound(
            "this service publishes no records for the registry; its operator can enable this with SKYHOUSE_REGISTRY: "
            "see docs/registry.md"
        )
    try:
        pairs = await read_request_pairs(request, skyhouse)
    except ParameterError as error:
        return Response(skyhouse.registry.refuse(str(error)), media_type=_XML)
    return Response(await run_in_turn(skyhouse.registry.answer, pairs), media_type=_XML)
