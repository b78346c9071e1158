"""``skyhouse backup``: copies everything that the service stores, while it runs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.servers import Servers
from loaders.backup.backup_manifest import BackupFile, Manifest
from loaders.backup.backup_part import Part
from loaders.backup.backup_request import BackupRequest
from loaders.backup.backup_target import BackupTarget
from loaders.backup.engine_backup import back_up_tables
from loaders.backup.job_backup import back_up_results, copy_jobs, copy_shares, copy_watches, iterate_jobs
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.config import Config
from tap_service.constants import ACCOUNTS_FILE, BLOCKED_FILE, REGISTRY_FILE, USAGE_FILE
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.history_store import HISTORY_FILE
from tap_service.storage.jobs.sqlite_job_store import JOBS_FILE
from tap_service.storage.open_storage import find_results_address, open_result_store
from tap_service.storage.share_store import SHARES_FILE
from tap_service.storage.site_state import SITE_FILE
from tap_service.storage.sqlite_versions import copy_database
from tap_service.storage.watch_store import WATCHES_FILE

#: A full backup is due if the bytes of an incremental backup exceed this fraction of the bytes of the full backup
_MAX_ADDED = 0.5


def create_backup(engine: Engine, config: Config, request: BackupRequest, reporter: Reporter) -> Manifest:
    """Create a backup. Until the last step the target has no new backup.

    Parameters
    ----------
    engine : Engine
        The engine with the tables.
    config : Config
        The settings of the service.
    request : BackupRequest
        What to copy, and where to.
    reporter : Reporter
        Receives messages.

    Returns
    -------
    Manifest
        What was written.

    Raises
    ------
    LoadError
        The backup is impossible or failed.
    EngineError
        The engine failed.
    """
    target = BackupTarget(request.target)
    with target.hold_lock():
        for name in target.delete_incomplete():
            reporter.message(f"deleted the files of the stopped backup {name}")
        earlier = target.list_backups()
        now = datetime.now(UTC)
        manifest = Manifest(
            name=now.strftime("%Y%m%dT%H%M%S.%fZ"),
            created=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            skyhouse=version("skyhouse"),
            disk=request.disk,
            parts=request.parts,
        )
        if Part.USERS in request.parts or Part.JOBS in request.parts:
            manifest = _copy_files(config, request, target, earlier, manifest, reporter)
        if Part.TABLES in request.parts:
            manifest = _copy_tables(engine, config, request, target, earlier, manifest, reporter)
        target.write_manifest(manifest)
        reporter.output(f"{manifest.name}: {describe_manifest(manifest)}")
        if request.keep:
            _delete_older(target, [*earlier, manifest], request.keep, reporter)
    return manifest


def describe_manifest(manifest: Manifest) -> str:
    """Return a line that describes the contents of a backup."""
    kind = f"adds {_format_bytes(manifest.engine_bytes)} to {manifest.base}" if manifest.base else "full"
    if not manifest.base and manifest.engines:
        kind += f", {_format_bytes(manifest.engine_bytes)}"
    contents = [f"{_count(len(manifest.tables), 'table')} ({kind})"] if Part.TABLES in manifest.parts else []
    contents += ["users"] if Part.USERS in manifest.parts else []
    contents += [_count(manifest.jobs, "job")] if Part.JOBS in manifest.parts else []
    if Part.RESULTS in manifest.parts:
        size = sum(file.bytes for file in manifest.results)
        contents.append(f"{_count(len(manifest.results), 'file')} of results, {_format_bytes(size)}")
    return ", ".join(contents)


def list_locations_sql(target: BackupTarget, manifest: Manifest) -> list[str]:
    """Return the SQL of the folders with a backup's tables, in the order of ``list_backup_servers``."""
    build_location = _location_builder(target, manifest)
    return [build_location(engine.folder) for engine in manifest.engines]


def _location_builder(target: BackupTarget, manifest: Manifest) -> Callable[[str], str]:
    if manifest.disk:
        disk = quote_string(manifest.disk)
        return lambda folder: f"Disk({disk}, {quote_string(f'{manifest.name}/{folder}')})"
    return lambda folder: target.engine_location_sql(manifest.name, folder)


def _copy_tables(
    engine: Engine,
    config: Config,
    request: BackupRequest,
    target: BackupTarget,
    earlier: Sequence[Manifest],
    manifest: Manifest,
    reporter: Reporter,
) -> Manifest:
    servers = Servers(engine)
    topology = servers.topology
    if config.clickhouse_url and target.is_local and not request.disk:
        raise LoadError(
            f"ClickHouse servers cannot write into the directory {request.target} of this machine: name a disk of the"
            " servers with --disk (docs/backup.md), or give s3://bucket/folder"
        )
    manifest = manifest.model_copy(update={"shards": topology.shards, "is_replicated": topology.is_replicated})
    base = None if request.is_full else _find_base(earlier, manifest)
    bases = list_locations_sql(target, base) if base else []
    try:
        databases, engines = back_up_tables(servers, _location_builder(target, manifest), bases, reporter)
    except EngineError as error:
        if not request.disk:
            target.require_room(error)
        raise
    for written in () if request.disk else engines:
        target.require_written(manifest.name, written.folder, written.bytes)
    # for attached tables only their catalogue entries are copied: there are no stored rows
    stored = (entry for entry in read_catalogue(engine).entries if entry.attached is None)
    tables = [entry.qualified_name for entry in stored if entry.schema.name != "TAP_SCHEMA"]
    update = {"databases": tuple(sorted(databases)), "engines": engines, "tables": tuple(tables)}
    return manifest.model_copy(update={**update, "base": base.name if base else ""})


def _find_base(earlier: Sequence[Manifest], manifest: Manifest) -> Manifest | None:
    """Return the full backup to which the next one adds; None if another full backup is due."""
    alike = [
        each
        for each in earlier
        if Part.TABLES in each.parts
        and (each.disk, each.shards, each.is_replicated) == (manifest.disk, manifest.shards, manifest.is_replicated)
    ]
    full = next((each for each in reversed(alike) if not each.base), None)
    if full is None or (alike[-1].base == full.name and alike[-1].engine_bytes > _MAX_ADDED * full.engine_bytes):
        return None
    return full


def _copy_files(
    config: Config,
    request: BackupRequest,
    target: BackupTarget,
    earlier: Sequence[Manifest],
    manifest: Manifest,
    reporter: Reporter,
) -> Manifest:
    """Copy users, jobs and results. Jobs are copied before the tables, so that no user table of a job is lost."""
    files: list[BackupFile] = []
    results: tuple[BackupFile, ...] = ()
    jobs = 0
    with tempfile.TemporaryDirectory(prefix="skyhouse-backup-") as scratch:
        if Part.USERS in request.parts:
            for name, path in list_site_files(config).items():
                if path.exists():
                    copy = Path(scratch) / name
                    (copy_database if path.suffix == ".sqlite" else shutil.copy)(path, copy)
                    files.append(target.upload_file(copy, name, manifest.name))
        if Part.JOBS in request.parts:
            copied = Path(scratch) / "jobs"
            with closing(copy_jobs(config, copied)) as store, closing(copy_shares(config, copied)) as shares:
                jobs = sum(1 for _ in iterate_jobs(store))
                if Part.RESULTS in request.parts and (address := find_results_address(config)):
                    known = {file.name: file for backup in earlier for file in backup.results}
                    results = back_up_results(store, shares, open_result_store(address), target, known, reporter)
            copy_watches(config, copied)
            for name in (JOBS_FILE, SHARES_FILE, WATCHES_FILE):
                whole = Path(scratch) / name
                copy_database(copied / name, whole)
                files.append(target.upload_file(whole, name, manifest.name))
    return manifest.model_copy(update={"files": tuple(files), "results": results, "jobs": jobs})


def list_site_files(config: Config) -> dict[str, Path]:
    """Return the files of the part ``users`` by their names in a backup. Clusters have some of it in Redis."""
    paths = {
        ACCOUNTS_FILE: config.accounts,
        BLOCKED_FILE: config.blocked,
        REGISTRY_FILE: config.registry_state,
        SITE_FILE: config.jobs_path / SITE_FILE if config.jobs_path else None,
        HISTORY_FILE: config.jobs_path / HISTORY_FILE if config.jobs_path else None,
        USAGE_FILE: config.usage,
    }
    return {name: path for name, path in paths.items() if path is not None}


def _delete_older(target: BackupTarget, backups: Sequence[Manifest], keep: int, reporter: Reporter) -> None:
    """Delete all backups except the newest and the full backups to which these add."""
    newest = {backup.name for backup in backups[-keep:]}
    newest |= {backup.base for backup in backups if backup.name in newest}
    for backup in backups:
        if backup.name not in newest:
            target.delete_backup(backup.name)
            reporter.message(f"deleted the backup {backup.name}")
    target.delete_results({file.name for backup in backups if backup.name in newest for file in backup.results})


def _format_bytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
