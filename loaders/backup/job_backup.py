"""Copies of jobs, shares and watches in a backup, and of their results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from loaders.backup.backup_manifest import BackupFile
from loaders.backup.backup_target import BackupTarget
from loaders.progress_reporter import Reporter
from tap_service.config import Config
from tap_service.models.share import Share
from tap_service.models.uws_job import ExecutionPhase, Job, JobFilter
from tap_service.storage.jobs.job_store import JobStore, NoSuchJob
from tap_service.storage.jobs.redis_job_store import RedisJobStore
from tap_service.storage.jobs.sqlite_job_store import JOBS_FILE, SqliteJobStore
from tap_service.storage.results.result_store import ResultMissing, ResultStore
from tap_service.storage.share_store import SHARES_FILE, ShareStore
from tap_service.storage.sqlite_versions import copy_database
from tap_service.storage.watch_store import WATCHES_FILE, WatchStore


def copy_jobs(config: Config, folder: Path) -> SqliteJobStore:
    """Copy all jobs into a new store in ``folder``, while the service changes them; the caller closes the store."""
    folder.mkdir(mode=0o700)
    if not config.redis_url:
        _copy_file(config, JOBS_FILE, folder)
        return SqliteJobStore(folder)
    copy = SqliteJobStore(folder)
    with closing(RedisJobStore(config.redis_url)) as source:
        for job in iterate_jobs(source):
            copy.create_job(job)
    return copy


def copy_shares(config: Config, folder: Path) -> ShareStore:
    """Copy all shares into a new store in ``folder``; the caller closes the store."""
    if not config.redis_url:
        _copy_file(config, SHARES_FILE, folder)
        return ShareStore.open("", folder)
    copy = ShareStore.open("", folder)
    with closing(ShareStore.open(config.redis_url, None)) as source:
        for share in source.list_shares():
            copy.write_share(share)
    return copy


def copy_watches(config: Config, folder: Path) -> None:
    """Copy all watches into a new store in ``folder``."""
    if not config.redis_url:
        _copy_file(config, WATCHES_FILE, folder)
    with closing(WatchStore.open("", folder)) as copy:
        if config.redis_url:
            with closing(WatchStore.open(config.redis_url, None)) as source:
                for watch in source.list_watches():
                    copy.add_watch(watch)


def _copy_file(config: Config, name: str, folder: Path) -> None:
    if config.jobs_path is not None and (config.jobs_path / name).exists():
        copy_database(config.jobs_path / name, folder / name)


def iterate_jobs(store: JobStore) -> Iterator[Job]:
    """Iterate over all jobs, oldest first."""
    found = [each.job_id for each in store.list_references(JobFilter(None, frozenset(ExecutionPhase)))]
    for job_id in reversed(found):
        try:
            yield store.get_job(job_id)
        except NoSuchJob:  # deleted meanwhile
            continue


def back_up_results(
    jobs: JobStore,
    shares: ShareStore,
    results: ResultStore,
    target: BackupTarget,
    known: dict[str, BackupFile],
    reporter: Reporter,
) -> tuple[BackupFile, ...]:
    """Copy the results of jobs and shares from the result store.

    Parameters
    ----------
    jobs : JobStore
        The copied jobs.
    shares : ShareStore
        The copied shares.
    results : ResultStore
        The result store.
    target : BackupTarget
        The location of the backup.
    known : dict of str to BackupFile
        The results that other backups have, by key; these are not copied again.
    reporter : Reporter
        May stop the copying.

    Returns
    -------
    tuple of BackupFile
        All results that belong to the backup.
    """
    found = []
    of_jobs = (keys for job in iterate_jobs(jobs) for keys in _list_keys(job))
    of_shares = (keys for share in shares.list_shares() for keys in _list_share_keys(share))
    for key, size in chain(of_jobs, of_shares):
        reporter.check()
        if key in known:
            found.append(known[key])
            continue
        try:
            found.append(target.upload_result(key, results.read_result(key, 0, size)))
        except ResultMissing:  # deleted meanwhile, or there was no preview
            continue
    return tuple(found)


def restore_results(files: tuple[BackupFile, ...], results: ResultStore, target: BackupTarget) -> None:
    """Restore results into an empty store. Raises ``LoadError`` or OSError."""
    for file in files:
        writer = results.create_result(file.name)
        try:
            for piece in target.read_result(file):
                writer.write(piece)
            writer.commit()
        finally:
            writer.discard()


#: Previews are small; their sizes are not recorded.
_MAX_PREVIEW_BYTES = 1 << 30


def _list_keys(job: Job) -> Iterator[tuple[str, int]]:
    """Iterate over the keys of a job in the result store, each with the maximum number of bytes to read."""
    if job.result is not None:
        yield job.result.key, job.result.size
        yield job.preview_key, _MAX_PREVIEW_BYTES
    for part in job.part_keys:
        yield part, 1 << 62
    for file in job.files:
        yield file.key, file.size


def _list_share_keys(share: Share) -> Iterator[tuple[str, int]]:
    for stored in (share.result, *share.files):
        if stored is not None:
            yield stored.key, stored.size
