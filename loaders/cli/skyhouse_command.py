"""The ``skyhouse`` command. Exit codes: 0 success, 1 failure, 2 wrong usage."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from loaders.cli.command_options import ConfigFile
from loaders.cli.lazy_group import build_group_class
from tap_service.process_end import report_crashes
from tap_service.unused_libraries import leave_out_unused_libraries

#: The function of each command, or the app of a group of commands, in the order of the help text
COMMANDS = {
    "grant": "loaders.cli.group_command:grant_access",
    "revoke": "loaders.cli.group_command:revoke_access",
    "grants": "loaders.cli.group_command:list_grants",
    "backup": "loaders.cli.backup_command:create_backup",
    "restore": "loaders.cli.backup_command:restore_backup",
    "export": "loaders.cli.export_command:export_table",
    "usage": "loaders.cli.usage_command:print_usage",
    "drain": "loaders.cli.announcement_command:drain_service",
    "block": "loaders.cli.block_command:block_address",
    "unblock": "loaders.cli.block_command:unblock_address",
    "load": "loaders.cli.table_command:load_table",
    "mirror": "loaders.cli.mirror_command:mirror_origin",
    "attach": "loaders.cli.table_command:attach_catalogue",
    "update": "loaders.cli.table_command:update_rows",
    "delete": "loaders.cli.table_command:delete_rows",
    "describe": "loaders.cli.describe_command:describe_file",
    "verify": "loaders.cli.table_command:verify_table",
    "rebuild": "loaders.cli.table_command:rebuild_table",
    "drop": "loaders.cli.table_command:drop_table",
    "match": "loaders.cli.match_command:app",
    "tables": "loaders.cli.table_command:list_tables",
    "adql": "loaders.cli.adql_command:translate_query",
    "serve": "loaders.cli.service_command:serve_tables",
    "demo": "loaders.cli.service_command:serve_demo",
    "config": "loaders.cli.config_command:app",
    "user": "loaders.cli.user_command:app",
    "schema": "loaders.cli.schema_command:app",
    "group": "loaders.cli.group_command:app",
    "registry": "loaders.cli.registry_command:app",
    "shards": "loaders.cli.shards_command:app",
    "jobs": "loaders.cli.jobs_command:app",
    "queries": "loaders.cli.queries_command:app",
    "watch": "loaders.cli.watch_command:app",
    "downtime": "loaders.cli.announcement_command:downtimes",
    "note": "loaders.cli.announcement_command:notes",
}

app = typer.Typer(
    cls=build_group_class(COMMANDS),
    help="A TAP service over ClickHouse: load catalogues, serve them, query them in ADQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    report_crashes()
    leave_out_unused_libraries()
    os.umask(0o077)  # data, jobs, results and rejected rows are for this user only
    app()


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from tap_service.constants import VERSION

        typer.echo(f"skyhouse {VERSION}")
        raise typer.Exit


@app.callback()
def choose_settings(
    config: ConfigFile = None,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    pass
