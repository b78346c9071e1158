"""The commands that work on the data: the same functions in the command's own process and behind the control socket.

A command takes the engine, its request and a reporter; it raises ``LoadError``. ``COMMANDS`` names functions, whose
modules are imported when the command runs: importing the modules of all commands would delay each of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from loaders.command_request import CommandRequest
from loaders.control.command_outcome import EXIT_FAILED, STOPPED, explain_error
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadCancelled, LoadError
from loaders.progress_reporter import Reporter
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.engine import Engine, EngineError, EngineUnavailable, QueryCancelled, StorageFull

if TYPE_CHECKING:
    from loaders.backup.backup_request import BackupRequest
    from loaders.export.export_request import ExportRequest

Command = Callable[[Engine, Any, Reporter], None]


def _run(function: str) -> Command:
    """Return a command that calls ``module:function`` with the engine, its request and the reporter."""

    def run(engine: Engine, request: CommandRequest, reporter: Reporter) -> None:
        resolve_name(function)(engine, request, reporter)

    return run


def _call(function: str, *names: str) -> Command:
    """Return a command that calls ``module:function`` with the engine, attributes of its request, and the reporter."""

    def run(engine: Engine, request: CommandRequest, reporter: Reporter) -> None:
        resolve_name(function)(engine, *(getattr(request, name) for name in names), reporter)

    return run


def _back_up(engine: Engine, request: BackupRequest, reporter: Reporter) -> None:
    from loaders.backup.create_backup import create_backup

    create_backup(engine, read_settings(request.data), request, reporter)


def _export_table(engine: Engine, request: ExportRequest, reporter: Reporter) -> None:
    from loaders.export.export_file import export_file
    from loaders.export.export_hats import export_hats

    (export_hats if request.is_hats else export_file)(engine, request, reporter)


COMMANDS: dict[str, Command] = {
    "load": _run("loaders.pipeline.load_table:load_files"),
    "mirror": _run("loaders.mirror.mirror_load:mirror_table"),
    "attach": _run("loaders.pipeline.attach_table:attach_catalogue"),
    "update": _run("loaders.pipeline.correct_rows:correct_rows"),
    "delete": _run("loaders.pipeline.correct_rows:correct_rows"),
    "verify": _call("loaders.tables.verify_table:verify_table", "table"),
    "drop": _call("loaders.tables.drop_table:drop_table", "table"),
    "rebuild": _call("loaders.tables.table_rebuild:rebuild_table", "table"),
    "match make": _run("loaders.tables.match_admin:make_match"),
    "match follow": _call("loaders.tables.match_admin:follow_matches", "table"),
    "match list": _call("loaders.tables.match_admin:print_matches"),
    "match drop": _call("loaders.tables.match_admin:drop_match", "table"),
    "tables": _call("loaders.tables.table_list:list_tables"),
    "user tables": _call("loaders.tables.user_table_admin:list_user_tables", "user"),
    "user drop-table": _call("loaders.tables.user_table_admin:drop_user_tables", "user", "table"),
    "user forget": _call("loaders.tables.user_table_admin:forget_user", "user"),
    "schema diff": _call("loaders.tables.schema_apply:print_schema_differences", "schema_file"),
    "schema plan": _call("loaders.tables.schema_apply:print_schema_plan", "schema_file"),
    "schema apply": _call("loaders.tables.schema_apply:apply_schema", "schema_file"),
    "registry check": _call("loaders.control.registry_check:check_registry", "text", "source", "data_path", "as_xml"),
    "shards prepare": _call("loaders.cluster.rebalance:prepare_servers"),
    "shards plan": _call("loaders.cluster.rebalance:report_shards", "shards"),
    "shards move": _call("loaders.cluster.rebalance:move_shards", "shards"),
    "backup": _back_up,
    "export": _export_table,
    "grant": _call("loaders.tables.table_grants:grant_access", "target", "group"),
    "revoke": _call("loaders.tables.table_grants:revoke_access", "target", "group"),
    "grants": _call("loaders.tables.table_grants:list_grants"),
    "adql": _call("loaders.control.adql_command:print_translation", "query", "explain"),
}

#: Commands that change the catalogue.
CHANGING_COMMANDS = frozenset(
    {"load", "mirror", "attach", "update", "delete", "drop", "rebuild", "schema apply", "shards move"}
    | {"match make", "match follow", "match drop"}
)

#: Commands after which a service reads the catalogue again at once.
REFRESHING_COMMANDS = CHANGING_COMMANDS | {"grant", "revoke"}

#: Commands that run without an up-to-date catalogue if a server is unreachable or the user may not change it.
READING_COMMANDS = frozenset(
    {
        "tables",
        "verify",
        "adql",
        "backup",
        "export",
        "grants",
        "match list",
        "registry check",
        "schema diff",
        "schema plan",
        "shards plan",
        "user tables",
    }
)

_busy_tables: set[str] = set()
_lock = threading.Lock()


@contextmanager
def _reserve_table(table: str) -> Iterator[None]:
    """Let only one command at a time change a table; '' stands for all tables."""
    with _lock:
        if table in _busy_tables or (_busy_tables and not table) or "" in _busy_tables:
            raise LoadError(f"another command is changing {table or 'a table'}: wait until it is done")
        _busy_tables.add(table)
    try:
        yield
    finally:
        with _lock:
            _busy_tables.discard(table)


def run_command(engine: Engine, request: CommandRequest, reporter: Reporter) -> int:
    """Run a command on the data, and report errors that a user can cause in one sentence.

    Changes of the catalogue go to one server: another one may not have received the last statement's rows yet.

    Parameters
    ----------
    engine : Engine
        Has the tables.
    request : CommandRequest
        A request of one of ``COMMANDS``.
    reporter : Reporter
        Receives the output, messages and errors.

    Returns
    -------
    int
        The exit code.
    """
    command = request.command
    try:
        if command in CHANGING_COMMANDS:
            engine = engine.pin_server()
        with _reserve_table(getattr(request, "table", "")) if command in CHANGING_COMMANDS else nullcontext():
            COMMANDS[command](engine, request, reporter)
    except (LoadCancelled, QueryCancelled):
        reporter.message(STOPPED.format(command=command))
        return EXIT_FAILED
    except (ReadError, EngineError) as error:
        reporter.message(f"error: {_explain_failure(error, command, engine)}")
        return EXIT_FAILED
    return 0


def _describe_disk(engine: Engine) -> str:
    from tap_service.storage.engine.embedded_engine import EmbeddedEngine

    return f" in {engine.data_path}" if isinstance(engine, EmbeddedEngine) else ""


def _explain_failure(error: ReadError | EngineError, command: str, engine: Engine) -> str:
    if isinstance(error, ReadError):
        return str(error)
    if isinstance(error, StorageFull):
        return f"{explain_error(error, _describe_disk(engine))} and start the same {command} again"
    retry = f": start the same {command} again when it is reachable" if isinstance(error, EngineUnavailable) else ""
    return f"the engine failed: {explain_error(error)}{retry}"
