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

from tap_service.config import Config
from tap_service.constants import ORPHAN_AGE_SECONDS, SWEEP_SECONDS
from tap_service.models.instants import later, now
from tap_service.services.celery_dispatch import QUEUE
from tap_service.services.cluster_jobs import ClusterJobs
from tap_service.storage.engine import EngineError
from tap_service.storage.engines import remote_engine
from tap_service.storage.jobs import JobStoreUnavailable

_log = logging.getLogger("skyhouse")


class Caretaker:
    def __init__(self, jobs: ClusterJobs, broker: redis.Redis, worker_silence: float) -> None:
        self._jobs = jobs
        self._worker_silence = worker_silence
        self._broker = broker
        self._reached = time.monotonic()
        self._swept = time.monotonic()

    def look(self) -> None:
        """One round. What fails is tried again in the next one."""
        try:
            self._recover()
            self._jobs.lifetimes.expire(now())
            if time.monotonic() - self._swept >= ORPHAN_AGE_SECONDS:
                self._swept = time.monotonic()
                self._jobs.lifetimes.sweep()
        except (JobStoreUnavailable, redis.RedisError) as error:
            _log.warning("jobs cannot be looked after now: %s", error)
            self._reached = time.monotonic()
        except OSError as error:
            _log.warning("results cannot be looked after now: %s", error)

    def _recover(self) -> None:
        """Send on what a dead worker has left, and all that is QUEUED if the workers have not been told of anything.

        After Redis was away, the workers first get the time to be heard again.
        """
        store, since = self._jobs.store, later(now(), -self._worker_silence)
        dead = {job.job_id for job in store.silent(since)}
        if time.monotonic() - self._reached < self._worker_silence:
            dead, queued = set(), store.queued()
        else:
            queued = self._jobs.lifetimes.recover(since)
        untold = not self._broker.llen(QUEUE)
        for job_id in queued:
            if untold or job_id in dead:
                self._jobs.dispatcher.submit(job_id)


def main(parent: int) -> None:
    """Until the process of this id, which has started this one, is gone."""
    config = Config.model_validate({})
    broker = redis.Redis.from_url(config.redis_url, socket_timeout=5, socket_connect_timeout=5)
    caretaker = None
    while os.getppid() == parent:
        try:
            caretaker = caretaker or Caretaker(
                ClusterJobs(config, remote_engine(config)), broker, config.worker_silence
            )
            caretaker.look()
        except (EngineError, OSError) as error:
            _log.warning("the caretaker cannot begin yet: %s", error)
        time.sleep(SWEEP_SECONDS)


if __name__ == "__main__":
    main(int(sys.argv[1]))
