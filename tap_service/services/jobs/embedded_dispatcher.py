"""Executes jobs on threads of the service, when it is the only process that does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta

from tap_service.models.timestamps import now
from tap_service.models.work_class import WorkClass
from tap_service.services.jobs.engine_patience import EnginePatience
from tap_service.services.jobs.job_lifetimes import JobLifetimes, JobSweeper
from tap_service.services.jobs.job_queue import JobQueue
from tap_service.services.jobs.job_runner import JobRunner

_log = logging.getLogger("skyhouse")

#: no worker outlives this process, so a heartbeat in the future means that the clock was set back
_ALL_HEARTBEATS = timedelta(days=36_500)


class _JobThreads:
    """As many threads as jobs may run at once. Each one calls ``run_next`` until no job may start."""

    def __init__(self, run_next: Callable[[], bool], threads: int) -> None:
        self._run_next = run_next
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, "job")
        self._submitted: set[Future[None]] = set()
        self._closed = False

    def count_idle(self) -> int:
        return max(0, self._threads - len(self._submitted))

    def wake_one(self) -> None:
        try:
            future = self._pool.submit(self._run_all)
        except RuntimeError:  # the pool is shut down; the next start takes the job up
            if not self._closed:
                raise
            return
        self._submitted.add(future)
        future.add_done_callback(self._discard)

    def close(self) -> None:
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run_all(self) -> None:
        while not self._closed and self._run_next():
            pass

    def _discard(self, future: Future[None]) -> None:
        self._submitted.discard(future)
        if not future.cancelled() and (error := future.exception()) is not None:
            _log.error("a job thread failed before the end of its job", exc_info=error)


class EmbeddedDispatcher:
    """Implements ``Dispatcher`` with threads, and sweeps expired jobs."""

    def __init__(
        self,
        queue: JobQueue,
        max_running: int,
        runner: JobRunner,
        lifetimes: JobLifetimes,
        patience: EnginePatience,
    ) -> None:
        self._queue = queue
        self._patience = patience
        self._runner = runner
        self._lifetimes = lifetimes
        self._sweeper = JobSweeper(lifetimes, self._wake_idle)
        self._threads = _JobThreads(runner.run_next, max_running)

    def start(self) -> None:
        self._runner.start()
        self._lifetimes.recover_jobs(now() + _ALL_HEARTBEATS)
        self._lifetimes.destroy_expired(now())
        self._lifetimes.sweep_orphans(minimum_age=0)
        if waiting := self._queue.count_waiting():
            _log.warning("requeued %d jobs of an earlier process", waiting)
        self._wake_idle()
        self._sweeper.start()

    def wake(self, work: WorkClass) -> None:  # noqa: ARG002 (a thread takes any job)
        self._threads.wake_one()

    def close(self) -> None:
        self._threads.close()
        self._sweeper.close()
        self._runner.close()

    def _wake_idle(self) -> None:
        """Start the jobs that may start. A slot also becomes free when a long job moves to a heavier class."""
        if self._patience.update_waits() and (idle := self._threads.count_idle()):
            for _ in self._queue.startable_classes()[:idle]:
                self._threads.wake_one()
