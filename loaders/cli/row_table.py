"""The rows that a command prints: a table on a terminal, TSV in a pipe, a JSON list with ``--json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from loaders.cli.console_reporter import ConsoleReporter

if TYPE_CHECKING:
    from loaders.command_request import CommandRequest

AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON list.")]

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


class _RowCollector(ConsoleReporter):
    """Collects the rows, and prints messages."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[str, Any]] = []

    def output(self, text: str) -> None:
        self.rows.append(json.loads(text))


def collect_rows(data: Path, request: CommandRequest) -> list[dict[str, Any]]:
    """Run a command of an operator and return its rows; exit if it fails.

    Parameters
    ----------
    data : Path
        Data directory.
    request : CommandRequest
        The command and its arguments.
    """
    from loaders.control.control_client import execute_admin_command

    with _RowCollector() as reporter:
        if code := execute_admin_command(data.absolute(), request, reporter):
            raise typer.Exit(code)
        return reporter.rows


def print_and_exit(
    data: Path, request: CommandRequest, columns: Sequence[str] = (), *, as_json: bool = False
) -> NoReturn:
    """Run a command, print these columns of its rows, and exit."""
    print_rows(collect_rows(data, request), columns, as_json=as_json)
    raise typer.Exit


def print_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool = False) -> None:
    """Print rows. TSV has a header line, and spaces instead of tabs and line ends in values."""
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    elif sys.stdout.isatty():
        _print_table(rows, columns)
    elif columns:
        lines = [columns, *([_format_plain(row.get(name)) for name in columns] for row in rows)]
        sys.stdout.write("".join("\t".join(line) + "\n" for line in lines))


def print_fields(row: Mapping[str, Any]) -> None:
    """Print one row, a line for each field."""
    for name, value in row.items():
        sys.stdout.write(f"{name}\t{_format_plain(value)}\n")


def _print_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        # Text, because users' queries may contain markup
        table.add_row(*(Text(_format_for_people(name, row.get(name))) for name in columns))
    Console(highlight=False).print(table)


def _format_for_people(name: str, value: Any) -> str:
    if isinstance(value, int) and name in ("memory", "read_bytes", "sent_bytes"):
        return _format_bytes(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else _format_plain(value)


def _format_bytes(value: float) -> str:
    unit = 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:,.0f} {_UNITS[unit]}" if not unit else f"{value:,.1f} {_UNITS[unit]}"


def _format_plain(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else " " for char in text)
