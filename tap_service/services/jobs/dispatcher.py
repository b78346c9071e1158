"""The interface of dispatchers, which hand queued jobs to threads or to Celery."""

from __future__ import annotations

from typing import Protocol

from tap_service.models.work_class import WorkClass


class Dispatcher(Protocol):
    """Hands jobs to executors. The job store holds the queue and decides which job is next."""

    def start(self) -> None:
        """Take up the jobs that an earlier process has left."""

    def wake(self, work: WorkClass) -> None:
        """Announce that a job has been queued. Never raises; a superfluous call has no effect.

        Parameters
        ----------
        work : WorkClass
            The class of the job.
        """

    def close(self) -> None:
        """Start no more jobs. Queued jobs stay in the store; running jobs are stopped and queued again."""
