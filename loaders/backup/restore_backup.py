"""Restores the tables, users, jobs and results of a backup."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from clickhouse_schema.servers import Servers
from loaders.backup.backup_manifest import BackupFile, Manifest
from loaders.backup.backup_part import Part
from loaders.backup.backup_target import BackupTarget
from loaders.backup.create_backup import list_locations_sql, list_site_files
from loaders.backup.engine_backup import restore_tables
from loaders.backup.job_backup import iterate_jobs, restore_results
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.config import Config
from tap_service.models.uws_job import ExecutionPhase, JobFilter
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import JobStore
from tap_service.storage.jobs.redis_job_store import RedisJobStore
from tap_service.storage.jobs.sqlite_job_store import JOBS_FILE, SqliteJobStore
from tap_service.storage.open_storage import find_results_address, open_result_store
from tap_service.storage.share_store import SHARES_FILE, ShareStore
from tap_service.storage.watch_store import WATCHES_FILE, WatchStore


def restore_engine(engine: Engine, target: BackupTarget, manifest: Manifest, reporter: Reporter) -> None:
    """Restore the tables of a backup into an engine without tables.

    Parameters
    ----------
    engine : Engine
        The engine, whose cluster must be set up like the cluster of the backup.
    target : BackupTarget
        The location of the backup.
    manifest : Manifest
        The contents of the backup.
    reporter : Reporter
        Receives messages.

    Raises
    ------
    LoadError
        The backup does not fit the engine, or tables exist.
    EngineError
        The engine failed.
    """
    servers = Servers(engine)
    topology = servers.topology
    if (topology.shards, topology.is_replicated) != (manifest.shards, manifest.is_replicated):
        raise LoadError(
            f"the backup {manifest.name} was made on {_describe_servers(manifest.shards, manifest.is_replicated)}, and"
            f" this is {_describe_servers(topology.shards, topology.is_replicated)}: restore it on servers that are"
            " set up in the same way; shards can be moved afterwards (skyhouse shards move)"
        )
    bases = list_locations_sql(target, target.find_backup(manifest.base)) if manifest.base else []
    restore_tables(servers, manifest.databases, list_locations_sql(target, manifest), bases, reporter)


def restore_users(config: Config, target: BackupTarget, manifest: Manifest) -> None:
    """Restore the files of the part ``users``; files that the backup lacks are left out.

    Parameters
    ----------
    config : Config
        The settings of the service, which name the files.
    target : BackupTarget
        The location of the backup.
    manifest : Manifest
        The contents of the backup.

    Raises
    ------
    LoadError
        One of the files exists, or is damaged in the backup. Files before it have been restored.
    """
    for name, path in list_site_files(config).items():
        file = _find_file(manifest, name)
        if file is None:
            continue
        if path.exists():
            raise LoadError(f"{path} exists already: move it away first")
        target.download_file(file, manifest.name, path)


def restore_jobs(config: Config, target: BackupTarget, manifest: Manifest, parts: frozenset[Part]) -> None:
    """Restore jobs, shares and watches. Jobs that were EXECUTING start again when a service or a worker starts.

    Parameters
    ----------
    config : Config
        The settings of the service.
    target : BackupTarget
        The location of the backup.
    manifest : Manifest
        The contents of the backup.
    parts : frozenset of Part
        Whether results are restored too.

    Raises
    ------
    LoadError
        There are jobs already.
    """
    file = _find_file(manifest, JOBS_FILE)
    if file is None:
        return
    if config.jobs_path is not None:
        config.jobs_path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if Part.RESULTS in parts and manifest.results:
        restore_results(manifest.results, open_result_store(find_results_address(config)), target)
    if config.redis_url:
        with tempfile.TemporaryDirectory(prefix="skyhouse-restore-") as scratch:
            target.download_file(file, manifest.name, Path(scratch) / JOBS_FILE)
            source, to = SqliteJobStore(Path(scratch)), RedisJobStore(config.redis_url)
            try:
                _refuse_jobs(to)
                for job in iterate_jobs(source):
                    to.create_job(job)
            finally:
                source.close()
                to.close()
    elif config.jobs_path is not None:
        if (config.jobs_path / JOBS_FILE).exists():
            raise LoadError(f"there are jobs already: move {config.jobs_path} away first")
        target.download_file(file, manifest.name, config.jobs_path / JOBS_FILE)
    _restore_next_to_jobs(config, target, manifest, SHARES_FILE, _copy_shares)
    _restore_next_to_jobs(config, target, manifest, WATCHES_FILE, _copy_watches)


def _restore_next_to_jobs(
    config: Config, target: BackupTarget, manifest: Manifest, name: str, copy: Callable[[Path, str], None]
) -> None:
    """Restore a file next to the file of the jobs; backups of earlier versions may lack it.

    ``copy`` takes a folder with the file, and the address of the Redis that has the jobs.
    """
    file = _find_file(manifest, name)
    if file is None:
        return
    if config.redis_url:
        with tempfile.TemporaryDirectory(prefix="skyhouse-restore-") as scratch:
            target.download_file(file, manifest.name, Path(scratch) / name)
            copy(Path(scratch), config.redis_url)
    elif config.jobs_path is not None:
        target.download_file(file, manifest.name, config.jobs_path / name)


def _copy_shares(folder: Path, redis_url: str) -> None:
    with closing(ShareStore.open("", folder)) as source, closing(ShareStore.open(redis_url, None)) as to:
        for share in source.list_shares():
            to.write_share(share)


def _copy_watches(folder: Path, redis_url: str) -> None:
    with closing(WatchStore.open("", folder)) as source, closing(WatchStore.open(redis_url, None)) as to:
        for watch in source.list_watches():
            to.add_watch(watch)


def _refuse_jobs(store: JobStore) -> None:
    if next(store.list_references(JobFilter(None, frozenset(ExecutionPhase), last=1)), None) is not None:
        raise LoadError(
            "the Redis server has jobs already: name an empty one, or another database of it, in the settings"
        )


def _find_file(manifest: Manifest, name: str) -> BackupFile | None:
    return next((file for file in manifest.files if file.name == name), None)


def _describe_servers(shards: int, is_replicated: bool) -> str:
    if not shards:
        return "one server"
    return f"a cluster of {shards} shards" + (" with replicas" if is_replicated else "")
