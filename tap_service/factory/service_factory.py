"""Builds every object of the service once: for the application, for workers, for tests."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

from tap_service.config import Config
from tap_service.prometheus_metrics import Metrics
from tap_service.services.catalogue.catalogue_cache import Metadata
from tap_service.services.jobs.cluster_jobs import ClusterJobs
from tap_service.services.jobs.embedded_jobs import EmbeddedJobs
from tap_service.services.jobs.job_lifetimes import Lifetimes
from tap_service.services.jobs.job_queues import JobQueue, Rules
from tap_service.services.jobs.job_requests import JobService
from tap_service.services.jobs.job_runner import JobRunner
from tap_service.services.queries.cost_estimate import Estimator
from tap_service.services.queries.query_log import QueryLog
from tap_service.services.queries.query_preparation import Preparation
from tap_service.services.queries.result_spool import SpoolStore
from tap_service.services.queries.sync_query import QueryService
from tap_service.services.site.authentication import Identities, read_issuers
from tap_service.services.site.service_availability import AvailabilityService
from tap_service.services.uploads.query_uploads import Uploads
from tap_service.services.uploads.table_files import TableFiles
from tap_service.services.user_tables.user_table_expiry import UserTableCare
from tap_service.services.user_tables.user_table_jobs import TableJobs
from tap_service.services.user_tables.user_table_requests import UserTables
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.engine import Engine
from tap_service.storage.results.scratch_files import Budget, ScratchSpace
from tap_service.storage.store_choice import JobStores, open_job_stores


@dataclass(frozen=True, slots=True)
class Services:
    config: Config
    engine: Engine
    metrics: Metrics
    metadata: Metadata
    spools: SpoolStore
    #: for the files of requests
    incoming: ScratchSpace
    log: QueryLog
    preparation: Preparation
    queries: QueryService
    availability: AvailabilityService
    identities: Identities
    jobs: JobService
    stores: JobStores
    deployment: EmbeddedJobs | ClusterJobs
    table_files: TableFiles
    user_tables: UserTables

    def start(self) -> None:
        self.metadata.start()
        self.table_files.start()
        self.deployment.start()

    async def close(self) -> None:
        """The engine is its owner's to close."""
        await self.queries.close()
        await asyncio.to_thread(self.deployment.close)
        self.table_files.close()
        self.stores.jobs.close()
        self.metadata.close()
        self.user_tables.close()
        self.availability.close()
        self.identities.close()
        self.spools.close()
        self.log.close()


def build(config: Config, engine: Engine) -> Services:
    """``engine`` has been initialised by ``clickhouse_schema.engine_tables.catalogue_log``.

    Raises EngineError if it does not answer, AccountError and IssuersError where the files of users and token
    issuers cannot be used, JobStoreUnavailable and OSError where the directory for jobs cannot be used.
    """
    accounts = Accounts(config.accounts) if config.accounts else None
    issuers = read_issuers(config.token_issuers) if config.token_issuers else ()
    metrics = Metrics()
    metadata = Metadata(engine, is_sole=not config.clickhouse_url)
    spools = SpoolStore(config.spool_memory, config.spool_disk, config.spool_path)
    log = QueryLog(config.query_log, metrics)
    stores = open_job_stores(config)
    table_files = TableFiles(config, at_once=True)
    preparation = Preparation(
        config, engine, metadata, Estimator(engine, stores.jobs), Uploads(config, engine, table_files)
    )
    rules = Rules.of(config)
    queue = JobQueue(stores.jobs, rules)
    lifetimes = Lifetimes(engine, stores.jobs, stores.results, UserTableCare(config, engine))
    tables = UserTables(config, engine, metadata, table_files)
    deployment: EmbeddedJobs | ClusterJobs
    if config.redis_url:
        deployment = ClusterJobs(config)
    else:
        worker = f"pid {os.getpid()}"
        table_jobs = TableJobs(config, engine, stores, tables, preparation)
        runner = JobRunner(config, engine, preparation, table_jobs, stores, queue, metrics, log, worker)
        metrics.jobs.set_function(lambda: runner.running)
        deployment = EmbeddedJobs(queue, rules.at_once(), runner, lifetimes)
    metrics.spool.labels("memory").set_function(lambda: spools.memory.used)
    metrics.spool.labels("disk").set_function(lambda: spools.disk.used)
    return Services(
        config=config,
        engine=engine,
        metrics=metrics,
        metadata=metadata,
        spools=spools,
        incoming=ScratchSpace(config.spool_path, Budget(config.spool_disk)),
        log=log,
        preparation=preparation,
        queries=QueryService(config, preparation, spools, metrics, log),
        availability=AvailabilityService(engine, spools, stores.jobs, stores.results),
        identities=Identities(accounts, issuers, anonymous=config.anonymous),
        jobs=JobService(config, stores, queue, preparation, deployment.dispatcher, lifetimes),
        stores=stores,
        deployment=deployment,
        table_files=table_files,
        user_tables=tables,
    )
