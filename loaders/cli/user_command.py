"""``skyhouse user``: accounts with passwords and tokens. A running service sees changes at once."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loaders.cli.command_options import Data, execute_and_exit, read_settings
from loaders.control.table_requests import UserRequest, UserTableRequest
from loaders.load_error import LoadError

if TYPE_CHECKING:
    from tap_service.storage.accounts import Accounts

app = typer.Typer(help="Users, their passwords and tokens.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
File = Annotated[
    Path | None,
    typer.Option(
        "--accounts", help="The accounts file.", show_default="the setting accounts, else in the data directory"
    ),
]


@app.command("add")
def add_user(
    name: Name,
    data: Data,
    file: File = None,
    admin: Annotated[bool, typer.Option("--admin", help="Let the user see and stop all jobs.")] = False,
) -> None:
    """Add a user or change a password, which is prompted for or, without a terminal, read from standard input."""
    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    with open_accounts(data, file) as accounts:
        accounts.add_user(name, password, admin=admin)
    typer.echo(f"{name} may use the service" + (" as an administrator" if admin else ""))


@app.command("token")
def create_token(
    name: Name,
    data: Data,
    file: File = None,
    label: Annotated[
        str, typer.Option(help="Label that describes the purpose of the token; use it to revoke the token.")
    ] = "token",
    days: Annotated[float | None, typer.Option(help="Validity in days; default: until revoked.", min=0)] = None,
) -> None:
    """Create a token for scripts and print it; it is not shown again. Use it as Authorization: Bearer TOKEN."""
    with open_accounts(data, file) as accounts:
        typer.echo(accounts.add_token(name, label, days))


@app.command("revoke")
def revoke_token(
    name: Name, label: Annotated[str, typer.Argument(help="The token's label.")], data: Data, file: File = None
) -> None:
    """Revoke a user's tokens of one label."""
    from tap_service.storage.accounts import AccountError

    with open_accounts(data, file) as accounts:
        if not accounts.revoke_tokens(name, label):
            raise AccountError(f"{name} has no token {label}; `skyhouse user list` lists them")
    typer.echo(f"the token {label} of {name} is revoked")


@app.command("limits")
def assign_limits(
    name: Name,
    data: Data,
    class_name: Annotated[
        str,
        typer.Argument(metavar="[@CLASS]", help="Class in SKYHOUSE_CLIENT_LIMITS; default: print the user's class."),
    ] = "",
    file: File = None,
    none: Annotated[bool, typer.Option("--none", help="Remove the user from their class.")] = False,
) -> None:
    """Give a user the limits of a class of users, such as @survey. A user is in at most one class."""
    if class_name and none:
        raise typer.BadParameter("give a class or --none, not both")
    with open_accounts(data, file) as accounts:
        if class_name or none:
            accounts.set_class(name, class_name)
        assigned = accounts.list_classes().get(name, "")
        defined = read_settings(data).client_limits
    typer.echo(f"{name} has the limits of {assigned or '@users'}")
    if assigned and defined and assigned not in defined:
        typer.echo(
            f"note: the setting client_limits has no {assigned} here; until it has, the limits of @users apply",
            err=True,
        )


@app.command("mail")
def set_mail(
    name: Name,
    data: Data,
    address: Annotated[
        str,
        typer.Argument(metavar="[ADDRESS]", help="Address for mails of watches; default: print the user's address."),
    ] = "",
    file: File = None,
    none: Annotated[bool, typer.Option("--none", help="Delete the address: the user gets no mail.")] = False,
) -> None:
    """Set the mail address of a user: watches send mail only to this address."""
    if address and none:
        raise typer.BadParameter("give an address or --none, not both")
    with open_accounts(data, file) as accounts:
        if address or none:
            accounts.set_mail(name, address)
        address = accounts.find_mail(name)
    typer.echo(f"mail for {name} goes to {address}" if address else f"{name} has no mail address here")


@app.command("remove")
def remove_user(name: Name, data: Data, file: File = None) -> None:
    """Remove a user with all tokens, watches, jobs, tables, history and grants, so that nobody inherits them."""
    from loaders.cli.user_removal import remove_belongings, remove_history

    with open_accounts(data, file) as accounts:
        accounts.require_user(name)
        if not remove_belongings(data.absolute(), name):
            typer.echo(f"error: {name} was not removed, because some of this remains: run the command again", err=True)
            raise typer.Exit(1)
        accounts.remove_user(name)
        remove_history(data.absolute(), name)  # of queries that ended meanwhile
    typer.echo(f"{name} is removed")


@app.command("tables")
def list_tables(
    data: Data,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The user's name; default: all users.")] = "",
) -> None:
    """List the tables of users."""
    execute_and_exit(data, UserRequest(command="user tables", user=name))


@app.command("drop-table")
def drop_table(
    name: Name,
    data: Data,
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="Default: all tables of the user.")] = "",
) -> None:
    """Drop a table of a user, such as mydb.stars, or all tables of the user."""
    execute_and_exit(data, UserTableRequest(user=name, table=table))


@app.command("list")
def list_users(data: Data, file: File = None) -> None:
    """List the users and their tokens' labels."""
    with open_accounts(data, file) as accounts:
        for account in accounts.list_accounts():
            tokens = ", ".join(label + _format_expiry(expires) for label, expires in account.tokens)
            typer.echo("\t".join((account.name, "admin" if account.admin else "user", tokens)))


@contextmanager
def open_accounts(data: Path, file: Path | None) -> Iterator[Accounts]:
    """Open the accounts file; errors are printed in one sentence."""
    from tap_service.storage.accounts import AccountError, Accounts

    try:
        path = file or read_settings(data).accounts
        assert path is not None  # noqa: S101  the settings of commands have all paths
        path.parent.mkdir(parents=True, exist_ok=True)
        accounts = Accounts(path)
        try:
            yield accounts
        finally:
            accounts.close()
    except (AccountError, LoadError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error


def _format_expiry(expires: float | None) -> str:
    if expires is None:
        return ""
    return f" (until {datetime.datetime.fromtimestamp(expires, datetime.UTC):%Y-%m-%d %H:%M} UTC)"
