"""Options and calls that several commands share.

The modules of this folder are imported to parse a command or to print its help. What it works with is imported by the
functions that begin its work.
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
    """Let this process and its children read their settings from a file."""
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
        help=f"File of settings; default: {FILE_VARIABLE}, else {DEFAULT_FILE} if there is one.",
    ),
]


def read_config_or_exit() -> Config:
    """Return the settings, or print each fault on a line and exit."""
    from tap_service.config import read_config

    with exit_on_errors():
        return read_config()


def read_settings(data: Path) -> Config:
    """Return the settings for a data path. Raises ``LoadError``."""
    from loaders.control import service_settings

    return service_settings.read_settings(data)


@contextmanager
def exit_on_errors() -> Iterator[None]:
    """Print each fault of the settings on a line of its own, and exit."""
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
        help="Directory of the data.",
        default_factory=lambda: read_config_or_exit().data,
        show_default="the setting data, else ~/.local/share/skyhouse",
    ),
]


def execute_and_exit(data: Path, request: CommandRequest) -> NoReturn:
    """Run a command on the data path, here or in the service that holds it, and exit with its code."""
    from loaders.control.control_client import execute_command

    with ConsoleReporter() as reporter:
        raise typer.Exit(execute_command(data.absolute(), request, reporter))


def run_here_and_exit(name: str, command: Callable[[Reporter], None]) -> NoReturn:
    """Run the command ``name`` in this process, whoever holds the data path; exit with its code."""
    from loaders.control.control_client import run_and_report

    with ConsoleReporter() as reporter:

        def run() -> int:
            command(reporter)
            return 0

        raise typer.Exit(run_and_report(name, run, reporter))


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of an option that are separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
