"""``skyhouse adql``: prints the SQL of a query, or checks its syntax."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from loaders.cli.command_options import Data, execute_and_exit
from loaders.control.table_requests import AdqlRequest


def translate_query(
    query: Annotated[
        str, typer.Argument(help="The query; with --parse-only, - reads one query per line from standard input.")
    ],
    data: Data,
    explain: Annotated[bool, typer.Option("--explain", help="Print the steps and the engine's plan too.")] = False,
    parse_only: Annotated[
        bool, typer.Option("--parse-only", help="Check without tables: OK or ERROR line:column message.")
    ] = False,
) -> None:
    """Print the SQL into which a query is translated."""
    if not parse_only:
        execute_and_exit(data, AdqlRequest(query=query, explain=explain))
    from loaders.control.adql_command import check_query_line

    for line in sys.stdin if query == "-" else [query.replace("\\", "\\\\")]:
        print(check_query_line(line.rstrip("\r\n")), flush=True)
