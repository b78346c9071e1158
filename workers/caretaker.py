"""The caretaker of a cluster's jobs: it ends expired jobs, requeues jobs of dead workers, and deletes orphaned results.

Each ``skyhouse-worker`` starts a caretaker as a separate process. Several caretakers do no harm, because each change is
a compare-and-set. A caretaker ends when the process that started it is gone.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import redis
from prometheus_client import CollectorRegistry, start_wsgi_server

from tap_service.config import Config, read_config
from tap_service.constants import ORPHAN_AGE_SECONDS, SWEEP_SECONDS
from tap_service.factory.job_factory import build_celery_dispatcher, build_job_queue
from tap_service.factory.lifetime_factory import build_job_lifetimes
from tap_service.models.timestamps import add_seconds, now
from tap_service.services.jobs.celery_dispatcher import celery_queue_name
from tap_service.services.jobs.engine_patience import EnginePatience
from tap_service.shared_metrics import SharedMetrics
from tap_service.storage.engine.engine import EngineError
from tap_service.storage.jobs.job_store import JobStoreUnavailable
from tap_service.storage.jobs.redis_persistence import find_loss_risks
from tap_service.storage.open_storage import open_job_stores, open_remote_engine
from tap_service.unused_libraries import leave_out_unused_libraries

_log = logging.getLogger("skyhouse")


class Caretaker:
    """The rounds of a caretaker.

    Raises
    ------
    OSError
        The result store cannot be used.
    """

    def __init__(self, config: Config) -> None:
        stores = open_job_stores(config)
        self._worker_silence = config.worker_silence
        self._broker = redis.Redis.from_url(config.redis_url, socket_timeout=5, socket_connect_timeout=5)
        self._queue = build_job_queue(config, stores)
        engine = open_remote_engine(config, is_required=False)
        self._lifetimes = build_job_lifetimes(config, engine, stores)
        self._patience = EnginePatience(config, engine, stores.jobs)
        self._dispatcher = build_celery_dispatcher(config)
        self._redis_reachable_since = time.monotonic()
        self._last_sweep = time.monotonic()
        self._is_persistence_checked = False

    def run_round(self) -> None:
        """Run all duties once. The next round retries what failed."""
        try:
            self._check_persistence_once()
            self._recover_jobs()
            self._lifetimes.destroy_expired(now())
            self._stop_stray_queries()
            if time.monotonic() - self._last_sweep >= ORPHAN_AGE_SECONDS:
                self._last_sweep = time.monotonic()
                self._lifetimes.sweep_orphans()
        except (JobStoreUnavailable, redis.RedisError) as error:
            _log.warning("the caretaker cannot reach the job store: %s", error)
            self._redis_reachable_since = time.monotonic()
        except OSError as error:
            _log.warning("the caretaker cannot reach the result store: %s", error)

    def _check_persistence_once(self) -> None:
        if not self._is_persistence_checked:
            for reason in find_loss_risks(self._broker):
                _log.warning("the Redis of the jobs may lose jobs: %s", reason)
            self._is_persistence_checked = True

    def _stop_stray_queries(self) -> None:
        try:
            self._lifetimes.stop_stray_queries()
        except EngineError as error:
            _log.warning("the caretaker cannot reach the engine: %s", error.detail)

    def _recover_jobs(self) -> None:
        """Requeue the jobs of dead workers, and send tasks for classes that have startable jobs but no task.

        After an outage of Redis, workers first get the time to send a heartbeat. While the engine is unreachable, jobs
        wait and workers are not woken.
        """
        if time.monotonic() - self._redis_reachable_since >= self._worker_silence:
            self._lifetimes.recover_jobs(add_seconds(now(), -self._worker_silence))
        if not self._patience.update_waits():
            return
        startable = self._queue.startable_classes()
        without_task = {work for work in startable if not self._broker.llen(celery_queue_name(work))}
        for work in startable:
            if work in without_task:
                self._dispatcher.wake(work)


class WorkerMetrics:
    """Answers GET /metrics for the workers that share a folder.

    Parameters
    ----------
    address : str
        The address to listen on; '' for none.
    folder : Path
        Where the workers share their metrics.
    """

    def __init__(self, address: str, folder: Path) -> None:
        self._address = urlsplit(f"//{address}")
        self._registry = CollectorRegistry()
        self._registry.register(SharedMetrics(folder))
        self._is_served = not address
        self._has_failed = False

    def serve(self) -> None:
        """Start to listen, unless it does so already. The next call retries."""
        if self._is_served:
            return
        try:
            start_wsgi_server(self._address.port or 0, self._address.hostname or "", self._registry)
            self._is_served = True
        except OSError as error:
            if not self._has_failed:
                _log.error(
                    "the metrics of the workers cannot be served at %s: %s; each skyhouse-worker on a machine "
                    "needs a separate address in SKYHOUSE_WORKER_METRICS",
                    self._address.netloc,
                    error.strerror or error,
                )
            self._has_failed = True


def main(parent: int, metrics_folder: Path) -> None:
    """Run until the process ``parent``, which started this one, is gone."""
    config = read_config()
    metrics = WorkerMetrics(config.worker_metrics, metrics_folder)
    caretaker = None
    while os.getppid() == parent:
        metrics.serve()
        try:
            caretaker = caretaker or Caretaker(config)
            caretaker.run_round()
        except (EngineError, OSError) as error:
            _log.warning("the caretaker cannot start yet: %s", error)
        time.sleep(SWEEP_SECONDS)


if __name__ == "__main__":
    leave_out_unused_libraries()
    main(int(sys.argv[1]), Path(sys.argv[2]))
