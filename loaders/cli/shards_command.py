"""``skyhouse shards``: how the rows of a cluster are shared out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loaders.cli.command_options import Data
from loaders.control import control_server
from loaders.progress_reporter import ConsoleReporter

app = typer.Typer(help="How the rows of a cluster are shared out.", no_args_is_help=True)

Shards = Annotated[int, typer.Option(help="How many shards to use; 0 = all that are in remote_servers.", min=0)]


@app.command()
def plan(data: Data, shards: Shards = 0) -> None:
    """Tell what each shard has, and what it would have if they were balanced."""
    _work(data, "shards plan", shards)


@app.command()
def move(data: Data, shards: Shards = 0) -> None:
    """Balance the shards, also onto new ones, while the service runs. Nothing may be loaded meanwhile."""
    _work(data, "shards move", shards)


@app.command()
def prepare(data: Data) -> None:
    """Make all tables on the servers that do not have them, before queries are sent there."""
    _work(data, "shards prepare", 0)


def _work(data: Path, command: str, shards: int) -> None:
    with ConsoleReporter() as reporter:
        raise typer.Exit(control_server.work(data.absolute(), command, {"shards": shards}, reporter))
