"""HATS collections of tables, made when they are asked for: ``lsdb.open_catalog("https://.../hats/schema.table")``.

GET /hats/                    the tables with a position, as links
GET /hats/{table}/            a folder, as links
GET /hats/{table}/{path}      a file or a range of it; COLUMNS and FILTERS of a partition, as LSDB sends them
"""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from tap_service.factory.service_factory import Services
from tap_service.handlers.file_response import StoredFile, send_file
from tap_service.handlers.request_context import Caller, Origin, Skyhouse
from tap_service.handlers.vosi_routes import cache_headers
from tap_service.service_errors import NotFound
from tap_service.services.hats.hats_files import HatsFiles
from tap_service.services.hats.served_collection import HatsFile

router = APIRouter()

_READ = ["GET", "HEAD"]
_TYPES = {
    "parquet": "application/vnd.apache.parquet",
    "properties": "text/plain;charset=utf-8",
    "csv": "text/csv",
    "fits": "application/fits",
}


@router.api_route("", methods=_READ)
@router.api_route("/", methods=_READ)
async def list_tables(request: Request, skyhouse: Skyhouse, caller: Caller) -> Response:
    if not request.url.path.endswith("/"):
        return _add_slash(request)
    tables = await run_in_threadpool(_find_files(skyhouse).list_tables, caller.name if caller else None)
    return _folder_page("HATS collections", [f"{table}/" for table in tables], cache_headers(caller))


@router.api_route("/{table}", methods=_READ)
@router.api_route("/{table}/{path:path}", methods=_READ)
async def send_hats_file(
    table: str,
    request: Request,
    skyhouse: Skyhouse,
    caller: Caller,
    origin: Origin,
    path: str = "",
    columns: str = "",
    filters: str = "",
) -> Response:
    files, owner, client = _find_files(skyhouse), caller.name if caller else None, origin.client
    found = await files.find_file(table, path.rstrip("/"), columns, filters, owner=owner, client=client)
    if not isinstance(found, HatsFile):
        if not request.url.path.endswith("/"):
            return _add_slash(request)
        return _folder_page(f"{table}/{path}", ["../", *found], cache_headers(caller))
    name = path.rpartition("/")[2]
    content_type = _TYPES.get(name.rpartition(".")[2], _TYPES["parquet"] if name[0] == "_" else "text/plain")
    file = StoredFile(name, found.content.size, found.etag, content_type)
    answer = await send_file(request, file, found.content.read_bytes)
    if request.method == "GET" and answer.status_code in (200, 206):
        sent = int(answer.headers["content-length"])
        files.count_download(table, found, sent, owner=owner, client=client)
    return answer


def _find_files(skyhouse: Services) -> HatsFiles:
    if skyhouse.hats is None:
        raise NotFound("this service has no HATS collections: its operator has switched them off (SKYHOUSE_HATS_DISK)")
    return skyhouse.hats


def _add_slash(request: Request) -> Response:
    """Let relative links begin in the folder."""
    return RedirectResponse(f"{quote(request.url.path.rpartition('/')[2])}/", 307)


def _folder_page(title: str, names: list[str], headers: dict[str, str]) -> HTMLResponse:
    """Return a page of links, from which fsspec learns what is in a folder."""
    links = "".join(f'<li><a href="{escape(quote(name, safe="/="))}">{escape(name)}</a></li>\n' for name in names)
    page = (
        f"<!DOCTYPE html>\n<html><head><title>{escape(title)}</title></head>\n<body><ul>\n{links}</ul></body></html>\n"
    )
    return HTMLResponse(page, headers=headers)
