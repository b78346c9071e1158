"""``skyhouse match``: kept matches, the tables of pairs of two other tables."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from loaders.cli.command_options import Data, execute_and_exit
from loaders.control.table_requests import ArgumentlessRequest, TableRequest
from loaders.pipeline.match_request import MatchRequest

app = typer.Typer(help="Kept matches: the pairs of two tables, stored and kept up to date.", no_args_is_help=True)


class Kind(StrEnum):
    ALL = "all"
    BEST = "best"
    MUTUAL = "mutual"


MatchName = Annotated[str, typer.Argument(metavar="SCHEMA.TABLE", help="The kept match.")]


@app.command("make")
def make_match(
    left: Annotated[str, typer.Argument(metavar="LEFT", help="First table; the match is stored with its rows.")],
    right: Annotated[str, typer.Argument(metavar="RIGHT", help="Second table.")],
    radius: Annotated[float, typer.Option(help="Maximum separation in arcsec.")],
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Table for the pairs.")],
    data: Data,
    kind: Annotated[
        Kind,
        typer.Option(help="All pairs, the best pair of each first row, or the pairs of mutual nearest neighbours."),
    ] = Kind.ALL,
    epoch: Annotated[
        str,
        typer.Option(
            metavar="LEFT,RIGHT",
            help="Epochs of both tables: years, or columns of years; default: the declared epochs, if both tables "
            "declare one. none: do not apply proper motions.",
        ),
    ] = "",
) -> None:
    """Store the pairs of nearby rows of two tables. Start a stopped match again to continue it."""
    request = MatchRequest(left=left, right=right, table=table, radius=radius, kind=kind.value, epochs=epoch)
    execute_and_exit(data, request)


@app.command("follow")
def follow_match(
    data: Data, table: Annotated[str, typer.Argument(metavar="SCHEMA.TABLE", help="The kept match; default: all.")] = ""
) -> None:
    """Update kept matches after a change of their tables was killed or failed."""
    execute_and_exit(data, TableRequest(command="match follow", table=table))


@app.command("list")
def list_matches(data: Data) -> None:
    """List the kept matches, their tables, and whether they are up to date."""
    execute_and_exit(data, ArgumentlessRequest(command="match list"))


@app.command("drop")
def drop_match(table: MatchName, data: Data) -> None:
    """Remove a kept match, but not its tables."""
    execute_and_exit(data, TableRequest(command="match drop", table=table))
