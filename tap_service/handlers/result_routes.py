"""/tap/async/{job}/results/result: a stored result or a range of it.

/tap/async/{job}/results/hats/...: the files of a result that is a HATS collection.

/tap/async/{job}/preview: the first rows of a running job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from clickhouse_schema.hats.folder_listing import list_folder
from tap_service.handlers.content_negotiation import HTML, Representation, send_preferred
from tap_service.handlers.described_parameters import FILE_ANSWERS
from tap_service.handlers.file_response import StoredFile, send_file
from tap_service.handlers.folder_response import FILE_TYPES, FOLDER_ANSWERS, find_content_type, send_folder
from tap_service.handlers.request_context import OptionalUser, RequestClient, Skyhouse
from tap_service.handlers.route_description import ANY, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.models.uws_job import JobResult
from tap_service.service_errors import NotFound
from tap_service.services.jobs.job_service import explain_missing_result
from tap_service.services.jobs.preview_writer import PREVIEW_FORMATS, read_preview

router = APIRouter(prefix="/async")

#: a job changes between requests
_FRESH = {"Cache-Control": "no-store"}


@router.api_route(
    "/{job_id}/results/result",
    methods=["GET", "HEAD"],
    **describe("The result, in the output format of the job", ANY, also=FILE_ANSWERS),
)
async def send_result(
    job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, client: RequestClient
) -> Response:
    job = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    if job.result is None:
        raise NotFound(explain_missing_result(job))
    read_result = skyhouse.jobs.read_result
    return await send_stored_result(
        request, job.result, "result", lambda start, end: read_result(job, start, end, client.label)
    )


@router.api_route(
    "/{job_id}/results/hats",
    methods=["GET", "HEAD"],
    **describe("The files of a result that is a HATS collection", HTML, also=FOLDER_ANSWERS),
)
async def list_members(
    job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, client: RequestClient
) -> Response:
    return await send_member(job_id, "", request, skyhouse, user, client)


@router.api_route(
    "/{job_id}/results/hats/{path:path}",
    methods=["GET", "HEAD"],
    **describe(
        "A file or folder of a result that is a HATS collection",
        HTML,
        *FILE_TYPES,
        also={**FILE_ANSWERS, **FOLDER_ANSWERS},
    ),
)
async def send_member(
    job_id: str, path: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, client: RequestClient
) -> Response:
    job = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    members = await run_in_turn(skyhouse.jobs.list_members, job)
    member = members.get(path)
    if member is None:
        if not (names := list_folder(members, path)):
            raise NotFound(f"the result has no file {path[:200]!r}; results/hats/ lists its files")
        return send_folder(request, f"result/{path}", names, _FRESH)
    read_result = partial(skyhouse.jobs.read_result, job, client=client.label)

    def read_member(start: int, end: int) -> Iterator[bytes]:
        first = member.find_bytes(read_result)
        return read_result(first + start, first + end)

    etag = f"{job.result_key}-{member.checksum:08x}"
    file = StoredFile(path.rpartition("/")[2], member.size, etag, find_content_type(path))
    return await send_file(request, file, read_member)


async def send_stored_result(
    request: Request, result: JobResult, name: str, read_bytes: Callable[[int, int], Iterator[bytes]]
) -> Response:
    """Send a stored result or the requested range of it.

    Parameters
    ----------
    request : Request
        The request.
    result : JobResult
        The description of the result.
    name : str
        The name of the file for the client, without extension.
    read_bytes : Callable[[int, int], Iterator[bytes]]
        Returns the bytes from a start to an exclusive end, in pieces.
    """
    file = StoredFile(f"{name}.{result.extension}", result.size, result.etag, result.content_type)
    return await send_file(request, file, read_bytes)


@router.api_route(
    "/{job_id}/preview",
    methods=["GET", "HEAD"],
    **describe("The first rows of the result", *(each.mime for each in PREVIEW_FORMATS)),
)
async def send_preview(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    job = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    file = await run_in_turn(skyhouse.jobs.read_preview, job)
    offered = (Representation(each.mime, partial(read_preview, file, each.mime)) for each in PREVIEW_FORMATS)
    return send_preferred(request, *offered, headers=_FRESH)
