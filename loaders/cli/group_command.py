"""``skyhouse group``, ``grant`` and ``revoke``: groups of users, and tables that only these groups see."""

from __future__ import annotations

from typing import Annotated

import typer

from loaders.cli.command_options import Data, execute_and_exit
from loaders.cli.user_command import File, open_accounts
from loaders.control.table_requests import ArgumentlessRequest, GrantRequest

app = typer.Typer(help="Groups of users. A running service sees changes at once.", no_args_is_help=True)

Group = Annotated[str, typer.Argument(metavar="GROUP", help="The group's name.")]
Target = Annotated[str, typer.Argument(metavar="SCHEMA[.TABLE]", help="A table, or all tables of a schema.")]


@app.command("add")
def add_members(
    group: Group,
    data: Data,
    users: Annotated[
        list[str] | None, typer.Argument(metavar="[USER]...", help="Users; issuer:name for a user of an issuer.")
    ] = None,
    file: File = None,
) -> None:
    """Add users to a group, which is created if it does not exist."""
    with open_accounts(data, file) as accounts:
        accounts.add_members(group, users or ())
        members = accounts.list_groups()[group]
    typer.echo(f"members of {group}: {', '.join(members) or 'none yet'}")


@app.command("remove")
def remove_members(
    group: Group,
    data: Data,
    users: Annotated[list[str] | None, typer.Argument(metavar="[USER]...", help="Default: the group itself.")] = None,
    file: File = None,
) -> None:
    """Remove users from a group, or the group itself. Tables that only this group sees become invisible to all."""
    with open_accounts(data, file) as accounts:
        accounts.remove_members(group, users or ())
    typer.echo(f"removed {', '.join(users)} from {group}" if users else f"removed the group {group}")


@app.command("list")
def list_groups(data: Data, file: File = None) -> None:
    """List the groups and the number of their members."""
    with open_accounts(data, file) as accounts:
        for group, members in accounts.list_groups().items():
            typer.echo(f"{group}\t{len(members)}")


@app.command("members")
def list_members(group: Group, data: Data, file: File = None) -> None:
    """List the members of a group."""
    with open_accounts(data, file) as accounts:
        accounts.require_group(group)
        for member in accounts.list_groups()[group]:
            typer.echo(member)


def grant_access(target: Target, group: Group, data: Data, file: File = None) -> None:
    """Let a group see a table or schema, and hide it from everybody else. The group everybody means all users."""
    from clickhouse_schema.visible_tables import EVERYBODY

    if group != EVERYBODY and ":" not in group:  # only an issuer knows its groups
        with open_accounts(data, file) as accounts:
            accounts.require_group(group)
    execute_and_exit(data, GrantRequest(command="grant", target=target, group=group))


def revoke_access(target: Target, group: Group, data: Data) -> None:
    """Revoke a group's right to see a table or schema. After its last group, nobody sees it."""
    execute_and_exit(data, GrantRequest(command="revoke", target=target, group=group))


def list_grants(data: Data) -> None:
    """List the tables and schemas that only some groups see."""
    execute_and_exit(data, ArgumentlessRequest(command="grants"))
