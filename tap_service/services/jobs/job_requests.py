"""Requests to /async: each method is one request, and checks the caller's rights.

A user's job is open to that user and to administrators; an anonymous job is open to everybody who knows its address.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice

from starlette.concurrency import run_in_threadpool

from tap_service.config import Config
from tap_service.constants import BYTES_PER_CHARACTER, FORM_OVERHEAD, MAX_WAIT_SECONDS
from tap_service.models.identity import Identity
from tap_service.models.request_parameters import Pair
from tap_service.models.timestamps import add_seconds, now, parse_instant
from tap_service.models.upload_parameter import Part
from tap_service.models.uws_job import ACTIVE, ExecutionPhase, Job, JobFile, JobFilter, JobReference, merge_parameters
from tap_service.service_errors import (
    BodyTooLarge,
    Forbidden,
    NotFound,
    ParameterFault,
    ServiceBusy,
    ServiceUnavailable,
    TooManyJobs,
)
from tap_service.services.jobs.job_dispatcher import Dispatcher
from tap_service.services.jobs.job_lifetimes import JobLifetimes
from tap_service.services.jobs.job_queues import JobQueue
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.storage.jobs.job_store import IllegalTransition, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.job_upload_files import store_upload_file
from tap_service.storage.results.result_store import ResultMissing

_END_OF_RESULT = 1 << 62

#: parameters of UWS that a request may set with the creation of a job
_CONTROL_PARAMETERS = ("PHASE", "EXECUTIONDURATION", "DESTRUCTION")


_NO_FILES: Mapping[str, Part] = {}


class JobService:
    def __init__(
        self,
        config: Config,
        stores: JobStores,
        queue: JobQueue,
        preparation: QueryPreparation,
        dispatcher: Dispatcher,
        lifetimes: JobLifetimes,
    ) -> None:
        self._config = config
        self._jobs = stores.jobs
        self._results = stores.results
        self._queue = queue
        self._preparation = preparation
        self._dispatcher = dispatcher
        self._lifetimes = lifetimes

    def create_job(
        self, pairs: Sequence[Pair], caller: Identity | None, client: str, files: Mapping[str, Part] = _NO_FILES
    ) -> Job:
        """Create a job, and run it if the request has PHASE=RUN. The query's parameters are not validated.

        ``files``: the uploaded parts of the request by name; they are stored for the job.
        """
        control, parameters = _split_control_parameters(pairs)
        phase = control.get("PHASE", "").upper()
        if phase not in ("", "RUN"):
            raise ParameterFault(f"PHASE={phase[:60]} with a new job: RUN starts it, and without PHASE it is PENDING")
        created = now()
        job = Job(
            job_id=secrets.token_hex(16),
            owner=caller.name if caller else None,
            creation_time=created,
            destruction_time=add_seconds(created, self._config.retention_seconds),
            execution_duration=self._config.async_seconds,
            parameters=merge_parameters((), parameters),
            run_id=_find_run_id(parameters) or "",
            client=client,
        )
        if "EXECUTIONDURATION" in control:
            job = replace(job, execution_duration=self._parse_duration(control["EXECUTIONDURATION"]))
        if "DESTRUCTION" in control:
            job = replace(job, destruction_time=self._parse_destruction(control["DESTRUCTION"]))
        with _translate_store_errors(job.job_id), self._stored_files(job, files) as kept:
            job = replace(job, files=kept)
            self._jobs.create_job(job)
            return self._run_new_job(job) if phase else job

    def get_job(self, job_id: str, caller: Identity | None) -> Job:
        """Raise NotFound, also for a job past its destruction time, and Forbidden for another user's job."""
        with _translate_store_errors(job_id):
            job = self._jobs.get_job(job_id)
        if job.destruction_time <= now():
            raise _job_not_found(job_id)
        if job.owner is not None and (caller is None or not (caller.admin or caller.name == job.owner)):
            raise Forbidden("this job is another's")
        return job

    def list_jobs(self, wanted: JobFilter, caller: Identity | None) -> Iterator[JobReference]:
        """List the caller's jobs; an administrator sees all jobs, an anonymous caller none."""
        if caller is None:
            return iter(())
        found = self._jobs.list_references(replace(wanted, owner=None if caller.admin else caller.name))
        with _translate_store_errors(""):
            first = list(islice(found, 1))  # a failing store raises before the list begins
        return chain(first, found)

    def post_parameters(
        self, job_id: str, pairs: Sequence[Pair], caller: Identity | None, files: Mapping[str, Part] = _NO_FILES
    ) -> Job:
        job = self.get_job(job_id, caller)
        control, parameters = _split_control_parameters(pairs)
        if control:
            raise ParameterFault(
                f"{next(iter(control))} is no parameter of the query: post it to /tap/async/{job_id}/"
                f"{next(iter(control)).lower()}"
            )
        most = self._config.max_query_length * BYTES_PER_CHARACTER + FORM_OVERHEAD
        if sum(len(name) + len(value) for name, value in merge_parameters(job.parameters, parameters)) > most:
            raise BodyTooLarge(f"the parameters of one job take {most} characters at most")
        self._check_files(job, files)
        with (
            _translate_store_errors(job_id, "parameters can be changed while the job is PENDING only"),
            self._stored_files(job, files) as kept,
        ):
            return self._jobs.set_parameters(job_id, parameters, _find_run_id(parameters), kept)

    def _check_files(self, job: Job, files: Mapping[str, Part]) -> None:
        """Raise BodyTooLarge. A file that replaces another counts twice until the old one is swept."""
        most = self._config.upload_bytes
        if sum(file.size for file in job.files) + sum(part.size for part in files.values()) > most:
            raise BodyTooLarge(f"the files of one job have {most} bytes at most")

    @contextmanager
    def _stored_files(self, job: Job, files: Mapping[str, Part]) -> Iterator[tuple[JobFile, ...]]:
        """Put the files into the result store; delete them if the job does not get them."""
        kept: list[JobFile] = []
        try:
            for name, part in files.items():
                kept.append(store_upload_file(self._results, f"{job.job_id}-f{secrets.token_hex(8)}", name, part))
            yield tuple(kept)
        except BaseException as error:
            for file in kept:
                with suppress(OSError):  # the sweep deletes it
                    self._results.delete_result(file.key)
            if isinstance(error, OSError):
                raise ServiceUnavailable("the service cannot keep the files of a job now. Ask again later") from error
            raise

    def set_phase(self, job_id: str, phase: str, caller: Identity | None) -> Job:
        """Run or abort the job; ``phase`` is RUN or ABORT."""
        job = self.get_job(job_id, caller)
        if phase.upper() == "RUN":
            with _translate_store_errors(
                job_id, "only a PENDING job can be run; for another result create another job"
            ):
                return self._run_job(job)
        if phase.upper() == "ABORT":
            with _translate_store_errors(job_id, "it has ended and cannot be aborted"):
                job = self._jobs.abort_job(job_id, now())
            self._lifetimes.stop_query(job.query_id)
            return job
        raise ParameterFault(f"PHASE={phase[:60]} is not known: RUN and ABORT are")

    def set_execution_duration(self, job_id: str, text: str, caller: Identity | None) -> Job:
        self.get_job(job_id, caller)
        seconds = self._parse_duration(text)
        with _translate_store_errors(job_id, "its execution duration cannot be changed any more"):
            return self._jobs.set_execution_duration(job_id, seconds)

    def set_destruction(self, job_id: str, text: str, caller: Identity | None) -> Job:
        self.get_job(job_id, caller)
        at = self._parse_destruction(text)
        with _translate_store_errors(job_id):
            return self._jobs.set_destruction_time(job_id, at)

    def destroy_job(self, job_id: str, caller: Identity | None) -> None:
        self.get_job(job_id, caller)
        with _translate_store_errors(job_id):
            self._lifetimes.destroy_job(job_id)

    def read_result(self, job: Job, start: int, end: int) -> Iterator[bytes]:
        """Stream the bytes [start, end) of the job's result."""
        if job.result is None:
            raise NotFound(f"the job has no result: it is {job.phase}")
        try:
            return self._results.read_result(job.result.key, start, end)
        except ResultMissing as error:
            raise NotFound("the result of this job has been lost: run the query again") from error
        except OSError as error:
            raise ServiceUnavailable("the results cannot be read now. Ask again later") from error

    def read_preview(self, job: Job) -> bytes:
        """Return the first rows of a running or ended job in PREVIEW_FORMAT. Raises NotFound while there are none."""
        try:
            return b"".join(self._results.read_result(job.preview_key, 0, _END_OF_RESULT))
        except ResultMissing as error:
            raise NotFound(f"the job has given no rows: it is {job.phase}") from error
        except OSError as error:
            raise ServiceUnavailable("the results cannot be read now. Ask again later") from error

    async def wait_for_change(self, job_id: str, caller: Identity | None, seconds: int, phase: str) -> Job:
        """Return the job when its phase changes, or after ``seconds`` (-1: the maximum).

        Returns at once if the job is not in ``phase`` ('' matches any), or its phase cannot change.
        """
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        def notify() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self._jobs.watch_job(job_id, notify):
            job = await run_in_threadpool(self.get_job, job_id, caller)
            before = phase or job.phase
            until = loop.time() + (MAX_WAIT_SECONDS if seconds < 0 else min(seconds, MAX_WAIT_SECONDS))
            while job.phase in ACTIVE and job.phase == before:
                try:
                    await asyncio.wait_for(changed.wait(), until - loop.time())
                except TimeoutError:
                    break
                changed.clear()
                job = await run_in_threadpool(self.get_job, job_id, caller)
        return job

    def _run_new_job(self, job: Job) -> Job:
        """Destroy the job if the queue refuses it: no client knows its address yet."""
        try:
            return self._run_job(job)
        except (TooManyJobs, ServiceBusy):
            self._lifetimes.destroy_job(job.job_id)
            raise

    def _run_job(self, job: Job) -> Job:
        job = self._queue.put_job(job, self._preparation.estimate_job_cost(job))
        self._dispatcher.wake(job.place.work_class(now()))
        return job

    def _parse_duration(self, text: str) -> int:
        """Return the seconds, reduced to the limit; 0 requests the longest duration."""
        if not re.fullmatch(r"[0-9]{1,18}", text.strip(), re.ASCII):
            raise ParameterFault("EXECUTIONDURATION is a number of seconds, such as 600; 0 is the longest possible")
        hard = self._config.async_hard_seconds
        return min(int(text) or hard, hard)

    def _parse_destruction(self, text: str) -> datetime:
        """Return the time, reduced to the limit."""
        try:
            return min(parse_instant(text), add_seconds(now(), self._config.hard_retention_seconds))
        except ValueError as error:
            raise ParameterFault(f"DESTRUCTION: {error}") from error


def parse_job_filter(pairs: Sequence[Pair]) -> JobFilter:
    """Read the filters of a job list: PHASE, any number of times, AFTER and LAST. Raises ParameterFault."""
    wanted = JobFilter(None)
    for name, value in pairs:
        if name.upper() == "PHASE":
            wanted = replace(wanted, phases=wanted.phases | {_parse_phase(value)})
        elif name.upper() == "AFTER":
            try:
                wanted = replace(wanted, after=parse_instant(value))
            except ValueError as error:
                raise ParameterFault(f"AFTER: {error}") from error
        elif name.upper() == "LAST":
            if not re.fullmatch(r"0*[1-9][0-9]{0,17}", value.strip(), re.ASCII):
                raise ParameterFault("LAST is a number of jobs above 0, such as 100")
            wanted = replace(wanted, last=int(value))
    return wanted


def parse_wait(pairs: Sequence[Pair]) -> tuple[int, str]:
    """Read WAIT in seconds (0: none, -1: the maximum) and PHASE ('': any). Raises ParameterFault."""
    seconds, phase = 0, ""
    for name, value in pairs:
        if name.upper() == "WAIT":
            if not re.fullmatch(r"-1|[0-9]{1,18}", value.strip(), re.ASCII):
                raise ParameterFault("WAIT is a number of seconds, such as 30, or -1 for the maximum")
            seconds = int(value)
        elif name.upper() == "PHASE":
            phase = _parse_phase(value)
    return seconds, phase


def _parse_phase(value: str) -> ExecutionPhase:
    try:
        return ExecutionPhase(value.strip().upper())
    except ValueError as error:
        raise ParameterFault(f"PHASE={value[:60]} is not known; the phases are: {', '.join(ExecutionPhase)}") from error


def _split_control_parameters(pairs: Sequence[Pair]) -> tuple[dict[str, str], list[Pair]]:
    """Separate the control parameters of UWS from the parameters of the query."""
    control = {name.upper(): value for name, value in pairs if name.upper() in _CONTROL_PARAMETERS and value}
    return control, [(name, value) for name, value in pairs if name and name.upper() not in _CONTROL_PARAMETERS]


def _find_run_id(pairs: Sequence[Pair]) -> str | None:
    """Return the last RUNID, or None."""
    found = [value for name, value in pairs if name.upper() == "RUNID"]
    return found[-1] if found else None


def _job_not_found(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id[:60]!r}: it never existed, or has been destroyed")


@contextmanager
def _translate_store_errors(job_id: str, refusal: str = "that is not possible") -> Iterator[None]:
    """Translate errors of the job store into errors for the client."""
    try:
        yield
    except NoSuchJob as error:
        raise _job_not_found(job_id) from error
    except IllegalTransition as error:
        raise Forbidden(f"the job is {error.phase}: {refusal}") from error
    except JobStoreUnavailable as error:
        raise ServiceUnavailable(f"{error}. Ask again later") from error
