"""The interface of job executors, and the ends of a job. ``JobRunner`` stores the end."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Protocol

from tap_service.models.query_report import QueryReport
from tap_service.models.uws_job import Info, Job, JobResult
from tap_service.service_errors import ServiceError, ServiceUnavailable
from tap_service.services.jobs.job_progress import JobProgress
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.storage.engine.engine import EngineError

_log = logging.getLogger("skyhouse")


@dataclass(frozen=True, slots=True)
class JobCompletion:
    """The result of a job, its jobInfo, and the fingerprint by which other jobs find the result ('' if none may)."""

    result: JobResult
    info: Info
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class JobReturn:
    """The job returns to the queue for this reason, and continues later."""

    reason: str


class JobRevoked(ServiceError):
    """The job was aborted, destroyed or given to another worker."""


class ServiceShuttingDown(ServiceUnavailable):
    """The process ends, and the job returns to the queue."""


class JobExecutor(Protocol):
    """Executes jobs of one kind. Thread-safe; one for each process."""

    def read_parameters(self, job: Job) -> TapParameters:
        """Return the parameters of the job's query, which the log contains too.

        Parameters
        ----------
        job : Job
            The EXECUTING job.

        Raises
        ------
        ParameterError
            The parameters are invalid.
        """

    def execute_job(self, job: Job, parameters: TapParameters, report: QueryReport) -> JobCompletion | JobReturn:
        """Do the work of a job, and write its result into the result store.

        Parameters
        ----------
        job : Job
            The EXECUTING job.
        parameters : TapParameters
            What ``read_parameters`` returned.
        report : QueryReport
            Gets the outcome.

        Raises
        ------
        ServiceError
            The work failed, or was stopped; other errors are translated by the caller.
        """


class StoppableWork(Protocol):
    """Work of a job that another thread can stop."""

    def stop(self, reason: ServiceError) -> None:
        """Stop the work. Thread-safe; call it again until the work has ended.

        Parameters
        ----------
        reason : ServiceError
            The error with which the work ends.

        Raises
        ------
        EngineError
            The query in the engine cannot be stopped now.
        """


class RunningJob:
    """A job at work, as the monitor sees it."""

    def __init__(self, job: Job, work: StoppableWork, progress: JobProgress) -> None:
        self.job = job
        self.progress = progress
        self.since = time.monotonic()
        self._work = work

    def stop(self, reason: ServiceError) -> None:
        """Stop the job with ``reason``; errors of the engine are logged.

        Call it again until the job is no longer monitored: the engine may not know the query yet, or not answer.
        """
        try:
            self._work.stop(reason)
        except EngineError as error:
            _log.warning("job %s cannot be stopped yet: %s", self.job.job_id, error.detail)
