"""What ``skyhouse user remove`` removes with a user."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import typer

from loaders.cli.console_reporter import ConsoleReporter
from loaders.control import control_client
from loaders.control.command_outcome import Arguments
from loaders.control.engine_opener import has_engine
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.storage.history_store import HistoryUnavailable
from tap_service.storage.open_storage import open_history_store, open_watch_store
from tap_service.storage.watch_store import NoSuchWatch, WatchStoreUnavailable


def remove_belongings(data: Path, name: str) -> bool:
    """Remove all that a user has; return whether that succeeded. Errors are printed in one sentence each."""
    steps = (_remove_watches, _delete_jobs, _forget_tables, remove_history)
    removed = [remove(data, name) for remove in steps]
    return all(removed)


def _remove_watches(data: Path, name: str) -> bool:
    """Remove the watches of a user; return whether that succeeded. Errors are printed in one sentence."""
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
    """Remove the history of a user's queries, likewise."""
    try:
        if (store := open_history_store(read_settings(data))) is not None:
            with closing(store):
                store.delete_entries(name)
    except (LoadError, HistoryUnavailable) as error:
        typer.echo(f"error: the history of {name} is not removed: {error}", err=True)
        return False
    return True


def _delete_jobs(data: Path, name: str) -> bool:
    """Delete the jobs of a user with their results, likewise."""
    return _execute(control_client.execute_admin_command, data, "user delete-jobs", name)


def _forget_tables(data: Path, name: str) -> bool:
    """Drop the tables of a user and take the user's rights to those of others, likewise."""
    return _execute(control_client.execute_command, data, "user forget", name)


def _execute(execute: Callable[[Path, str, Arguments, Reporter], int], data: Path, command: str, name: str) -> bool:
    """Run a command on what a user has, if there is anything; return whether that succeeded."""
    if not has_engine(data):
        return True
    with ConsoleReporter() as reporter:
        return execute(data, command, {"user": name}, reporter) == 0
