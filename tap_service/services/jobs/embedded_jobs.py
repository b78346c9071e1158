"""Jobs done on threads of the service, which is the only process that knows them."""

from __future__ import annotations

import logging
from datetime import timedelta

from tap_service.models.timestamps import now
from tap_service.services.jobs.job_dispatcher import ThreadDispatcher
from tap_service.services.jobs.job_lifetimes import Lifetimes, Sweeper
from tap_service.services.jobs.job_queues import JobQueue
from tap_service.services.jobs.job_runner import JobRunner

_log = logging.getLogger("skyhouse")

#: no worker outlives this process, so a heartbeat in the future is a clock that was set back
_ALL = timedelta(days=36_500)


class EmbeddedJobs:
    def __init__(self, queue: JobQueue, at_once: int, runner: JobRunner, lifetimes: Lifetimes) -> None:
        self._queue = queue
        self._runner = runner
        self._lifetimes = lifetimes
        self._sweeper = Sweeper(lifetimes, self._take_up)
        self.dispatcher = ThreadDispatcher(runner.run_next, at_once)

    def start(self) -> None:
        """Take up the jobs that another process, which this one follows, has left."""
        self._runner.start()
        self._lifetimes.recover(now() + _ALL)
        self._lifetimes.expire(now())
        self._lifetimes.sweep(minimum_age=0)
        if waiting := self._queue.waiting():
            _log.warning("%d jobs of an earlier process are queued again", waiting)
        self._take_up()
        self._sweeper.start()

    def close(self) -> None:
        """What runs begins anew at the next start."""
        self.dispatcher.close()
        self._sweeper.close()
        self._runner.close()

    def _take_up(self) -> None:
        """Start what may start. A place becomes free by time too, when a job that lasts moves to a heavier class."""
        if idle := self.dispatcher.idle:
            for work in self._queue.startable()[:idle]:
                self.dispatcher.wake(work)
