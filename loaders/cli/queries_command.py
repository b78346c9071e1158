"""``skyhouse queries``: lists and stops running queries, jobs and downloads."""

from __future__ import annotations

from typing import Annotated

import typer

from loaders.cli.command_options import Data
from loaders.cli.row_table import AsJson, print_and_exit
from loaders.control.admin_requests import QueryListRequest, StopQueriesRequest

app = typer.Typer(help="Running queries of /sync, jobs and downloads.", invoke_without_command=True)

_COLUMNS = (
    "work_id", "kind", "client", "lane", "state", "since", "read_rows", "read_bytes", "memory", "sent_bytes", "query",
)  # fmt: skip


@app.callback()
def list_queries(context: typer.Context, data: Data, as_json: AsJson = False) -> None:
    """List the running queries of /sync, jobs and downloads of results."""
    if context.invoked_subcommand is None:
        print_and_exit(data, QueryListRequest(), _COLUMNS, as_json=as_json)


@app.command("stop")
def stop_queries(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, the first column of skyhouse queries.")],
    data: Data,
) -> None:
    """Stop queries, jobs or downloads; their error messages say that the operator stopped them."""
    print_and_exit(data, StopQueriesRequest(ids=tuple(ids)))
