"""``skyhouse watch``: the watches of all users, which run on the new rows of tables."""

from __future__ import annotations

from typing import Annotated

import typer

from loaders.cli.command_options import Data
from loaders.cli.row_table import AsJson, collect_rows, print_and_exit, print_fields, print_rows
from loaders.control.admin_requests import AddWatchRequest, PauseWatchRequest, WatchListRequest, WatchRequest

app = typer.Typer(help="Watches: queries that run on the new rows of a table.", no_args_is_help=True)

_COLUMNS = ("watch", "user", "name", "table", "state", "rows", "runs_done", "last_run", "last_error")

WatchName = Annotated[str, typer.Argument(metavar="WATCH", help="Id of the watch, or its name if it is unique.")]
Owner = Annotated[str, typer.Option("--user", help="Owner of the watch.")]


@app.command("add")
def add_watch(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the watch, and of the table mydb.NAME for its rows.")
    ],
    data: Data,
    user: Annotated[str, typer.Option(help="Owner of the watch, with whose rights it runs.")],
    query: Annotated[str, typer.Option(metavar="ADQL", help="A query that reads the table to watch.")] = "",
    table: Annotated[
        str, typer.Option(metavar="SCHEMA.TABLE", help="The table to watch, if the query reads several tables.")
    ] = "",
    positions: Annotated[
        str,
        typer.Option("--list", metavar="mydb.TABLE", help="A table of positions instead of a query; requires --table."),
    ] = "",
    radius: Annotated[
        float, typer.Option(metavar="ARCSEC", help="Maximum separation from a position of the list.")
    ] = 1.0,
    webhook: Annotated[str, typer.Option(metavar="URL", help="URL to post messages to.")] = "",
    mail: Annotated[
        bool, typer.Option("--mail", help="Send mails to the user's address (skyhouse user mail).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a watch for a user. With a webhook, the secret of its signatures is printed; it is not shown again."""
    request = AddWatchRequest(
        user=user,
        name=name,
        query=query,
        table=table,
        list_name=positions,
        radius=radius if positions else 0.0,
        webhook=webhook,
        has_mail=mail,
    )
    rows = collect_rows(data, request)
    if as_json:
        print_rows(rows, (), as_json=True)
    else:
        print_fields({key: rows[0][key] for key in ("watch", "table", "result", "secret")})


@app.command("list")
def list_watches(data: Data, user: Owner = "", as_json: AsJson = False) -> None:
    """List the watches of all users, or of one user."""
    print_and_exit(data, WatchListRequest(user=user), _COLUMNS, as_json=as_json)


@app.command("show")
def show_watch(watch: WatchName, data: Data, user: Owner = "", as_json: AsJson = False) -> None:
    """Show all information about a watch, including its last runs."""
    rows = collect_rows(data, WatchRequest(command="watch show", watch=watch, user=user))
    if as_json:
        print_rows(rows, (), as_json=True)
    else:
        print_fields(rows[0])


@app.command("remove")
def remove_watch(watch: WatchName, data: Data, user: Owner = "") -> None:
    """Remove a watch, but not the table of its results."""
    print_and_exit(data, WatchRequest(command="watch remove", watch=watch, user=user))


@app.command("pause")
def pause_watch(
    watch: WatchName,
    data: Data,
    user: Owner = "",
    off: Annotated[bool, typer.Option("--off", help="Resume the watch, with the additions of the pause.")] = False,
) -> None:
    """Pause a watch. New rows are kept for it for the number of days in the setting watch_days."""
    print_and_exit(data, PauseWatchRequest(watch=watch, user=user, pause=not off))


@app.command("run")
def run_watch(watch: WatchName, data: Data, user: Owner = "") -> None:
    """Repeat the failed runs of a watch, and send its undelivered messages again."""
    print_and_exit(data, WatchRequest(command="watch run", watch=watch, user=user))
