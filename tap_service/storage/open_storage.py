"""Open the engine and the stores that the settings name.

Only these are imported: a command starts faster without the clients of Redis, ClickHouse servers and object stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tap_service.config import Config
from tap_service.storage.engine.engine import Engine
from tap_service.storage.history_store import HistoryStore
from tap_service.storage.jobs.job_store import JobStore
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tap_service.storage.results.local_result_store import LocalResultStore
from tap_service.storage.results.result_store import ResultStore
from tap_service.storage.share_store import ShareStore
from tap_service.storage.usage.sqlite_usage_store import SqliteUsageStore
from tap_service.storage.usage.usage_store import UsageStore
from tap_service.storage.watch_store import WatchStore


@dataclass(frozen=True, slots=True)
class JobStores:
    """The records of jobs and of shares, and the results of both. The opener closes them by ``close``."""

    jobs: JobStore
    results: ResultStore
    shares: ShareStore

    def close(self) -> None:
        self.jobs.close()
        self.shares.close()


def open_remote_engine(config: Config, *, is_required: bool = True) -> Engine:
    """Connect to the ClickHouse servers of the settings.

    Parameters
    ----------
    config : Config
        ``clickhouse_url`` names one server or several.
    is_required : bool
        Whether a server must answer now.

    Returns
    -------
    Engine
        One engine for all servers, which the caller closes.

    Raises
    ------
    EngineUnavailable
        No server answers, or they refuse the user.
    """

    from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
    from tap_service.storage.engine.clickhouse_servers import ClickHouseServers

    def connect(url: str) -> ClickHouseEngine:
        return ClickHouseEngine(
            url,
            config.clickhouse_user,
            config.clickhouse_password.get_secret_value(),
            silence_seconds=config.clickhouse_silence,
            ca=config.clickhouse_ca,
        )

    return ClickHouseServers(config.clickhouse_urls, connect, is_required=is_required)


def open_job_stores(config: Config) -> JobStores:
    """Open the stores of jobs, of shares and of their results.

    Redis need not answer yet: until it does, methods of its stores raise ``JobStoreUnavailable`` or
    ``ShareStoreUnavailable``.

    Raises
    ------
    JobStoreUnavailable, ShareStoreUnavailable, OSError
        A directory or the result store cannot be used.
    ValueError
        The settings name neither Redis nor a directory for jobs.
    """
    jobs: JobStore
    if config.redis_url:
        from tap_service.storage.jobs.redis_job_store import RedisJobStore

        jobs = RedisJobStore(config.redis_url)
    elif config.jobs_path is not None:
        jobs = SqliteJobStore(config.jobs_path)
    else:
        raise ValueError("no directory for jobs is set: give SKYHOUSE_JOBS_PATH")
    results = open_result_store(find_results_address(config))
    return JobStores(jobs, results, ShareStore.open(config.redis_url, config.jobs_path))


def open_watch_store(config: Config) -> WatchStore:
    """Open the store of watches. Redis need not answer yet.

    Raises
    ------
    WatchStoreUnavailable
        The directory for jobs cannot be used.
    ValueError
        The settings name neither Redis nor a directory for jobs.
    """
    return WatchStore.open(config.redis_url, config.jobs_path)


def find_results_address(config: Config) -> str:
    """Return the address of the result store.

    Parameters
    ----------
    config : Config
        ``results_url``, or else ``jobs_path``, decides.

    Returns
    -------
    str
        A path, or a URL for fsspec; '' if the settings name neither an address nor a directory for jobs.
    """
    return config.results_url or (str(config.jobs_path / "results") if config.jobs_path else "")


def find_results_folder(address: str) -> Path | None:
    """Return the local folder of a result store.

    Parameters
    ----------
    address : str
        What ``find_results_address`` returns.

    Returns
    -------
    Path | None
        The folder, which may not exist yet; None for an object store or ''.
    """
    is_remote = "://" in address and not address.startswith("file://")
    return None if is_remote or not address else Path(address.removeprefix("file://"))


def open_usage_store(config: Config) -> UsageStore | None:
    """Open the store of usage statistics. Redis need not answer yet.

    Parameters
    ----------
    config : Config
        ``redis_url``, or else ``usage``, the path of a file, decides.

    Returns
    -------
    UsageStore | None
        The store, which the caller closes; None if the settings name neither Redis nor a file.

    Raises
    ------
    UsageUnavailable
        The file cannot be used.
    """
    if config.redis_url:
        from tap_service.storage.usage.redis_usage_store import RedisUsageStore

        return RedisUsageStore(config.redis_url)
    return SqliteUsageStore(config.usage) if config.usage else None


def open_history_store(config: Config) -> HistoryStore | None:
    """Open the history of queries. Redis need not answer yet.

    Parameters
    ----------
    config : Config
        The settings.

    Returns
    -------
    HistoryStore | None
        The store, which the caller closes; None if the settings switch the history off, or name neither Redis nor a
        directory for jobs.

    Raises
    ------
    HistoryUnavailable
        The file cannot be used.
    """
    if not config.history_queries or not (config.redis_url or config.jobs_path):
        return None
    return HistoryStore.open(config.redis_url, config.jobs_path, config.history_days * 86_400)


def open_result_store(address: str) -> ResultStore:
    """Open a result store.

    Parameters
    ----------
    address : str
        A directory, or a URL for fsspec, such as s3://bucket/results; see ``find_results_address``.

    Returns
    -------
    ResultStore
        The store, which need not be closed.

    Raises
    ------
    OSError
        The store is unreachable.
    """
    if folder := find_results_folder(address):
        return LocalResultStore(folder)
    from tap_service.storage.results.fsspec_result_store import FsspecResultStore

    return FsspecResultStore(address)
