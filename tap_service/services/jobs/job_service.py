"""Requests to /async: each method is one request, and checks the rights of the user.

A user's job is open to that user and to administrators; an anonymous job is open to everybody who knows its address.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain, islice

from starlette.concurrency import run_in_threadpool

from tap_service.config import Config
from tap_service.constants import BYTES_PER_CHARACTER, FORM_OVERHEAD, MAX_WAIT_SECONDS
from tap_service.models.client import Client
from tap_service.models.identity import Identity
from tap_service.models.request_parameters import Pair, parse_note
from tap_service.models.timestamps import add_seconds, now
from tap_service.models.upload_parameter import Part
from tap_service.models.uws_job import ACTIVE, Job, JobFile, JobFilter, JobReference, merge_parameters
from tap_service.models.watch import JobWatch
from tap_service.service_errors import (
    BodyTooLarge,
    Forbidden,
    NotFound,
    ParameterError,
    ServiceBusy,
    ServiceUnavailable,
    TooManyJobs,
)
from tap_service.services.announcements import Announcements
from tap_service.services.client_directory import ClientDirectory
from tap_service.services.jobs.archive_member import ArchiveMember, list_members
from tap_service.services.jobs.dispatcher import Dispatcher
from tap_service.services.jobs.job_disk import JobDisk
from tap_service.services.jobs.job_lifetimes import JobLifetimes
from tap_service.services.jobs.job_queue import JobQueue
from tap_service.services.jobs.job_search import search_jobs
from tap_service.services.jobs.result_downloads import ResultDownloads
from tap_service.services.jobs.uws_parameters import (
    MAX_NOTE,
    find_run_id,
    parse_destruction,
    parse_duration,
    parse_name,
    split_control_parameters,
)
from tap_service.services.queries.query_preparation import QueryPreparation
from tap_service.services.token_buckets import TokenBuckets
from tap_service.settings.client_limits import find_open_part
from tap_service.storage.jobs.job_store import IllegalTransition, JobStoreUnavailable, NoSuchJob
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.job_upload_files import store_upload_file
from tap_service.storage.results.result_store import ResultMissing

#: the number of results whose members are cached
_MAX_ARCHIVES = 20

_END_OF_RESULT = 1 << 62

_NO_FILES: Mapping[str, Part] = {}


class JobService:
    """The requests to /async. Thread-safe.

    Methods raise NotFound, also for a job past its destruction time, Forbidden for a job of another user,
    ParameterError and ServiceUnavailable. Their parameter ``user`` is None for an anonymous client.
    """

    def __init__(
        self,
        config: Config,
        stores: JobStores,
        queue: JobQueue,
        preparation: QueryPreparation,
        dispatcher: Dispatcher,
        lifetimes: JobLifetimes,
        announcements: Announcements,
        clients: ClientDirectory,
    ) -> None:
        self._config = config
        self._jobs = stores.jobs
        self._results = stores.results
        #: the members of a result never change, and each range of one asks for them
        self._find_members = lru_cache(_MAX_ARCHIVES)(self._read_members)
        self._queue = queue
        self._preparation = preparation
        self._dispatcher = dispatcher
        self._lifetimes = lifetimes
        self._announcements = announcements
        self.downloads = ResultDownloads()
        self._clients = clients
        self._disk = JobDisk(config, stores)
        self._rates = TokenBuckets(config.user_jobs_per_minute)

    def create_job(self, pairs: Sequence[Pair], client: Client, files: Mapping[str, Part] = _NO_FILES) -> Job:
        """Create a job, and run it if the request has PHASE=RUN.

        Parameters
        ----------
        pairs : Sequence[Pair]
            The parameters of the job and of its query; the parameters of the query are validated when the job runs.
        client : Client
            The user who will own the job, or an anonymous client.
        files : Mapping[str, Part]
            The uploaded parts of the request by name; they are stored with the job.

        Raises
        ------
        ParameterError
            A control parameter is invalid.
        TooManyJobs, ServiceBusy, QuotaExceeded
            The queue is full, too many jobs of the client are PENDING, or jobs take too much disk; the job does not
            exist then.
        ServiceUnavailable
            The job store or the result store does not work now.
        """
        control, parameters = split_control_parameters(pairs)
        phase = control.get("PHASE", "").upper()
        if phase not in ("", "RUN"):
            raise ParameterError(f"PHASE={phase[:60]} with a new job: RUN starts it, and without PHASE it is PENDING")
        job = self._build_job(control, parameters, client)
        self._check_rate(job)
        if not phase:
            self._check_pending(job)
        with _translate_store_errors(job.job_id), self._stored_files(job, files) as kept:
            job = replace(job, files=kept)
            if phase:
                return self._run_job(job, is_new=True)
            self._jobs.create_job(job)
            return job

    def create_watch_job(self, job_id: str, owner: str, name: str, query: str, watch: JobWatch) -> Job:
        """Create and queue the job of a watch's run, with the limits of ``owner``. Raises as ``create_job``.

        ``job_id`` is a new random id, which the run has recorded before the call.
        """
        parameters = [
            ("REQUEST", "doQuery"),
            ("LANG", "ADQL"),
            ("QUERY", query),
            ("RESPONSEFORMAT", "parquet"),
            ("MAXREC", str(min(self._config.watch_rows, self._config.async_hard_maxrec))),
            ("RUNID", f"watch {name}"),
        ]
        seconds = min(self._config.watch_seconds, self._config.async_hard_seconds)
        made = self._build_job({}, parameters, self._clients.find_client("", owner))
        job = replace(made, job_id=job_id, execution_duration=seconds, watch=watch)
        with _translate_store_errors(job_id):
            return self._run_job(job, is_new=True)

    def _check_rate(self, job: Job) -> None:
        """Raise TooManyJobs."""
        if seconds := self._rates.take_token(job.queued_job.user):
            raise TooManyJobs(
                f"you create more than {self._config.user_jobs_per_minute} jobs a minute: wait {math.ceil(seconds)} "
                "seconds, or ask for more at once, with your list as an upload",
                seconds,
            )

    def _check_pending(self, job: Job) -> None:
        """Raise TooManyJobs or ServiceBusy. Requests at the same time may create a few jobs more."""
        with _translate_store_errors(job.job_id):
            pending = self._jobs.count_pending(job.queued_job.user)
            of_all = self._jobs.count_pending()
        if pending >= self._config.user_pending_jobs:
            raise TooManyJobs(
                f"{pending} of your jobs are PENDING, the maximum: run or delete some of them, or create this one with "
                "PHASE=RUN"
            )
        limit = self._config.pending_jobs
        if of_all >= limit:
            raise ServiceBusy(
                f"{of_all} jobs of all users are PENDING, the maximum: create this one with PHASE=RUN, or try later"
            )
        if job.owner is None and of_all >= find_open_part(limit, self._config.user_reserve):
            raise ServiceBusy(
                f"{of_all} jobs are PENDING, and the rest is reserved for users: create this one with "
                "PHASE=RUN, or log in"
            )

    def _build_job(self, control: Mapping[str, str], parameters: Sequence[Pair], client: Client) -> Job:
        created = now()
        job = Job(
            job_id=secrets.token_hex(16),
            owner=client.name,
            creation_time=created,
            destruction_time=add_seconds(created, self._config.retention_seconds),
            execution_duration=self._config.async_seconds,
            parameters=merge_parameters((), parameters),
            run_id=find_run_id(parameters) or "",
            note=parse_note(control.get("NOTE", ""), MAX_NOTE),
            client=client.address,
            disk_limit=client.limits.disk,
        )
        if "EXECUTIONDURATION" in control:
            seconds = parse_duration(control["EXECUTIONDURATION"], self._config.async_hard_seconds)
            job = replace(job, execution_duration=seconds)
        if "DESTRUCTION" in control:
            job = replace(job, destruction_time=parse_destruction(control["DESTRUCTION"], self._latest_destruction()))
        return job

    def _latest_destruction(self) -> datetime:
        return add_seconds(now(), self._config.hard_retention_seconds)

    def get_job(self, job_id: str, user: Identity | None) -> Job:
        """Return a job that the client may use."""
        with _translate_store_errors(job_id):
            job = self._jobs.get_job(job_id)
        if job.destruction_time <= now():
            raise _job_not_found(job_id)
        if job.owner is not None and (user is None or not (user.admin or user.name == job.owner)):
            raise Forbidden("this job belongs to another user")
        return job

    def list_jobs(self, wanted: JobFilter, user: Identity | None) -> Iterator[JobReference]:
        """List the jobs of a user, the newest first; all jobs for an administrator, no jobs for an anonymous client.

        A search by words finds only the user's own jobs, also for an administrator. ``wanted.owner`` is ignored. The
        list is read on demand.
        """
        if user is None:
            return iter(())
        if wanted.words:
            found = search_jobs(self._jobs, replace(wanted, owner=user.name))
        else:
            found = self._jobs.list_references(replace(wanted, owner=None if user.admin else user.name))
        with _translate_store_errors(""):
            first = list(islice(found, 1))  # a failing store raises before the list begins
        return chain(first, found)

    def post_parameters(
        self, job_id: str, pairs: Sequence[Pair], user: Identity | None, files: Mapping[str, Part] = _NO_FILES
    ) -> Job:
        """Change parameters of a PENDING job, and add uploaded parts by name. Control parameters have their own URLs.

        Raises
        ------
        BodyTooLarge, QuotaExceeded
            The parameters or files of the job, or all jobs of the client, would be too large.
        """
        job = self.get_job(job_id, user)
        control, parameters = split_control_parameters(pairs)
        if control:
            name = next(iter(control))
            raise ParameterError(f"{name} is no parameter of the query: post it to /tap/async/{job_id}/{name.lower()}")
        self._check_parameters(job, parameters)
        self._check_files(job, files)
        with (
            _translate_store_errors(job_id, "parameters can be changed only while the job is PENDING"),
            self._stored_files(job, files) as kept,
        ):
            return self._jobs.set_parameters(job_id, parameters, find_run_id(parameters), kept)

    def _check_parameters(self, job: Job, added: Sequence[Pair]) -> None:
        max_characters = self._config.max_query_length * BYTES_PER_CHARACTER + FORM_OVERHEAD
        merged = merge_parameters(job.parameters, added)
        if sum(len(name) + len(value) for name, value in merged) > max_characters:
            raise BodyTooLarge(f"the parameters of one job take {max_characters} characters at most")

    def _check_files(self, job: Job, files: Mapping[str, Part]) -> None:
        """Raise BodyTooLarge. A file that replaces another counts twice until the old one is swept."""
        max_bytes = self._config.upload_bytes
        stored = sum(file.size for file in job.files)
        added = sum(part.size for part in files.values())
        if stored + added > max_bytes:
            raise BodyTooLarge(f"the files of one job have {max_bytes} bytes at most")

    @contextmanager
    def _stored_files(self, job: Job, files: Mapping[str, Part]) -> Iterator[tuple[JobFile, ...]]:
        """Put the files into the result store; delete them if the job cannot be stored. Raises QuotaExceeded."""
        kept: list[JobFile] = []
        added = sum(part.size for part in files.values())
        try:
            with self._disk.reserve(job, added) if files else nullcontext():
                for name, part in files.items():
                    kept.append(store_upload_file(self._results, f"{job.job_id}-f{secrets.token_hex(8)}", name, part))
                yield tuple(kept)
        except BaseException as error:
            for file in kept:
                with suppress(OSError):  # the sweep deletes it
                    self._results.delete_result(file.key)
            if isinstance(error, OSError):
                raise ServiceUnavailable("the service cannot keep the files of a job now. Try again later") from error
            raise

    def set_phase(self, job_id: str, phase: str, user: Identity | None) -> Job:
        """Run a PENDING job, or abort a job that has not ended: ``phase`` is RUN or ABORT, in any case."""
        job = self.get_job(job_id, user)
        if phase.upper() == "RUN":
            with _translate_store_errors(
                job_id, "only a PENDING job can be run; for another result create another job"
            ):
                return self._run_job(job)
        if phase.upper() == "ABORT":
            with _translate_store_errors(job_id, "it has ended and cannot be aborted"):
                return self._lifetimes.abort_job(job_id)
        raise ParameterError(f"PHASE={phase[:60]} is not known: RUN and ABORT are")

    def set_execution_duration(self, job_id: str, text: str, user: Identity | None) -> Job:
        """Set the time limit of an unfinished job: ``text`` in seconds, at most the maximum, which 0 requests."""
        self.get_job(job_id, user)
        seconds = parse_duration(text, self._config.async_hard_seconds)
        with _translate_store_errors(job_id, "its execution duration cannot be changed any more"):
            return self._jobs.set_execution_duration(job_id, seconds)

    def set_destruction(self, job_id: str, text: str, user: Identity | None) -> Job:
        """Set the destruction time, in any phase: ``text`` in ISO 8601, at most the latest that the service allows."""
        self.get_job(job_id, user)
        at = parse_destruction(text, self._latest_destruction())
        with _translate_store_errors(job_id):
            return self._jobs.set_destruction_time(job_id, at)

    def set_name(self, job_id: str, text: str, user: Identity | None) -> Job:
        """Set the user's name for a job, in any phase; '' for none."""
        self.get_job(job_id, user)
        with _translate_store_errors(job_id):
            return self._jobs.set_name(job_id, parse_name(text))

    def set_note(self, job_id: str, text: str, user: Identity | None) -> Job:
        """Set the user's note on a job, in any phase; '' for none."""
        self.get_job(job_id, user)
        with _translate_store_errors(job_id):
            return self._jobs.set_note(job_id, parse_note(text, MAX_NOTE))

    def destroy_job(self, job_id: str, user: Identity | None) -> None:
        """Stop a job if it runs, and delete it with its results and files."""
        self.get_job(job_id, user)
        with _translate_store_errors(job_id):
            self._lifetimes.destroy_job(job_id)

    def read_result(self, job: Job, start: int, end: int, client: str = "") -> Iterator[bytes]:
        """Open the result of a job for a download, which ``downloads`` lists until its end.

        Parameters
        ----------
        job : Job
            A job that the client may use.
        start, end : int
            The range of bytes; ``end`` is exclusive.
        client : str
            The user or address, for the list.
        """
        if job.result is None:
            raise NotFound(explain_missing_result(job))
        try:
            pieces = self._results.read_result(job.result.key, start, end)
        except ResultMissing as error:
            raise NotFound("the result of this job has been lost: run the query again") from error
        except OSError as error:
            raise ServiceUnavailable("the results cannot be read now. Try again later") from error
        return self.downloads.follow(pieces, job, client)

    def list_members(self, job: Job) -> dict[str, ArchiveMember]:
        """Return the files of a result that is a HATS collection, by path. Raises NotFound for other results."""
        if job.result is None:
            raise NotFound(explain_missing_result(job))
        if not job.result.is_collection:
            raise NotFound("the result of this job is not a HATS collection: create the job with RESPONSEFORMAT=hats")
        return self._find_members(job.result.key, job.result.size)

    def _read_members(self, key: str, size: int) -> dict[str, ArchiveMember]:
        try:
            return list_members(size, partial(self._results.read_result, key))
        except ResultMissing as error:
            raise NotFound("the result of this job has been lost: run the query again") from error
        except OSError as error:
            raise ServiceUnavailable("the results cannot be read now. Try again later") from error

    def read_preview(self, job: Job) -> bytes:
        """Return the file of the first rows of a running or ended job. Raises NotFound while there are none."""
        try:
            return b"".join(self._results.read_result(job.preview_key, 0, _END_OF_RESULT))
        except ResultMissing as error:
            raise NotFound(f"the job has given no rows: it is {job.phase}") from error
        except OSError as error:
            raise ServiceUnavailable("the results cannot be read now. Try again later") from error

    async def wait_for_change(self, job_id: str, user: Identity | None, seconds: int, phase: str) -> Job:
        """Wait until the phase of a job changes, without a thread (WAIT of UWS 1.1, section 2.2.1.2).

        Returns at once if the job is not in ``phase``, or cannot change any more.

        Parameters
        ----------
        job_id, user
            The job, and the client.
        seconds : int
            The maximum time; -1 for the service's maximum, which also limits other values.
        phase : str
            The phase that the client knows; '' for the present phase.
        """
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        def notify() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self._jobs.watch_job(job_id, notify):
            job = await run_in_threadpool(self.get_job, job_id, user)
            before = phase or job.phase
            until = loop.time() + (MAX_WAIT_SECONDS if seconds < 0 else min(seconds, MAX_WAIT_SECONDS))
            while job.phase in ACTIVE and job.phase == before:
                try:
                    await asyncio.wait_for(changed.wait(), until - loop.time())
                except TimeoutError:
                    break
                changed.clear()
                job = await run_in_threadpool(self.get_job, job_id, user)
        return job

    def _run_job(self, job: Job, *, is_new: bool = False) -> Job:
        self._announcements.check_open()
        with self._disk.reserve(job, 0):
            job = self._queue.put_job(job, self._preparation.estimate_job_cost(job), is_new=is_new)
        self._dispatcher.wake(job.queued_job.work_class(now()))
        return job


def explain_missing_result(job: Job) -> str:
    why = job.info.get("resultDeleted")
    return f"the result was {why}" if why else f"the job has no result: it is {job.phase}"


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
        raise ServiceUnavailable(f"{error}. Try again later") from error
