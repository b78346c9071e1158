"""Chooses the columns that a correction reads from its files, and rejects unsuitable files."""

from __future__ import annotations

import difflib

from clickhouse_schema.schema_model import Column, Layout, Table
from loaders.load_error import LoadError
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.progress_reporter import Reporter
from tap_service.readers.conform_rows import find_matching_name
from tap_service.readers.table_source import Source


def plan_correction(request: CorrectionRequest, table: Table, sources: list[Source], reporter: Reporter) -> Table:
    """Return ``table`` with only its id and the corrected columns. Raises ``LoadError``."""
    if not table.layout.id:
        raise LoadError(
            f"{request.table} has no id by which rows can be found: name its columns in id of skyhouse:layout"
            " (skyhouse schema apply adds the index), or load the table again with --replace"
        )
    names = [field.name for field in sources[0].fields]
    found = {column.name for column in table.columns if find_matching_name(column.name, names)}
    missing = [name for name in table.layout.id if name not in found]
    if missing:
        raise LoadError(
            f"{sources[0].path} has no column {', '.join(missing)}: the id of {request.table} is"
            f" {', '.join(table.layout.id)}"
        )
    known = {find_matching_name(name, names) for name in found}
    others = [name for name in names if name not in known]
    changed = found.difference(table.layout.id) if request.command == "update" else set()
    if request.command == "update":
        _refuse_columns(request, table, others, changed)
    elif ignored := [name for name in names if find_matching_name(name, table.layout.id) is None]:
        reporter.message(f"rows are deleted by id, so these columns are ignored: {', '.join(ignored)}")
    columns = [_require(column, table) for column in table.columns if column.name in {*table.layout.id, *changed}]
    layout = Layout(position=table.layout.position, id=table.layout.id)
    return table.model_copy(update={"columns": tuple(columns), "layout": layout, "keys": ()})


def _refuse_columns(request: CorrectionRequest, table: Table, others: list[str], changed: set[str]) -> None:
    if others:
        names = [column.name for column in table.columns]
        close = difflib.get_close_matches(others[0], names, 1)
        meant = f": did you mean {close[0]}?" if close else ""
        raise LoadError(
            f"{request.table} has no column {', '.join(others)}{meant} Files of an update have the id and the columns"
            " to correct, and no others"
        )
    if not changed:
        raise LoadError(
            f"{request.files[0]} has only the id of {request.table}: an update needs the columns to correct"
            " (skyhouse delete removes rows)"
        )


def _require(column: Column, table: Table) -> Column:
    """Return the column as one that each file must have; an id must not be NULL."""
    is_id = column.name in table.layout.id
    return column.model_copy(update={"if_missing": "", "nullable": column.nullable and not is_id})
