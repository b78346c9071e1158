"""The caretaker of a cluster's jobs: ends of life, orphans, and jobs whose worker has died.

A process of its own, started by each ``skyhouse-worker``; any number of them do no harm, for each change is a
compare-and-set. It ends when the process that started it is gone.
"""

from __future__ import annotations

import logging
import os
import sys
import time

import redis

from tap_service.config import Config, read_config
from tap_service.constants import ORPHAN_AGE_SECONDS, SWEEP_SECONDS
from tap_service.models.timestamps import later, now
from tap_service.services.jobs.celery_dispatcher import queue_of
from tap_service.services.jobs.cluster_jobs import ClusterJobs
from tap_service.services.jobs.job_lifetimes import Lifetimes
from tap_service.services.jobs.job_queues import JobQueue, Rules
from tap_service.services.user_tables.user_table_expiry import UserTableCare
from tap_service.storage.engine.engine import EngineError
from tap_service.storage.engine.engine_choice import remote_engine
from tap_service.storage.jobs.job_store import JobStoreUnavailable
from tap_service.storage.jobs.redis_persistence import may_lose
from tap_service.storage.store_choice import open_job_stores

_log = logging.getLogger("skyhouse")


class Caretaker:
    """Raises EngineUnavailable, and OSError if the store for results cannot be used."""

    def __init__(self, config: Config) -> None:
        stores = open_job_stores(config)
        self._worker_silence = config.worker_silence
        self._broker = redis.Redis.from_url(config.redis_url, socket_timeout=5, socket_connect_timeout=5)
        self._queue = JobQueue(stores.jobs, Rules.of(config))
        engine = remote_engine(config)
        self._lifetimes = Lifetimes(engine, stores.jobs, stores.results, UserTableCare(config, engine))
        self._dispatcher = ClusterJobs(config).dispatcher
        self._reached = time.monotonic()
        self._swept = time.monotonic()
        self._is_known = False

    def look(self) -> None:
        """One round. What fails is tried again in the next one."""
        try:
            self._warn_once()
            self._recover()
            self._lifetimes.expire(now())
            self._end_strays()
            if time.monotonic() - self._swept >= ORPHAN_AGE_SECONDS:
                self._swept = time.monotonic()
                self._lifetimes.sweep()
        except (JobStoreUnavailable, redis.RedisError) as error:
            _log.warning("jobs cannot be looked after now: %s", error)
            self._reached = time.monotonic()
        except OSError as error:
            _log.warning("results cannot be looked after now: %s", error)

    def _warn_once(self) -> None:
        if not self._is_known:
            for why in may_lose(self._broker):
                _log.warning("the Redis of the jobs may lose them: %s", why)
            self._is_known = True

    def _end_strays(self) -> None:
        try:
            self._lifetimes.end_strays()
        except EngineError as error:
            _log.warning("the engine cannot be looked after now: %s", error)

    def _recover(self) -> None:
        """Put back what dead workers have left, and tell the others if they have not been told of anything.

        After Redis was away, the workers first get the time to be heard again.
        """
        if time.monotonic() - self._reached >= self._worker_silence:
            self._lifetimes.recover(later(now(), -self._worker_silence))
        startable = self._queue.startable()
        untold = {work for work in startable if not self._broker.llen(queue_of(work))}
        for work in startable:
            if work in untold:
                self._dispatcher.wake(work)


def main(parent: int) -> None:
    """Until the process of this id, which has started this one, is gone."""
    config = read_config()
    caretaker = None
    while os.getppid() == parent:
        try:
            caretaker = caretaker or Caretaker(config)
            caretaker.look()
        except (EngineError, OSError) as error:
            _log.warning("the caretaker cannot begin yet: %s", error)
        time.sleep(SWEEP_SECONDS)


if __name__ == "__main__":
    main(int(sys.argv[1]))
