"""Names and definitions of user tables, from VOSI documents, table files and results of queries."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from pydantic import ValidationError

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME, SHARED_PREFIX
from clickhouse_schema.reserved_words import RESERVED
from clickhouse_schema.schema_files.schema_checks import find_table_problems
from clickhouse_schema.schema_model import Column, ForeignKey, Table
from clickhouse_schema.vounit import normalise_unit
from tap_service.constants import MAX_DEFINITION_BYTES, MAX_MODEL_BYTES
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_definition import Definition
from tap_service.readers.table_model import build_table
from tap_service.readers.vosi_table_reader import find_root_name, read_definition
from tap_service.service_errors import Forbidden, NotFound, ParameterError, UploadError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_XML_TYPE = re.compile(r"(text|application)/(x-vosi\S*\+)?xml")


def parse_table_name(name: str) -> str:
    """Return the table in ``mydb.table``.

    Raises
    ------
    Forbidden
        The schema is not ``mydb``.
    ParameterError
        The name of the table is invalid.
    """
    schema, dot, table = name.partition(".")
    if schema.lower().lstrip('"').startswith(SHARED_PREFIX):
        raise Forbidden(
            f"the tables of {_quote_text(schema)} belong to another user: you can read the tables that are shared with "
            f"you, but only their owner can change them. Your tables are in the schema {SCHEMA_NAME}"
        )
    if not dot or schema.lower() != SCHEMA_NAME:
        raise Forbidden(f"your tables are in the schema {SCHEMA_NAME}: write {SCHEMA_NAME}.name")
    if not _NAME.fullmatch(table):
        raise ParameterError(
            f"{_quote_text(table)} is not a valid table name: write a letter, then letters, digits and _, up to 64"
        )
    if table.upper() in RESERVED:
        raise ParameterError(f"{table} is a reserved word of ADQL: choose another name, such as {table}_1")
    return table


def read_table_definition(name: str, document: bytes, catalogue: Catalogue) -> Table:
    """Build a table from a VOSI document.

    Parameters
    ----------
    name : str
        The name of the table.
    document : bytes
        The document.
    catalogue : Catalogue
        The tables to which foreign keys may refer.

    Raises
    ------
    UploadError
        The document does not define a valid table.
    """
    try:
        found = read_definition(document)
        fields = tuple(column.field for column in found.columns)
        for column in found.columns:
            if column.unusable:
                raise ReadError(f"column {column.field.name}: {column.unusable}")
        keys = _resolve_foreign_keys(found, catalogue)
        table = build_table(name, fields, description=found.description, utype=found.utype, keys=keys)
    except (ReadError, ValidationError) as error:
        raise UploadError(f"the table cannot be created: {_error_text(error)}") from error
    return check_table(table)


def _resolve_foreign_keys(found: Definition, catalogue: Catalogue) -> tuple[ForeignKey, ...]:
    """Return the foreign keys of the definition. Raises ReadError if a target is not in the catalogue."""
    own_columns = {column.field.name for column in found.columns}
    keys = []
    for number, key in enumerate(found.keys):
        target, pairs = key.target, key.pairs
        schema, _, table = target.partition(".")
        entries = catalogue.find_tables(table, False, schema)
        their_columns = {field.name for entry in entries for field in entry.fields}
        is_resolved = all(ours in own_columns and theirs in their_columns for ours, theirs in pairs)
        if len(entries) != 1 or not pairs or not is_resolved:
            raise ReadError(f"the foreign key to {_quote_text(target)} refers to missing columns")
        columns, referenced = zip(*pairs, strict=True)
        keys.append(
            ForeignKey(
                name=f"key{number}",
                columns=columns,
                referenced_table=entries[0].qualified_name,
                referenced_columns=referenced,
                description=key.description,
            )
        )
    return tuple(keys)


def replace_descriptions(table: Table, given: Table) -> Table:
    """Return a table with new descriptions, units, UCDs and utypes; foreign keys and the layout stay.

    Parameters
    ----------
    table : Table
        The table.
    given : Table
        The definition with the new descriptions.

    Raises
    ------
    UploadError
        The tables have different columns or types, or the unit or UCD of a position differs, by which rows are stored.
    """
    new = {column.name.lower(): column for column in given.columns}
    names = {column.name.lower() for column in table.columns}
    if different := sorted(names ^ new.keys()):
        raise UploadError(
            f"definition and table differ in the column {_quote_text(different[0])}: a posted definition changes only "
            "descriptions. To change columns, create the table again, by PUT with replace=true"
        )
    columns = tuple(_replace_description(table, column, new[column.name.lower()]) for column in table.columns)
    about = {"description": given.description, "utype": given.utype, "columns": columns}
    return check_table(table.model_copy(update=about))


def _replace_description(table: Table, column: Column, given: Column) -> Column:
    if given.type != column.type:
        raise UploadError(
            f"the column {column.name} has another type in the table: create the table again, by PUT with replace=true"
        )
    about = {name: getattr(given, name) for name in ("description", "unit", "ucd", "utype", "std")}
    is_moved = (given.unit, given.ucd) != (column.unit, column.ucd)
    if is_moved and table.layout.position and column.name in table.layout.position:
        raise UploadError(
            f"the unit and UCD of {column.name} cannot change, because the rows are stored by this position: create "
            "the table again, by PUT with replace=true"
        )
    return column.model_copy(update=about)


def find_column(table: Table, name: str) -> Column:
    """Return a column by its name in any case. Raises NotFound, with the most similar name."""
    wanted = name.strip().strip('"').lower()
    for column in table.columns:
        if column.name.lower() == wanted:
            return column
    names = [column.name for column in table.columns]
    close = difflib.get_close_matches(name, names, 1)
    hint = f": did you mean {close[0]}?" if close else f"; it has {', '.join(names[:20])}"
    raise NotFound(f"{SCHEMA_NAME}.{table.name} has no column {_quote_text(name)}{hint}")


def read_vosi_document(path: Path, content_type: str) -> bytes | None:
    """Return a file if it is a VOSI document of a table.

    Parameters
    ----------
    path : Path
        The file.
    content_type : str
        The media type that the client declared, '' for none.

    Returns
    -------
    bytes or None
        The document; None for other files.

    Raises
    ------
    UploadError
        The document is too long.
    """
    kind = content_type.partition(";")[0].strip().lower()
    with path.open("rb") as file:
        start = file.read(65536)
        if (kind and not _XML_TYPE.fullmatch(kind)) or find_root_name(start) in ("", "VOTABLE"):
            return None
        document = start + file.read(MAX_DEFINITION_BYTES)
    if len(document) > MAX_DEFINITION_BYTES:
        raise UploadError(f"the definition of a table may have at most {MAX_DEFINITION_BYTES} bytes")
    return document


def check_table(table: Table) -> Table:
    """Return the table, with its units in VOUnit syntax where possible. Raises UploadError if it is invalid."""
    columns = tuple(
        column.model_copy(update={"unit": normalise_unit(column.unit) or column.unit}) if column.unit else column
        for column in table.columns
    )
    table = table.model_copy(update={"columns": columns})
    if problems := find_table_problems(table):
        raise UploadError(f"the table cannot be created: {problems[0].message}")
    if len(table.model_dump_json(exclude_defaults=True)) > MAX_MODEL_BYTES:
        raise UploadError(f"the columns' names and descriptions take more than {MAX_MODEL_BYTES} bytes: shorten them")
    return table


def _error_text(error: ReadError | ValidationError) -> str:
    if isinstance(error, ReadError):
        return str(error)
    first = error.errors()[0]
    return str(first["msg"]).removeprefix("Value error, ")


def _quote_text(text: str) -> str:
    cut = text if len(text) <= 80 else text[:77] + "..."
    return repr("".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cut))
