"""``skyhouse backup`` and ``skyhouse restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loaders.backup.backup_part import Part
from loaders.backup.backup_request import BackupRequest
from loaders.cli.command_options import Data, execute_and_exit, run_here_and_exit
from loaders.progress_reporter import Reporter

TargetName = Annotated[
    str, typer.Argument(metavar="TARGET", help="Directory for backups, or a URL such as s3://bucket/backups.")
]
Without = Annotated[list[Part] | None, typer.Option("--without", help="Part to leave out; may be repeated.")]


def create_backup(
    target: TargetName,
    data: Data,
    without: Without = None,
    full: Annotated[
        bool, typer.Option("--full", help="Copy all rows, not only new rows since the last backup.")
    ] = False,
    disk: Annotated[str, typer.Option(help="Disk of the ClickHouse servers for the tables.")] = "",
    keep: Annotated[int, typer.Option(help="Number of newest backups to keep; 0 keeps all.", min=0)] = 0,
    show: Annotated[bool, typer.Option("--list", help="List the backups and do not create one.")] = False,
) -> None:
    """Copy tables, users, jobs and results while the service runs."""
    address = _resolve_target(target)
    if show:
        run_here_and_exit("backup", lambda reporter: _list_backups(address, reporter))
    request = BackupRequest(
        data=data.absolute(), target=address, parts=_choose_parts(without), is_full=full, disk=disk, keep=keep
    )
    execute_and_exit(data, request)


def restore_backup(
    target: TargetName,
    data: Data,
    name: Annotated[str, typer.Option("--backup", help="Name of the backup; default: the newest.")] = "",
    without: Without = None,
    no_verify: Annotated[bool, typer.Option("--no-verify", help="Do not verify the tables.")] = False,
) -> None:
    """Restore a backup into an empty data directory or onto empty ClickHouse servers, and verify it."""
    from loaders.control.restore_command import RestoreRequest, restore_data

    request = RestoreRequest(_resolve_target(target), name, _choose_parts(without), not no_verify)
    run_here_and_exit("restore", lambda reporter: restore_data(data.absolute(), request, reporter))


def _list_backups(address: str, reporter: Reporter) -> None:
    from loaders.backup.backup_target import BackupTarget
    from loaders.backup.create_backup import describe_manifest

    for backup in BackupTarget(address).list_backups():
        reporter.output(f"{backup.name}\t{describe_manifest(backup)}")


def _choose_parts(without: list[Part] | None) -> frozenset[Part]:
    """Return the parts that are wanted. Results belong to jobs."""
    left_out = {*(without or ())}
    if Part.JOBS in left_out:
        left_out.add(Part.RESULTS)
    return frozenset(Part) - left_out


def _resolve_target(target: str) -> str:
    return target if "://" in target else str(Path(target).absolute())
