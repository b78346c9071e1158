"""Options of ``load`` and ``describe`` for what a table file does not say itself."""

from __future__ import annotations

from typing import Annotated

import typer

from clickhouse_schema.delimiters import read_character, read_delimiter
from tap_service.models.read_options import ReadOptions

FORMAT_NAMES = "Parquet, Arrow, ECSV, TSV, CSV, VOTable, FITS, IPAC, CDS, VizieR"

Format = Annotated[str, typer.Option("--format", metavar="NAME", help=f"Format of the files: {FORMAT_NAMES}.")]
Hdu = Annotated[str, typer.Option("--hdu", metavar="N|NAME", help="HDU of FITS files, by number from 0 or EXTNAME.")]
TableIndex = Annotated[
    str, typer.Option("--table-index", metavar="N|NAME", help="TABLE of VOTables, by number from 1, name or ID.")
]
Delimiter = Annotated[
    str, typer.Option(metavar="CHARACTER", help="Separator of fields in text files: a character, 'tab' or 'blanks'.")
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line of a text file names the columns.", show_default="detected"
    ),
]
Comment = Annotated[str, typer.Option(metavar="CHARACTER", help="Start of comment lines in text files.")]
Null = Annotated[
    list[str] | None, typer.Option("--null", metavar="TOKEN", help="Text that means NULL; may be repeated.")
]


def read_options(
    format_: str, hdu: str, table: str, delimiter: str, header: bool | None, comment: str, nulls: list[str] | None
) -> ReadOptions:
    """Return the options for the readers. Raises ``BadParameter``."""
    try:
        delimiter, comment = read_delimiter(delimiter), read_character(comment)
    except ValueError as error:
        raise typer.BadParameter(f"--delimiter or --comment: {error}") from error
    return ReadOptions(
        format=format_,
        hdu=hdu,
        table=table,
        delimiter=delimiter,
        header=header,
        comment=comment,
        nulls=tuple(nulls or ()),
    )
