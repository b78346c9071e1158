"""/tap/async/{job}/results/result: a stored result, as a whole or in part."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from tap_service.exceptions import NotFound
from tap_service.handlers.context import Caller, Skyhouse

router = APIRouter(prefix="/async")


@router.api_route("/{job_id}/results/result", methods=["GET", "HEAD"])
async def result(job_id: str, request: Request, skyhouse: Skyhouse, caller: Caller) -> Response:
    job = await run_in_threadpool(skyhouse.jobs.get, job_id, caller)
    if job.result is None:
        raise NotFound(f"the job has no result: it is {job.phase}")
    headers = {
        "Content-Type": job.result.content_type,
        "Content-Length": str(job.result.size),
        "Content-Disposition": f'inline; filename="result.{job.result.extension}"',
        "ETag": f'"{job.result.etag}"',
        "Cache-Control": "private",
    }
    if request.method == "HEAD":
        return Response(headers=headers)
    pieces = await run_in_threadpool(skyhouse.jobs.result, job, 0, job.result.size)
    return StreamingResponse(pieces, headers=headers)
