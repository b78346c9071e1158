"""Replaces references to columns by ``@id`` with names; a column without ``@id`` has the id ``#table.column``.

Constraints other than foreign keys, groups of columns and indexes are left out, after their references are checked.
This works on the raw document, before its keys and types are checked; anything malformed is left for that check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from clickhouse_schema.schema_files.close_words import suggest_word
from clickhouse_schema.schema_problem import Problem, YamlPath

_FOREIGN_KEY = "ForeignKey"
_CONSTRAINTS = (_FOREIGN_KEY, "Unique", "Check")

#: The key that an ignored constraint must have
_NEEDED = {"Unique": "columns", "Check": "expression"}

#: Maximum number of suggestions: each compares thousands of words
_MAX_HINTS = 20


class ColumnTarget(NamedTuple):
    """The column to which a reference leads."""

    table: str
    column: str


def default_id(table: str, column: str) -> str:
    """Return the id of a column that has no ``@id``."""
    return f"#{table}.{column}"


#: Lists of a table that name columns and have no effect, and why
_UNUSED_LISTS = {
    "indexes": "skyhouse:layout determines the indexes",
    "columnGroups": "TAP does not publish groups of columns",
}


class Resolved(NamedTuple):
    """A document with names instead of ids. ``moved``: the paths of constraints before others were left out."""

    data: dict[str, Any]
    problems: list[Problem]
    notes: list[Problem]
    moved: dict[YamlPath, YamlPath]

    def restore_path(self, problem: Problem) -> Problem:
        """Return a problem of the new data with its path in the document."""
        old = self.moved.get(problem.path[:4])
        return problem if old is None else Problem(old + problem.path[4:], problem.message)


def resolve_references(data: dict[str, Any]) -> Resolved:
    """Replace ids with names, and leave out what is not used."""
    resolver = _Resolver(data)
    tables = tuple(resolver.resolve_table(table, path) for table, path in _iterate_entries(data, "tables", ()))
    made = data | {"tables": tables} if isinstance(data.get("tables"), tuple) else data
    return Resolved(made, resolver.problems, resolver.notes, resolver.moved)


def _iterate_entries(data: Any, key: str, path: YamlPath) -> Iterator[tuple[Any, YamlPath]]:
    listed = data.get(key) if isinstance(data, dict) else None
    if isinstance(listed, tuple):
        yield from ((entry, (*path, key, i)) for i, entry in enumerate(listed))


class _Resolver:
    def __init__(self, data: dict[str, Any]) -> None:
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self.moved: dict[YamlPath, YamlPath] = {}
        self._schema = data.get("name")
        self._ids: dict[str, ColumnTarget] = {}
        self._names: dict[str, set[str]] = {}
        self._hints = _MAX_HINTS
        self._collect_ids(data)

    def _collect_ids(self, data: dict[str, Any]) -> None:
        defaults: dict[str, ColumnTarget] = {}
        for table, table_path in _iterate_entries(data, "tables", ()):
            for column, path in _iterate_entries(table, "columns", table_path):
                if not (isinstance(column, dict) and isinstance(column.get("name"), str)):
                    continue
                target = ColumnTarget(str(table.get("name")), column["name"])
                defaults[default_id(*target)] = target
                self._names.setdefault(target.table, set()).add(target.column)
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
        made = {key: value for key, value in table.items() if key not in _UNUSED_LISTS}
        for key, reason in _UNUSED_LISTS.items():
            if key in table and not isinstance(table[key], tuple):
                self.problems.append(Problem((*path, key), f"{key} must be a list: [a, b]"))
            for entry, at in _iterate_entries(table, key, path):
                self.notes.append(Problem(at, f"{key} is ignored: {reason}"))
                self._check_own_columns(entry, table, at)
        if "primaryKey" in table:
            made["primaryKey"] = self._resolve_primary_key(table["primaryKey"], table, (*path, "primaryKey"))
        if isinstance(table.get("constraints"), tuple):
            made["constraints"] = tuple(self._resolve_constraints(table, path))
        return made

    def _resolve_primary_key(self, value: Any, table: dict[str, Any], path: YamlPath) -> Any:
        """Return the names of its columns, without the names that are reported as problems."""
        names = self._resolve_own_columns(value, table, path)
        if not isinstance(names, tuple):
            return names
        for name, count in Counter(name for name in names if isinstance(name, str)).items():
            if count > 1:
                self.problems.append(Problem(path, f"primaryKey names {name} {count} times: name it once"))
        known = self._names.get(str(table.get("name")), set())
        texts = dict.fromkeys(name for name in names if isinstance(name, str) and name in known)
        return (*texts, *(name for name in names if not isinstance(name, str)))

    def _resolve_constraints(self, table: dict[str, Any], path: YamlPath) -> Iterator[Any]:
        """Yield the foreign keys."""
        count = 0
        for entry, at in _iterate_entries(table, "constraints", path):
            kind = entry.get("@type") if isinstance(entry, dict) else _FOREIGN_KEY
            if kind == _FOREIGN_KEY or not self._is_left_out(kind, at):
                self.moved[(*path, "constraints", count)] = at
                count += 1
                yield self._resolve_foreign_key(entry, table, at)
            else:
                self._check_ignored(str(kind), entry, at)
                self._check_own_columns(entry, table, at)

    def _check_ignored(self, kind: str, entry: dict[str, Any], path: YamlPath) -> None:
        key = _NEEDED.get(kind)
        if key and not entry.get(key):
            self.notes.append(Problem(path, f"a {kind} constraint needs the key {key!r}"))

    def _is_left_out(self, kind: Any, path: YamlPath) -> bool:
        """Whether a constraint is not a foreign key, and not misspelt."""
        if not isinstance(kind, str) or not kind:
            self.problems.append(Problem(path, f"a constraint needs '@type': {', '.join(_CONSTRAINTS)}"))
            return False
        if kind not in _CONSTRAINTS and (hint := suggest_word(kind, _CONSTRAINTS)):
            self.problems.append(Problem((*path, "@type"), f"@type {kind!r} is unknown{hint}"))
            return False
        self.notes.append(Problem((*path, "@type"), f"{kind} constraints are ignored: they are not enforced"))
        return True

    def _resolve_foreign_key(self, constraint: Any, table: dict[str, Any], path: YamlPath) -> Any:
        if not isinstance(constraint, dict):
            return constraint
        made = {key: value for key, value in constraint.items() if key != "@type"}
        if "referencedTable" in constraint:
            message = "referencedTable is not a key of files: referencedColumns names the table"
            self.problems.append(Problem((*path, "referencedTable"), message))
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
                message = "referencedColumns are in more than one table: a key refers to one table"
                self.problems.append(Problem((*path, "referencedColumns"), message))
        return made

    def _check_own_columns(self, entry: Any, table: dict[str, Any], path: YamlPath) -> None:
        """Add notes about the references of an ignored entry to columns that the table does not have."""
        columns = entry.get("columns") if isinstance(entry, dict) else None
        texts = tuple(column for column in columns if isinstance(column, str)) if isinstance(columns, tuple) else ()
        self.notes += self._find_own_columns(texts, table, (*path, "columns"))[1]

    def _resolve_own_columns(self, value: Any, table: dict[str, Any], path: YamlPath) -> Any:
        """Return the names of the table's own columns, given by ids or names; a single one needs no brackets."""
        refs = (value,) if isinstance(value, str) else value
        if not isinstance(refs, tuple):
            return value
        made, problems = self._find_own_columns(refs, table, path)
        self.problems += problems
        return made

    def _find_own_columns(
        self, refs: tuple[Any, ...], table: dict[str, Any], path: YamlPath
    ) -> tuple[tuple[Any, ...], list[Problem]]:
        name = str(table.get("name"))
        columns = self._names.get(name, set())
        made, problems = [], []
        for ref in refs:
            target = self._ids.get(ref) if isinstance(ref, str) else None
            if target and target.table == name:
                made.append(target.column)
            else:
                made.append(ref)
                if isinstance(ref, str) and ref not in columns:
                    own = (key for key, value in self._ids.items() if value.table == name)
                    problems.append(Problem(path, f"{ref!r} is not a column of this table{self._suggest(ref, own)}"))
        return tuple(made), problems

    def _resolve_target(self, ref: Any, path: YamlPath) -> ColumnTarget:
        """Return the referenced ``schema.table`` and column; a table in another file needs ``schema.table.column``."""
        if isinstance(ref, str) and ref in self._ids:
            target = self._ids[ref]
            return ColumnTarget(f"{self._schema}.{target.table}", target.column)
        if isinstance(ref, str) and not ref.startswith("#") and ref.count(".") >= 2:
            schema, table, column = ref.split(".", 2)
            return ColumnTarget(f"{schema}.{table}", column)
        message = f"no column has the @id {ref!r}{self._suggest(str(ref), self._ids)}"
        self.problems.append(Problem(path, f"{message} (a column of a table in another file is schema.table.column)"))
        return ColumnTarget("", "")

    def _suggest(self, word: str, known: Iterable[str]) -> str:
        self._hints -= 1
        return suggest_word(word, known) if self._hints >= 0 else ""
