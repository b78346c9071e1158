"""Who executes queued jobs: a dispatcher is told that there is work, and calls ``run_next`` somewhere, some time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from tap_service.models.work_class import WorkClass

_log = logging.getLogger("skyhouse")


class Dispatcher(Protocol):
    """The job store has the queue, and says which job is next. Telling of work too often does no harm."""

    def wake(self, work: WorkClass) -> None:
        """A job of this class has been queued."""

    def close(self) -> None:
        """Take on no more. What waits stays QUEUED in the store, what runs is its runner's to end."""


class ThreadDispatcher:
    """Threads of this process, as many as jobs may run at once. Each goes on until no job may start."""

    def __init__(self, run_next: Callable[[], bool], threads: int) -> None:
        self._run_next = run_next
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, "job")
        self._asked: set[Future[None]] = set()
        self._closed = False

    @property
    def idle(self) -> int:
        """Threads that have nothing to do."""
        return max(0, self._threads - len(self._asked))

    def wake(self, work: WorkClass) -> None:  # noqa: ARG002 (a thread takes any job)
        try:
            future = self._pool.submit(self._run_all)
        except RuntimeError:  # it shuts down: the job is taken up at the next start
            if not self._closed:
                raise
            return
        self._asked.add(future)
        future.add_done_callback(self._done)

    def close(self) -> None:
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run_all(self) -> None:
        while not self._closed and self._run_next():
            pass

    def _done(self, future: Future[None]) -> None:
        self._asked.discard(future)
        if not future.cancelled() and (error := future.exception()) is not None:
            _log.error("a job was left as it is", exc_info=error)
