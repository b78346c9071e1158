"""Shares: queries with their results, under URLs that can be cited. TAP does not define them.

POST /tap/shares                      JOB (COMPLETED, with CHECKSUM=true), TITLE, NOTE, NAMED, LAYOUT, OMIT; files
GET /tap/shares                       the shares of the client
GET /tap/shares/{id}                  the description of a share: in JSON, or as a page for browsers
GET /tap/shares/{id}/result           the rows as they were, like a job's result
GET /tap/shares/{id}/uploads/{name}   a table that was uploaded with the query
GET /tap/shares/{id}/check            whether the tables of the query have changed since
DELETE /tap/shares/{id}               KEY: the key in the answer to an anonymous POST
GET /tap/admin/shares                 LAST: the newest shares of all clients, for administrators
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.concurrency import iterate_in_threadpool

from tap_service.documents.share_documents import describe_share, describe_versions, share_page
from tap_service.handlers.admin_routes import require_admin
from tap_service.handlers.content_negotiation import HTML, JSON, as_json, html, send_preferred
from tap_service.handlers.described_parameters import FILE_ANSWERS
from tap_service.handlers.request_context import OptionalUser, Origin, RequestClient, Skyhouse
from tap_service.handlers.request_form import Form, read_query_values, read_request_form
from tap_service.handlers.result_routes import send_stored_result
from tap_service.handlers.route_description import ANY, Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.models.request_parameters import parse_count, parse_note, read_single_values
from tap_service.models.share import Share
from tap_service.models.timestamps import format_instant
from tap_service.service_errors import ParameterError
from tap_service.services.shares.share_service import MAX_LISTED, MAX_NOTE, ShareRequest, require_stored
from tap_service.services.site.request_origin import RequestOrigin

router = APIRouter(prefix="/shares")
admin_router = APIRouter(prefix="/admin", dependencies=[Depends(require_admin)])

_READ = ["GET", "HEAD"]
#: a share may be deleted, and its readers may change
_FRESH = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
_NO_STORE = {"Cache-Control": "no-store"}
_FORM = (
    Parameter("JOB", "Id of a COMPLETED job that was created with CHECKSUM=true"),
    Parameter("TITLE", "Title"),
    Parameter("NOTE", "Note for readers"),
    Parameter("NAMED", "Whether readers see your name", ("true", "false")),
    Parameter("LAYOUT", "Views of the result that the portal shows"),
    Parameter("OMIT", "Names of uploaded tables that the share does not keep, separated by commas"),
)
_LAST = (Parameter("LAST", f"Maximum number of shares to return, up to {MAX_LISTED}", kind="integer", example=10),)
_PARAMETERS = tuple(each.name for each in _FORM)


@router.api_route("", methods=_READ, **describe("Your shares", JSON))
async def list_shares(skyhouse: Skyhouse, user: OptionalUser, origin: Origin) -> Response:
    found = await run_in_turn(skyhouse.shares.list_shares, user)
    return JSONResponse([_list_entry(share, origin) for share in found], headers=_NO_STORE)


@router.post("", **describe("Share a job's result", JSON, status=201, form=_FORM))
async def create_share(
    request: Request, skyhouse: Skyhouse, user: OptionalUser, client: RequestClient, origin: Origin
) -> Response:
    with closing(await read_request_form(request, skyhouse)) as form:
        given = _read_given(form)
        job = await run_in_turn(skyhouse.jobs.get_job, given["JOB"], user)
        note = parse_note(given["NOTE"], MAX_NOTE)
        omitted = tuple(name.strip() for name in given["OMIT"].split(",") if name.strip())
        share_request = ShareRequest(given["TITLE"], note, _read_named(given["NAMED"]), given["LAYOUT"], omitted)
        create = skyhouse.shares.create_share
        share, key = await run_in_turn(create, job, client, share_request, form.files)
    url = _share_url(origin, share)
    described = describe_share(share, url, skyhouse.config.title)
    return JSONResponse({**described, "key": key}, 201, headers={**_NO_STORE, "Location": url})


@router.api_route("/{share_id}", methods=_READ, **describe("A share", JSON, HTML))
async def show_share(
    share_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin
) -> Response:
    share = await run_in_turn(skyhouse.shares.get_share, share_id, user)
    url, title = _share_url(origin, share), skyhouse.config.title
    portal = f"{origin.base_url}/#/shares/{share.share_id}"
    return send_preferred(
        request,
        as_json(lambda: describe_share(share, url, title)),
        html(lambda: share_page(share, url, title, portal)),
        headers=_FRESH,
    )


@router.api_route(
    "/{share_id}/result", methods=_READ, **describe("The rows, in the output format of the job", ANY, also=FILE_ANSWERS)
)
async def send_result(share_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    share = await run_in_turn(skyhouse.shares.get_share, share_id, user)
    read_result = skyhouse.shares.read_result
    return await send_stored_result(
        request, require_stored(share), share.share_id, lambda start, end: read_result(share, start, end)
    )


@router.api_route(
    "/{share_id}/uploads/{name}",
    methods=_READ,
    **describe("A table that was uploaded with the query", "application/octet-stream"),
)
async def send_upload(share_id: str, name: str, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    share = await run_in_turn(skyhouse.shares.get_share, share_id, user)
    file, pieces = await run_in_turn(skyhouse.shares.read_file, share, name)
    headers = {
        **_FRESH,
        "Content-Length": str(file.size),
        # browsers must not show a page that a client uploaded as a page of this service
        "Content-Disposition": f'attachment; filename="{file.name}"',
    }
    return StreamingResponse(iterate_in_threadpool(pieces), headers=headers, media_type="application/octet-stream")


@router.api_route(
    "/{share_id}/check",
    methods=_READ,
    **describe("Whether the tables of the query have changed since the share was created", JSON),
)
async def check_share(share_id: str, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    share = await run_in_turn(skyhouse.shares.get_share, share_id, user)
    compared = await run_in_turn(skyhouse.shares.compare_versions, share)
    then = describe_versions([each.then for each in compared])
    present = describe_versions([each.now for each in compared if each.now is not None])
    tables = {
        each.then.name: {"same": each.is_same, "then": then[each.then.name], "now": present.get(each.then.name)}
        for each in compared
    }
    return JSONResponse({"same": all(each.is_same for each in compared), "tables": tables}, headers=_NO_STORE)


@router.delete(
    "/{share_id}",
    **describe(
        "Delete the share", status=204, query=(Parameter("KEY", "Key of a share that an anonymous client created"),)
    ),
)
async def delete_share(share_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    key = read_query_values(request, ("KEY",)).get("KEY", "").strip()
    await run_in_turn(skyhouse.shares.delete_share, share_id, user, key)
    return Response(status_code=204)


@admin_router.get("/shares", **describe("The newest shares of all clients", JSON, query=_LAST))
async def list_all_shares(request: Request, skyhouse: Skyhouse, origin: Origin) -> Response:
    last = parse_count("LAST", read_query_values(request, ("LAST",)).get("LAST", "100"), "shares")
    found = await run_in_turn(skyhouse.shares.list_all, min(last, MAX_LISTED))
    entries = [{**_list_entry(share, origin), "owner": share.owner, "client": share.user} for share in found]
    return JSONResponse(entries, headers=_NO_STORE)


def _share_url(origin: RequestOrigin, share: Share) -> str:
    return f"{origin.base_url}/tap/shares/{share.share_id}"


def _list_entry(share: Share, origin: RequestOrigin) -> dict[str, Any]:
    return {
        "id": share.share_id,
        "url": _share_url(origin, share),
        "title": share.title,
        "created": format_instant(share.creation_time),
        "expires": format_instant(share.expiry),
        "query": share.query,
        "rows": share.provenance.rows,
        "bytes": share.stored_bytes,
        "kept": share.result is not None,
    }


def _read_given(form: Form) -> dict[str, str]:
    too_long = next((name for name in form.files if name.upper() in _PARAMETERS), "")
    if too_long:
        raise ParameterError(f"{too_long.upper()} is too long or was sent as a file: send a short text")
    values = read_single_values(form.pairs, _PARAMETERS)
    given = {name: values.get(name, "").strip() for name in _PARAMETERS}
    if not given["JOB"]:
        raise ParameterError("give JOB: the id of a COMPLETED job that was created with CHECKSUM=true")
    return given


def _read_named(value: str) -> bool:
    if value.lower() not in ("", "true", "false"):
        raise ParameterError("NAMED must be true or false: whether readers see your name")
    return value.lower() == "true"
