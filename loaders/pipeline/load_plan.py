"""The schema of the table that a load creates: from the schema file, completed by the data files."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from pathlib import Path

from clickhouse_schema.datatypes import Field
from clickhouse_schema.schema_files.yaml_document import Document, build_document
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.schema_problem import SchemaError
from clickhouse_schema.vounit import normalise_unit
from loaders.load_error import LoadError
from loaders.pipeline.describe_file import describe_source, find_doubts
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter
from tap_service.models.read_options import ReadOptions, build_options
from tap_service.readers.conform_rows import find_matching_name
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.position_columns import find_position_columns
from tap_service.readers.table_source import TableHeader

#: Column keys that a schema file may leave to the data file
_COMPLETED_KEYS = ("description", "unit", "ucd", "utype")


def read_wanted_schema(name: str, schema_file: Path, strict: bool, reporter: Reporter) -> Schema:
    """Return the schema of a schema file, with only one table.

    Parameters
    ----------
    name : str
        ``schema.table``.
    schema_file : Path
        The schema file.
    strict : bool
        Whether warnings (an unknown unit, an invalid UCD) are errors.
    reporter : Reporter
        Receives the warnings.

    Raises
    ------
    LoadError
        The file cannot be used, or does not have the table.
    """
    schema = _read_schema(schema_file, strict, reporter)
    table = _find_table(schema, *split_name(name), schema_file)
    return schema.model_copy(update={"tables": (table,)})


def choose_options(table: Table | None, given: ReadOptions) -> ReadOptions:
    """Return the options for reading the files of a table.

    Parameters
    ----------
    table : Table or None
        The table in the schema file; None without a schema file.
    given : ReadOptions
        Options of the command, which take precedence.

    Returns
    -------
    ReadOptions
        The given options, completed by ``Table.files``. For a file without a header, the columns of the table are its
        columns.
    """
    if table is None:
        return given
    options = build_options(table.files.model_dump(exclude_defaults=True)).replace_given(given)
    if options.header is False and not options.columns:
        options = replace(options, columns=tuple(column.name for column in table.columns))
    return options


def describe_schema(name: str, sources: list[TableHeader], strict: bool, reporter: Reporter) -> Schema:
    """Return the schema that the first file implies, and report doubts about it.

    Parameters
    ----------
    name : str
        ``schema.table``.
    sources : list of TableHeader
        The files, at least one. In CSV files, numbers with more digits than their type can hold become texts.
    strict : bool
        Whether warnings (an unknown unit, an invalid UCD) are errors.
    reporter : Reporter
        Receives the warnings.

    Returns
    -------
    Schema
        The schema with only this table.

    Raises
    ------
    LoadError
        A column cannot be loaded, or the name is not ``schema.table``.
    """
    for source in sources:
        if isinstance(source, CsvSource):
            source.keep_digits()
    for warning in find_doubts(sources[0]):
        reporter.message(f"warning: {warning}")
    return _read_schema(_describe_source(sources[0], *split_name(name)), strict, reporter)


def complete_schema(
    schema: Schema, sources: list[TableHeader], schema_file: Path, strict: bool, reporter: Reporter
) -> Schema:
    """Return the schema, completed by the metadata of the first file.

    Parameters
    ----------
    schema : Schema
        The schema of a schema file, with only one table.
    sources : list of TableHeader
        The files, at least one.
    schema_file : Path
        The schema file, for messages.
    strict : bool
        Whether a unit that differs between the schema file and a data file is an error; otherwise it is reported.
    reporter : Reporter
        Receives warnings and notes.

    Returns
    -------
    Schema
        The schema, without the optional columns that no file has.

    Raises
    ------
    LoadError
        Units differ, and ``strict`` is set.
    """
    table = _drop_missing_columns(schema.tables[0], sources, reporter)
    _compare_units(table, sources, schema_file, strict, reporter)
    completed = _complete_table(table, sources[0], reporter)
    _report_position(completed, schema_file, reporter)
    return schema.model_copy(update={"tables": (completed,)})


def _report_position(table: Table, schema_file: Path, reporter: Reporter) -> None:
    """Report a position that the columns have but the layout does not name, as in many Felis files."""
    fields = tuple(Field(column.name, column.type, unit=column.unit, ucd=column.ucd) for column in table.columns)
    if table.layout.position is None and (position := find_position_columns(fields)):
        reporter.message(
            f"note: {schema_file} names no position of {table.name}, so searches by position read all rows: "
            f"skyhouse:layout: {{position: [{', '.join(position)}]}} orders them by it"
        )


def _describe_source(
    source: TableHeader, schema_name: str, table_name: str, only: Container[str] | None = None
) -> Document:
    """Return the document of a file's schema; the lines in messages are lines of the output of skyhouse describe."""
    data = describe_source(source, schema_name, table_name, only)
    return build_document(data, f"skyhouse describe {source.path}", lambda: document_to_yaml(data))


def _read_schema(content: Path | Document, strict: bool, reporter: Reporter) -> Schema:
    try:
        schema, warnings = read_schema(content, strict=strict)
    except SchemaError as error:
        raise LoadError(str(error)) from error
    for warning in warnings:
        reporter.message(f"warning: {warning}")
    return schema


def _find_table(schema: Schema, schema_name: str, table_name: str, schema_file: Path) -> Table:
    if schema.name != schema_name:
        raise LoadError(f"{schema_file} describes the schema {schema.name}, but --table names {schema_name}")
    for table in schema.tables:
        if table.name == table_name:
            return table
    known = ", ".join(table.name for table in schema.tables)
    raise LoadError(f"{schema_file} has no table {table_name}; it has {known}")


def _drop_missing_columns(table: Table, sources: list[TableHeader], reporter: Reporter) -> Table:
    """Return the table without the optional columns that no file has; report missing columns."""
    names = {field.name for source in sources for field in source.fields}
    missing = [column for column in table.columns if column.if_missing and not find_matching_name(column.name, names)]
    if not missing:
        return table
    dropped = {column.name for column in missing if column.if_missing == "leave_out"}
    for consequence, columns in (
        ("no file has these columns, so they are NULL", [c.name for c in missing if c.name not in dropped]),
        ("no file has these columns, so they are left out", [c.name for c in missing if c.name in dropped]),
    ):
        if columns:
            reporter.message(f"{consequence}: {', '.join(columns)}")
    return table.drop_columns(dropped)


def _compare_units(
    table: Table, sources: list[TableHeader], schema_file: Path, strict: bool, reporter: Reporter
) -> None:
    """Report units that differ between the schema file and a data file: values are not converted."""
    for source in sources:
        units = {field.name: normalise_unit(field.unit) for field in source.fields if field.unit}
        for column in table.columns:
            file_unit = units.get(find_matching_name(column.name, units) or "")
            if not (file_unit and column.unit) or file_unit == column.unit:
                continue
            difference = f"{column.name} is in {file_unit} in {source.path}, but in {column.unit} in {schema_file}"
            if strict:
                raise LoadError(f"{difference}: convert the values, or correct the unit")
            reporter.message(f"warning: {difference}: its values are not converted")


def _complete_table(table: Table, source: TableHeader, reporter: Reporter) -> Table:
    """Return the table with missing units, UCDs, utypes and descriptions from the file."""
    wanted = {column.name for column in table.columns}
    fields = tuple(field for field in source.fields if field.name in wanted)
    if not any(field.unit or field.ucd or field.utype or field.description for field in fields):
        return table
    described = _read_schema(_describe_source(source, "file", table.name, wanted), False, reporter).tables[0]
    file_columns = {column.name: column for column in described.columns}
    columns = tuple(complete_column(column, file_columns.get(column.name)) for column in table.columns)
    description = table.description or source.description
    return table.model_copy(update={"columns": columns, "description": description})


def complete_column(column: Column, other: Column | None) -> Column:
    """Return a column, completed by the description of another column.

    Parameters
    ----------
    column : Column
        The column. A column of a standard does not change.
    other : Column or None
        The same column as a file describes it; None if the file lacks it.

    Returns
    -------
    Column
        The column, whose empty description, unit, UCD and utype are taken from ``other``.
    """
    if other is None or column.std:
        return column
    keys = [key for key in _COMPLETED_KEYS if not getattr(column, key) and getattr(other, key)]
    return column.model_copy(update={key: getattr(other, key) for key in keys})
