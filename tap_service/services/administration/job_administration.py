"""List, show, stop and delete the jobs of all users, for the operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from tap_service.models.client import ANONYMOUS
from tap_service.models.running_work import shorten_query
from tap_service.models.timestamps import format_instant, now
from tap_service.models.uws_job import ExecutionPhase, Job, JobError, JobFilter, JobReference
from tap_service.services.jobs.job_lifetimes import JobLifetimes
from tap_service.services.jobs.result_downloads import find_query
from tap_service.storage.jobs.job_store import IllegalTransition, JobStore, NoSuchJob

STOPPED = "the operator of this service has stopped it"


class AdministrationError(Exception):
    """The operator's request is not possible; the message has the reason."""


@dataclass(frozen=True, slots=True)
class JobSelection:
    """A selection of jobs that fulfil all conditions.

    Attributes
    ----------
    phases : frozenset of ExecutionPhase
        The phases; empty for all phases.
    user : str
        The owner; '' for all owners, ``ANONYMOUS`` for anonymous jobs.
    before : datetime or None
        Exclusive upper bound of the creation time.
    last : int
        The maximum number of jobs, the newest.
    """

    phases: frozenset[ExecutionPhase] = frozenset()
    user: str = ""
    before: datetime | None = None
    last: int = 100


class JobAdministration:
    """The jobs of all users. Methods raise AdministrationError and JobStoreUnavailable."""

    def __init__(self, jobs: JobStore, lifetimes: JobLifetimes) -> None:
        self._jobs = jobs
        self._lifetimes = lifetimes

    def list_jobs(self, wanted: JobSelection) -> Iterator[dict[str, Any]]:
        """Yield the summaries of jobs, the newest first.

        Parameters
        ----------
        wanted : JobSelection
            Which jobs, and how many.

        Yields
        ------
        dict[str, Any]
            The JSON of ``summarize_job``; jobs that are deleted in the meantime are left out.
        """
        owner = wanted.user if wanted.user not in ("", ANONYMOUS) else None
        found = self._jobs.list_references(JobFilter(owner, wanted.phases or frozenset(ExecutionPhase)))
        for reference in islice((each for each in found if _is_selected(each, wanted)), wanted.last):
            try:
                yield summarize_job(self._jobs.get_job(reference.job_id))
            except NoSuchJob:  # deleted meanwhile
                continue

    def show_job(self, job_id: str) -> dict[str, Any]:
        """Return the complete record of a job as JSON.

        Parameters
        ----------
        job_id : str
            The job.

        Raises
        ------
        AdministrationError
            There is no such job.
        """
        job = self._get_job(job_id)
        return {
            **summarize_job(job),
            "query": find_query(job),
            "run_id": job.run_id,
            "note": job.note,
            "destruction": format_instant(job.destruction_time),
            "execution_duration": job.execution_duration,
            "worker": job.worker,
            "attempt": job.attempt,
            "error": job.error.message if job.error else "",
            "result_bytes": job.result.size if job.result else None,
            "upload_files": [file.name for file in job.files],
            "info": dict(job.info),
        }

    def stop_job(self, job_id: str) -> dict[str, Any]:
        """Abort a job of any user; its query then ends in the engine.

        Parameters
        ----------
        job_id : str
            The job.

        Returns
        -------
        dict[str, Any]
            The JSON of ``summarize_job``.

        Raises
        ------
        AdministrationError
            There is no such job, or it has already ended.
        """
        try:
            return summarize_job(self._lifetimes.abort_job(job_id, JobError(STOPPED)))
        except NoSuchJob as error:
            raise _no_such_job(job_id) from error
        except IllegalTransition as error:
            raise AdministrationError(f"the job {job_id} has already ended: it is {error.phase}") from error

    def delete_job(self, job_id: str) -> None:
        """Delete a job with its result; a running job is stopped first.

        Parameters
        ----------
        job_id : str
            The job.

        Raises
        ------
        AdministrationError
            There is no such job.
        """
        try:
            self._lifetimes.destroy_job(job_id)
        except NoSuchJob as error:
            raise _no_such_job(job_id) from error

    def delete_jobs_of(self, user: str) -> int:
        """Delete all jobs of a user with their results, also running and archived jobs.

        Parameters
        ----------
        user : str
            The name of the user.

        Returns
        -------
        int
            The number of jobs.
        """
        found = [*self._jobs.list_references(JobFilter(user, frozenset(ExecutionPhase)))]
        for reference in found:
            with suppress(NoSuchJob):  # deleted meanwhile
                self._lifetimes.destroy_job(reference.job_id)
        return len(found)

    def list_executing(self) -> list[Job]:
        """Return the EXECUTING jobs."""
        _, executing = self._jobs.list_queued_jobs()
        found = []
        for queued_job in executing:
            try:
                found.append(self._jobs.get_job(queued_job.job_id))
            except NoSuchJob:
                continue
        return [job for job in found if job.phase is ExecutionPhase.EXECUTING]

    def _get_job(self, job_id: str) -> Job:
        try:
            return self._jobs.get_job(job_id)
        except NoSuchJob as error:
            raise _no_such_job(job_id) from error


def _is_selected(reference: JobReference, wanted: JobSelection) -> bool:
    if wanted.user == ANONYMOUS and reference.owner is not None:
        return False
    return wanted.before is None or reference.creation_time < wanted.before


def summarize_job(job: Job) -> dict[str, Any]:
    """Return the JSON of a job in a list."""
    return {
        "job": job.job_id,
        "phase": str(job.phase),
        "client": job.owner or job.client,
        "created": format_instant(job.creation_time),
        "started": format_instant(job.start_time) if job.start_time else None,
        "ended": format_instant(job.end_time) if job.end_time else None,
        "class": str(job.queued_job.work_class(now())),
        "query": shorten_query(find_query(job)),
    }


def _no_such_job(job_id: str) -> AdministrationError:
    return AdministrationError(f"there is no job {job_id[:60]!r}; skyhouse jobs list lists them")
