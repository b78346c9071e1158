"""``skyhouse describe``: the YAML that describes a file."""

from __future__ import annotations

from typing import Annotated

import typer

from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.command_outcome import EXIT_FAILED
from tap_service.readers.read_error import ReadError


def describe_file(
    file: Annotated[
        str,
        typer.Argument(help="FITS, VOTable, CSV, TSV, ECSV or Parquet; the folder or the URL of a HATS catalogue."),
    ],
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Name for the YAML.")] = "",
) -> None:
    """Print the YAML that describes a file's table, to edit and to pass to load as --schema."""
    from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
    from loaders.pipeline.describe_file import describe_source, find_doubtful_types
    from loaders.pipeline.named_input import describe_input
    from loaders.pipeline.table_name import split_name

    with ConsoleReporter() as reporter:
        try:
            names = split_name(table) if table else ("my_schema", file.rstrip("/").rpartition("/")[2].split(".")[0])
            header = describe_input(file)
            document = describe_source(header, *names, suggests_text_indexes=True, leaves_out_unusable=True)
            reporter.output(document_to_yaml(document).rstrip())
            for name, reason in header.unusable.items():
                reporter.message(f"warning: {name} is left out, it cannot be loaded: {reason}")
            for warning in find_doubtful_types(header):
                reporter.message(f"warning: {warning}")
        except ReadError as error:
            reporter.message(f"error: {error}")
            raise typer.Exit(EXIT_FAILED) from error
