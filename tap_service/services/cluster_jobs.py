"""The jobs of a cluster: records in Redis, results in a store that all share, work done by Celery's workers."""

from __future__ import annotations

from tap_service.config import Config
from tap_service.services.celery_dispatch import CeleryDispatcher, celery_app
from tap_service.services.jobs import JobService
from tap_service.services.lifetimes import Lifetimes
from tap_service.storage.engine import Engine
from tap_service.storage.redis_jobs import RedisJobStore
from tap_service.storage.result_stores import result_store


class ClusterJobs:
    """What the service has of it: it takes jobs on and tells of them."""

    def __init__(self, config: Config, engine: Engine) -> None:
        """Raises OSError if the store for results cannot be used. Redis may come later."""
        self.store = RedisJobStore(config.redis_url)
        self.results = result_store(config.results_url)
        self.lifetimes = Lifetimes(engine, self.store, self.results)
        self.dispatcher = CeleryDispatcher(celery_app(config.redis_url, config.async_hard_seconds))
        self.service = JobService(config, self.store, self.results, self.dispatcher, self.lifetimes)

    def start(self) -> None:
        """The workers have a caretaker, who takes up what is left over."""

    def close(self) -> None:
        self.dispatcher.close()
        self.store.close()
