"""Objects by name, in JSON. TAP does not define this resource.

GET /tap/names?name=M31        the objects with that name; if there are none, names that start with the same letters
GET /tap/names?prefix=androm   some objects whose names start with the prefix
GET /tap/names?position=83.6,22&radius=5   the brightest objects with proper names within the radius, in degrees
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from adql import MAX_NAME_CHARACTERS, NameLookupError
from clickhouse_schema.catalogue import Catalogue
from tap_service.handlers.content_negotiation import JSON
from tap_service.handlers.request_context import RequestClient, Skyhouse
from tap_service.handlers.request_form import read_query_values
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn_of
from tap_service.models.engine_share import Lane
from tap_service.service_errors import ParameterError, ServiceUnavailable
from tap_service.services.queries.name_resolver import NamedObject, NameResolver
from tap_service.storage.engine.engine import EngineError

router = APIRouter()

#: the object of a name does not move, but tables change
_BRIEFLY = {"Cache-Control": "private, max-age=60"}
_QUERY = (
    Parameter("name", "Name of an object", example="M31"),
    Parameter("prefix", "First letters of names of objects"),
    Parameter("position", "RA,DEC (ICRS), in degrees"),
    Parameter("radius", "Radius around the position, in degrees", kind="number"),
)


@router.api_route("/names", methods=["GET", "HEAD"], **describe("Objects by name or position", JSON, query=_QUERY))
async def find_names(request: Request, skyhouse: Skyhouse, client: RequestClient) -> Response:
    given = read_query_values(request, [each.name.upper() for each in _QUERY])
    name, prefix, position, radius = (given.get(each.name.upper(), "") for each in _QUERY)
    if [bool(given) for given in (name, prefix, position)].count(True) != 1:
        raise ParameterError(
            "give one of: name=M31; prefix=androm for names that start with it; position=RA,DEC with radius"
        )
    circle = _read_circle(position, radius) if position else None
    if len(name) > MAX_NAME_CHARACTERS or len(prefix) > MAX_NAME_CHARACTERS:
        raise ParameterError(f"the name of an object has at most {MAX_NAME_CHARACTERS} characters")

    def find_objects() -> dict[str, Any]:
        catalogue = skyhouse.catalogue_cache.catalogue_for(client.name)
        names = skyhouse.preparation.names
        try:
            if circle:
                return {"objects": [asdict(found) for found in names.list_bright(catalogue, *circle)]}
            if prefix:
                return {"objects": [asdict(found) for found in names.complete_name(catalogue, prefix)]}
            if found := _find_objects(names, catalogue, name):
                return {"objects": [asdict(each) for each in found]}
            return {"objects": [], "suggestions": names.suggest_names(catalogue, name)}
        except EngineError as error:
            raise ServiceUnavailable("names cannot be looked up now. Try again later") from error

    lane = Lane.FETCHING if name and skyhouse.config.sesame_url else Lane.READING
    return await run_in_turn_of(lane, lambda: JSONResponse(find_objects(), headers=_BRIEFLY))


def _find_objects(names: NameResolver, catalogue: Catalogue, name: str) -> list[NamedObject]:
    """Return the objects with a name; none if Sesame does not know the name, or does not answer."""
    try:
        return names.find_everywhere(catalogue, name)
    except NameLookupError:
        return []


def _read_circle(position: str, radius: str) -> tuple[tuple[float, float], float]:
    """Return the centre as longitude and latitude, and the radius, all in degrees. Raises ParameterError."""
    try:
        lon, lat = (float(number) for number in position.split(","))
        size = float(radius)
    except ValueError as error:
        raise ParameterError(
            "position must be RA,DEC and radius a number, in degrees: position=83.6,22&radius=5"
        ) from error
    if not (0 <= lon <= 360 and -90 <= lat <= 90 and 0 < size <= 180):
        raise ParameterError(
            "in position, RA must be from 0 to 360 and DEC from -90 to 90; radius must be above 0 and up to 180 degrees"
        )
    return (lon, lat), size
