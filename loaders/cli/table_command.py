"""``skyhouse load`` and the other commands that make, correct, check and drop tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from loaders.cli.command_options import Data, execute_and_exit, run_here_and_exit
from loaders.cli.file_options import Comment, Delimiter, Format, Hdu, Header, Null, TableIndex, read_options
from loaders.control.table_requests import ArgumentlessRequest, TableRequest
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.tables.schema_names import list_schema_names, resolve_schema_option
from tap_service.hats.reading.catalogue_folder import is_folder_address

TableName = Annotated[str, typer.Argument(metavar="SCHEMA.TABLE", help="The table's name.")]
MaxErrors = Annotated[int, typer.Option(help="Maximum number of rejected rows; beyond it, the command stops.", min=0)]
Rejects = Annotated[Path | None, typer.Option(help="File for rejected rows; default: SCHEMA.TABLE.rejects.csv.")]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors (see skyhouse schema check).")]
Again = Annotated[bool, typer.Option("--again", help="Also apply files that were applied before.")]


def choose_rejects(rejects: Path | None, table: str) -> Path:
    """Return the absolute path of the rejects file, by default one with the table's name in the working directory."""
    return (rejects or Path(f"{table}.rejects.csv")).absolute()


def load_table(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files in FITS, VOTable, CSV, TSV, ECSV, Parquet, IPAC, CDS, MRT or VizieR format; "
            "or folder or URL (hats, https, s3) of a HATS catalogue.",
        ),
    ],
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Table for the rows.")],
    data: Data,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="YAML that describes the table (see skyhouse describe), or the name of a shipped schema: "
            f"{', '.join(list_schema_names())}.",
        ),
    ] = None,
    strict: Strict = False,
    format_: Format = "",
    hdu: Hdu = "",
    table_index: TableIndex = "",
    delimiter: Delimiter = "",
    header: Header = None,
    comment: Comment = "",
    null: Null = None,
    max_errors: MaxErrors = 100,
    rejects: Rejects = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the table if it exists.")] = False,
    append: Annotated[bool, typer.Option("--append", help="Add rows to the table if it exists.")] = False,
) -> None:
    """Load files into a table, which becomes visible when complete. Start a stopped load again to continue it."""
    if replace and append:
        raise typer.BadParameter("give --replace or --append, not both")
    request = LoadRequest(
        files=tuple(file if "://" in file else Path(file).absolute() for file in files),
        table=table,
        rejects=choose_rejects(rejects, table),
        schema_file=resolve_schema_option(schema) if schema else None,
        strict=strict,
        max_errors=max_errors,
        mode="replace" if replace else "append" if append else "create",
        options=read_options(format_, hdu, table_index, delimiter, header, comment, null),
    )
    execute_and_exit(data, request)


def attach_catalogue(
    table: Annotated[str, typer.Option(metavar="SCHEMA.TABLE", help="Name of the table.")],
    data: Data,
    catalogue: Annotated[
        str, typer.Argument(metavar="CATALOGUE", help="Folder or URL (hats, https, s3) of a HATS catalogue.")
    ] = "",
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML that describes the table (see skyhouse describe).")
    ] = None,
    strict: Strict = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Read the changed files of an attached table again.")
    ] = False,
) -> None:
    """Make a HATS catalogue available as a table without copying its files. skyhouse drop removes only the table."""
    request = AttachRequest(
        address=catalogue if "://" in catalogue or not catalogue else str(Path(catalogue).absolute()),
        table=table,
        schema_file=schema.absolute() if schema else None,
        strict=strict,
        refresh=refresh,
    )
    execute_and_exit(data, request)


def update_rows(
    table: TableName,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Ids of rows, and the columns to correct.")],
    data: Data,
    max_errors: MaxErrors = 100,
    rejects: Rejects = None,
    again: Again = False,
) -> None:
    """Correct rows by their id: readers see all corrections at once. Start a stopped update again to continue it."""
    _correct_and_exit(data, "update", table, files, max_errors, rejects, again=again)


def delete_rows(
    table: TableName,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Ids of the rows to delete.")],
    data: Data,
    max_errors: MaxErrors = 100,
    rejects: Rejects = None,
    again: Again = False,
) -> None:
    """Delete rows by their id, all at once. Start a stopped delete again to continue it."""
    _correct_and_exit(data, "delete", table, files, max_errors, rejects, again=again)


def _correct_and_exit(
    data: Path,
    command: Literal["update", "delete"],
    table: str,
    files: list[Path],
    max_errors: int,
    rejects: Path | None,
    *,
    again: bool,
) -> NoReturn:
    request = CorrectionRequest(
        command=command,
        files=tuple(file.absolute() for file in files),
        table=table,
        rejects=choose_rejects(rejects, table),
        max_errors=max_errors,
        again=again,
    )
    execute_and_exit(data, request)


def _work_on_table(data: Path, command: Literal["verify", "rebuild", "drop"], table: str) -> NoReturn:
    execute_and_exit(data, TableRequest(command=command, table=table))


def verify_table(
    table: Annotated[
        str, typer.Argument(metavar="SCHEMA.TABLE|CATALOGUE", help="The table's name, or a HATS catalogue as for load.")
    ],
    data: Data,
    rows: Annotated[bool, typer.Option("--rows", help="For a catalogue: read all rows, not only the footers.")] = False,
) -> None:
    """Compare a table's rows, ranges, order and HEALPix index with its load, or check the files of a HATS catalogue."""
    if is_folder_address(table):
        from loaders.tables.verify_catalogue import verify_catalogue

        run_here_and_exit("verify", lambda reporter: verify_catalogue(table, reporter, with_rows=rows))
    if rows:
        raise typer.BadParameter("--rows is for catalogues: all rows of a table are checked anyway")
    _work_on_table(data, "verify", table)


def rebuild_table(table: TableName, data: Data) -> None:
    """Rewrite a table in the layout of this version. Queries read the old rows until the new rows are complete."""
    _work_on_table(data, "rebuild", table)


def drop_table(table: TableName, data: Data) -> None:
    """Remove a table from the catalogue and delete its rows."""
    _work_on_table(data, "drop", table)


def list_tables(data: Data) -> None:
    """List the tables with their rows and sizes."""
    execute_and_exit(data, ArgumentlessRequest(command="tables"))
