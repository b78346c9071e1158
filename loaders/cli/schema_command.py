"""``skyhouse schema``: shows, checks and applies schema files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from loaders.cli.command_options import Data, execute_and_exit
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.command_outcome import EXIT_FAILED
from loaders.control.table_requests import SchemaRequest
from loaders.load_error import LoadError
from loaders.tables.schema_names import find_example_file, find_schema_file, list_schema_names

app = typer.Typer(help="Schema files, and the differences between them and the engine.", no_args_is_help=True)

SchemaFile = Annotated[Path, typer.Argument(metavar="FILE", help="YAML that describes a schema and its tables.")]


@app.command("show")
def show_schema(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"A shipped schema: {', '.join(list_schema_names())}.")],
    example: Annotated[bool, typer.Option("--example", help="Print example rows as CSV instead.")] = False,
) -> None:
    """Print a shipped schema file, to which you can add columns."""
    with ConsoleReporter() as reporter:
        try:
            path = find_example_file(name) if example else find_schema_file(name)
            reporter.output(path.read_text(encoding="utf-8").rstrip("\n"))
        except LoadError as error:
            reporter.message(f"error: {error}")
            raise typer.Exit(EXIT_FAILED) from error


@app.command("check")
def check_schema(file: SchemaFile) -> None:
    """Report everything that load, plan and apply would ignore, change or reject; exit code 1 if there is any."""
    from clickhouse_schema.schema_files.yaml_reader import check_schema
    from clickhouse_schema.schema_problem import SchemaError

    with ConsoleReporter() as reporter:
        try:
            found = check_schema(file)
            errors, warnings = found.errors, found.warnings
        except SchemaError as error:
            errors, warnings = [*error.errors], []
        for line in (*(f"error: {error}" for error in errors), *(f"warning: {warning}" for warning in warnings)):
            reporter.output(line)
        if errors or warnings:
            raise typer.Exit(EXIT_FAILED)
        reporter.output(f"{file}: nothing to report")


@app.command("diff")
def show_differences(file: SchemaFile, data: Data) -> None:
    """List tables, columns, indexes and comments that differ from the file; exit code 1 if there are any."""
    _execute_on_file(data, "schema diff", file)


@app.command("plan")
def show_plan(file: SchemaFile, data: Data) -> None:
    """Print the SQL that apply would execute."""
    _execute_on_file(data, "schema plan", file)


@app.command("apply")
def apply_schema(file: SchemaFile, data: Data) -> None:
    """Create missing tables, columns and indexes on all servers, while the service runs. Loads no rows."""
    _execute_on_file(data, "schema apply", file)


def _execute_on_file(data: Path, command: Literal["schema diff", "schema plan", "schema apply"], file: Path) -> None:
    execute_and_exit(data, SchemaRequest(command=command, schema_file=file.absolute()))
