"""``skyhouse restore``: restores a backup into an empty data directory, or onto empty servers.

The embedded engine's data are restored into a directory next to the data directory, which is renamed when everything
is restored and verified: a stopped restore leaves no data directory. On ClickHouse servers the databases are marked
while they are restored. In both cases, restarting a stopped restore starts it from the beginning.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.backup.backup_manifest import Manifest
from loaders.backup.backup_part import Part
from loaders.backup.backup_target import BackupTarget
from loaders.backup.create_backup import describe_manifest
from loaders.backup.restore_backup import restore_engine, restore_jobs, restore_users
from loaders.control.engine_opener import update_catalogue
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from loaders.tables.verify_table import verify_table
from tap_service.config import Config
from tap_service.storage.engine.data_path import lock_data_path
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine
from tap_service.storage.open_storage import open_remote_engine

_SUFFIX = ".restoring"


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """A backup to restore.

    Attributes
    ----------
    target
        The address of the backups.
    name
        The name of the backup; '' for the newest.
    parts
        The parts to restore.
    is_verified
        Whether the tables are verified.
    """

    target: str
    name: str = ""
    parts: frozenset[Part] = frozenset(Part)
    is_verified: bool = True


def restore_data(data_path: Path, request: RestoreRequest, reporter: Reporter) -> None:
    """Restore a backup.

    Parameters
    ----------
    data_path : Path
        Data directory, for whose settings the backup is restored.
    request : RestoreRequest
        What to restore.
    reporter : Reporter
        Receives messages.

    Raises
    ------
    LoadError
        The backup cannot be restored.
    EngineError
        The engine failed.
    """
    target = BackupTarget(request.target)
    manifest = target.find_backup(request.name)
    if missing := request.parts - manifest.parts:
        reporter.message(f"the backup {manifest.name} has no {' and no '.join(sorted(missing))}")
    reporter.message(f"restoring {manifest.name}: {describe_manifest(manifest)}")
    parts = request.parts & manifest.parts
    config = read_settings(data_path)
    if config.clickhouse_url:
        with closing(open_remote_engine(config)) as engine:
            _restore_parts(engine, config, target, manifest, parts, request, reporter)
        return
    _refuse_data(data_path)
    work = data_path.with_name(data_path.name + _SUFFIX)
    if work.exists():
        lock_data_path(work).close()  # raises if another restore is running
        shutil.rmtree(work)
        reporter.message(f"deleted what a stopped restore left in {work}")
    with closing(EmbeddedEngine(work)) as engine:
        _restore_parts(engine, read_settings(work), target, manifest, parts, request, reporter)
    if data_path.exists():
        data_path.rmdir()
    work.rename(data_path)
    reporter.output(f"restored to {data_path}: skyhouse serve --data {data_path}")


def _restore_parts(
    engine: Engine,
    config: Config,
    target: BackupTarget,
    manifest: Manifest,
    parts: frozenset[Part],
    request: RestoreRequest,
    reporter: Reporter,
) -> None:
    if Part.TABLES in parts:
        restore_engine(engine, target, manifest, reporter)
    update_catalogue(engine, config, is_read_only=False)
    if request.is_verified:
        for entry in read_catalogue(engine).entries:
            if entry.qualified_name in manifest.tables:
                verify_table(engine, entry.qualified_name, reporter)
    if Part.USERS in parts:
        restore_users(config, target, manifest)
    if Part.JOBS in parts:
        restore_jobs(config, target, manifest, parts)


def _refuse_data(data_path: Path) -> None:
    if data_path.exists() and any(data_path.iterdir()):
        raise LoadError(
            f"{data_path} is not empty: a backup is restored into an empty directory. Name another one with --data, or"
            " move this one away"
        )
