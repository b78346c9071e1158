"""Reads the file SKYHOUSE_REGISTRY, and reports all its problems with their lines."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from clickhouse_schema.schema_files.yaml_document import Document, read_document
from clickhouse_schema.schema_problem import SchemaError, YamlPath
from tap_service.models.registry_metadata import RegistryMetadata

_MAX_BYTES = 1_000_000

_EXPECTED = {
    "string_type": "must be text: put it in quotes",
    "tuple_type": "must be a list: [a, b]",
    "model_type": "must be a mapping: lines of 'key: value'",
    "model_attributes_type": "must be a mapping: lines of 'key: value'",
    "float_type": "must be a number",
}


class RegistryFileError(Exception):
    """The file cannot be used; the message has a line for each problem, which says how to correct it."""


def read_registry_file(path: Path) -> RegistryMetadata:
    """Read the file.

    Raises
    ------
    RegistryFileError
        The file cannot be read, or has problems.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise RegistryFileError(f"{path}: larger than {_MAX_BYTES:,} bytes: is this a file of registry metadata?")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RegistryFileError(f"{path}: not UTF-8: save the file as UTF-8") from error
    except OSError as error:
        raise RegistryFileError(f"{path}: cannot be read: {error.strerror}") from error
    return parse_registry_file(text, str(path))


def parse_registry_file(text: str, source: str) -> RegistryMetadata:
    """Read the contents of a file.

    Parameters
    ----------
    text : str
        The contents.
    source : str
        The name of the file in messages.

    Raises
    ------
    RegistryFileError
        The file has problems.
    """
    try:
        document = read_document(text, source) if text.strip() else Document(source, None, lambda: {(): 1})
    except SchemaError as error:
        raise RegistryFileError(str(error)) from error
    if not isinstance(document.data, dict):
        raise RegistryFileError(
            f"{source}:1: the file has no keys: start with 'authority: example.org'; docs/registry.md has an example"
        )
    try:
        return RegistryMetadata.model_validate(_freeze_lists(document.data), by_alias=True, by_name=False)
    except ValidationError as error:
        details = [detail for detail in error.errors(include_url=False) if not _is_consequence(detail)]
        details.sort(key=lambda detail: document.find_location(detail["loc"]))
        lines = [f"{document.format_location(detail['loc'])}: {_explain_error(detail)}" for detail in details]
        raise RegistryFileError("\n".join(dict.fromkeys(lines))) from error


def _freeze_lists(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(_freeze_lists(value) for value in data)
    if isinstance(data, dict):
        return {key: _freeze_lists(value) for key, value in data.items()}
    return data


def _is_consequence(detail: ErrorDetails) -> bool:
    """Return whether a list is too short only because its entries are invalid, which is reported separately."""
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def _explain_error(detail: ErrorDetails) -> str:
    path = detail["loc"]
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    if detail["type"] == "extra_forbidden":
        known = _list_known_keys(path[:-1])
        near = difflib.get_close_matches(key, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys are {', '.join(known)}"
        return f"unknown key {key!r}: {hint}"
    if detail["type"] == "missing" and isinstance(path[-1], str):
        return f"the key {key!r} is missing"
    if detail["type"] == "value_error":
        return f"{key} {detail['ctx']['error']}" if key else str(detail["ctx"]["error"])
    if detail["input"] is None:
        return f"{key} has no value: give one, or remove the line"
    if detail["type"] in ("too_short", "missing"):
        return f"{key} has too few entries: it needs at least {detail.get('ctx', {}).get('min_length', 2)}"
    if detail["type"] in ("too_long", "string_too_long"):
        return f"{key} is too long: it may have at most {detail['ctx']['max_length']} characters or entries"
    return f"{key} {_EXPECTED.get(detail['type']) or detail['msg'].replace('Input should be', 'must be')}"


def _list_known_keys(path: YamlPath) -> list[str]:
    """Return the keys that are allowed at ``path``."""
    model: type[BaseModel] = RegistryMetadata
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            model = _find_model(model.model_fields[part].annotation) or model
    return [field.serialization_alias or name for name, field in model.model_fields.items()]


def _find_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = get_args(annotation) if get_origin(annotation) else ()
    return next((found for part in inner if (found := _find_model(part))), None)
