"""The readers of a user table, in JSON. TAP does not define these resources.

GET /tap/mydb/{name}/grants     the users and groups that may read the table
POST /tap/mydb/{name}/grants    {"user": NAME} or {"group": NAME}: adds a reader
DELETE /tap/mydb/{name}/grants  ?user=NAME or ?group=NAME: removes a reader
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from clickhouse_schema.engine_tables.user_table_record import Reader, UserTable
from tap_service.handlers.content_negotiation import JSON
from tap_service.handlers.json_body import read_json_object, read_text
from tap_service.handlers.request_context import Skyhouse
from tap_service.handlers.request_form import read_query_values
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.handlers.user_table_routes import TableOwner, describe_readers
from tap_service.service_errors import ParameterError

router = APIRouter()

_NO_STORE = {"Cache-Control": "no-store"}
_KINDS = ("user", "group")
_READER = tuple(Parameter(kind, f"Name of a {kind}") for kind in _KINDS)


@router.api_route(
    "/mydb/{name}/grants", methods=["GET", "HEAD"], **describe("The users and groups that may read your table", JSON)
)
async def list_grants(name: str, skyhouse: Skyhouse, owner: TableOwner) -> Response:
    return _describe_grants(await run_in_turn(skyhouse.table_sharing.get_table, owner, name))


@router.post("/mydb/{name}/grants", **describe("Let a user or a group read your table", JSON, members=_READER))
async def add_grant(name: str, request: Request, skyhouse: Skyhouse, owner: TableOwner) -> Response:
    reader = _read_reader(await read_json_object(request, _KINDS))
    return _describe_grants(await run_in_turn(skyhouse.table_sharing.add_reader, owner, name, reader))


@router.delete("/mydb/{name}/grants", **describe("Revoke the right to read your table", JSON, query=_READER))
async def remove_grant(name: str, request: Request, skyhouse: Skyhouse, owner: TableOwner) -> Response:
    given = read_query_values(request, [kind.upper() for kind in _KINDS])
    reader = _read_reader({name.lower(): value for name, value in given.items()})
    return _describe_grants(await run_in_turn(skyhouse.table_sharing.remove_reader, owner, name, reader))


def _describe_grants(record: UserTable) -> Response:
    return JSONResponse({"table": record.qualified_name, **describe_readers(record)}, headers=_NO_STORE)


def _read_reader(given: Mapping[str, Any]) -> Reader:
    named = [kind for kind in _KINDS if kind in given]
    if len(named) != 1:
        raise ParameterError("give the name of one reader of the table, as user or as group")
    return Reader.model_validate({"kind": named[0], "name": read_text(dict(given), named[0]).strip()})
