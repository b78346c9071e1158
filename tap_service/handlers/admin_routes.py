"""The commands of ``skyhouse jobs``, ``queries``, ``drain``, ``downtime`` and ``note`` for administrators, in JSON.

GET /tap/admin/queries               the running queries and jobs
DELETE /tap/admin/queries/{id}       stops a query or job
GET /tap/admin/jobs                  PHASE (repeatable), USER, LAST: the newest jobs of all users
GET /tap/admin/jobs/{id}             the complete record of a job (/tap/async/{id} deletes and aborts it)
GET /tap/admin/users                 users with their groups and the labels of their tokens
POST, DELETE /tap/admin/drain        note
POST /tap/admin/downtimes            from, to, note;  DELETE /tap/admin/downtimes/{id}
POST /tap/admin/notes                text;  DELETE /tap/admin/notes/{id}

Pages of other sites cannot change anything: all changes need a request that browsers send only after a preflight
(see ``json_body``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from tap_service.handlers.announcement_routes import announced_as_json
from tap_service.handlers.content_negotiation import JSON
from tap_service.handlers.json_body import read_json_object, read_text
from tap_service.handlers.request_context import OptionalUser, Skyhouse
from tap_service.handlers.request_form import read_query_pairs, read_query_values
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.models.timestamps import parse_instant
from tap_service.models.uws_job import ExecutionPhase
from tap_service.service_errors import Forbidden, NotFound, ParameterError, ServiceUnavailable, Unauthorized
from tap_service.services.administration.job_administration import AdministrationError, JobSelection
from tap_service.services.announcements import AnnouncementError
from tap_service.services.jobs.uws_parameters import parse_job_filter
from tap_service.storage.jobs.job_store import JobStoreUnavailable
from tap_service.storage.site_state import SiteStateUnavailable

_T = TypeVar("_T")

_NO_STORE = {"Cache-Control": "no-store"}
_DEFAULT_JOBS, _MAX_JOBS = 100, 1000
_SELECTION = (
    Parameter("PHASE", "Jobs in this phase", tuple(ExecutionPhase), is_repeatable=True),
    Parameter("USER", "Jobs of this user"),
    Parameter("LAST", f"Maximum number of jobs to return, up to {_MAX_JOBS}", kind="integer", example=10),
)
_ANNOUNCED_NOTE = (Parameter("note", "Text that users read"),)
_DOWNTIME = (Parameter("from", "Start, in ISO 8601"), Parameter("to", "End, in ISO 8601"))


async def require_admin(user: OptionalUser) -> None:
    """Let administrators pass.

    Raises
    ------
    Unauthorized
        The client is anonymous.
    Forbidden
        The user is not an administrator.
    """
    if user is None:
        raise Unauthorized("only administrators may use this: sign in as an administrator")
    if not user.admin:
        raise Forbidden("only administrators may use this: ask the operator of this service")


router = APIRouter(prefix="/admin", dependencies=[Depends(require_admin)])


@router.get("/queries", **describe("Running queries and jobs", JSON))
async def list_queries(skyhouse: Skyhouse) -> Response:
    found = await _run(skyhouse.work.list_running)
    return _as_json([work.to_document() for work in found])


@router.delete("/queries/{work_id}", **describe("Stop a running query or job", status=204))
async def stop_query(work_id: str, skyhouse: Skyhouse) -> Response:
    await _run(lambda: skyhouse.work.stop(work_id))
    return Response(status_code=204)


@router.get("/jobs", **describe("The newest jobs of all users", JSON, query=_SELECTION))
async def list_jobs(request: Request, skyhouse: Skyhouse) -> Response:
    user = read_query_values(request, ("USER",)).get("USER", "")
    wanted = parse_job_filter([pair for pair in read_query_pairs(request) if pair[0].upper() in ("PHASE", "LAST")])
    selection = JobSelection(wanted.phases, user, last=min(wanted.last or _DEFAULT_JOBS, _MAX_JOBS))
    return _as_json(await _run(lambda: list(skyhouse.job_administration.list_jobs(selection))))


@router.get("/jobs/{job_id}", **describe("The complete record of a job", JSON))
async def show_job(job_id: str, skyhouse: Skyhouse) -> Response:
    return _as_json(await _run(lambda: skyhouse.job_administration.show_job(job_id)))


@router.get("/users", **describe("Users with their groups and the labels of their tokens", JSON))
async def list_users(skyhouse: Skyhouse) -> Response:
    return _as_json(await _run(skyhouse.own_tokens.list_users))


@router.post("/drain", **describe("Refuse new queries and jobs", JSON, members=_ANNOUNCED_NOTE))
async def start_drain(request: Request, skyhouse: Skyhouse) -> Response:
    given = await read_json_object(request, ("note",))
    note = read_text(given, "note")
    await _run(lambda: skyhouse.announcements.start_drain(note))
    return _announced(skyhouse)


@router.delete("/drain", **describe("Accept queries and jobs again", JSON))
async def end_drain(skyhouse: Skyhouse) -> Response:
    await _run(skyhouse.announcements.end_drain)
    return _announced(skyhouse)


@router.post("/downtimes", **describe("Announce a downtime", JSON, status=201, members=(*_DOWNTIME, *_ANNOUNCED_NOTE)))
async def add_downtime(request: Request, skyhouse: Skyhouse) -> Response:
    given = await read_json_object(request, ("from", "to", "note"))
    try:
        start, end = (parse_instant(read_text(given, name)) for name in ("from", "to"))
    except ValueError as error:
        raise ParameterError(f"from or to: {error}") from error
    note = read_text(given, "note")
    await _run(lambda: skyhouse.announcements.add_downtime(start, end, note))
    return _announced(skyhouse, 201)


@router.delete("/downtimes/{downtime_id}", **describe("Withdraw a downtime", JSON))
async def remove_downtime(downtime_id: str, skyhouse: Skyhouse) -> Response:
    await _run(lambda: skyhouse.announcements.remove_downtime(downtime_id), NotFound)
    return _announced(skyhouse)


@router.post(
    "/notes", **describe("Announce a note", JSON, status=201, members=(Parameter("text", "Text of the note"),))
)
async def add_note(request: Request, skyhouse: Skyhouse) -> Response:
    text = read_text(await read_json_object(request, ("text",)), "text")
    await _run(lambda: skyhouse.announcements.add_note(text))
    return _announced(skyhouse, 201)


@router.delete("/notes/{note_id}", **describe("Withdraw a note", JSON))
async def remove_note(note_id: str, skyhouse: Skyhouse) -> Response:
    await _run(lambda: skyhouse.announcements.remove_note(note_id), NotFound)
    return _announced(skyhouse)


def _announced(skyhouse: Skyhouse, status: int = 200) -> Response:
    return _as_json(announced_as_json(skyhouse.announcements.current), status)


def _as_json(content: Any, status: int = 200) -> Response:
    return JSONResponse(content, status, headers=_NO_STORE)


async def _run(work: Callable[[], _T], refusal: type[ParameterError] | type[NotFound] = ParameterError) -> _T:
    """Call ``work`` on a thread, and raise its errors as errors of the request."""

    def call() -> _T:
        with _translate_errors(refusal):
            return work()

    return await run_in_turn(call)


@contextmanager
def _translate_errors(refusal: type[ParameterError] | type[NotFound]) -> Iterator[None]:
    try:
        yield
    except AdministrationError as error:
        raise NotFound(str(error)) from error
    except AnnouncementError as error:
        raise refusal(str(error)) from error
    except (JobStoreUnavailable, SiteStateUnavailable) as error:
        raise ServiceUnavailable(f"{error}. Try again later") from error
