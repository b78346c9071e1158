"""Reads a schema file (YAML with Felis' keys) into the model.

All faults are reported at once, as ``FILE:LINE: fault, and the way out``. References between columns are Felis'
``@id``s in the file and names in the model.
"""

from __future__ import annotations

import difflib
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from clickhouse_schema import obscore
from clickhouse_schema.column_links import InputParam, Link, Service
from clickhouse_schema.file_form import FileForm
from clickhouse_schema.name_columns import NameColumn
from clickhouse_schema.schema_files.felis_references import resolve_references
from clickhouse_schema.schema_files.schema_checks import find_problems
from clickhouse_schema.schema_files.yaml_document import Document, read_document
from clickhouse_schema.schema_model import Column, Example, ForeignKey, Layout, Schema, Table, Versions
from clickhouse_schema.schema_problem import Problem, SchemaError, YamlPath
from clickhouse_schema.ucd_words import find_ucd_fault
from clickhouse_schema.vounit import normalise_unit

#: A table of 5,000 columns takes about 1 MB; a data file passed by mistake is larger than this.
MAX_BYTES = 8_000_000

_MAX_SHOWN = 20

#: Felis keys for the storage of other databases: ignored with a warning.
_UNUSED = frozenset({"indexes", "precision", "value", "autoincrement", "deferrable", "initially"})
_UNUSED_PREFIXES = ("mysql:", "postgresql:", "oracle:", "sqlite:", "mssql:")

#: The models of the lists and mappings under these keys.
_MODELS: dict[str, type[BaseModel]] = {
    "tables": Table,
    "columns": Column,
    "constraints": ForeignKey,
    "skyhouse:examples": Example,
    "skyhouse:layout": Layout,
    "versions": Versions,
    "skyhouse:links": Link,
    "skyhouse:services": Service,
    "skyhouse:names": NameColumn,
    "skyhouse:files": FileForm,
    "inputParams": InputParam,
}

_EXPECTED = {
    "string_type": "must be text: put it in quotes",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "tuple_type": "must be a list: [a, b]",
    "model_type": "must be a mapping: lines of 'key: value'",
    "string_unicode": "has characters that are not Unicode: remove them",
}


def read_schema(content: str | FilePath, source: str = "", *, strict: bool = False) -> tuple[Schema, list[str]]:
    """Read a schema.

    Units are rewritten as VOUnits; one that cannot be rewritten is kept with a warning. An invalid UCD1+ is dropped
    with a warning. A table's id is its primary key if the layout names none.

    Parameters
    ----------
    content
        YAML text, or the path of a file.
    source
        Name of a text in messages.
    strict
        Treat warnings as errors.

    Returns
    -------
    tuple of Schema and list of str
        The schema, and warnings with their lines.

    Raises
    ------
    SchemaError
        Names each fault with its line.
    """
    if isinstance(content, FilePath):
        source = source or str(content)
        content = _read_text(content, source)
    if len(content) > MAX_BYTES:
        raise SchemaError([f"{source}:1: more than {MAX_BYTES:,} characters: is this a schema file?"])
    document = read_document(content, source)
    if not isinstance(document.data, dict):
        raise SchemaError([f"{source}:1: a schema file starts with 'name: ...' of the schema"])
    warnings: list[Problem] = []
    data, problems = resolve_references(_drop_unused_keys(document.data, (), warnings))
    schema = _validate_schema(data, problems)
    if schema is not None:
        schema = _normalise_schema(schema, document, warnings)
        warnings += obscore.find_obscore_warnings(schema)
        problems += find_problems(schema)
    if schema is None or problems or (strict and warnings):
        raise _build_error(document, problems + (warnings if strict else []))
    return schema, [_format_problem(document, warning) for warning in _sort_problems(document, warnings)]


def _read_text(path: FilePath, source: str) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SchemaError([f"{source}:1: larger than {MAX_BYTES:,} bytes: is this a schema file?"])
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SchemaError([f"{source}:{line}: not UTF-8: save the file as UTF-8"]) from error
    except OSError as error:
        raise SchemaError([f"{source}: cannot be read: {error.strerror}"]) from error


def _build_error(document: Document, problems: list[Problem]) -> SchemaError:
    lines = list(dict.fromkeys(_format_problem(document, problem) for problem in _sort_problems(document, problems)))
    more = [f"... and {len(lines) - _MAX_SHOWN:,} more"] if len(lines) > _MAX_SHOWN else []
    return SchemaError(lines[:_MAX_SHOWN] + more)


def _sort_problems(document: Document, problems: list[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: document.find_line(problem.path))


def _format_problem(document: Document, problem: Problem) -> str:
    return f"{document.format_location(problem.path)}: {problem.message}"


# --- ignored keys -----------------------------------------------------------------------------------------------------


def _drop_unused_keys(data: Any, path: YamlPath, warnings: list[Problem]) -> Any:
    """Return the document with tuples for lists and without the ignored keys."""
    if isinstance(data, list):
        return tuple(_drop_unused_keys(value, (*path, i), warnings) for i, value in enumerate(data))
    if not isinstance(data, dict):
        return data
    kept = {}
    ours = any(isinstance(part, str) and part.startswith("skyhouse:") for part in path)
    for key, value in data.items():
        if not ours and (key in _UNUSED or key.startswith(_UNUSED_PREFIXES)):
            warnings.append(Problem((*path, key), f"{key} is ignored (skyhouse:layout determines the indexes)"))
        else:
            kept[key] = _drop_unused_keys(value, (*path, key), warnings)
    return kept


# --- keys and types ---------------------------------------------------------------------------------------------------


def _validate_schema(data: dict[str, Any], problems: list[Problem]) -> Schema | None:
    """Return the model of the document; None after adding to ``problems``."""
    try:
        return Schema.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        problems += [
            _detail_to_problem(detail) for detail in error.errors(include_url=False) if not _is_consequence(detail)
        ]
        return None


def _is_consequence(detail: ErrorDetails) -> bool:
    """Whether a list is too short only because its entries are faulty, which is reported already."""
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def _detail_to_problem(detail: ErrorDetails) -> Problem:
    path = detail["loc"]
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    if detail["type"] == "extra_forbidden":
        return Problem(path, f"unknown key {key!r}{_suggest_key(key, _list_known_keys(path[:-1]))}")
    if detail["type"] == "missing" and isinstance(path[-1], str):
        return Problem(path, f"the key {key!r} is missing")
    if detail["type"] == "value_error":
        message = str(detail["ctx"]["error"])
        return Problem(path, f"{key} {message}" if path and path[-1] == key and key not in _MODELS else message)
    if detail["input"] is None:
        return Problem(path, f"{key} has no value: give one, or remove the line")
    if detail["type"] in ("too_short", "too_long", "missing"):
        return Problem(path, _describe_count(key, detail))
    expected = _EXPECTED.get(detail["type"]) or detail["msg"].replace("Input should be", "must be")
    return Problem(path, f"{key} {expected}")


def _describe_count(key: str, detail: ErrorDetails) -> str:
    """Describe the required number of entries; only a position has a fixed number."""
    if key == "position":
        return "position must be two columns: [longitude, latitude]"
    if detail["type"] == "too_short":
        return f"{key} must have at least one entry"
    return f"{key} has more than {detail['ctx']['max_length']:,} entries: split the table"


def _list_known_keys(path: YamlPath) -> list[str]:
    """Return the keys that are allowed at ``path``."""
    model = next((_MODELS[part] for part in reversed(path) if isinstance(part, str) and part in _MODELS), Schema)
    aliases = {name: field.serialization_alias or name for name, field in model.model_fields.items()}
    if model is Column:
        aliases["tunit"] = "fits:tunit"
    if model is ForeignKey:
        aliases["type"] = "@type"
        del aliases["referenced_table"]
    return list(aliases.values())


def _suggest_key(word: str, known: list[str]) -> str:
    bare = {key.rpartition(":")[2]: key for key in known}
    close = difflib.get_close_matches(word, known, 1) or difflib.get_close_matches(word.rpartition(":")[2], bare, 1)
    return f": did you mean {bare.get(close[0], close[0])!r}?" if close else f": known keys are {', '.join(known)}"


# --- units and UCDs ---------------------------------------------------------------------------------------------------


def _normalise_schema(schema: Schema, document: Document, warnings: list[Problem]) -> Schema:
    """Return the schema with VOUnits and UCD1+ as far as possible."""
    tables = []
    for i, table in enumerate(schema.tables):
        columns = tuple(
            _normalise_column(column, ("tables", i, "columns", j), document, warnings)
            for j, column in enumerate(table.columns)
        )
        layout = table.layout if table.layout.id else table.layout.model_copy(update={"id": table.primary_key})
        tables.append(table.model_copy(update={"columns": columns, "layout": layout}))
    return schema.model_copy(update={"tables": tuple(tables)})


def _normalise_column(column: Column, path: YamlPath, document: Document, warnings: list[Problem]) -> Column:
    update: dict[str, str] = {}
    if column.unit:
        unit = normalise_unit(column.unit)
        if unit is None:
            key = "ivoa:unit" if document.has_path((*path, "ivoa:unit")) else "fits:tunit"
            message = f"{key} {column.unit!r} is not a VOUnit: kept unchanged (write VOUnits, such as km.s**-1)"
            warnings.append(Problem((*path, key), message))
        elif unit != column.unit:
            update["unit"] = unit
    if column.ucd and (wrong := find_ucd_fault(column.ucd)):
        warnings.append(Problem((*path, "ivoa:ucd"), f"ivoa:ucd {column.ucd!r} {wrong}: it is not published"))
        update["ucd"] = ""
    return column.model_copy(update=update) if update else column
