"""Describes foreign keys of a table of another service as constraints of a schema file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clickhouse_schema.strict_model import MAX_NAME_LENGTH
from loaders.origin.table_choice import TableName, read_table_name
from tap_service.readers.table_definition import DefinedKey
from tap_service.readers.tap_types import undelimit_name


@dataclass(slots=True)
class DescribedKeys:
    """Constraints, and comments about keys that cannot be written."""

    constraints: list[dict[str, Any]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


def describe_keys(
    keys: Sequence[DefinedKey], origin: TableName, table_name: str, columns: Mapping[str, str]
) -> DescribedKeys:
    """Return the constraints for the foreign keys of a table.

    Parameters
    ----------
    keys : sequence of DefinedKey
        The keys of the origin.
    origin : TableName
        The table at the origin.
    table_name : str
        Its name in the schema file.
    columns : mapping of str to str
        The names of its columns in the schema file, by their names at the origin.
    """
    found = DescribedKeys()
    for number, key in enumerate(keys, 1):
        target = read_table_name(origin.schema, key.target)
        pairs = [(undelimit_name(ours), undelimit_name(theirs)) for ours, theirs in key.pairs]
        reason = _find_problem(target, pairs, origin, columns)
        if reason:
            found.comments.append(f"the foreign key to {key.target} is left out: {reason}")
            continue
        name = _make_name(key.name, origin, number)
        while any(name.lower() == other["name"].lower() for other in found.constraints):
            name = f"{name[: MAX_NAME_LENGTH - 5]}_{number}"
        found.constraints.append(_describe_key(key, name, pairs, target, origin, table_name, columns))
    return found


def _find_problem(
    target: TableName, pairs: list[tuple[str, str]], origin: TableName, columns: Mapping[str, str]
) -> str:
    if not pairs:
        return "it names no columns"
    if missing := [ours for ours, _ in pairs if ours not in columns]:
        return f"its column {missing[0]} is not among the columns"
    if target == origin:
        return "" if all(theirs in columns for _, theirs in pairs) else "it refers to a column that is left out"
    is_writable = target.schema and target.table and "." not in f"{target.schema}{target.table}"
    return "" if is_writable else "the table is not named as schema.table"


def _describe_key(
    key: DefinedKey,
    name: str,
    pairs: list[tuple[str, str]],
    target: TableName,
    origin: TableName,
    table_name: str,
    columns: Mapping[str, str],
) -> dict[str, Any]:
    is_own = target == origin
    referenced = [f"#{table_name}.{columns[theirs]}" if is_own else f"{target}.{theirs}" for _, theirs in pairs]
    about = {"description": key.description, "votable:utype": key.utype}
    return {
        "name": name,
        "@type": "ForeignKey",
        "columns": [columns[ours] for ours, _ in pairs],
        "referencedColumns": referenced,
        **{name: value for name, value in about.items() if value},
    }


def _make_name(name: str, origin: TableName, number: int) -> str:
    """Return the name of a key, which must be unique only in its table, without the prefix of the origin's table."""
    own = name.removeprefix(f"{origin}.").strip()
    is_usable = own and own.isprintable() and len(own) <= MAX_NAME_LENGTH
    return own if is_usable else f"key{number}"
