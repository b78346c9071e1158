"""Reads a schema file (YAML with Felis' keys) into the model.

A file is read in four steps: columns of other files are included, keys of Felis are simplified, references by ``@id``
are replaced with names, and the model checks keys and types. All errors are reported together, as ``FILE:LINE: problem:
solution``. If something is left out or cannot be published, there is a warning.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import NamedTuple

from clickhouse_schema import obscore
from clickhouse_schema.schema_files.column_refs import IncompleteTable, include_columns
from clickhouse_schema.schema_files.felis_keys import simplify_keys
from clickhouse_schema.schema_files.felis_references import resolve_references
from clickhouse_schema.schema_files.incomplete_tables import drop_last_tables, find_missing_resources
from clickhouse_schema.schema_files.key_checks import validate_schema
from clickhouse_schema.schema_files.problem_lines import format_notes, format_problems
from clickhouse_schema.schema_files.schema_checks import find_doubts, find_problems
from clickhouse_schema.schema_files.schema_document import read_schema_file, read_schema_text
from clickhouse_schema.schema_files.unit_rewrites import normalise_schema
from clickhouse_schema.schema_files.yaml_document import Document
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.schema_problem import Problem, SchemaError

_MAX_SHOWN = 20


class Findings(NamedTuple):
    """The schema in a file, and messages about it as lines ``FILE:LINE: message``.

    Attributes
    ----------
    schema
        None if there are errors; without the tables of ``incomplete``.
    errors
        Messages about what must be corrected.
    warnings
        Messages about what is left out or changed.
    incomplete
        Tables that take columns from missing files.
    """

    schema: Schema | None
    errors: list[str]
    warnings: list[str]
    incomplete: list[IncompleteTable]

    def require_schema(self, *, strict: bool = False) -> Schema:
        """Return the schema; ``strict`` treats warnings as errors. Raises ``SchemaError`` if there are errors."""
        refused = self.errors + self.warnings if strict else self.errors
        if self.schema is None or refused:
            more = [f"... and {len(refused) - _MAX_SHOWN:,} more"] if len(refused) > _MAX_SHOWN else []
            raise SchemaError(refused[:_MAX_SHOWN] + more)
        return self.schema


def read_schema(
    content: str | FilePath | Document, source: str = "", *, strict: bool = False
) -> tuple[Schema, list[str]]:
    """Read a schema.

    Units are converted to VOUnits; a unit that cannot be converted is kept with a warning. An invalid UCD is removed
    with a warning. A table's id is its primary key if the layout has no id.

    Parameters
    ----------
    content : str, Path or Document
        YAML text, the path of a file, or a document.
    source : str, optional
        Name of a text in messages.
    strict : bool
        Treat warnings as errors.

    Returns
    -------
    tuple of Schema and list of str
        The schema, and warnings with their lines.

    Raises
    ------
    SchemaError
        If the schema has errors; the message names each error with its line.
    """
    found = check_schema(content, source)
    return found.require_schema(strict=strict), found.warnings


def _open_document(content: str | FilePath | Document, source: str) -> Document:
    if isinstance(content, Document):
        return content
    if isinstance(content, FilePath):
        return read_schema_file(content, source or str(content))
    return read_schema_text(content, source)


def check_schema(content: str | FilePath | Document, source: str = "", *, partial: bool = False) -> Findings:
    """Read a schema, and return it together with all messages about its file.

    Parameters
    ----------
    content : str, Path or Document
        YAML text, the path of a file, or a document.
    source : str, optional
        Name of a text in messages.
    partial : bool
        Leave out tables that take columns from a missing file, instead of an error.

    Returns
    -------
    Findings
        The schema, and messages about errors and warnings.

    Raises
    ------
    SchemaError
        If the file cannot be read, or is not YAML.
    """
    path = content if isinstance(content, FilePath) else None
    document = _open_document(content, source)
    included = include_columns(document, path, partial=partial)
    if included.problems:  # without these columns, keys and indexes would seem to be wrong
        return Findings(None, format_problems(document, included.problems), [], [])
    simple, problems, notes = simplify_keys(included.data)
    resolved = resolve_references(simple)
    problems += resolved.problems
    notes += resolved.notes
    notes += find_missing_resources(included.incomplete)
    found: list[Problem] = []
    schema = validate_schema(drop_last_tables(resolved.data, included.incomplete), found)
    if schema is not None:
        schema = normalise_schema(schema, document, notes)
        notes += obscore.find_obscore_warnings(schema)
        notes += find_doubts(schema)
        found += find_problems(schema)
    problems += map(resolved.restore_path, found)
    errors = format_problems(document, problems)
    return Findings(None if errors else schema, errors, format_notes(document, notes), included.incomplete)
