"""Removal of everything that belongs to a user, for ``skyhouse user remove``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import typer

from loaders.cli.console_reporter import ConsoleReporter
from loaders.command_request import CommandRequest
from loaders.control import control_client
from loaders.control.admin_requests import UserJobsRequest
from loaders.control.engine_opener import has_engine
from loaders.control.service_settings import read_settings
from loaders.control.table_requests import UserRequest
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.storage.history_store import HistoryUnavailable
from tap_service.storage.open_storage import open_history_store, open_watch_store
from tap_service.storage.watch_store import NoSuchWatch, WatchStoreUnavailable


def remove_belongings(data: Path, name: str) -> bool:
    """Remove everything that belongs to a user. Errors are printed in one sentence each.

    Parameters
    ----------
    data : Path
        Data directory.
    name : str
        The user's name.

    Returns
    -------
    bool
        Whether all of it was removed.
    """
    steps = (_remove_watches, _delete_jobs, _forget_tables, remove_history)
    removed = [remove(data, name) for remove in steps]
    return all(removed)


def _remove_watches(data: Path, name: str) -> bool:
    """Remove the watches of a user; return whether that succeeded."""
    try:
        with closing(open_watch_store(read_settings(data))) as store:
            for watch in store.list_watches(name):
                with suppress(NoSuchWatch):
                    store.delete_watch(watch.watch_id)
    except (LoadError, WatchStoreUnavailable) as error:
        typer.echo(f"error: the watches of {name} are not removed: {error}", err=True)
        return False
    return True


def remove_history(data: Path, name: str) -> bool:
    """Remove the history of a user's queries; return whether that succeeded. An error is printed in one sentence."""
    try:
        if (store := open_history_store(read_settings(data))) is not None:
            with closing(store):
                store.delete_entries(name)
    except (LoadError, HistoryUnavailable) as error:
        typer.echo(f"error: the history of {name} is not removed: {error}", err=True)
        return False
    return True


def _delete_jobs(data: Path, name: str) -> bool:
    """Delete the jobs of a user with their results; return whether that succeeded."""
    return _execute(control_client.execute_admin_command, data, UserJobsRequest(user=name))


def _forget_tables(data: Path, name: str) -> bool:
    """Drop the tables of a user and revoke grants on tables of others; return whether that succeeded."""
    return _execute(control_client.execute_command, data, UserRequest(command="user forget", user=name))


def _execute(execute: Callable[[Path, CommandRequest, Reporter], int], data: Path, request: CommandRequest) -> bool:
    """Run a command if there is an engine with data; return whether that succeeded."""
    if not has_engine(data):
        return True
    with ConsoleReporter() as reporter:
        return execute(data, request, reporter) == 0
