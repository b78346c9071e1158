"""Options and calls that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from loaders.cli.console_reporter import ConsoleReporter
from loaders.control import control_client, data_commands


def default_data_path() -> Path:
    """Return the directory of the data if none is given: the user's data directory (XDG base directories)."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "skyhouse"


Data = Annotated[
    Path,
    typer.Option(
        "--data",
        envvar="SKYHOUSE_DATA",
        help="Directory of the data.",
        default_factory=default_data_path,
        show_default="~/.local/share/skyhouse",
    ),
]


def execute_and_exit(data: Path, command: str, arguments: data_commands.Arguments) -> NoReturn:
    """Run a command on the data path, here or in the service that holds it, and exit with its code."""
    with ConsoleReporter() as reporter:
        raise typer.Exit(control_client.execute_command(data.absolute(), command, arguments, reporter))
