"""``skyhouse usage``: usage statistics by month."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from loaders.cli.command_options import Data, read_settings
from loaders.load_error import LoadError
from tap_service.storage.usage.usage_store import UsageCounts, UsageEntry, UsageUnavailable

_BY = ("table", "user", "format")
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")

Month = Annotated[str, typer.Option(metavar="YYYY-MM", help="Month in UTC; default: all months.")]
By = Annotated[
    str, typer.Option(metavar="|".join(_BY), help="One line per table, class of users or format; default: totals.")
]


def print_usage(
    data: Data,
    month: Month = "",
    by: By = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """Show the numbers of queries, jobs, rows, bytes, seconds in the engine, and users."""
    if by and by not in _BY:
        raise typer.BadParameter(f"--by is one of {', '.join(_BY)}")
    if month and not _MONTH.fullmatch(month):
        raise typer.BadParameter("--month is a month such as 2026-11")
    try:
        entries = _read_entries(data)
    except (LoadError, UsageUnavailable) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error
    lines = sum_usage([entry for entry in entries if month in ("", entry.month)], by)
    if as_json:
        typer.echo(json.dumps(lines, indent=2))
    elif lines:
        typer.echo(_format_lines(lines))
    else:
        typer.echo(f"no usage was counted{f' in {month}' if month else ' yet'}; the service stores it every minute")


def _read_entries(data: Path) -> list[UsageEntry]:
    from tap_service.storage.open_storage import open_usage_store

    config = read_settings(data.absolute())
    if not config.redis_url and config.usage is not None and not config.usage.exists():
        return []
    store = open_usage_store(config)
    if store is None:
        return []
    try:
        return store.read_usage()
    finally:
        store.close()


def sum_usage(entries: list[UsageEntry], by: str) -> list[dict[str, Any]]:
    """Return a line for each month and table, class of users or format; newest month and most queries first."""
    wanted = by if by in ("table", "format") else "all"
    counts: defaultdict[tuple[str, str], UsageCounts] = defaultdict(UsageCounts)
    clients: defaultdict[tuple[str, str], int] = defaultdict(int)
    for entry in entries:
        if entry.key.by != wanted:
            continue
        line = entry.month, entry.key.users if by == "user" else entry.key.name
        counts[line].add(entry.counts)
        clients[line] += entry.clients  # classes of users have no user in common
    ordered = sorted(counts, key=lambda line: (line[0], counts[line].queries, line[1]), reverse=True)
    return [
        {"month": line[0]} | ({by: line[1]} if by else {}) | asdict(counts[line]) | {"users": clients[line]}
        for line in ordered
    ]


def _format_lines(lines: list[dict[str, Any]]) -> str:
    table = [list(lines[0]), *(list(map(_format_value, line.values())) for line in lines)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    is_text = [isinstance(value, str) for value in lines[0].values()]
    return "\n".join(
        "  ".join(
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(row, widths, is_text, strict=True)
        ).rstrip()
        for row in table
    )


def _format_value(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
