"""The commands that work on the data: the same functions in the command's own process and behind the control socket.

A command takes the engine, its arguments as JSON values with absolute paths, and a reporter; it raises ``LoadError``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from loaders.cluster import rebalance
from loaders.control.adql_command import adql
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline.load_table import LoadRequest, load
from loaders.progress_reporter import Reporter
from loaders.tables import schema_apply, user_table_admin
from loaders.tables.drop_table import drop
from loaders.tables.table_list import tables
from loaders.tables.verify_table import verify
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.engine import Engine, EngineError, EngineUnavailable, QueryCancelled, StorageFull

Arguments = dict[str, Any]


def _load(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    schema_file = arguments.pop("schema_file")
    load(
        engine,
        LoadRequest(
            files=tuple(Path(file) for file in arguments.pop("files")),
            rejects=Path(arguments.pop("rejects")),
            schema_file=Path(schema_file) if schema_file else None,
            **arguments,
        ),
        reporter,
    )


COMMANDS: dict[str, Callable[[Engine, Arguments, Reporter], None]] = {
    "load": _load,
    "verify": lambda engine, arguments, reporter: verify(engine, arguments["table"], reporter),
    "drop": lambda engine, arguments, reporter: drop(engine, arguments["table"], reporter),
    "tables": lambda engine, _, reporter: tables(engine, reporter),
    "user tables": lambda engine, arguments, reporter: user_table_admin.listed(engine, arguments["user"], reporter),
    "user drop-table": lambda engine, arguments, reporter: user_table_admin.drop(
        engine, arguments["user"], arguments["table"], reporter
    ),
    "schema diff": lambda engine, arguments, reporter: schema_apply.diff(
        engine, Path(arguments["schema_file"]), reporter
    ),
    "schema plan": lambda engine, arguments, reporter: schema_apply.plan(
        engine, Path(arguments["schema_file"]), reporter
    ),
    "schema apply": lambda engine, arguments, reporter: schema_apply.evolve(
        engine, Path(arguments["schema_file"]), reporter
    ),
    "shards prepare": lambda engine, _, reporter: rebalance.prepare(engine, reporter),
    "shards plan": lambda engine, arguments, reporter: rebalance.plan(engine, arguments["shards"], reporter),
    "shards move": lambda engine, arguments, reporter: rebalance.move(engine, arguments["shards"], reporter),
    "adql": lambda engine, arguments, reporter: adql(engine, arguments["query"], arguments["explain"], reporter),
}

#: Those after which the catalogue is another.
CHANGING = frozenset({"load", "drop", "schema apply", "shards move"})

EXIT_FAILED = 1

STOPPED = "stopped: start the same {command} again and it goes on where it was"


_tables_in_work: set[str] = set()
_lock = threading.Lock()


@contextmanager
def _alone(table: str) -> Iterator[None]:
    """A table is changed by one command at a time; '' are all of them."""
    with _lock:
        if table in _tables_in_work or (_tables_in_work and not table) or "" in _tables_in_work:
            raise LoadError(f"another command is changing {table or 'a table'}: wait until it is done")
        _tables_in_work.add(table)
    try:
        yield
    finally:
        with _lock:
            _tables_in_work.discard(table)


def told(error: Exception) -> str:
    """An error in the words of the command line."""
    return f"no space left for the data ({error}): free some" if isinstance(error, StorageFull) else str(error)


def run(engine: Engine, command: str, arguments: Arguments, reporter: Reporter) -> int:
    """Run a command; its exit code. What a user can cause is told in one sentence.

    What changes the catalogue goes to one server: another one may not have yet what the last statement has written.
    """
    try:
        if command in CHANGING:
            engine = engine.list_servers()[0]
        with _alone(arguments.get("table", "")) if command in CHANGING else nullcontext():
            COMMANDS[command](engine, dict(arguments), reporter)
    except ReadError as error:
        reporter.message(f"error: {error}")
        return EXIT_FAILED
    except (LoadCancelled, QueryCancelled):
        reporter.message(STOPPED.format(command=command))
        return EXIT_FAILED
    except StorageFull as error:
        reporter.message(f"error: {told(error)} and start the same {command} again")
        return EXIT_FAILED
    except EngineError as error:
        again = f": start the same {command} again when it does" if isinstance(error, EngineUnavailable) else ""
        reporter.message(f"error: the engine failed: {error}{again}")
        return EXIT_FAILED
    return 0
