"""The interface of dispatchers, which hand queued jobs to threads or to Celery."""

from __future__ import annotations

from typing import Protocol

from tap_service.models.work_class import WorkClass


class Dispatcher(Protocol):
    """The job store holds the queue and decides which job is next; a superfluous ``wake`` does no harm."""

    def start(self) -> None:
        """Take up the jobs that an earlier process has left."""

    def wake(self, work: WorkClass) -> None:
        """Announce that a job of this class has been queued."""

    def close(self) -> None:
        """Start no more jobs; queued ones stay in the store, running ones are stopped and queued again."""
