"""``skyhouse shards``: how the rows of a cluster are distributed."""

from __future__ import annotations

from typing import Annotated

import typer

from loaders.cli.command_options import Data, execute_and_exit
from loaders.control.table_requests import ArgumentlessRequest, ShardsRequest

app = typer.Typer(help="The distribution of rows over the shards of a cluster.", no_args_is_help=True)

Shards = Annotated[int, typer.Option(help="Number of shards to use; 0 means all in remote_servers.", min=0)]


@app.command("plan")
def show_plan(data: Data, shards: Shards = 0) -> None:
    """Show the size of each shard, now and after balancing."""
    execute_and_exit(data, ShardsRequest(command="shards plan", shards=shards))


@app.command("move")
def move_shards(data: Data, shards: Shards = 0) -> None:
    """Balance the shards, including new shards, while the service runs. Do not load rows at the same time."""
    execute_and_exit(data, ShardsRequest(command="shards move", shards=shards))


@app.command("prepare")
def prepare_servers(data: Data) -> None:
    """Create all tables on servers that lack them, before queries are sent there."""
    execute_and_exit(data, ArgumentlessRequest(command="shards prepare"))
