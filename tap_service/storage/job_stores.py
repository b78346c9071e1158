"""Where jobs and their results are kept, by the settings."""

from __future__ import annotations

from dataclasses import dataclass

from tap_service.config import Config
from tap_service.storage.jobs import JobStore
from tap_service.storage.redis_jobs import RedisJobStore
from tap_service.storage.result_stores import result_store
from tap_service.storage.results import ResultStore
from tap_service.storage.sqlite_jobs import SqliteJobStore


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
