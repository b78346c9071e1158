"""Where jobs and their results are kept, by the settings."""

from __future__ import annotations

from dataclasses import dataclass

from tap_service.config import Config
from tap_service.storage.jobs.job_store import JobStore
from tap_service.storage.jobs.redis_job_store import RedisJobStore
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tap_service.storage.results.result_store import ResultStore
from tap_service.storage.results.result_store_choice import result_store


@dataclass(frozen=True, slots=True)
class JobStores:
    jobs: JobStore
    results: ResultStore


def open_job_stores(config: Config) -> JobStores:
    """Raises JobStoreUnavailable or OSError if a directory or the store for results cannot be used.

    Redis may be out of reach now, and come later.
    """
    if config.redis_url:
        return JobStores(RedisJobStore(config.redis_url), result_store(config.results_url))
    if config.jobs_path is None:
        raise ValueError("no directory for jobs is set: give SKYHOUSE_JOBS_PATH")
    jobs = SqliteJobStore(config.jobs_path)
    return JobStores(jobs, result_store(config.results_url or str(config.jobs_path / "results")))
