"""/tap/async: the resources of UWS 1.1, by TAP 1.1, section 2.3, and DALI 1.1, section 2.1; also in JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tap_service.documents.error_document import CONTENT_TYPE, error_document
from tap_service.documents.uws_documents import job_document, job_list, parameters_document, results_document
from tap_service.documents.uws_json import (
    ErrorSummary,
    JobDocument,
    JobList,
    JobParameters,
    JobResults,
    describe_error,
    describe_job,
    describe_parameters,
    describe_results,
    job_list_as_json,
)
from tap_service.handlers.client_disconnect import run_unless_gone, wait_for_disconnect
from tap_service.handlers.content_negotiation import JSON, TEXT, XML, Representation, as_json, send_preferred, text, xml
from tap_service.handlers.described_parameters import (
    DESTRUCTION,
    DURATION,
    JOB_FILTERS,
    JOB_PARAMETERS,
    NOTE,
    QUERY_PARAMETERS,
    WAIT_PARAMETERS,
)
from tap_service.handlers.request_context import OptionalUser, Origin, RequestClient, Skyhouse
from tap_service.handlers.request_form import read_query_pairs, read_request_form, read_request_pairs
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.models.request_parameters import Pair
from tap_service.models.timestamps import format_instant
from tap_service.models.uws_job import Job
from tap_service.service_errors import Forbidden, NotFound, ParameterError
from tap_service.services.jobs.uws_parameters import parse_job_filter, parse_wait
from tap_service.services.site.request_origin import RequestOrigin

router = APIRouter(prefix="/async")

_READ = ["GET", "HEAD"]
#: a job changes between requests
_FRESH = {"Cache-Control": "no-store"}
#: the representations of one property of a job
_PROPERTY = (TEXT, JSON)


@router.api_route("", methods=_READ, **describe("Your jobs", XML, JobList, query=JOB_FILTERS))
@router.api_route("/", methods=_READ, **describe("Your jobs", XML, JobList, query=JOB_FILTERS))
async def list_jobs(request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin) -> Response:
    wanted = parse_job_filter(read_query_pairs(request))
    url = _job_url(origin)

    def send_jobs() -> Response:
        found = skyhouse.jobs.list_jobs(wanted, user)
        return send_preferred(
            request,
            xml(lambda: job_list(found, url)),
            Representation(JSON, lambda: job_list_as_json(found, url)),
            headers=_FRESH,
        )

    return await run_in_turn(send_jobs)


@router.post("", **describe("Create a job and redirect to it", status=303, form=(*QUERY_PARAMETERS, *JOB_PARAMETERS)))
@router.post("/", **describe("Create a job and redirect to it", status=303, form=(*QUERY_PARAMETERS, *JOB_PARAMETERS)))
async def create_job(request: Request, skyhouse: Skyhouse, client: RequestClient, origin: Origin) -> Response:
    with closing(await read_request_form(request, skyhouse)) as form:
        job = await run_in_turn(skyhouse.jobs.create_job, form.pairs, client, form.files)
    return _redirect_to_job(origin, job.job_id)


@router.api_route("/{job_id}", methods=_READ, **describe("A job", XML, JobDocument, query=WAIT_PARAMETERS))
async def show_job(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin) -> Response:
    seconds, phase = parse_wait(read_query_pairs(request))
    if seconds:
        gone = asyncio.create_task(wait_for_disconnect(request.receive))
        try:
            job = await run_unless_gone(gone, skyhouse.jobs.wait_for_change(job_id, user, seconds, phase))
        finally:
            gone.cancel()
    else:
        job = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    url = _job_url(origin, job_id)
    return send_preferred(
        request, xml(lambda: job_document(job, url)), as_json(lambda: describe_job(job, url)), headers=_FRESH
    )


@router.post(
    "/{job_id}",
    **describe(
        "Delete the job and redirect to the list of jobs",
        status=303,
        form=(Parameter("ACTION", "DELETE deletes the job", ("DELETE",)),),
    ),
)
async def act_on_job(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin) -> Response:
    pairs = await read_request_pairs(request, skyhouse)
    await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    actions = [value.upper() for name, value in pairs if name.upper() == "ACTION"]
    if actions != ["DELETE"]:
        raise Forbidden(
            "this URL of a job accepts only ACTION=DELETE: "
            "send parameters of the query to its /parameters, PHASE=RUN and PHASE=ABORT to its /phase"
        )
    return await destroy_job(job_id, skyhouse, user, origin)


@router.delete("/{job_id}", **describe("Delete the job and redirect to the list of jobs", status=303))
async def destroy_job(job_id: str, skyhouse: Skyhouse, user: OptionalUser, origin: Origin) -> Response:
    await run_in_turn(skyhouse.jobs.destroy_job, job_id, user)
    return _redirect_to_job(origin)


@router.api_route("/{job_id}/phase", methods=_READ, **describe("The phase of the job", *_PROPERTY))
async def show_phase(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    return await _send_property(request, skyhouse, job_id, user, "phase", lambda job: job.phase)


@router.post(
    "/{job_id}/phase",
    **describe("Run or abort the job", status=303, form=(Parameter("PHASE", "RUN or ABORT", ("RUN", "ABORT")),)),
)
async def set_phase(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin) -> Response:
    return await _set_property(request, "PHASE", skyhouse.jobs.set_phase, job_id, skyhouse, user, origin)


@router.api_route(
    "/{job_id}/executionduration", methods=_READ, **describe("The time limit of the job, in seconds", *_PROPERTY)
)
async def show_execution_duration(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    return await _send_property(
        request, skyhouse, job_id, user, "executionDuration", lambda job: job.execution_duration
    )


@router.post(
    "/{job_id}/executionduration", **describe("Change the time limit of the job", status=303, form=(DURATION,))
)
async def set_execution_duration(
    job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin
) -> Response:
    change = skyhouse.jobs.set_execution_duration
    return await _set_property(request, "EXECUTIONDURATION", change, job_id, skyhouse, user, origin)


@router.api_route("/{job_id}/destruction", methods=_READ, **describe("The destruction time of the job", *_PROPERTY))
async def show_destruction(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    return await _send_property(
        request, skyhouse, job_id, user, "destruction", lambda job: format_instant(job.destruction_time)
    )


@router.post(
    "/{job_id}/destruction", **describe("Change the destruction time of the job", status=303, form=(DESTRUCTION,))
)
async def set_destruction(
    job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin
) -> Response:
    return await _set_property(request, "DESTRUCTION", skyhouse.jobs.set_destruction, job_id, skyhouse, user, origin)


@router.api_route("/{job_id}/name", methods=_READ, **describe("The name of the job", *_PROPERTY))
async def show_name(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    return await _send_property(request, skyhouse, job_id, user, "runId", lambda job: job.run_id)


@router.post(
    "/{job_id}/name",
    **describe(
        "Change the name of the job", status=303, form=(Parameter("NAME", "New name; an empty name removes the name"),)
    ),
)
async def set_name(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin) -> Response:
    return await _set_property(request, "NAME", skyhouse.jobs.set_name, job_id, skyhouse, user, origin)


@router.api_route("/{job_id}/note", methods=_READ, **describe("The owner's note on the job", *_PROPERTY))
async def show_note(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    return await _send_property(request, skyhouse, job_id, user, "note", lambda job: job.note)


@router.post("/{job_id}/note", **describe("Change the note on the job", status=303, form=(NOTE,)))
async def set_note(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin) -> Response:
    return await _set_property(request, "NOTE", skyhouse.jobs.set_note, job_id, skyhouse, user, origin)


@router.api_route("/{job_id}/quote", methods=_READ, **describe("The estimated completion time of the job", *_PROPERTY))
async def show_quote(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    return await _send_property(
        request, skyhouse, job_id, user, "quote", lambda job: format_instant(job.quote) if job.quote else None
    )


@router.api_route("/{job_id}/owner", methods=_READ, **describe("The owner of the job", *_PROPERTY))
async def show_owner(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    return await _send_property(request, skyhouse, job_id, user, "ownerId", lambda job: job.owner)


@router.api_route("/{job_id}/error", methods=_READ, **describe("The error of the job", CONTENT_TYPE, ErrorSummary))
async def show_error(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    job = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    if (error := job.error) is None:
        raise NotFound(f"the job has no error: it is {job.phase}")
    query = next((value for name, value in job.parameters if name == "QUERY"), "")
    return send_preferred(
        request,
        Representation(CONTENT_TYPE, lambda: error_document(error.message, query)),
        as_json(lambda: describe_error(error)),
        headers=_FRESH,
    )


@router.api_route("/{job_id}/parameters", methods=_READ, **describe("The parameters of the job", XML, JobParameters))
async def show_parameters(job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser) -> Response:
    job = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    return send_preferred(
        request, xml(lambda: parameters_document(job)), as_json(lambda: describe_parameters(job)), headers=_FRESH
    )


@router.post("/{job_id}/parameters", **describe("Add or change parameters", status=303, form=QUERY_PARAMETERS))
async def post_parameters(
    job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin
) -> Response:
    with closing(await read_request_form(request, skyhouse)) as form:
        await run_in_turn(skyhouse.jobs.post_parameters, job_id, form.pairs, user, form.files)
    return _redirect_to_job(origin, job_id)


@router.api_route("/{job_id}/results", methods=_READ, **describe("The results of the job", XML, JobResults))
@router.api_route("/{job_id}/results/", methods=_READ, **describe("The results of the job", XML, JobResults))
async def list_results(
    job_id: str, request: Request, skyhouse: Skyhouse, user: OptionalUser, origin: Origin
) -> Response:
    job = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    url = _job_url(origin, job_id)
    return send_preferred(
        request, xml(lambda: results_document(job, url)), as_json(lambda: describe_results(job, url)), headers=_FRESH
    )


def _job_url(origin: RequestOrigin, job_id: str = "") -> str:
    return f"{origin.base_url}/tap/async" + (f"/{job_id}" if job_id else "")


def _redirect_to_job(origin: RequestOrigin, job_id: str = "") -> Response:
    """Redirect to the job, or to the list of jobs without ``job_id``."""
    return Response(status_code=303, headers={"Location": _job_url(origin, job_id)})


async def _send_property(
    request: Request,
    skyhouse: Skyhouse,
    job_id: str,
    user: OptionalUser,
    member: str,
    read_property: Callable[[Job], str | int | None],
) -> Response:
    """Send a property of a job as text, or as a JSON object with one member; None as an empty text, or as null."""
    job = await run_in_turn(skyhouse.jobs.get_job, job_id, user)
    value = read_property(job)
    return send_preferred(
        request, text(lambda: "" if value is None else str(value)), as_json(lambda: {member: value}), headers=_FRESH
    )


async def _set_property(
    request: Request,
    name: str,
    change: Callable[[str, str, OptionalUser], Job],
    job_id: str,
    skyhouse: Skyhouse,
    user: OptionalUser,
    origin: Origin,
) -> Response:
    """Set a property of a job to the value of the parameter ``name``."""
    value = _require_one(name, await read_request_pairs(request, skyhouse))
    await run_in_turn(change, job_id, value, user)
    return _redirect_to_job(origin, job_id)


def _require_one(name: str, pairs: list[Pair]) -> str:
    values = [value for given, value in pairs if given.upper() == name]
    if len(values) != 1:
        raise ParameterError(f"give the parameter {name} exactly once")
    return values[0]
