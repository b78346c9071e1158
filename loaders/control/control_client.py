"""Runs a command in this process, or hands it to the process that holds the data path.

What commands work with is imported by those that run here: half of the time of the others would be imports.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loaders.control.command_outcome import EXIT_FAILED, STOPPED, Arguments, explain_error
from loaders.control.control_socket import SOCKET_NAME, open_address, send_line
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadCancelled, LoadError
from loaders.progress_reporter import Reporter
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.data_path import DataPathHeldError, lock_data_path
from tap_service.storage.engine.engine import EngineError


def execute_command(data_path: Path, command: str, arguments: Arguments, reporter: Reporter) -> int:
    """Run a command on ``data_path`` and return its exit code; errors are reported."""
    return run_and_report(command, lambda: _run_or_hand_over(data_path, command, arguments, reporter), reporter)


def run_and_report(name: str, command: Callable[[], int], reporter: Reporter, stopped: str = STOPPED) -> int:
    """Run the command ``name`` and return its exit code; errors are reported, and that it was ``stopped``."""
    try:
        return command()
    except _list_problems() as error:  # which is called when there is an error
        reporter.message(f"error: {explain_error(error)}")
    except (KeyboardInterrupt, LoadCancelled):
        reporter.message(stopped.format(command=name))
    return EXIT_FAILED


def _list_problems() -> tuple[type[Exception], ...]:
    """Return the errors with a message for the user."""
    from tap_service.storage.jobs.job_store import JobStoreUnavailable
    from tap_service.storage.share_store import ShareStoreUnavailable
    from tap_service.storage.site_state import SiteStateUnavailable

    return ReadError, EngineError, JobStoreUnavailable, ShareStoreUnavailable, SiteStateUnavailable, OSError


def _run_or_hand_over(data_path: Path, command: str, arguments: Arguments, reporter: Reporter) -> int:
    config = read_settings(data_path)
    try:
        lock = None if config.clickhouse_url else lock_data_path(data_path)
    except DataPathHeldError:
        code = hand_over(data_path, command, arguments, reporter)
        if code is None:
            raise
        return code
    from loaders.control import data_commands, engine_opener

    is_read_only = command in data_commands.READING_COMMANDS
    with engine_opener.open_engine(data_path, is_read_only=is_read_only, lock=lock) as engine:
        return data_commands.run_command(engine, command, arguments, reporter)


def execute_admin_command(data_path: Path, command: str, arguments: Arguments, reporter: Reporter) -> int:
    """Run a command of an operator in the service on ``data_path``, else here on the stores of the settings."""
    return run_and_report(
        command, lambda: _administer(data_path, command, arguments, reporter), reporter, stopped="stopped"
    )


def _administer(data_path: Path, command: str, arguments: Arguments, reporter: Reporter) -> int:
    config = read_settings(data_path)
    code = None if config.redis_url else hand_over(data_path, command, arguments, reporter)
    if code is not None:
        return code
    from loaders.control import admin_commands

    with admin_commands.open_administration(config, data_path) as administration:
        return admin_commands.run_command(administration, command, arguments, reporter)


def hand_over(data_path: Path, command: str, arguments: Arguments, reporter: Reporter) -> int | None:
    """Let the process that holds ``data_path`` run a command; return its exit code, None if no process listens."""
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
        send_line(connection, {"command": command, "arguments": arguments})
        for line in connection.makefile("r", encoding="utf-8"):
            event = json.loads(line)
            if "exit" in event:
                return int(event["exit"])
            _report_event(event, reporter)
    raise LoadError(f"the service on {data_path} stopped before the {command} was done: start the {command} again")


def _report_event(event: dict[str, Any], reporter: Reporter) -> None:
    if "output" in event:
        reporter.output(event["output"])
    elif "message" in event:
        reporter.message(event["message"])
    else:
        reporter.progress(*event["progress"])
