"""Options and calls that several commands share.

The modules of this folder are imported to parse a command or to print its help. The functions of the commands import
what they work with.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from loaders.cli.console_reporter import ConsoleReporter
from loaders.progress_reporter import Reporter
from tap_service.settings.settings_file import DEFAULT_FILE, FILE_VARIABLE

if TYPE_CHECKING:
    from loaders.command_request import CommandRequest
    from tap_service.config import Config


def _choose_file(path: Path | None) -> Path | None:
    """Make this process and its children read their settings from a file."""
    if path is not None:
        os.environ[FILE_VARIABLE] = str(path.absolute())
    return path


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        callback=_choose_file,
        is_eager=True,
        help=f"Settings file; default: {FILE_VARIABLE}, else {DEFAULT_FILE} if it exists.",
    ),
]


def read_config_or_exit() -> Config:
    """Return the settings, or print each problem of them on a line and exit."""
    from tap_service.config import read_config

    with exit_on_errors():
        return read_config()


def read_settings(data: Path) -> Config:
    """Return the settings for a data directory. Raises ``LoadError``."""
    from loaders.control import service_settings

    return service_settings.read_settings(data)


@contextmanager
def exit_on_errors() -> Iterator[None]:
    """Print each problem of the settings on a line and exit."""
    from tap_service.config import ConfigError

    try:
        yield
    except ConfigError as error:
        for problem in error.problems:
            typer.echo(f"error: {problem}", err=True)
        raise typer.Exit(1) from error


Data = Annotated[
    Path,
    typer.Option(
        "--data",
        envvar="SKYHOUSE_DATA",
        help="Data directory.",
        default_factory=lambda: read_config_or_exit().data,
        show_default="the setting data, else ~/.local/share/skyhouse",
    ),
]


def execute_and_exit(data: Path, request: CommandRequest) -> NoReturn:
    """Run a command on a data directory, here or in the service that holds it, and exit with its code.

    Parameters
    ----------
    data : Path
        Data directory.
    request : CommandRequest
        The command and its arguments.
    """
    from loaders.control.control_client import execute_command

    with ConsoleReporter() as reporter:
        raise typer.Exit(execute_command(data.absolute(), request, reporter))


def run_here_and_exit(name: str, command: Callable[[Reporter], None]) -> NoReturn:
    """Run a command in this process, even if a service holds the data directory, and exit with its code.

    Parameters
    ----------
    name : str
        Names the command in messages.
    command : callable
        Does the work; errors with a message for the user are reported.
    """
    from loaders.control.control_client import run_and_report

    with ConsoleReporter() as reporter:

        def run() -> int:
            command(reporter)
            return 0

        raise typer.Exit(run_and_report(name, run, reporter))


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of an option that are separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
