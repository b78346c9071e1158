"""Felis' references to columns by ``@id``, replaced by names; a column without ``@id`` has ``#table.column``.

Works on the raw document, before its keys and types are checked; anything malformed is left for that check.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, NamedTuple

from clickhouse_schema.schema_problem import Problem, YamlPath


class ColumnTarget(NamedTuple):
    table: str
    column: str


def default_id(table: str, column: str) -> str:
    return f"#{table}.{column}"


def resolve_references(data: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the document with names for ids and ``ivoa:unit`` for ``fits:tunit``, and the problems found."""
    resolver = _Resolver(data)
    tables = tuple(resolver.resolve_table(table, path) for table, path in _iterate_entries(data, "tables", ()))
    return (data | {"tables": tables} if isinstance(data.get("tables"), tuple) else data), resolver.problems


def _iterate_entries(data: Any, key: str, path: YamlPath) -> Iterator[tuple[Any, YamlPath]]:
    listed = data.get(key) if isinstance(data, dict) else None
    if isinstance(listed, tuple):
        yield from ((entry, (*path, key, i)) for i, entry in enumerate(listed))


class _Resolver:
    def __init__(self, data: dict[str, Any]) -> None:
        self.problems: list[Problem] = []
        self._schema = data.get("name")
        self._ids: dict[str, ColumnTarget] = {}
        self._collect_ids(data)

    def _collect_ids(self, data: dict[str, Any]) -> None:
        defaults: dict[str, ColumnTarget] = {}
        for table, table_path in _iterate_entries(data, "tables", ()):
            for column, path in _iterate_entries(table, "columns", table_path):
                if not (isinstance(column, dict) and isinstance(column.get("name"), str)):
                    continue
                target = ColumnTarget(str(table.get("name")), column["name"])
                defaults[default_id(*target)] = target
                own = column.get("@id")
                if not isinstance(own, str):
                    continue
                if own in self._ids:
                    self.problems.append(Problem((*path, "@id"), f"@id {own!r} belongs to another column"))
                self._ids[own] = target
        self._ids = defaults | self._ids

    def resolve_table(self, table: Any, path: YamlPath) -> Any:
        if not isinstance(table, dict):
            return table
        made = dict(table)
        if isinstance(table.get("columns"), tuple):
            made["columns"] = tuple(self._resolve_column(*entry) for entry in _iterate_entries(table, "columns", path))
        if "primaryKey" in table:
            made["primaryKey"] = self._resolve_own_columns(table["primaryKey"], table, (*path, "primaryKey"))
        if isinstance(table.get("constraints"), tuple):
            made["constraints"] = tuple(
                self._resolve_constraint(entry, table, at) for entry, at in _iterate_entries(table, "constraints", path)
            )
        return made

    def _resolve_column(self, column: Any, path: YamlPath) -> Any:
        """Replace ``fits:tunit``, Felis' other key for the unit."""
        if not isinstance(column, dict) or "fits:tunit" not in column:
            return column
        if "ivoa:unit" in column:
            self.problems.append(
                Problem((*path, "fits:tunit"), "fits:tunit and ivoa:unit mean the same: keep one of them")
            )
        made = {"ivoa:unit": column["fits:tunit"]} | column
        del made["fits:tunit"]
        return made

    def _resolve_constraint(self, constraint: Any, table: dict[str, Any], path: YamlPath) -> Any:
        if not isinstance(constraint, dict):
            return constraint
        made = {key: value for key, value in constraint.items() if key != "@type"}
        if constraint.get("@type") != "ForeignKey":
            message = "a constraint must have '@type: ForeignKey': remove others, Skyhouse does not enforce them"
            self.problems.append(Problem((*path, "@type"), message))
        if "columns" in constraint:
            made["columns"] = self._resolve_own_columns(constraint["columns"], table, (*path, "columns"))
        made["referencedTable"] = ""
        if isinstance(constraint.get("referencedColumns"), tuple):
            targets = [
                self._resolve_target(ref, (*path, "referencedColumns")) for ref in constraint["referencedColumns"]
            ]
            made["referencedTable"] = targets[0].table if targets else ""
            made["referencedColumns"] = tuple(target.column for target in targets)
            if len({target.table for target in targets if target.column}) > 1:
                message = "referencedColumns are in more than one table: a key refers to one"
                self.problems.append(Problem((*path, "referencedColumns"), message))
        return made

    def _resolve_own_columns(self, value: Any, table: dict[str, Any], path: YamlPath) -> Any:
        """Return the names of the table's own columns for their ids or names; a single one needs no brackets."""
        refs = (value,) if isinstance(value, str) else value
        if not isinstance(refs, tuple):
            return value
        name = table.get("name")
        columns = [
            column.get("name") for column, _ in _iterate_entries(table, "columns", ()) if isinstance(column, dict)
        ]
        made = []
        for ref in refs:
            target = self._ids.get(ref) if isinstance(ref, str) else None
            if target and target.table == name:
                made.append(target.column)
            else:
                made.append(ref)
                if isinstance(ref, str) and ref not in columns:
                    own = [key for key, value in self._ids.items() if value.table == name]
                    self.problems.append(Problem(path, f"{ref!r} is not a column of this table{_suggest_id(ref, own)}"))
        return tuple(made)

    def _resolve_target(self, ref: Any, path: YamlPath) -> ColumnTarget:
        """Return the referenced ``schema.table`` and column; tables of other files need ``schema.table.column``."""
        if isinstance(ref, str) and ref in self._ids:
            target = self._ids[ref]
            return ColumnTarget(f"{self._schema}.{target.table}", target.column)
        if isinstance(ref, str) and not ref.startswith("#") and ref.count(".") >= 2:
            schema, table, column = ref.split(".", 2)
            return ColumnTarget(f"{schema}.{table}", column)
        message = f"no column has the @id {ref!r}{_suggest_id(str(ref), list(self._ids))}"
        self.problems.append(Problem(path, f"{message} (a column of a table in another file is schema.table.column)"))
        return ColumnTarget("", "")


def _suggest_id(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f": did you mean {close[0]!r}?" if close else ""
