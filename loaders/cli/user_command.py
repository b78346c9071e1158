"""``skyhouse user``: who may use the service, with passwords and tokens. A running service sees changes at once."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from loaders.cli.command_options import Data
from loaders.control import control_server, data_commands
from loaders.progress_reporter import ConsoleReporter
from tap_service.storage.accounts import ACCOUNTS_FILE, AccountError, Accounts

app = typer.Typer(help="Users, their passwords and tokens.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
File = Annotated[
    Path | None,
    typer.Option("--accounts", envvar="SKYHOUSE_ACCOUNTS", help="The file of users; by default in the data directory."),
]


@app.command()
def add(
    name: Name,
    data: Data,
    file: File = None,
    admin: Annotated[bool, typer.Option("--admin", help="May see and end everybody's jobs.")] = False,
) -> None:
    """Add a user, or give one a new password. It is asked for, or read from standard input if that is no terminal."""
    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    with _opened(data, file) as accounts:
        accounts.add_user(name, password, admin=admin)
    typer.echo(f"{name} may use the service" + (" as an administrator" if admin else ""))


@app.command()
def token(
    name: Name,
    data: Data,
    file: File = None,
    label: Annotated[str, typer.Option(help="What it is for; to revoke it by.")] = "token",
    days: Annotated[
        float | None, typer.Option(help="How long it is good; without, until it is revoked.", min=0)
    ] = None,
) -> None:
    """Make a token for scripts and print it, this once: Authorization: Bearer TOKEN."""
    with _opened(data, file) as accounts:
        typer.echo(accounts.add_token(name, label, days))


@app.command()
def revoke(
    name: Name, label: Annotated[str, typer.Argument(help="The label it was made with.")], data: Data, file: File = None
) -> None:
    """Take back a user's tokens of one label."""
    with _opened(data, file) as accounts:
        if not accounts.revoke_tokens(name, label):
            raise AccountError(f"{name} has no token {label}; `skyhouse user list` names them")
    typer.echo(f"the token {label} of {name} is good no more")


@app.command()
def remove(name: Name, data: Data, file: File = None) -> None:
    """Remove a user with all their tokens and tables: another one of the name shall not inherit them."""
    with _opened(data, file) as accounts:
        accounts.remove_user(name)
    typer.echo(f"{name} is no user any more")
    if control_server.has_engine(data.absolute()):
        _work(data, "user drop-table", {"user": name, "table": ""})


@app.command()
def tables(
    data: Data,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The user's name; everybody's without.")] = "",
) -> None:
    """List the tables that users have made for themselves."""
    _work(data, "user tables", {"user": name})


@app.command()
def drop_table(
    name: Name, data: Data, table: Annotated[str, typer.Argument(metavar="[TABLE]", help="All without.")] = ""
) -> None:
    """Drop a table of a user, such as mydb.stars, or all of them."""
    _work(data, "user drop-table", {"user": name, "table": table})


@app.command(name="list")
def listed(data: Data, file: File = None) -> None:
    """List the users and their tokens' labels."""
    with _opened(data, file) as accounts:
        for account in accounts.list_accounts():
            tokens = ", ".join(label + _until(expires) for label, expires in account.tokens)
            typer.echo("\t".join((account.name, "admin" if account.admin else "user", tokens)))


@contextmanager
def _opened(data: Path, file: Path | None) -> Iterator[Accounts]:
    """The file of users; what cannot be is told in one sentence."""
    path = file or data / ACCOUNTS_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        accounts = Accounts(path)
        try:
            yield accounts
        finally:
            accounts.close()
    except (AccountError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error


def _work(data: Path, command: str, arguments: data_commands.Arguments) -> None:
    with ConsoleReporter() as reporter:
        raise typer.Exit(control_server.work(data.absolute(), command, arguments, reporter))


def _until(expires: float | None) -> str:
    if expires is None:
        return ""
    return f" (until {datetime.datetime.fromtimestamp(expires, datetime.UTC):%Y-%m-%d %H:%M} UTC)"
