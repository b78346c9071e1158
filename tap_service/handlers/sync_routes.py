"""/tap/sync: a query whose result is streamed while the engine computes it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from tap_service.factory.services import Services
from tap_service.handlers.described_parameters import QUERY_PARAMETERS
from tap_service.handlers.query_response import send_answer
from tap_service.handlers.request_context import (
    admit_user,
    find_services,
    get_client,
    get_origin,
    has_remembered_password,
    identify_user,
    refuse_remembered_password,
)
from tap_service.handlers.request_form import Form, read_request_form
from tap_service.handlers.route_description import ANY, describe
from tap_service.models.client import Client
from tap_service.service_errors import Forbidden, UserError
from tap_service.services.queries.sync_answer import StartJob, SyncRequest
from tap_service.services.queries.tap_parameters import TapParameters, read_tap_parameters


class BareRoute(APIRoute):
    """A route whose handler takes only the request: the framework's dependencies take 0.3 ms of processor time."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


router = APIRouter(route_class=BareRoute)


@router.api_route("/sync", methods=["GET", "POST"], **describe("The result of a query", ANY, query=QUERY_PARAMETERS))
async def answer_sync(request: Request) -> Response:
    user = await admit_user(request, await identify_user(request))
    skyhouse, client = find_services(request), await get_client(request, user)
    form, parameters = await _read_query(request, skyhouse, client)
    start_job = None
    if await _may_start_job(request, form, parameters.on_timeout):
        start_job = _build_job_starter(form, skyhouse, client, (await get_origin(request)).base_url)
    answer = skyhouse.queries.start_query(SyncRequest(parameters, client, start_job=start_job, release=form.close))
    return await send_answer(request, answer)


async def _read_query(request: Request, skyhouse: Services, client: Client) -> tuple[Form, TapParameters]:
    """Return the form, which the calling function closes, and its query. Raises UserError."""
    form = Form()
    try:
        form = await read_request_form(request, skyhouse)
        return form, read_tap_parameters(form.pairs, skyhouse.config.max_query_length, form.files)
    except BaseException as error:
        form.close()
        if isinstance(error, UserError):
            skyhouse.queries.record_refusal(error, client)
        raise


async def _may_start_job(request: Request, form: Form, on_timeout: str) -> bool:
    """Return whether the query may become a job at its time limit.

    Raises Forbidden, and closes the form, if a page of another site requests a job with a remembered password.
    """
    setting = find_services(request).config.sync_timeout_jobs
    if setting == "never" or (on_timeout or setting) not in ("job", "always"):
        return False
    if not on_timeout:
        return not await has_remembered_password(request)
    try:
        await refuse_remembered_password(request)
    except Forbidden:
        form.close()
        raise
    return True


def _build_job_starter(form: Form, skyhouse: Services, client: Client, base_url: str) -> StartJob:
    async def start_job() -> str:
        kept = [pair for pair in form.pairs if pair[0].upper() not in ("ON_TIMEOUT", "PHASE")]
        pairs = [*kept, ("PHASE", "RUN")]
        # without a turn: the query has one, and is stopped when the job has been created
        job = await run_in_threadpool(skyhouse.jobs.create_job, pairs, client, form.files)
        return f"{base_url}/tap/async/{job.job_id}"

    return start_job
