"""``skyhouse schema``: schema files, and the engine compared with them and brought to what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loaders.cli.command_options import Data
from loaders.control import control_server, data_commands
from loaders.load_error import LoadError
from loaders.progress_reporter import ConsoleReporter
from loaders.tables.shipped_schemas import example_file, schema_file

app = typer.Typer(help="Schema files, and what the engine has of them.", no_args_is_help=True)

SchemaFile = Annotated[Path, typer.Argument(metavar="FILE", help="YAML that describes a schema and its tables.")]


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A shipped schema: obscore.")],
    example: Annotated[bool, typer.Option("--example", help="Rows to try it with, as CSV, in its place.")] = False,
) -> None:
    """Write a shipped schema file, to add columns of your own to."""
    with ConsoleReporter() as reporter:
        try:
            path = example_file(name) if example else schema_file(name)
            reporter.output(path.read_text(encoding="utf-8").rstrip("\n"))
        except LoadError as error:
            reporter.message(f"error: {error}")
            raise typer.Exit(data_commands.EXIT_FAILED) from error


@app.command()
def diff(file: SchemaFile, data: Data) -> None:
    """Tell what tables, columns, indexes and comments are not as the file says; exit code 1 if there are any."""
    _work(data, "schema diff", file)


@app.command()
def plan(file: SchemaFile, data: Data) -> None:
    """Print the SQL that apply would execute."""
    _work(data, "schema plan", file)


@app.command()
def apply(file: SchemaFile, data: Data) -> None:
    """Make tables, columns and indexes that are missing, on all servers, while the service runs. Loads no rows."""
    _work(data, "schema apply", file)


def _work(data: Path, command: str, file: Path) -> None:
    with ConsoleReporter() as reporter:
        arguments = {"schema_file": str(file.absolute())}
        raise typer.Exit(control_server.work(data.absolute(), command, arguments, reporter))
