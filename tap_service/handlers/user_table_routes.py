"""User tables, by the protocol that pyvo uses and CADC has proposed for TAP 1.2, and job results as tables.

PUT /tap/tables/{name}      a definition (VOSI table) or a table file: creates the table
POST /tap/tables/{name}     a definition: replaces the descriptions; a table file: appends its rows
POST /tap/load/{name}       a table file: appends its rows, or replaces the rows of the table
POST /tap/table-update      TABLE, INDEX, UNIQUE: starts a job that creates an index
POST /tap/async/{job}/table TABLE, REPLACE: starts a job that saves this job's result as a table
DELETE /tap/tables/{name}
GET /tap/mydb               the user's tables and limits, and the tables that others share with the user
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from clickhouse_schema.engine_tables.user_table_record import UserTable
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.documents.tableset_json import TableDocument
from tap_service.handlers.content_negotiation import JSON, TEXT, XML
from tap_service.handlers.described_parameters import REPLACE
from tap_service.handlers.request_body import receive_body_file
from tap_service.handlers.request_context import OptionalUser, Origin, RequestClient, Skyhouse
from tap_service.handlers.request_form import read_query_values, read_request_pairs
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.handlers.vosi_routes import expiry_header, send_table
from tap_service.models.client import Client
from tap_service.models.request_parameters import Pair, read_single_values
from tap_service.models.timestamps import format_instant
from tap_service.readers.file_formats import FORMATS
from tap_service.service_errors import ParameterError
from tap_service.services.jobs.table_change_jobs import CREATE_INDEX, SAVE_TABLE, check_savable
from tap_service.services.user_tables.user_table_service import require_table_owner

router = APIRouter()

_NO_STORE = {"Cache-Control": "no-store"}
#: media types of a table's definition, and of table files
_DESCRIPTION = (XML, TableDocument)
_FILES = tuple(dict.fromkeys(kind for each in FORMATS for kind in each.types))
_QUERY = (Parameter("replace", REPLACE.description, REPLACE.values),)
_TABLE = Parameter("TABLE", "Name of the table, such as mydb.bright")
_INDEX_FORM = (
    _TABLE,
    Parameter("INDEX", "Columns of the index, separated by commas, or text(column)"),
    Parameter("UNIQUE", "Whether the values must be unique", ("true", "false")),
)
_SAVE_FORM = (_TABLE, REPLACE)


def get_table_owner(user: OptionalUser) -> str:
    """Return the name of the user. Raises Unauthorized for anonymous clients."""
    return require_table_owner(user)


TableOwner = Annotated[str, Depends(get_table_owner)]


@router.put("/tables/{name}", **describe("Create a user table", *_DESCRIPTION, status=201, query=_QUERY, body=_FILES))
async def create_table(name: str, request: Request, skyhouse: Skyhouse, owner: TableOwner, origin: Origin) -> Response:
    skyhouse.user_tables.parse_table_name(name)
    replace = _read_replace(request)
    async with receive_body_file(request, skyhouse.config.user_table_file) as path:
        kind = request.headers.get("content-type", "")
        work = partial(skyhouse.user_tables.create_table, owner, name, path, kind, replace=replace)
        record = await skyhouse.user_tables.run_load(owner, work)
    headers = {
        "Location": f"{origin.base_url}/tap/tables/{record.qualified_name}",
        **expiry_header(skyhouse, owner, record.entry),
    }
    return send_table(request, record.entry, status=201, headers=headers)


@router.post(
    "/tables/{name}",
    **describe("Change the descriptions of your table, or append rows", *_DESCRIPTION, TEXT, body=_FILES),
)
async def update_table(name: str, request: Request, skyhouse: Skyhouse, owner: TableOwner) -> Response:
    skyhouse.user_tables.parse_table_name(name)
    async with receive_body_file(request, skyhouse.config.user_table_file) as path:
        kind = request.headers.get("content-type", "")
        work = partial(skyhouse.user_tables.describe_table, owner, name, path, kind)
        if (record := await skyhouse.user_tables.run_load(owner, work)) is None:
            return await _load_file(skyhouse, owner, name, path, kind, replace=False)
    return send_table(request, record.entry, headers=expiry_header(skyhouse, owner, record.entry))


@router.post(
    "/load/{name}", **describe("Append rows to your table, or replace its rows", TEXT, query=_QUERY, body=_FILES)
)
async def load_rows(name: str, request: Request, skyhouse: Skyhouse, owner: TableOwner) -> Response:
    skyhouse.user_tables.parse_table_name(name)
    replace = _read_replace(request)
    async with receive_body_file(request, skyhouse.config.user_table_file) as path:
        return await _load_file(skyhouse, owner, name, path, request.headers.get("content-type", ""), replace=replace)


async def _load_file(skyhouse: Skyhouse, owner: str, name: str, path: Path, kind: str, *, replace: bool) -> Response:
    work = partial(skyhouse.user_tables.load_rows, owner, name, path, kind, replace=replace)
    record, rows = await skyhouse.user_tables.run_load(owner, work)
    return PlainTextResponse(f"loaded {rows} rows into {record.qualified_name}, which now has {record.rows}\n")


@router.delete("/tables/{name}", **describe("Delete your table", status=204))
async def remove_table(name: str, skyhouse: Skyhouse, owner: TableOwner) -> Response:
    await run_in_turn(skyhouse.user_tables.remove_table, owner, name)
    return Response(status_code=204)


@router.post("/table-update", **describe("Create an index, and redirect to its job", status=303, form=_INDEX_FORM))
async def index_table(
    request: Request, skyhouse: Skyhouse, user: OptionalUser, client: RequestClient, origin: Origin
) -> Response:
    require_table_owner(user)
    given = _read_known(await read_request_pairs(request, skyhouse), ("TABLE", "INDEX", "UNIQUE"))
    for name in ("TABLE", "INDEX"):
        if name not in given:
            raise ParameterError(f"give {name}: an index needs the name of your table (TABLE) and a column (INDEX)")
    return await _redirect_to_job(skyhouse, client, origin, [("REQUEST", CREATE_INDEX), *given.items()])


@router.post(
    "/async/{job_id}/table",
    **describe("Save the result as a user table, and redirect to the job", status=303, form=_SAVE_FORM),
)
async def save_result(
    job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, client: RequestClient, origin: Origin
) -> Response:
    require_table_owner(user)
    given = _read_known(await read_request_pairs(request, skyhouse), ("TABLE", "REPLACE"))
    if "TABLE" not in given:
        raise ParameterError("give TABLE: the name of the new table, such as TABLE=mydb.bright")
    skyhouse.user_tables.parse_table_name(given["TABLE"])
    source = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    if source.result is None:
        raise ParameterError(f"the job has no result to save as a table: it is {source.phase}")
    check_savable(source, skyhouse.config)
    pairs = [("REQUEST", SAVE_TABLE), *given.items(), ("JOB", job_id), ("PHASE", "RUN")]
    return await _redirect_to_job(skyhouse, client, origin, pairs)


@router.api_route(
    "/mydb",
    methods=["GET", "HEAD"],
    **describe("Your tables and limits, and the tables that others share with you", JSON),
)
async def show_own_tables(skyhouse: Skyhouse, user: OptionalUser, owner: TableOwner) -> Response:
    tables = await run_in_turn(skyhouse.user_tables.list_tables, owner)
    until = await run_in_turn(skyhouse.user_tables.list_expiries, owner)
    config = skyhouse.config
    described = [
        {
            "name": record.qualified_name,
            "description": record.table.description,
            "rows": record.rows,
            "bytes": record.size,
            "created": format_instant(record.created),
            "changed": format_instant(record.changed),
            "expires": format_instant(at) if (at := until.get(record.table.name)) else None,
            **describe_readers(record),
        }
        for record in tables
    ]
    shared = [
        {
            "name": table_name_to_adql(record.shared_entry),
            "owner": record.owner,
            "description": record.table.description,
            "rows": record.rows,
            "bytes": record.size,
            "changed": format_instant(record.changed),
        }
        for record in await run_in_turn(skyhouse.table_sharing.list_shared_tables, owner)
    ]
    used = {"bytes": sum(record.size for record in tables), "tables": len(tables)}
    limits = {"bytes": config.user_table_bytes, "tables": config.user_tables, "days": config.user_table_days}
    is_admin = user is not None and user.admin
    groups = await run_in_turn(skyhouse.table_sharing.list_groups, owner)
    about = {"owner": owner, "admin": is_admin, "groups": groups, "used": used, "limits": limits}
    return JSONResponse({**about, "tables": described, "shared": shared}, headers=_NO_STORE)


def describe_readers(record: UserTable) -> dict[str, list[str]]:
    """Return the users and groups with whom a table is shared."""
    return {f"{kind}s": [each.name for each in record.readers if each.kind == kind] for kind in ("user", "group")}


async def _redirect_to_job(skyhouse: Skyhouse, client: Client, origin: Origin, pairs: list[Pair]) -> Response:
    """Create a job and redirect to it."""
    job = await run_in_turn(skyhouse.jobs.create_job, pairs, client)
    return Response(status_code=303, headers={"Location": f"{origin.base_url}/tap/async/{job.job_id}"})


def _read_known(pairs: list[Pair], names: tuple[str, ...]) -> dict[str, str]:
    return {name: value.strip() for name, value in read_single_values(pairs, names).items()}


def _read_replace(request: Request) -> bool:
    word = read_query_values(request, ("REPLACE",)).get("REPLACE", "false").strip().lower()
    if word not in ("true", "false"):
        raise ParameterError("replace must be true or false: whether to replace the existing table or rows")
    return word == "true"
