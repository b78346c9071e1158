"""Builds every object of the service once: for the application, for workers, for tests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tap_service.config import Config
from tap_service.metrics import Metrics
from tap_service.services.availability import AvailabilityService
from tap_service.services.cluster_jobs import ClusterJobs
from tap_service.services.embedded_jobs import EmbeddedJobs
from tap_service.services.identity import Identities, read_issuers
from tap_service.services.jobs import JobService
from tap_service.services.metadata import Metadata
from tap_service.services.preparation import Preparation
from tap_service.services.query import QueryService
from tap_service.services.query_log import QueryLog
from tap_service.services.spool import SpoolStore
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine import Engine


@dataclass(frozen=True, slots=True)
class Services:
    config: Config
    engine: Engine
    metrics: Metrics
    metadata: Metadata
    spools: SpoolStore
    log: QueryLog
    queries: QueryService
    availability: AvailabilityService
    identities: Identities
    jobs: JobService
    deployment: EmbeddedJobs | ClusterJobs

    def start(self) -> None:
        self.metadata.start()
        self.deployment.start()

    async def close(self) -> None:
        """The engine is its owner's to close."""
        await self.queries.close()
        await asyncio.to_thread(self.deployment.close)
        self.metadata.close()
        self.availability.close()
        self.identities.close()
        self.spools.close()
        self.log.close()


def build(config: Config, engine: Engine) -> Services:
    """``engine`` has been initialised by ``clickhouse_schema.apply``. Raises EngineError if it does not answer.

    Raises AccountError and IssuersError where the files of users and token issuers cannot be used, JobStoreUnavailable
    and OSError where the directory for jobs cannot be used.
    """
    accounts = Accounts(config.accounts) if config.accounts else None
    issuers = read_issuers(config.token_issuers) if config.token_issuers else ()
    metrics = Metrics()
    metadata = Metadata(engine)
    spools = SpoolStore(config.spool_memory, config.spool_disk, config.spool_path)
    log = QueryLog(config.query_log, metrics)
    preparation = Preparation(config, engine, metadata)
    jobs: EmbeddedJobs | ClusterJobs
    jobs = ClusterJobs(config, engine) if config.redis_url else EmbeddedJobs(config, engine, preparation, metrics, log)
    metrics.spool.labels("memory").set_function(lambda: spools.memory.used)
    metrics.spool.labels("disk").set_function(lambda: spools.disk.used)
    return Services(
        config=config,
        engine=engine,
        metrics=metrics,
        metadata=metadata,
        spools=spools,
        log=log,
        queries=QueryService(config, preparation, spools, metrics, log),
        availability=AvailabilityService(engine, spools, jobs.store, jobs.results),
        identities=Identities(accounts, issuers, anonymous=config.anonymous),
        jobs=jobs.service,
        deployment=jobs,
    )
