"""GET /tap/openapi.json: the service in OpenAPI 3.1, generated from its routes. Public, because it contains no data."""

from __future__ import annotations

import warnings
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response

from tap_service.constants import VERSION
from tap_service.documents import error_document, problem_document
from tap_service.documents.problem_document import ProblemDocument
from tap_service.handlers.body_decoder import ACCEPTED_ENCODINGS
from tap_service.handlers.content_negotiation import JSON, TEXT, encode_json
from tap_service.handlers.request_context import Origin
from tap_service.handlers.route_description import describe, describe_form
from tap_service.handlers.turns import run_in_turn

router = APIRouter()

_DESCRIPTION = (
    "A TAP service: query astronomical tables in ADQL. The Accept header chooses between the media types of a "
    "resource. A resource supports HEAD if the Allow header of a 405 or of an answer to OPTIONS lists it. Parameter "
    f"names are case-insensitive, except under /oai. Request bodies may have a Content-Encoding: {ACCEPTED_ENCODINGS}."
)
_ERROR_TYPES: dict[str, Any] = {
    each: {} for each in (error_document.CONTENT_TYPE, error_document.CONE_SEARCH_TYPE, TEXT)
}
#: error answers of every route; ``service_errors`` has the status of each error
ERROR_ANSWERS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The request has an error; the message says how to correct it", "model": ProblemDocument},
    "5XX": {"description": "The service cannot answer now", "model": ProblemDocument},
}
_SECURITY = {"basic": {"type": "http", "scheme": "basic"}, "bearer": {"type": "http", "scheme": "bearer"}}


@router.api_route("/openapi.json", methods=["GET", "HEAD"], **describe("This document", JSON))
async def show_openapi(request: Request, origin: Origin) -> Response:
    app = request.app
    if not hasattr(app.state, "openapi"):
        app.state.openapi = await run_in_turn(lambda: encode_json(build_openapi(app)))
    servers = encode_json({"servers": [{"url": origin.base_url or "/"}]})
    # one object: the only member that depends on the request comes before the others
    content = servers.removesuffix(b"}") + b"," + app.state.openapi.removeprefix(b"{")
    return Response(content, headers={"Cache-Control": "no-cache"}, media_type=JSON)


def build_openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of all routes that are included in the schema, without their HEAD methods."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the methods of a route share an operation id, replaced below
        document = get_openapi(title=app.title, version=VERSION, description=_DESCRIPTION, routes=app.routes)
    for path, operations in document["paths"].items():
        operations.pop("head", None)
        for method, operation in operations.items():
            operation["operationId"] = f"{method} {path}"
            if method == "post" and "requestBody" not in operation:
                _move_parameters_to_form(operation)
            for status in ERROR_ANSWERS:
                content = operation["responses"][status]["content"]
                content[problem_document.CONTENT_TYPE] = content.pop(JSON)
                content.update(_ERROR_TYPES)
    document["components"]["securitySchemes"] = _SECURITY
    document["security"] = [{}, *({name: []} for name in _SECURITY)]
    return document


def _move_parameters_to_form(operation: dict[str, Any]) -> None:
    """Replace the query parameters of a POST, which the GET of the same route has too, by a form."""
    in_query = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    if not in_query:
        return
    operation["parameters"] = [each for each in operation["parameters"] if each["in"] != "query"]
    operation["requestBody"] = describe_form(
        {each["name"]: {**each["schema"], "description": each["description"]} for each in in_query}
    )
