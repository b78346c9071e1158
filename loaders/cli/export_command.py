"""``skyhouse export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clickhouse_schema.hats.partition_limits import MARGIN_THRESHOLD, MAX_PARTITION_ROWS
from loaders.cli.command_options import Data, execute_and_exit, split_names
from loaders.export.export_request import ExportRequest


def export_table(
    source: Annotated[str, typer.Argument(metavar="TABLE|QUERY", help="The table's name, or an ADQL query in quotes.")],
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="Directory (for hats) or file, or a URL such as s3://bucket/folder."),
    ],
    data: Data,
    output_format: Annotated[
        str, typer.Option("--format", help="hats, or an output format of the service, such as parquet or votable.")
    ] = "hats",
    max_rows: Annotated[
        int, typer.Option("--max-rows-per-partition", help="Maximum number of rows of a partition.", min=1)
    ] = MAX_PARTITION_ROWS,
    margin: Annotated[
        float, typer.Option(help="Width of the margins in arcseconds; 0 for none.", min=0)
    ] = MARGIN_THRESHOLD,
    columns: Annotated[str, typer.Option(metavar="NAME,...", help="Columns to write; default: all.")] = "",
    no_index: Annotated[bool, typer.Option("--no-index", help="Do not write an index by id.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check all files of an earlier export, and write nothing.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file (not hats).")] = False,
) -> None:
    """Export a table or a query's result as a HATS collection or file. Start a stopped export again to continue it."""
    request = ExportRequest(
        source=source,
        target=target if "://" in target else str(Path(target).absolute()),
        format=output_format,
        max_rows=max_rows,
        margin=margin,
        columns=split_names(columns),
        has_index=not no_index,
        is_verified_only=verify,
        replaces_file=overwrite,
    )
    execute_and_exit(data, request)
