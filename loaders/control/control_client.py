"""Runs a command in this process, or hands it to the process that holds the data directory.

Modules that only work on data are imported if the command runs here: they take half of the time of other commands.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loaders.command_request import CommandRequest
from loaders.control.command_outcome import EXIT_FAILED, STOPPED, explain_error
from loaders.control.control_socket import SOCKET_NAME, open_address, send_line
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadCancelled, LoadError
from loaders.progress_reporter import Reporter
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.data_path import DataPathHeldError, lock_data_path
from tap_service.storage.engine.engine import EngineError


def execute_command(data_path: Path, request: CommandRequest, reporter: Reporter) -> int:
    """Run a command on the data, here or in the service that holds the data directory.

    Parameters
    ----------
    data_path : Path
        Data directory.
    request : CommandRequest
        The command and its arguments.
    reporter : Reporter
        Receives output, messages and progress; also errors that have a message for the user.

    Returns
    -------
    int
        The exit code.
    """
    return run_and_report(request.command, lambda: _run_or_hand_over(data_path, request, reporter), reporter)


def run_and_report(name: str, command: Callable[[], int], reporter: Reporter, stopped: str = STOPPED) -> int:
    """Run a command, and report its errors.

    Parameters
    ----------
    name : str
        Names the command in messages.
    command : callable
        Runs it and returns its exit code.
    reporter : Reporter
        Receives the message of an error.
    stopped : str, optional
        The message if the user stopped the command; may contain ``{command}``.

    Returns
    -------
    int
        The exit code.
    """
    try:
        return command()
    except _list_errors() as error:  # is called only if there is an error
        reporter.message(f"error: {explain_error(error)}")
    except (KeyboardInterrupt, LoadCancelled):
        reporter.message(stopped.format(command=name))
    return EXIT_FAILED


def _list_errors() -> tuple[type[Exception], ...]:
    """Return the errors with a message for the user."""
    from tap_service.storage.jobs.job_store import JobStoreUnavailable
    from tap_service.storage.share_store import ShareStoreUnavailable
    from tap_service.storage.site_state import SiteStateUnavailable

    return ReadError, EngineError, JobStoreUnavailable, ShareStoreUnavailable, SiteStateUnavailable, OSError


def _run_or_hand_over(data_path: Path, request: CommandRequest, reporter: Reporter) -> int:
    config = read_settings(data_path)
    try:
        lock = None if config.clickhouse_url else lock_data_path(data_path)
    except DataPathHeldError:
        code = hand_over(data_path, request, reporter)
        if code is None:
            raise
        return code
    from loaders.control import data_commands, engine_opener

    is_read_only = request.command in data_commands.READING_COMMANDS
    with engine_opener.open_engine(data_path, is_read_only=is_read_only, lock=lock) as engine:
        return data_commands.run_command(engine, request, reporter)


def execute_admin_command(data_path: Path, request: CommandRequest, reporter: Reporter) -> int:
    """Run a command of an operator, in the service that holds the data directory or, without one, on the stores.

    Parameters
    ----------
    data_path : Path
        Data directory.
    request : CommandRequest
        The command and its arguments.
    reporter : Reporter
        Receives rows as lines of JSON, messages and errors.

    Returns
    -------
    int
        The exit code.
    """
    return run_and_report(
        request.command, lambda: _administer(data_path, request, reporter), reporter, stopped="stopped"
    )


def _administer(data_path: Path, request: CommandRequest, reporter: Reporter) -> int:
    config = read_settings(data_path)
    code = None if config.redis_url else hand_over(data_path, request, reporter)
    if code is not None:
        return code
    from loaders.control import admin_commands

    with admin_commands.open_administration(config, data_path) as administration:
        return admin_commands.run_command(administration, request, reporter)


def hand_over(data_path: Path, request: CommandRequest, reporter: Reporter) -> int | None:
    """Let the process that holds the data directory run a command.

    Parameters
    ----------
    data_path : Path
        Data directory.
    request : CommandRequest
        The command and its arguments.
    reporter : Reporter
        Receives what the process reports.

    Returns
    -------
    int or None
        The exit code; None if no process listens.

    Raises
    ------
    LoadError
        The socket cannot be used, or the process ended before the command.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            with open_address(data_path / SOCKET_NAME) as address:
                connection.connect(address)
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        except PermissionError as error:
            raise LoadError(
                f"the service on {data_path} runs as another user: run this command as that user"
            ) from error
        send_line(connection, request.model_dump_json())
        for line in connection.makefile("r", encoding="utf-8"):
            event = json.loads(line)
            if "exit" in event:
                return int(event["exit"])
            _report_event(event, reporter)
    command = request.command
    raise LoadError(f"the service on {data_path} stopped before the {command} was done: start the {command} again")


def _report_event(event: dict[str, Any], reporter: Reporter) -> None:
    if "output" in event:
        reporter.output(event["output"])
    elif "message" in event:
        reporter.message(event["message"])
    else:
        reporter.progress(*event["progress"])
