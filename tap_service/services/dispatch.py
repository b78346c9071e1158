"""Who executes queued jobs: a dispatcher is told of each, and calls ``run_job`` with it somewhere, some time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

_log = logging.getLogger("skyhouse")


class Dispatcher(Protocol):
    """The job store has the queue. Telling of a job twice does no harm: it is executed once."""

    def submit(self, job_id: str) -> None:
        """The job is QUEUED."""

    def close(self) -> None:
        """Take on no more. What waits stays QUEUED in the store, what runs is its runner's to end."""


class ThreadDispatcher:
    """``threads`` jobs run at once in this process, in the order in which they were queued."""

    def __init__(self, run_job: Callable[[str], None], threads: int) -> None:
        self._run_job = run_job
        self._pool = ThreadPoolExecutor(threads, "job")
        self._closed = False

    def submit(self, job_id: str) -> None:
        try:
            self._pool.submit(self._run_job, job_id).add_done_callback(_log_failure)
        except RuntimeError:  # it shuts down: the job is taken up at the next start
            if not self._closed:
                raise

    def close(self) -> None:
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)


def _log_failure(done: Future[None]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        _log.error("a job was left as it is", exc_info=error)
