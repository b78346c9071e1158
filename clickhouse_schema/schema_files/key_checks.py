"""Checks the keys and types of a schema document."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from clickhouse_schema.schema_files.model_keys import MODELS, find_model, list_keys
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.schema_problem import Problem

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


def validate_schema(data: dict[str, Any], problems: list[Problem]) -> Schema | None:
    """Return the model of the document; None if there are problems, which are added to ``problems``."""
    try:
        return Schema.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        problems += [
            _detail_to_problem(detail) for detail in error.errors(include_url=False) if not _is_consequence(detail)
        ]
        return None


def _is_consequence(detail: ErrorDetails) -> bool:
    """Whether a list is too short only because its entries are wrong, which is already reported."""
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def _detail_to_problem(detail: ErrorDetails) -> Problem:
    path = detail["loc"]
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    if detail["type"] == "extra_forbidden":
        return Problem(path, f"unknown key {key!r}{_suggest_key(key, list_keys(find_model(path[:-1])))}")
    if detail["type"] == "missing" and isinstance(path[-1], str):
        return Problem(path, f"the key {key!r} is missing")
    if detail["type"] == "value_error":
        message = str(detail["ctx"]["error"])
        return Problem(path, f"{key} {message}" if path and path[-1] == key and key not in MODELS else message)
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


def _suggest_key(word: str, known: tuple[str, ...]) -> str:
    bare = {key.rpartition(":")[2]: key for key in known}
    close = difflib.get_close_matches(word, known, 1) or difflib.get_close_matches(word.rpartition(":")[2], bare, 1)
    return f": did you mean {bare.get(close[0], close[0])!r}?" if close else f": known keys are {', '.join(known)}"
