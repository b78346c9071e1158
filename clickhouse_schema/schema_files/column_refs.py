"""Columns that a table takes from other schema files: Felis' ``resources`` and ``columnRefs``.

A resource must be in the folder of the file that names it, or below: so a schema file from someone else cannot make a
service read other files of the machine or send requests. Problems of a column have the lines of the file that defines
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from clickhouse_schema.schema_files.close_words import suggest_word
from clickhouse_schema.schema_files.schema_document import read_schema_file
from clickhouse_schema.schema_files.yaml_document import Document
from clickhouse_schema.schema_problem import Problem, SchemaError, YamlPath

#: Maximum number of files that a schema file takes columns from, directly or through other files
_MAX_RESOURCES = 32

#: Keys of a column that a reference may replace
_OVERRIDES = ("datatype", "length", "description", "nullable", "tap:principal", "tap:column_index")

_REF_KEYS = ("ref_name", "overrides")


class IncompleteTable(NamedTuple):
    """A table at ``table_path`` of the data whose ``columns`` are in a missing file, ``uri``, which ``path`` names."""

    name: str
    table_path: YamlPath
    columns: tuple[str, ...]
    uri: str
    path: YamlPath


class Included(NamedTuple):
    """Data with definitions for references. ``incomplete``: the last tables, whose missing columns have only names."""

    data: dict[str, Any]
    problems: list[Problem]
    incomplete: list[IncompleteTable]


def include_columns(document: Document, path: Path | None, *, partial: bool = False) -> Included:
    """Replace references to columns of other files by definitions.

    Parameters
    ----------
    document : Document
        The document with the references.
    path : Path or None
        The file of the document; None if it is not in a file and thus has no resources.
    partial : bool
        Return tables as incomplete, instead of a problem, if a resource is missing.

    Returns
    -------
    Included
        The data of the document with definitions, and the problems found.
    """
    return _include(document, path, _Files(), partial)


class _Definition(NamedTuple):
    """A column of a resource, and where it is written."""

    keys: dict[str, Any]
    path: YamlPath


@dataclass
class _Resource:
    """A resource in which references are already replaced."""

    document: Document
    data: dict[str, Any]

    @cached_property
    def tables(self) -> dict[str, dict[str, _Definition]]:
        """Its columns, by the names of tables and columns."""
        found: dict[str, dict[str, _Definition]] = {}
        for table, table_path in _iterate_named(self.data.get("tables"), ("tables",)):
            columns = found.setdefault(table["name"], {})
            for column, path in _iterate_named(table.get("columns"), (*table_path, "columns")):
                columns.setdefault(column["name"], _Definition(column, path))
        return found


def _iterate_named(entries: Any, path: YamlPath) -> Iterator[tuple[dict[str, Any], YamlPath]]:
    for i, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield entry, (*path, i)


@dataclass
class _Files:
    """The resources that were read, and the files whose references are being replaced."""

    known: dict[Path, _Resource] = field(default_factory=dict)
    open_files: list[Path] = field(default_factory=list)

    def read(self, folder: Path, name: str) -> _Resource:
        """Read a resource. Raises ``SchemaError``."""
        path = _find_file(folder, name)
        if path in self.open_files:
            raise SchemaError([f"{name} itself takes columns from this file: remove one of the references"])
        if path not in self.known:
            if len(self.known) + len(self.open_files) > _MAX_RESOURCES:
                raise SchemaError([f"more than {_MAX_RESOURCES} files: combine some of the resources"])
            document = read_schema_file(path, str(folder / name))
            included = _include(document, path, self)
            if included.problems:
                raise SchemaError([document.format_problem(problem) for problem in included.problems[:3]])
            self.known[path] = _Resource(document, included.data)
        return self.known[path]


class _MissingFile(SchemaError):
    """A resource that does not exist."""


def _find_file(folder: Path, name: str) -> Path:
    if "://" in name:
        raise SchemaError([f"{name} is not a file: download it to the folder of this file, and write its name"])
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise SchemaError([f"{name} is not in the folder of this file: copy it there, and write its name"])
    if not path.is_file():
        raise _MissingFile([f"{name} is missing: copy it to the folder of this file"])
    return path


def _include(document: Document, path: Path | None, files: _Files, partial: bool = False) -> Included:
    inclusion = _Inclusion(document, path, files, partial)
    files.open_files.append(path.resolve() if path else Path())
    data = inclusion.make_data()
    files.open_files.pop()
    return Included(data, inclusion.problems, inclusion.incomplete)


class _Inclusion:
    """The replacement of the references in one document."""

    def __init__(self, document: Document, path: Path | None, files: _Files, partial: bool) -> None:
        self.problems: list[Problem] = []
        self.incomplete: list[IncompleteTable] = []
        self._partial = partial
        self._missing: dict[str, str] = {}
        self._order: list[int] = []
        self._document = document
        self._path = path
        self._files = files
        self._resources: dict[str, _Resource | None] = {}

    def make_data(self) -> dict[str, Any]:
        resources = self._document.data.get("resources")
        data = {key: value for key, value in self._document.data.items() if key != "resources" or value is None}
        self._read_resources(resources)
        if isinstance(data.get("tables"), list):
            data["tables"] = [*self._complete_tables(data["tables"])]
        return data

    def _read_resources(self, resources: Any) -> None:
        for name, entry in self._iterate_mapping(resources, ("resources",)):
            path: YamlPath = ("resources", name)
            self._resources[name] = None
            if not (isinstance(entry, dict) and isinstance(entry.get("uri"), str) and len(entry) == 1):
                self._report(path, f"the resource {name} must have one key, uri: the name of a schema file")
            elif self._path is None:
                self._report(path, "only a schema file can have resources: they are in its folder")
            else:
                self._read_resource(name, self._path.parent, entry["uri"])

    def _read_resource(self, name: str, folder: Path, uri: str) -> None:
        try:
            self._resources[name] = self._files.read(folder, uri)
        except SchemaError as error:
            if self._partial and isinstance(error, _MissingFile):
                self._missing[name] = uri
                return
            for reason in error.errors:
                self._report(("resources", name, "uri"), f"the resource {name}: {reason}")

    def _complete_tables(self, tables: list[Any]) -> Iterator[Any]:
        """Yield the tables with all their columns; tables with missing columns come last."""
        ordered = sorted(enumerate(tables), key=lambda entry: self._lacks_columns(entry[1]))
        self._order = [written for written, _ in ordered]
        for i, (_, table) in enumerate(ordered):
            self._record_origin(("tables", i), ("tables", i))
            yield self._complete_table(table, ("tables", i))

    def _record_origin(self, new_path: YamlPath, path: YamlPath) -> None:
        """Note that the element ``new_path`` of the new data comes from ``path``, with ``tables`` in the new order."""
        table = self._order[int(path[1])]
        self._document.record_origin(new_path, self._document, ("tables", table, *path[2:]))

    def _lacks_columns(self, table: Any) -> bool:
        if not isinstance(table, dict) or not isinstance(table.get("columns", []), list):
            return False
        refs = table.get("columnRefs")
        return isinstance(refs, dict) and not self._missing.keys().isdisjoint(refs)

    def _complete_table(self, table: Any, path: YamlPath) -> Any:
        """Return the table with the columns to which it refers after its own; ``path`` is its path in the new data."""
        if not isinstance(table, dict) or table.get("columnRefs") is None:
            return table
        made = {key: value for key, value in table.items() if key != "columnRefs"}
        if not isinstance(own := table.get("columns", []), list):
            return made
        columns = [*own]
        for name, tables in self._iterate_mapping(table["columnRefs"], (*path, "columnRefs")):
            at: YamlPath = (*path, "columnRefs", name)
            if name not in self._resources:
                self._report(at, f"there is no resource {name}{suggest_word(name, self._resources)}")
            elif name in self._missing:
                names = tuple(self._iterate_names(tables, at))
                uri, named = self._missing[name], ("resources", name, "uri")
                self.incomplete.append(IncompleteTable(str(table.get("name")), path, names, uri, named))
                columns += ({"name": column, **_make_id(table, column)} for column in names)
            elif (resource := self._resources[name]) is not None:
                for ref in self._iterate_refs(resource, tables, at):
                    columns.append(self._build_column(table, ref, (*path, "columns", len(columns))))
        made["columns"] = columns
        return made

    def _iterate_names(self, tables: Any, path: YamlPath) -> Iterator[str]:
        """Iterate over the names of columns that come from a missing resource; keys refer to them."""
        for other, refs in self._iterate_mapping(tables, path):
            yield from (name for name, _ in self._iterate_mapping(refs, (*path, other)))

    def _iterate_refs(self, resource: _Resource, tables: Any, path: YamlPath) -> Iterator[_Reference]:
        for table_name, refs in self._iterate_mapping(tables, path):
            at: YamlPath = (*path, table_name)
            columns = resource.tables.get(table_name)
            if columns is None:
                hint = suggest_word(table_name, resource.tables)
                self._report(at, f"{resource.document.source} has no table {table_name}{hint}")
                continue
            for name, ref in self._iterate_mapping(refs, at):
                wanted = ref.get("ref_name", name) if isinstance(ref, dict) else name
                definition = columns.get(wanted) if isinstance(wanted, str) else None
                if definition is None:
                    hint = suggest_word(str(wanted), columns)
                    self._report(
                        (*at, name), f"{table_name} of {resource.document.source} has no column {wanted}{hint}"
                    )
                else:
                    yield _Reference(name, definition, resource.document, ref, (*at, name))

    def _build_column(self, table: dict[str, Any], ref: _Reference, new_path: YamlPath) -> dict[str, Any]:
        """Return the definition under its name in the table, which is at ``new_path`` of the new data."""
        keys = {key: value for key, value in ref.definition.keys.items() if key != "@id"} | {"name": ref.name}
        keys |= _make_id(table, ref.name)
        self._document.record_origin(new_path, ref.document, ref.definition.path)
        self._record_origin((*new_path, "name"), ref.path)
        for key, value in self._iterate_overrides(ref.keys, ref.path):
            self._record_origin((*new_path, key), (*ref.path, "overrides", key))
            if value is None:
                keys.pop(key, None)
            else:
                keys[key] = value
        return keys

    def _iterate_overrides(self, ref: Any, path: YamlPath) -> Iterator[tuple[str, Any]]:
        keys = dict(self._iterate_mapping(ref, path))
        for key in keys:
            if key not in _REF_KEYS:
                self._report((*path, key), f"unknown key {key!r}{suggest_word(key, _REF_KEYS)}")
        for key, value in self._iterate_mapping(keys.get("overrides"), (*path, "overrides")):
            if key in _OVERRIDES or key.startswith("skyhouse:"):
                yield key, value
            else:
                known = f"a reference can replace {', '.join(_OVERRIDES)} and keys of Skyhouse"
                self._report((*path, "overrides", key), f"{key!r} cannot be replaced: {known}")

    def _iterate_mapping(self, value: Any, path: YamlPath) -> Iterator[tuple[str, Any]]:
        """Iterate over a mapping; a key without a value is an empty mapping."""
        if isinstance(value, dict):
            yield from value.items()
        elif value is not None:
            self._report(path, f"{path[-1]} must be a mapping: lines of 'key: value'")

    def _report(self, path: YamlPath, message: str) -> None:
        self.problems.append(Problem(path, message))


def _make_id(table: dict[str, Any], name: str) -> dict[str, str]:
    """Return the ``@id`` of a column from another file, which extends the table's; {} if the table has none."""
    return {"@id": f"{table['@id']}.{name}"} if isinstance(table.get("@id"), str) else {}


class _Reference(NamedTuple):
    """A reference to ``definition`` in ``document``; ``keys`` are its own, at ``path``."""

    name: str
    definition: _Definition
    document: Document
    keys: Any
    path: YamlPath
