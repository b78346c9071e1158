"""``skyhouse describe``: the schema file of a table file or of a table of a TAP service."""

from __future__ import annotations

from typing import Annotated

import typer

from loaders.cli.console_reporter import ConsoleReporter
from loaders.cli.file_options import Comment, Delimiter, Format, Hdu, Header, Null, TableIndex, read_options
from loaders.control.command_outcome import EXIT_FAILED
from tap_service.readers.read_error import ReadError


def describe_file(
    file: Annotated[
        str,
        typer.Argument(
            help="File in FITS, VOTable, CSV, TSV, ECSV, Parquet, IPAC, CDS, MRT or VizieR format; "
            "folder or URL of a HATS catalogue; or a TAP service."
        ),
    ],
    table: Annotated[
        str,
        typer.Option(metavar="SCHEMA.TABLE", help="Table name in the YAML; for a TAP service, the table to describe."),
    ] = "",
    as_: Annotated[
        str, typer.Option("--as", metavar="SCHEMA.TABLE", help="Table name in the YAML, for a table of a TAP service.")
    ] = "",
    format_: Format = "",
    hdu: Hdu = "",
    table_index: TableIndex = "",
    delimiter: Delimiter = "",
    header: Header = None,
    comment: Comment = "",
    null: Null = None,
) -> None:
    """Print a schema file for a file or a table of a TAP service. Edit it, and pass it to load with --schema."""
    from clickhouse_schema.schema_files.yaml_reader import check_schema
    from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
    from loaders.cli.origin_description import explain_address, print_origin_table
    from loaders.pipeline.describe_file import describe_source, find_doubts
    from loaders.pipeline.named_input import describe_input, list_forms
    from loaders.pipeline.table_name import split_name

    options = read_options(format_, hdu, table_index, delimiter, header, comment, null)
    with ConsoleReporter() as reporter:
        try:
            if print_origin_table(file, table, as_, reporter):
                return
            names = split_name(table) if table else ("my_schema", file.rstrip("/").rpartition("/")[2].split(".")[0])
            found = describe_input(file, options)
            document = describe_source(found, *names, suggests_text_indexes=True, leaves_out_unusable=True)
            described = document_to_yaml(document).rstrip()
            reporter.output(described)
            for note in (*list_forms(file, found), *found.notes):
                reporter.message(f"note: {note}")
            for name, reason in found.unusable.items():
                reporter.message(f"warning: {name} is left out because it cannot be loaded: {reason}")
            for warning in find_doubts(found):
                reporter.message(f"warning: {warning}")
            checked = check_schema(described, f"skyhouse describe {file}")
            for line in (*checked.errors, *checked.warnings):
                reporter.message(f"warning: {line}")
        except ReadError as error:
            reporter.message(f"error: {error}{explain_address(file, error)}")
            raise typer.Exit(EXIT_FAILED) from error
