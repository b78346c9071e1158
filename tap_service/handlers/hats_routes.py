"""Tables as HATS collections, made on request: ``lsdb.open_catalog("https://.../hats/schema.table")``.

GET /hats/                    the tables with a position, as links
GET /hats/{table}/            a folder, as links
GET /hats/{table}/{path}      a file or a range of it; COLUMNS and FILTERS select from a partition, as LSDB sends them
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tap_service.factory.services import Services
from tap_service.handlers.content_negotiation import HTML
from tap_service.handlers.described_parameters import FILE_ANSWERS
from tap_service.handlers.file_response import StoredFile, send_file
from tap_service.handlers.folder_response import FILE_TYPES, FOLDER_ANSWERS, find_content_type, send_folder
from tap_service.handlers.request_context import RequestClient, Skyhouse
from tap_service.handlers.request_form import read_query_values
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.handlers.vosi_routes import cache_headers
from tap_service.service_errors import NotFound
from tap_service.services.hats.hats_files import HatsFiles
from tap_service.services.hats.served_collection import HatsFile

router = APIRouter()

_READ = ["GET", "HEAD"]
_SELECTION = (
    Parameter("columns", "Columns of a partition, separated by commas"),
    Parameter("filters", "Conditions on the rows of a partition, such as dec>=10,dec<20"),
)
_ANSWERS = {**FILE_ANSWERS, **FOLDER_ANSWERS}


@router.api_route("", methods=_READ, **describe("The tables served as HATS collections", HTML, also=FOLDER_ANSWERS))
@router.api_route("/", methods=_READ, **describe("The tables served as HATS collections", HTML, also=FOLDER_ANSWERS))
async def list_tables(request: Request, skyhouse: Skyhouse, client: RequestClient) -> Response:
    tables = await run_in_turn(_find_files(skyhouse).list_tables, client.name)
    return send_folder(request, "HATS collections", [f"{table}/" for table in tables], dict(cache_headers(client.name)))


@router.api_route("/{table}", methods=_READ, **describe("A HATS collection", HTML, also=FOLDER_ANSWERS))
async def list_collection(table: str, request: Request, skyhouse: Skyhouse, client: RequestClient) -> Response:
    return await send_hats_file(table, "", request, skyhouse, client)


@router.api_route(
    "/{table}/{path:path}",
    methods=_READ,
    **describe("A file or folder of a HATS collection", HTML, *FILE_TYPES, also=_ANSWERS, query=_SELECTION),
)
async def send_hats_file(
    table: str, path: str, request: Request, skyhouse: Skyhouse, client: RequestClient
) -> Response:
    wanted = read_query_values(request, ("COLUMNS", "FILTERS"))
    columns, filters = wanted.get("COLUMNS", ""), wanted.get("FILTERS", "")
    files = _find_files(skyhouse)
    found = await files.find_file(table, path.rstrip("/"), columns, filters, client)
    if not isinstance(found, HatsFile):
        return send_folder(request, f"{table}/{path}", found, dict(cache_headers(client.name)))
    file = StoredFile(path.rpartition("/")[2], found.content.size, found.etag, find_content_type(path))
    answer = await send_file(request, file, found.content.read_bytes)
    if request.method == "GET" and answer.status_code in (200, 206):
        sent = int(answer.headers["content-length"])
        files.count_download(found, sent, client)
    return answer


def _find_files(skyhouse: Services) -> HatsFiles:
    if skyhouse.hats is None:
        raise NotFound("this service has no HATS collections: its operator has disabled them (SKYHOUSE_HATS_DISK)")
    return skyhouse.hats
