"""The commands that work on the data: the same functions in the command's own process and behind the control socket.

A command takes the engine, its arguments as JSON values with absolute paths, and a reporter; it raises ``LoadError``.
What few commands need is imported by them: the start of all others would take twice the time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal

from loaders.cluster import rebalance
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.attach_table import attach_catalogue
from loaders.pipeline.correct_rows import correct_rows
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.progress_reporter import Reporter
from loaders.tables import schema_apply, table_grants, user_table_admin
from loaders.tables.drop_table import drop_table
from loaders.tables.table_list import list_tables
from loaders.tables.table_rebuild import rebuild_table
from loaders.tables.verify_table import verify_table
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine, EngineError, EngineUnavailable, QueryCancelled, StorageFull
from tap_service.storage.engine.engine_errors import shorten_message

Arguments = dict[str, Any]
Command = Callable[[Engine, Arguments, Reporter], None]


def _load_files(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    schema_file = arguments.pop("schema_file")
    request = LoadRequest(
        files=tuple(file if "://" in file else Path(file) for file in arguments.pop("files")),
        rejects=Path(arguments.pop("rejects")),
        schema_file=Path(schema_file) if schema_file else None,
        **arguments,
    )
    load_files(engine, request, reporter)


def _attach_catalogue(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    schema_file = arguments.pop("schema_file")
    request = AttachRequest(schema_file=Path(schema_file) if schema_file else None, **arguments)
    attach_catalogue(engine, request, reporter)


def _correct_rows(kind: Literal["update", "delete"]) -> Command:
    def run(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
        files = tuple(Path(file) for file in arguments.pop("files"))
        rejects = Path(arguments.pop("rejects"))
        correct_rows(engine, CorrectionRequest(kind=kind, files=files, rejects=rejects, **arguments), reporter)

    return run


def _back_up(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.backup.backup_manifest import Part
    from loaders.backup.create_backup import BackupRequest, create_backup

    config = read_settings(Path(arguments.pop("data")))
    parts = frozenset(Part(part) for part in arguments.pop("parts"))
    create_backup(engine, config, BackupRequest(parts=parts, **arguments), reporter)


def _export_table(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.export.export_file import export_file
    from loaders.export.export_hats import export_hats
    from loaders.export.export_request import HATS, ExportRequest

    request = ExportRequest(columns=tuple(arguments.pop("columns")), **arguments)
    (export_hats if request.format == HATS else export_file)(engine, request, reporter)


def _check_registry(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.control.registry_check import check_registry

    check_registry(
        engine, arguments["text"], arguments["source"], Path(arguments["data_path"]), arguments["as_xml"], reporter
    )


def _print_translation(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.control.adql_command import print_translation

    print_translation(engine, arguments["query"], arguments["explain"], reporter)


def _with_schema_file(function: Callable[[Engine, Path, Reporter], None]) -> Command:
    return lambda engine, arguments, reporter: function(engine, Path(arguments["schema_file"]), reporter)


COMMANDS: dict[str, Command] = {
    "load": _load_files,
    "attach": _attach_catalogue,
    "update": _correct_rows("update"),
    "delete": _correct_rows("delete"),
    "verify": lambda engine, arguments, reporter: verify_table(engine, arguments["table"], reporter),
    "drop": lambda engine, arguments, reporter: drop_table(engine, arguments["table"], reporter),
    "rebuild": lambda engine, arguments, reporter: rebuild_table(engine, arguments["table"], reporter),
    "tables": lambda engine, _, reporter: list_tables(engine, reporter),
    "user tables": lambda engine, arguments, reporter: user_table_admin.list_user_tables(
        engine, arguments["user"], reporter
    ),
    "user drop-table": lambda engine, arguments, reporter: user_table_admin.drop_user_tables(
        engine, arguments["user"], arguments["table"], reporter
    ),
    "user forget": lambda engine, arguments, reporter: user_table_admin.forget_user(
        engine, arguments["user"], reporter
    ),
    "schema diff": _with_schema_file(schema_apply.print_schema_differences),
    "schema plan": _with_schema_file(schema_apply.print_schema_plan),
    "schema apply": _with_schema_file(schema_apply.apply_schema),
    "registry check": _check_registry,
    "shards prepare": lambda engine, _, reporter: rebalance.prepare_servers(engine, reporter),
    "shards plan": lambda engine, arguments, reporter: rebalance.report_shards(engine, arguments["shards"], reporter),
    "shards move": lambda engine, arguments, reporter: rebalance.move_shards(engine, arguments["shards"], reporter),
    "backup": _back_up,
    "export": _export_table,
    "grant": lambda engine, arguments, reporter: table_grants.grant_access(
        engine, arguments["target"], arguments["group"], reporter
    ),
    "revoke": lambda engine, arguments, reporter: table_grants.revoke_access(
        engine, arguments["target"], arguments["group"], reporter
    ),
    "grants": lambda engine, _, reporter: table_grants.list_grants(engine, reporter),
    "adql": _print_translation,
}

#: Commands that change the catalogue.
CHANGING_COMMANDS = frozenset({"load", "attach", "update", "delete", "drop", "rebuild", "schema apply", "shards move"})

#: Commands after which a service reads the catalogue again at once.
REFRESHING_COMMANDS = CHANGING_COMMANDS | {"grant", "revoke"}

#: Commands that can do without an up-to-date catalogue, where a server is away or the user has no right to change it.
READING_COMMANDS = frozenset(
    {
        "tables",
        "verify",
        "adql",
        "backup",
        "export",
        "grants",
        "registry check",
        "schema diff",
        "schema plan",
        "shards plan",
        "user tables",
    }
)

EXIT_FAILED = 1

STOPPED = "stopped: start the same {command} again to continue it"

_busy_tables: set[str] = set()
_lock = threading.Lock()


@contextmanager
def _reserve_table(table: str) -> Iterator[None]:
    """Let one command at a time change a table; '' stands for all tables."""
    with _lock:
        if table in _busy_tables or (_busy_tables and not table) or "" in _busy_tables:
            raise LoadError(f"another command is changing {table or 'a table'}: wait until it is done")
        _busy_tables.add(table)
    try:
        yield
    finally:
        with _lock:
            _busy_tables.discard(table)


def explain_error(error: Exception, engine: Engine | None = None) -> str:
    """Return the message of an error, for the command line, of an engine if that could be opened."""
    if isinstance(error, StorageFull):
        return f"no space left{_describe_disk(engine)} ({error}): free some"
    return shorten_message(error.detail) if isinstance(error, EngineUnavailable) else str(error)


def run_command(engine: Engine, command: str, arguments: Arguments, reporter: Reporter) -> int:
    """Run a command and return its exit code; faults that a user can cause are reported in one sentence.

    Changes of the catalogue go to one server: another may not have yet what the last statement has written.
    """
    try:
        if command in CHANGING_COMMANDS:
            engine = engine.pin_server()
        with _reserve_table(arguments.get("table", "")) if command in CHANGING_COMMANDS else nullcontext():
            COMMANDS[command](engine, dict(arguments), reporter)
    except (LoadCancelled, QueryCancelled):
        reporter.message(STOPPED.format(command=command))
        return EXIT_FAILED
    except (ReadError, EngineError) as error:
        reporter.message(f"error: {_explain_failure(error, command, engine)}")
        return EXIT_FAILED
    return 0


def _describe_disk(engine: Engine | None) -> str:
    return f" in {engine.data_path}" if isinstance(engine, EmbeddedEngine) else ""


def _explain_failure(error: ReadError | EngineError, command: str, engine: Engine) -> str:
    if isinstance(error, ReadError):
        return str(error)
    if isinstance(error, StorageFull):
        return f"{explain_error(error, engine)} and start the same {command} again"
    retry = f": start the same {command} again when it is reachable" if isinstance(error, EngineUnavailable) else ""
    return f"the engine failed: {explain_error(error)}{retry}"
