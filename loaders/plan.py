"""Which schema and table a load makes: the YAML file's, with what the files say where it says nothing."""

from __future__ import annotations

from pathlib import Path

from clickhouse_schema.model import Column, Schema, Table
from clickhouse_schema.problems import SchemaError
from clickhouse_schema.yaml_reader import read_schema
from clickhouse_schema.yaml_writer import as_yaml
from loaders.describe import described
from loaders.errors import LoadError
from loaders.progress import Reporter
from tap_service.readers.source import Source

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

    Warnings (a unit that is none, a UCD that is not valid) are told; ``strict`` makes them errors.
    """
    schema_name, table_name = split_name(name)
    source = sources[0]
    if schema_file is None:
        return _read(as_yaml(described(source, schema_name, table_name)), _shown(source), strict, reporter)
    schema = _read(schema_file, str(schema_file), strict, reporter)
    table = _named(schema, schema_name, table_name, schema_file)
    table = _filled(table, source, schema_name, reporter)
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


def _filled(table: Table, source: Source, schema_name: str, reporter: Reporter) -> Table:
    """The table with the file's unit, UCD, utype and description where its own are empty."""
    wanted = {column.name for column in table.columns}
    fields = tuple(field for field in source.fields if field.name in wanted)
    if not any(field.unit or field.ucd or field.utype or field.description for field in fields):
        return table
    document = described(source, schema_name, table.name, only=wanted)
    known = {
        column.name: column for column in _read(as_yaml(document), _shown(source), False, reporter).tables[0].columns
    }
    columns = tuple(_completed(column, known.get(column.name)) for column in table.columns)
    description = table.description or source.description
    return table.model_copy(update={"columns": columns, "description": description})


def _completed(column: Column, said: Column | None) -> Column:
    if said is None:
        return column
    update = {key: getattr(said, key) for key in _FILLED if not getattr(column, key) and getattr(said, key)}
    return column.model_copy(update=update)
