"""Jobs done by Celery's workers, which have a caretaker: the service only tells of them."""

from __future__ import annotations

from tap_service.config import Config
from tap_service.services.jobs.celery_dispatcher import CeleryDispatcher, celery_app


class ClusterJobs:
    def __init__(self, config: Config) -> None:
        self.dispatcher = CeleryDispatcher(celery_app(config.redis_url, config.async_hard_seconds))

    def start(self) -> None:
        """The caretaker takes up what is left over."""

    def close(self) -> None:
        self.dispatcher.close()
