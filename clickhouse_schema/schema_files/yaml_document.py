"""YAML read as plain data with the line of everything in it; no aliases, no tags, no key twice, no deep nesting.

An alias repeats a part of a file without showing it, and a few of them make a file of kilobytes fill the memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from clickhouse_schema.schema_problem import Path, SchemaError

#: PyYAML has the reader in C (ten times faster) in its wheels, not on every machine.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_MAX_DEPTH = 16
_TEXT = frozenset({"tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp"})
_PLAIN = frozenset(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


@dataclass(frozen=True)
class Document:
    """``data`` holds dict, list, str, int, float, bool and None only; ``source`` names it in messages."""

    source: str
    data: Any
    _lines: dict[Path, int] = field(repr=False)

    def has(self, path: Path) -> bool:
        return path in self._lines

    def line(self, path: Path) -> int:
        """1-based line of what is at ``path``, or of the nearest thing around it."""
        while path not in self._lines:
            path = path[:-1]
        return self._lines[path]

    def at(self, path: Path) -> str:
        """``FILE:LINE`` of what is at ``path``."""
        return f"{self.source}:{self.line(path)}"


def read_document(text: str, source: str) -> Document:
    """The one document in ``text``. Raises ``SchemaError``."""
    try:
        return _Reader(text, source).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else text.count("\n") + 1
        raise SchemaError([f"{source}:{line}: not YAML: {error.problem or error.context}"]) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SchemaError([f"{source}:{line}: not YAML: {error.reason}"]) from error


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Reader:
    def __init__(self, text: str, source: str) -> None:
        self._loader = _Loader(text)
        self._source = source
        self._lines: dict[Path, int] = {}

    def document(self) -> Document:
        self._loader.get_event()
        if self._loader.check_event(yaml.StreamEndEvent):
            raise SchemaError([f"{self._source}:1: the file is empty: it must describe a schema"])
        self._loader.get_event()
        data = self._value(self._loader.get_event(), ())
        self._loader.get_event()
        if not self._loader.check_event(yaml.StreamEndEvent):
            raise self._error(self._loader.get_event(), "a second YAML document: put each schema in a file of its own")
        return Document(self._source, data, self._lines)

    def _error(self, event: Any, message: str) -> SchemaError:
        return SchemaError([f"{self._source}:{_line(event)}: {message}"])

    def _value(self, event: Any, path: Path) -> Any:
        self._lines.setdefault(path, _line(event))
        if len(path) > _MAX_DEPTH:
            raise self._error(event, f"nested more than {_MAX_DEPTH} deep: no schema is")
        if getattr(event, "anchor", None):
            raise self._error(event, f"YAML anchors and aliases ({event.anchor}) are not read: write the thing out")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._scalar(event)

    def _mapping(self, path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        while not isinstance(event := self._loader.get_event(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._error(event, "a key must be a plain word")
            key = event.value
            if key in data:
                raise self._error(event, f"the key {key!r} stands twice in one place: take one away")
            self._lines[(*path, key)] = _line(event)
            data[key] = self._value(self._loader.get_event(), (*path, key))
        return data

    def _sequence(self, path: Path) -> list[Any]:
        data: list[Any] = []
        while not isinstance(event := self._loader.get_event(), yaml.SequenceEndEvent):
            data.append(self._value(event, (*path, len(data))))
        return data

    def _scalar(self, event: Any) -> Any:
        tag = event.tag or self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag in _TEXT:
            return event.value
        if tag not in _PLAIN:
            raise self._error(event, f"{event.value!r} with the YAML tag {tag} means nothing here: put it in quotes")
        try:
            return self._loader.construct_object(yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark))
        except (ValueError, KeyError) as error:
            raise self._error(
                event, f"{event.value[:40]!r} is no {tag.rpartition(':')[2]}: put it in quotes"
            ) from error
