"""The ``skyhouse`` command. Exit codes: 0 fine, 1 failed, 2 wrong usage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from loaders.cli import schema_command, shards_command, user_command
from loaders.cli.command_options import Data
from loaders.control import control_server, data_commands
from loaders.control.adql_command import checked
from loaders.pipeline.describe_file import described, doubts
from loaders.pipeline.load_plan import split_name
from loaders.progress_reporter import ConsoleReporter
from loaders.tables.shipped_schemas import given_schema
from tap_service.readers import open_source
from tap_service.readers.read_error import ReadError

app = typer.Typer(
    help="A TAP service over ClickHouse: load catalogues, serve them, ask them in ADQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(user_command.app, name="user")
app.add_typer(schema_command.app, name="schema")
app.add_typer(shards_command.app, name="shards")


TableName = Annotated[str, typer.Argument(metavar="SCHEMA.TABLE", help="The table's name.")]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is every network.")]
Port = Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)]


def main() -> None:
    app()


@app.command()
def load(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="FITS, VOTable, CSV, TSV, ECSV or Parquet.")],
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Where the rows go.")],
    data: Data,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="YAML that describes the table (see skyhouse describe), or a shipped one: obscore.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Take bad units and UCDs as errors.")] = False,
    max_errors: Annotated[int, typer.Option(help="Bad rows that are put aside before the load stops.", min=0)] = 100,
    rejects: Annotated[
        Path | None, typer.Option(help="File for bad rows; by default SCHEMA.TABLE.rejects.csv.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the table if it exists.")] = False,
    append: Annotated[bool, typer.Option("--append", help="Add to the table if it exists.")] = False,
) -> None:
    """Load files into a table. It is seen when all of it is there; a load that was stopped goes on where it was."""
    if replace and append:
        raise typer.BadParameter("give --replace or --append, not both")
    arguments = {
        "files": [str(file.absolute()) for file in files],
        "table": table,
        "schema_file": str(given_schema(schema)) if schema else None,
        "strict": strict,
        "max_errors": max_errors,
        "rejects": str((rejects or Path(f"{table}.rejects.csv")).absolute()),
        "mode": "replace" if replace else "append" if append else "create",
    }
    _work(data, "load", arguments)


@app.command()
def describe(
    file: Annotated[Path, typer.Argument(help="FITS, VOTable, CSV, TSV, ECSV or Parquet.")],
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Name to put into the YAML.")] = "",
) -> None:
    """Write the YAML that describes a file's table, to edit and to give to load as --schema."""
    with ConsoleReporter() as reporter:
        try:
            names = split_name(table) if table else ("my_schema", file.name.split(".")[0])
            source = open_source(file)
            reporter.output(document_to_yaml(described(source, *names)).rstrip())
            for doubt in doubts(source):
                reporter.message(f"warning: {doubt}")
        except ReadError as error:
            reporter.message(f"error: {error}")
            raise typer.Exit(data_commands.EXIT_FAILED) from error


@app.command()
def verify(table: TableName, data: Data) -> None:
    """Check a table's rows, ranges, order and HEALPix index against what was loaded."""
    _work(data, "verify", {"table": table})


@app.command()
def drop(table: TableName, data: Data) -> None:
    """Take a table out of the catalogue and delete its rows."""
    _work(data, "drop", {"table": table})


@app.command()
def tables(data: Data) -> None:
    """List the tables with their rows and sizes."""
    _work(data, "tables", {})


@app.command()
def adql(
    query: Annotated[str, typer.Argument(help="The query; - with --parse-only reads one a line from standard input.")],
    data: Data,
    explain: Annotated[bool, typer.Option("--explain", help="Also the ranges and the engine's plan.")] = False,
    parse_only: Annotated[
        bool, typer.Option("--parse-only", help="Without tables: OK or ERROR line:column message.")
    ] = False,
) -> None:
    """Print the SQL that a query becomes."""
    if not parse_only:
        _work(data, "adql", {"query": query, "explain": explain})
    for line in sys.stdin if query == "-" else [query.replace("\\", "\\\\")]:
        print(checked(line.rstrip("\r\n")), flush=True)


@app.command()
def serve(data: Data, host: Host = "127.0.0.1", port: Port = 8000) -> None:
    """Serve the tables over TAP until Ctrl-C."""
    _serve(data, host, port, demo=False)


@app.command()
def demo(data: Data, host: Host = "127.0.0.1", port: Port = 8000) -> None:
    """Load Tycho-2's bright stars and OpenNGC, then serve them."""
    _serve(data, host, port, demo=True)


def _serve(data: Path, host: str, port: int, *, demo: bool) -> None:
    from loaders.cli import serve_command as service

    with ConsoleReporter() as reporter:
        raise typer.Exit(service.serve(data.absolute(), host, port, reporter, demo=demo))


def _work(data: Path, command: str, arguments: data_commands.Arguments) -> None:
    """Run a command on the data path, here or in the service that holds it, and exit with its code."""
    with ConsoleReporter() as reporter:
        raise typer.Exit(control_server.work(data.absolute(), command, arguments, reporter))
