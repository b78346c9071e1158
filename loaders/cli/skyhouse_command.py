"""The ``skyhouse`` command. Exit codes: 0 fine, 1 failed, 2 wrong usage."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from loaders.cli import (
    announcement_command,
    backup_command,
    block_command,
    config_command,
    export_command,
    group_command,
    jobs_command,
    queries_command,
    registry_command,
    schema_command,
    shards_command,
    usage_command,
    user_command,
    watch_command,
)
from loaders.cli.command_options import ConfigFile, Data, execute_and_exit, read_config_or_exit, run_here_and_exit
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control import data_commands
from loaders.pipeline.describe_file import describe_source, find_doubtful_types
from loaders.pipeline.load_plan import split_name
from loaders.pipeline.named_input import describe_input
from loaders.tables.shipped_schemas import list_schema_names, resolve_schema_option
from tap_service.constants import VERSION
from tap_service.hats.reading.catalogue_folder import is_folder_address
from tap_service.process_end import report_crashes
from tap_service.readers.read_error import ReadError

app = typer.Typer(
    help="A TAP service over ClickHouse: load catalogues, serve them, query them in ADQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(config_command.app, name="config")
app.add_typer(user_command.app, name="user")
app.add_typer(schema_command.app, name="schema")
app.add_typer(group_command.app, name="group")
app.command("grant")(group_command.grant_access)
app.command("revoke")(group_command.revoke_access)
app.command("grants")(group_command.list_grants)
app.add_typer(registry_command.app, name="registry")
app.add_typer(shards_command.app, name="shards")
app.command("backup")(backup_command.create_backup)
app.command("restore")(backup_command.restore_backup)
app.command("export")(export_command.export_table)
app.command("usage")(usage_command.print_usage)
app.add_typer(jobs_command.app, name="jobs")
app.add_typer(queries_command.app, name="queries")
app.add_typer(watch_command.app, name="watch")
app.add_typer(announcement_command.downtimes, name="downtime")
app.add_typer(announcement_command.notes, name="note")
app.command("drain")(announcement_command.drain_service)
app.command("block")(block_command.block_address)
app.command("unblock")(block_command.unblock_address)


TableName = Annotated[str, typer.Argument(metavar="SCHEMA.TABLE", help="The table's name.")]
Host = Annotated[
    str,
    typer.Option(
        help="Address to listen on; 0.0.0.0 for all networks.",
        default_factory=lambda: read_config_or_exit().host,
        show_default="the setting host, else 127.0.0.1",
    ),
]
Port = Annotated[
    int,
    typer.Option(
        help="Port to listen on.",
        min=1,
        max=65535,
        default_factory=lambda: read_config_or_exit().port,
        show_default="the setting port, else 8000",
    ),
]
Processes = Annotated[
    int,
    typer.Option(
        help="Processes that answer requests; several need ClickHouse servers and Redis.",
        min=1,
        default_factory=lambda: read_config_or_exit().processes,
        show_default="the setting processes, else 1",
    ),
]

MaxErrors = Annotated[int, typer.Option(help="Bad rows that are rejected before the command stops.", min=0)]
Rejects = Annotated[Path | None, typer.Option(help="File for bad rows; default: SCHEMA.TABLE.rejects.csv.")]
Again = Annotated[bool, typer.Option("--again", help="Apply files that were applied before.")]


def main() -> None:
    report_crashes()
    os.umask(0o077)  # data, jobs, results and rejected rows are for this user only
    app()


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"skyhouse {VERSION}")
        raise typer.Exit


@app.callback()
def choose_settings(
    config: ConfigFile = None,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command("load")
def load_table(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="FITS, VOTable, CSV, TSV, ECSV or Parquet; or a HATS catalogue: its folder or URL (hats, https, s3).",
        ),
    ],
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Table for the rows.")],
    data: Data,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="YAML that describes the table (see skyhouse describe), or the name of a shipped one: "
            f"{', '.join(list_schema_names())}.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Treat bad units and UCDs as errors.")] = False,
    max_errors: MaxErrors = 100,
    rejects: Rejects = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the table if it exists.")] = False,
    append: Annotated[bool, typer.Option("--append", help="Add to the table if it exists.")] = False,
) -> None:
    """Load files into a table, which is visible when all is loaded. Start a stopped load again to continue it."""
    if replace and append:
        raise typer.BadParameter("give --replace or --append, not both")
    arguments = {
        "files": [file if "://" in file else str(Path(file).absolute()) for file in files],
        "table": table,
        "schema_file": str(resolve_schema_option(schema)) if schema else None,
        "strict": strict,
        "max_errors": max_errors,
        "rejects": str((rejects or Path(f"{table}.rejects.csv")).absolute()),
        "mode": "replace" if replace else "append" if append else "create",
    }
    execute_and_exit(data, "load", arguments)


@app.command("attach")
def attach_catalogue(
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Name of the table.")],
    data: Data,
    catalogue: Annotated[
        str, typer.Argument(metavar="CATALOGUE", help="Folder of a HATS catalogue, or its URL (hats, https, s3).")
    ] = "",
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML that describes the table (see skyhouse describe).")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Treat bad units and UCDs as errors.")] = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Read the files of an attached table again, which have changed.")
    ] = False,
) -> None:
    """Make a HATS catalogue a table whose files stay where they are; skyhouse drop forgets it."""
    arguments = {
        "address": catalogue if "://" in catalogue or not catalogue else str(Path(catalogue).absolute()),
        "table": table,
        "schema_file": str(schema.absolute()) if schema else None,
        "strict": strict,
        "refresh": refresh,
    }
    execute_and_exit(data, "attach", arguments)


@app.command("update")
def update_rows(
    table: TableName,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Ids of rows, and the columns to correct.")],
    data: Data,
    max_errors: MaxErrors = 100,
    rejects: Rejects = None,
    again: Again = False,
) -> None:
    """Correct rows by their id: readers see all corrections at once. Start a stopped update again to continue it."""
    _correct_and_exit(data, "update", table, files, max_errors, rejects, again=again)


@app.command("delete")
def delete_rows(
    table: TableName,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Ids of the rows to delete.")],
    data: Data,
    max_errors: MaxErrors = 100,
    rejects: Rejects = None,
    again: Again = False,
) -> None:
    """Delete rows by their id, all at once. Start a stopped delete again to continue it."""
    _correct_and_exit(data, "delete", table, files, max_errors, rejects, again=again)


def _correct_and_exit(
    data: Path, command: str, table: str, files: list[Path], max_errors: int, rejects: Path | None, *, again: bool
) -> NoReturn:
    arguments = {
        "files": [str(file.absolute()) for file in files],
        "table": table,
        "max_errors": max_errors,
        "rejects": str((rejects or Path(f"{table}.rejects.csv")).absolute()),
        "again": again,
    }
    execute_and_exit(data, command, arguments)


@app.command("describe")
def describe_file(
    file: Annotated[
        str,
        typer.Argument(help="FITS, VOTable, CSV, TSV, ECSV or Parquet; the folder or the URL of a HATS catalogue."),
    ],
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Name for the YAML.")] = "",
) -> None:
    """Print the YAML that describes a file's table, to edit and to pass to load as --schema."""
    with ConsoleReporter() as reporter:
        try:
            names = split_name(table) if table else ("my_schema", file.rstrip("/").rpartition("/")[2].split(".")[0])
            header = describe_input(file)
            document = describe_source(header, *names, suggests_text_indexes=True, leaves_out_unusable=True)
            reporter.output(document_to_yaml(document).rstrip())
            for name, reason in header.unusable.items():
                reporter.message(f"warning: {name} is left out, it cannot be loaded: {reason}")
            for warning in find_doubtful_types(header):
                reporter.message(f"warning: {warning}")
        except ReadError as error:
            reporter.message(f"error: {error}")
            raise typer.Exit(data_commands.EXIT_FAILED) from error


@app.command("verify")
def verify_table(
    table: Annotated[
        str, typer.Argument(metavar="SCHEMA.TABLE|CATALOGUE", help="The table's name; or a HATS catalogue, as in load.")
    ],
    data: Data,
    rows: Annotated[bool, typer.Option("--rows", help="Of a catalogue, read all rows, not only the footers.")] = False,
) -> None:
    """Check a table's rows, ranges, order and HEALPix index against what was loaded; or a HATS catalogue's files."""
    if is_folder_address(table):
        from loaders.tables.verify_catalogue import verify_catalogue

        run_here_and_exit("verify", lambda reporter: verify_catalogue(table, reporter, with_rows=rows))
    if rows:
        raise typer.BadParameter("--rows is for catalogues: of a table, all rows are checked")
    execute_and_exit(data, "verify", {"table": table})


@app.command("rebuild")
def rebuild_table(table: TableName, data: Data) -> None:
    """Rewrite a table in the layout of this version; queries read the old one until the new one is complete."""
    execute_and_exit(data, "rebuild", {"table": table})


@app.command("drop")
def drop_table(table: TableName, data: Data) -> None:
    """Remove a table from the catalogue and delete its rows."""
    execute_and_exit(data, "drop", {"table": table})


@app.command("tables")
def list_tables(data: Data) -> None:
    """List the tables with their rows and sizes."""
    execute_and_exit(data, "tables", {})


@app.command("adql")
def translate_query(
    query: Annotated[
        str, typer.Argument(help="The query; with --parse-only, - reads one per line from standard input.")
    ],
    data: Data,
    explain: Annotated[bool, typer.Option("--explain", help="Print the ranges and the engine's plan too.")] = False,
    parse_only: Annotated[
        bool, typer.Option("--parse-only", help="Check without tables: OK or ERROR line:column message.")
    ] = False,
) -> None:
    """Print the SQL into which a query is translated."""
    if not parse_only:
        execute_and_exit(data, "adql", {"query": query, "explain": explain})
    from loaders.control.adql_command import check_query_line

    for line in sys.stdin if query == "-" else [query.replace("\\", "\\\\")]:
        print(check_query_line(line.rstrip("\r\n")), flush=True)


@app.command("serve")
def serve_tables(data: Data, host: Host, port: Port, processes: Processes) -> None:
    """Serve the tables over TAP until Ctrl-C."""
    _serve_and_exit(data, host, port, processes=processes)


@app.command("demo")
def serve_demo(data: Data, host: Host, port: Port) -> None:
    """Load the bright stars of Tycho-2 and OpenNGC, then serve them."""
    _serve_and_exit(data, host, port, demo=True)


def _serve_and_exit(data: Path, host: str, port: int, *, demo: bool = False, processes: int = 1) -> None:
    from loaders.cli import serve_command

    with ConsoleReporter() as reporter:
        raise typer.Exit(
            serve_command.run_service(data.absolute(), host, port, reporter, demo=demo, processes=processes)
        )
