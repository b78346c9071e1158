"""Which schema and table a load makes: the YAML file's, with what the files say where it says nothing."""

from __future__ import annotations

from pathlib import Path

from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.schema_problem import SchemaError
from clickhouse_schema.vounit import normalise_unit
from loaders.load_error import LoadError
from loaders.pipeline.describe_file import described, doubts
from loaders.progress_reporter import Reporter
from tap_service.readers.conform_rows import find_matching_name
from tap_service.readers.table_source import Source

#: Column keys that a YAML file may leave to the data file.
_FILLED = ("description", "unit", "ucd", "utype")


def split_name(name: str) -> tuple[str, str]:
    """Schema and table of ``schema.table``."""
    schema, dot, table = name.partition(".")
    if not (schema and dot and table) or "." in table:
        raise LoadError(f"--table wants schema.table, for example survey.stars, not {name!r}")
    return schema, table


def planned(name: str, sources: list[Source], schema_file: Path | None, strict: bool, reporter: Reporter) -> Schema:
    """The schema with this table alone. Metadata that the YAML leaves out is taken from the first file.

    Warnings (a unit that is none or another than the file's, a UCD that is not valid) are told; ``strict`` makes them
    errors.
    """
    schema_name, table_name = split_name(name)
    source = sources[0]
    if schema_file is None:
        for doubt in doubts(source):
            reporter.message(f"warning: {doubt}")
        return _read(document_to_yaml(described(source, schema_name, table_name)), _shown(source), strict, reporter)
    schema = _read(schema_file, str(schema_file), strict, reporter)
    table = _named(schema, schema_name, table_name, schema_file)
    table = _of_these_files(table, sources, reporter)
    _compare_units(table, sources, schema_file, strict, reporter)
    table = _filled(table, source, reporter)
    return schema.model_copy(update={"tables": (table,)})


def _shown(source: Source) -> str:
    """What lines in messages count in: the file has no such lines, but the command shows them."""
    return f"skyhouse describe {source.path}"


def _read(content: str | Path, source: str, strict: bool, reporter: Reporter) -> Schema:
    try:
        schema, warnings = read_schema(content, source, strict=strict)
    except SchemaError as error:
        raise LoadError(str(error)) from error
    for warning in warnings:
        reporter.message(f"warning: {warning}")
    return schema


def _named(schema: Schema, schema_name: str, table_name: str, schema_file: Path) -> Table:
    if schema.name != schema_name:
        raise LoadError(f"{schema_file} describes the schema {schema.name}, but --table names {schema_name}")
    for table in schema.tables:
        if table.name == table_name:
            return table
    raise LoadError(
        f"{schema_file} has no table {table_name}; it has {', '.join(table.name for table in schema.tables)}"
    )


def _of_these_files(table: Table, sources: list[Source], reporter: Reporter) -> Table:
    """The table without the columns that may be left out and that no file has; says so of all that files may lack."""
    names = {field.name for source in sources for field in source.fields}
    lacking = [column for column in table.columns if column.if_missing and not find_matching_name(column.name, names)]
    if not lacking:
        return table
    known = {name for column in table.columns if (name := find_matching_name(column.name, names))}
    left_out = {column.name for column in lacking if column.if_missing == "leave_out"}
    for what, columns in (
        ("NULL in all rows, for no file has them", [column.name for column in lacking if column.name not in left_out]),
        ("left out, for no file has them", [column.name for column in lacking if column.name in left_out]),
        ("in a file and not loaded, for the schema file has no such columns", sorted(names - known)),
    ):
        if columns:
            reporter.message(f"{what}: {', '.join(columns)}")
    return table.model_copy(update={"columns": tuple(c for c in table.columns if c.name not in left_out)})


def _compare_units(table: Table, sources: list[Source], schema_file: Path, strict: bool, reporter: Reporter) -> None:
    """Values are not converted: a file that says another unit than the schema file would be told wrongly."""
    for source in sources:
        units = {field.name: normalise_unit(field.unit) for field in source.fields if field.unit}
        for column in table.columns:
            said = units.get(find_matching_name(column.name, units) or "")
            if not (said and column.unit) or said == column.unit:
                continue
            told = f"{column.name} is in {said} in {source.path}, but in {column.unit} in {schema_file}"
            if strict:
                raise LoadError(f"{told}: convert the values, or correct the unit")
            reporter.message(f"warning: {told}: its values are taken as they are")


def _filled(table: Table, source: Source, reporter: Reporter) -> Table:
    """The table with the file's unit, UCD, utype and description where its own are empty; a standard's are complete."""
    wanted = {column.name for column in table.columns}
    fields = tuple(field for field in source.fields if field.name in wanted)
    if not any(field.unit or field.ucd or field.utype or field.description for field in fields):
        return table
    document = described(source, "file", table.name, only=wanted)  # no schema's name: this is not the table
    known = {
        column.name: column
        for column in _read(document_to_yaml(document), _shown(source), False, reporter).tables[0].columns
    }
    columns = tuple(completed(column, known.get(column.name)) for column in table.columns)
    description = table.description or source.description
    return table.model_copy(update={"columns": columns, "description": description})


def completed(column: Column, said: Column | None) -> Column:
    """The column with what ``said`` says where it says nothing itself; a standard's columns are complete."""
    if said is None or column.std:
        return column
    update = {key: getattr(said, key) for key in _FILLED if not getattr(column, key) and getattr(said, key)}
    return column.model_copy(update=update)
