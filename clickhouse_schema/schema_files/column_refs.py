"""Columns that a table takes from other schema files: Felis' ``resources`` and ``columnRefs``.

A resource lies in the folder of the file that names it, or below: a schema file from elsewhere can make a service
neither read other files of the machine nor send requests. A column keeps the lines of the file that defines it.
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

#: Files that one schema file may name, and those that these name.
_MAX_RESOURCES = 32

#: Keys of a column that a reference may replace.
_OVERRIDES = ("datatype", "length", "description", "nullable", "tap:principal", "tap:column_index")

_REF_KEYS = ("ref_name", "overrides")


def include_columns(document: Document, path: Path | None) -> tuple[dict[str, Any], list[Problem]]:
    """Return the data of ``document`` with definitions for references to columns, and the problems found.

    ``path``: where the document lies; None if it is no file, and so has no resources.
    """
    return _include(document, path, _Files())


class _Definition(NamedTuple):
    """A column of a resource, and where it is written."""

    keys: dict[str, Any]
    path: YamlPath


@dataclass
class _Resource:
    """A resource whose own references are replaced."""

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
    begun: list[Path] = field(default_factory=list)

    def read(self, folder: Path, name: str) -> _Resource:
        """Read a resource. Raises ``SchemaError``."""
        path = _find_file(folder, name)
        if path in self.begun:
            raise SchemaError([f"{name} takes columns from the file that it gives columns: remove one reference"])
        if path not in self.known:
            if len(self.known) + len(self.begun) > _MAX_RESOURCES:
                raise SchemaError([f"more than {_MAX_RESOURCES} files: join some of the resources"])
            document = read_schema_file(path, str(folder / name))
            data, problems = _include(document, path, self)
            if problems:
                raise SchemaError([document.format_problem(problem) for problem in problems[:3]])
            self.known[path] = _Resource(document, data)
        return self.known[path]


def _find_file(folder: Path, name: str) -> Path:
    if "://" in name:
        raise SchemaError([f"{name} is not a file: download it into the folder of this file, and write its name"])
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise SchemaError([f"{name} is not in the folder of this file: copy it there, and write its name"])
    if not path.is_file():
        raise SchemaError([f"{name} is missing: copy it into the folder of this file"])
    return path


def _include(document: Document, path: Path | None, files: _Files) -> tuple[dict[str, Any], list[Problem]]:
    inclusion = _Inclusion(document, path, files)
    files.begun.append(path.resolve() if path else Path())
    data = inclusion.make_data()
    files.begun.pop()
    return data, inclusion.problems


class _Inclusion:
    """The replacement of the references in one document."""

    def __init__(self, document: Document, path: Path | None, files: _Files) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._path = path
        self._files = files
        self._resources: dict[str, _Resource | None] = {}

    def make_data(self) -> dict[str, Any]:
        resources = self._document.data.get("resources")
        data = {key: value for key, value in self._document.data.items() if key != "resources" or value is None}
        self._read_resources(resources)
        if isinstance(data.get("tables"), list):
            data["tables"] = [self._complete_table(table, ("tables", i)) for i, table in enumerate(data["tables"])]
        return data

    def _read_resources(self, resources: Any) -> None:
        for name, entry in self._iterate_mapping(resources, ("resources",)):
            path: YamlPath = ("resources", name)
            self._resources[name] = None
            if not (isinstance(entry, dict) and isinstance(entry.get("uri"), str) and len(entry) == 1):
                self._report(path, f"the resource {name} must have one key, uri: the name of a schema file")
            elif self._path is None:
                self._report(path, "only a schema file can have resources: they lie in its folder")
            else:
                self._read_resource(name, self._path.parent, entry["uri"])

    def _read_resource(self, name: str, folder: Path, uri: str) -> None:
        try:
            self._resources[name] = self._files.read(folder, uri)
        except SchemaError as error:
            for reason in error.errors:
                self._report(("resources", name, "uri"), f"the resource {name}: {reason}")

    def _complete_table(self, table: Any, path: YamlPath) -> Any:
        """Return the table with the columns to which it refers after its own."""
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
            elif (resource := self._resources[name]) is not None:
                for ref in self._iterate_refs(resource, tables, at):
                    place: YamlPath = (*path, "columns", len(columns))
                    columns.append(self._build_column(table, ref, place))
        made["columns"] = columns
        return made

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

    def _build_column(self, table: dict[str, Any], ref: _Reference, place: YamlPath) -> dict[str, Any]:
        """Return the definition under its name in the table, which is at ``place`` in the new data."""
        keys = {key: value for key, value in ref.definition.keys.items() if key != "@id"} | {"name": ref.name}
        if isinstance(table.get("@id"), str):
            keys["@id"] = f"{table['@id']}.{ref.name}"
        self._document.record_origin(place, ref.document, ref.definition.path)
        self._document.record_origin((*place, "name"), self._document, ref.path)
        for key, value in self._iterate_overrides(ref.keys, ref.path):
            self._document.record_origin((*place, key), self._document, (*ref.path, "overrides", key))
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
        """Iterate over a mapping; one without a value is empty."""
        if isinstance(value, dict):
            yield from value.items()
        elif value is not None:
            self._report(path, f"{path[-1]} must be a mapping: lines of 'key: value'")

    def _report(self, path: YamlPath, message: str) -> None:
        self.problems.append(Problem(path, message))


class _Reference(NamedTuple):
    """A reference to ``definition`` in ``document``; ``keys`` are its own, at ``path``."""

    name: str
    definition: _Definition
    document: Document
    keys: Any
    path: YamlPath
