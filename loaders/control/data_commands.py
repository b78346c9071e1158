"""The commands that work on the data: the same functions in the command's own process and behind the control socket.

A command takes the engine, its arguments as JSON values with absolute paths, and a reporter; it raises ``LoadError``.
``COMMANDS`` names functions, whose modules are imported when the command runs: one of all would take as long as all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal

from loaders.control.command_outcome import EXIT_FAILED, STOPPED, Arguments, explain_error
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadCancelled, LoadError
from loaders.progress_reporter import Reporter
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.engine import Engine, EngineError, EngineUnavailable, QueryCancelled, StorageFull

Command = Callable[[Engine, Arguments, Reporter], None]


def _load_files(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.pipeline.load_request import LoadRequest
    from loaders.pipeline.load_table import load_files
    from tap_service.models.read_options import build_options

    schema_file = arguments.pop("schema_file")
    request = LoadRequest(
        files=tuple(file if "://" in file else Path(file) for file in arguments.pop("files")),
        rejects=Path(arguments.pop("rejects")),
        options=build_options(arguments.pop("options", {})),
        schema_file=Path(schema_file) if schema_file else None,
        **arguments,
    )
    load_files(engine, request, reporter)


def _mirror_table(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.mirror.mirror_load import mirror_table
    from loaders.mirror.mirror_request import MirrorRequest

    work, rejects = Path(arguments.pop("work")), Path(arguments.pop("rejects"))
    columns = tuple(arguments.pop("columns"))
    request = MirrorRequest(work=work, rejects=rejects, columns=columns, **arguments)
    mirror_table(engine, request, reporter)


def _attach_catalogue(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.pipeline.attach_request import AttachRequest
    from loaders.pipeline.attach_table import attach_catalogue

    schema_file = arguments.pop("schema_file")
    request = AttachRequest(schema_file=Path(schema_file) if schema_file else None, **arguments)
    attach_catalogue(engine, request, reporter)


def _correct_rows(kind: Literal["update", "delete"]) -> Command:
    def run(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
        from loaders.pipeline.correct_rows import correct_rows
        from loaders.pipeline.correction_request import CorrectionRequest

        files = tuple(Path(file) for file in arguments.pop("files"))
        rejects = Path(arguments.pop("rejects"))
        correct_rows(engine, CorrectionRequest(kind=kind, files=files, rejects=rejects, **arguments), reporter)

    return run


def _make_match(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.pipeline.match_request import MatchRequest
    from loaders.tables.match_admin import make_match

    make_match(engine, MatchRequest(**arguments), reporter)


def _back_up(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
    from loaders.backup.backup_part import Part
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


def _call(function: str, *names: str) -> Command:
    """Return a command that calls ``module:function`` with the engine, these arguments and the reporter."""

    def run(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
        resolve_name(function)(engine, *(arguments[name] for name in names), reporter)

    return run


def _call_with_schema_file(function: str) -> Command:
    def run(engine: Engine, arguments: Arguments, reporter: Reporter) -> None:
        resolve_name(function)(engine, Path(arguments["schema_file"]), reporter)

    return run


COMMANDS: dict[str, Command] = {
    "load": _load_files,
    "mirror": _mirror_table,
    "attach": _attach_catalogue,
    "update": _correct_rows("update"),
    "delete": _correct_rows("delete"),
    "verify": _call("loaders.tables.verify_table:verify_table", "table"),
    "drop": _call("loaders.tables.drop_table:drop_table", "table"),
    "rebuild": _call("loaders.tables.table_rebuild:rebuild_table", "table"),
    "match make": _make_match,
    "match follow": _call("loaders.tables.match_admin:follow_matches", "table"),
    "match list": _call("loaders.tables.match_admin:print_matches"),
    "match drop": _call("loaders.tables.match_admin:drop_match", "table"),
    "tables": _call("loaders.tables.table_list:list_tables"),
    "user tables": _call("loaders.tables.user_table_admin:list_user_tables", "user"),
    "user drop-table": _call("loaders.tables.user_table_admin:drop_user_tables", "user", "table"),
    "user forget": _call("loaders.tables.user_table_admin:forget_user", "user"),
    "schema diff": _call_with_schema_file("loaders.tables.schema_apply:print_schema_differences"),
    "schema plan": _call_with_schema_file("loaders.tables.schema_apply:print_schema_plan"),
    "schema apply": _call_with_schema_file("loaders.tables.schema_apply:apply_schema"),
    "registry check": _check_registry,
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

#: Commands that can do without an up-to-date catalogue, where a server is away or the user has no right to change it.
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
