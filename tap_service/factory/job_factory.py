"""Builds the objects that queue, execute and end jobs."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from tap_service.config import Config
from tap_service.factory.query_services import QueryServices
from tap_service.models.work_class import WorkClass
from tap_service.services.jobs.dispatcher import Dispatcher
from tap_service.services.jobs.embedded_dispatcher import EmbeddedDispatcher
from tap_service.services.jobs.engine_patience import EnginePatience
from tap_service.services.jobs.job_disk import JobDisk, MeteredResults
from tap_service.services.jobs.job_endings import JobEndings
from tap_service.services.jobs.job_intake import JobIntake
from tap_service.services.jobs.job_lifetimes import JobLifetimes
from tap_service.services.jobs.job_monitor import JobMonitor
from tap_service.services.jobs.job_queue import JobQueue, QueueRules
from tap_service.services.jobs.job_runner import JobRunner
from tap_service.services.jobs.piecewise_jobs import PiecewiseJobs
from tap_service.services.jobs.query_jobs import QueryJobs
from tap_service.services.jobs.table_change_jobs import TableChangeJobs
from tap_service.services.jobs.watch_jobs import WatchJobs
from tap_service.storage.open_storage import JobStores

if TYPE_CHECKING:
    from tap_service.services.jobs.celery_dispatcher import CeleryDispatcher


def build_job_queue(config: Config, stores: JobStores) -> JobQueue:
    """Build the queue over the job store."""
    return JobQueue(stores.jobs, QueueRules.from_config(config))


def build_job_runner(
    queries: QueryServices,
    stores: JobStores,
    queue: JobQueue,
    worker: str,
    work_classes: Collection[WorkClass] = tuple(WorkClass),
) -> JobRunner:
    """Build the runner of jobs of this process.

    Parameters
    ----------
    queries : QueryServices
        The services that prepare queries.
    stores : JobStores
        The stores of jobs and results.
    queue : JobQueue
        The queue from which the runner takes jobs.
    worker : str
        The name of this process in the job store.
    work_classes : Collection[WorkClass]
        The classes of the jobs that it takes.
    """
    config, engine, preparation = queries.config, queries.engine, queries.preparation
    stores = replace(stores, results=MeteredResults(stores.results, JobDisk(config, stores)))
    monitor = JobMonitor(config, engine, stores.jobs)
    pieces = PiecewiseJobs(config, engine, preparation, stores)
    patience = EnginePatience(config, engine, stores.jobs)
    watches = WatchJobs(config, engine, stores.results, queries.user_tables)
    return JobRunner(
        JobIntake(queue, patience, queries.announcements, worker, work_classes),
        QueryJobs(config, engine, preparation, stores, queue, monitor, pieces, watches),
        TableChangeJobs(config, engine, stores, queries.user_tables, preparation, monitor),
        monitor,
        JobEndings(stores, pieces, patience, queries.recorder, queries.clients),
    )


def build_celery_dispatcher(config: Config) -> CeleryDispatcher:
    """Build the dispatcher that hands jobs to Celery workers.

    Parameters
    ----------
    config : Config
        ``redis_url`` is the broker; it need not answer yet.
    """
    from tap_service.services.jobs.celery_dispatcher import CeleryDispatcher, build_celery_app  # only on a cluster

    return CeleryDispatcher(build_celery_app(config.redis_url, config.async_hard_seconds))


def build_dispatcher(queries: QueryServices, stores: JobStores, queue: JobQueue, lifetimes: JobLifetimes) -> Dispatcher:
    """Build the dispatcher: to Celery if the settings name a Redis, otherwise to threads of this process."""
    config = queries.config
    if config.redis_url:
        return build_celery_dispatcher(config)
    runner = build_job_runner(queries, stores, queue, worker=f"pid {os.getpid()}")
    queries.metrics.jobs.set_function(lambda: runner.n_running)
    patience = EnginePatience(config, queries.engine, stores.jobs)
    return EmbeddedDispatcher(queue, QueueRules.from_config(config).count_executors(), runner, lifetimes, patience)
