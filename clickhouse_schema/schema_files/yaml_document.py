"""Reads YAML as plain data with line numbers; without aliases, tags, duplicate keys and deep nesting.

With a few aliases, a file of kilobytes can fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import yaml

from clickhouse_schema.schema_problem import Problem, SchemaError, YamlPath

#: PyYAML's wheels have the reader in C (ten times faster); other builds may not have it
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_MAX_DEPTH = 16
_MAX_BITS = 1024
_TEXT = frozenset({"tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp"})
_PLAIN = frozenset(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


class Location(NamedTuple):
    """A line of a file; lines count from 1."""

    source: str
    line: int


@dataclass(frozen=True, eq=False)
class Document:
    """``data`` consists of dict, list, str, int, float, bool and None; ``source`` is its name in messages."""

    source: str
    data: Any
    _find_lines: Callable[[], Mapping[YamlPath, int]] = field(repr=False)
    _origins: dict[YamlPath, tuple[Document, YamlPath]] = field(default_factory=dict, repr=False)

    @cached_property
    def _lines(self) -> Mapping[YamlPath, int]:
        return self._find_lines()

    def record_origin(self, path: YamlPath, document: Document, origin: YamlPath) -> None:
        """Note that the element that is now at ``path`` was written at ``origin`` of ``document``."""
        self._origins[path] = (document, origin)

    def has_path(self, path: YamlPath) -> bool:
        """Whether the file has an element at ``path``."""
        document, written = self._trace_path(path)
        return written in document._lines

    def find_location(self, path: YamlPath) -> Location:
        """Return the location of an element, or of the nearest enclosing element that was written.

        Parameters
        ----------
        path : YamlPath
            Keys and list indexes, from 0; () for the document.

        Returns
        -------
        Location
            The file and line, which may be in an included file.
        """
        document, written = self._trace_path(path)
        while written not in document._lines:
            written = written[:-1]
        return Location(document.source, document._lines[written])

    def _trace_path(self, path: YamlPath) -> tuple[Document, YamlPath]:
        """Return the document in which ``path`` was written, and its path there."""
        for end in range(len(path), 0, -1):
            if path[:end] in self._origins:
                document, origin = self._origins[path[:end]]
                origin += path[end:]
                return (self, origin) if document is self else document._trace_path(origin)
        return self, path

    def format_location(self, path: YamlPath) -> str:
        """Return ``FILE:LINE`` of ``path``."""
        source, line = self.find_location(path)
        return f"{source}:{line}"

    def format_problem(self, problem: Problem) -> str:
        """Return ``FILE:LINE: message``."""
        return f"{self.format_location(problem.path)}: {problem.message}"

    def sort_problems(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return the problems sorted by line, problems in other files last."""

        def key(problem: Problem) -> tuple[bool, Location]:
            location = self.find_location(problem.path)
            return location.source != self.source, location

        return sorted(problems, key=key)


def build_document(data: Any, source: str, write: Callable[[], str]) -> Document:
    """Return a document from data; its text is written only if lines are needed.

    Parameters
    ----------
    data : Any
        Dict, list, str, int, float, bool and None.
    source : str
        Name of the document in messages.
    write : callable
        Returns the YAML of ``data``, to which the line numbers in messages refer; called if there is a message.

    Returns
    -------
    Document
        The document.
    """
    return Document(source, data, lambda: read_document(write(), source)._lines)


def read_document(text: str, source: str) -> Document:
    """Read the only YAML document in a text.

    Parameters
    ----------
    text : str
        Content of a file.
    source : str
        Name of the file in messages.

    Returns
    -------
    Document
        Plain data with line numbers.

    Raises
    ------
    SchemaError
        It is empty, not YAML, or more than one document; it has anchors, aliases, unknown tags or duplicate keys, or is
        nested more than 16 levels deep. The message names the line.
    """
    try:
        return _Reader(text, source).read_document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else text.count("\n") + 1
        raise SchemaError([f"{source}:{line}: not YAML: {error.problem or error.context}"]) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SchemaError([f"{source}:{line}: not YAML: {error.reason}"]) from error


def _get_event_line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _check_size(value: Any) -> Any:
    """Return a value. Raises ``ValueError`` if it is a number that is too large for Python to write."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise ValueError(f"an integer of {value.bit_length()} bits")
    return value


class _Reader:
    def __init__(self, text: str, source: str) -> None:
        self._loader = _Loader(text)
        self._source = source
        self._lines: dict[YamlPath, int] = {}

    def read_document(self) -> Document:
        self._loader.get_event()
        if self._loader.check_event(yaml.StreamEndEvent):
            raise SchemaError([f"{self._source}:1: the file is empty: it must describe a schema"])
        self._loader.get_event()
        data = self._read_value(self._loader.get_event(), ())
        self._loader.get_event()
        if not self._loader.check_event(yaml.StreamEndEvent):
            raise self._build_error(
                self._loader.get_event(), "a second YAML document: put each schema in a separate file"
            )
        return Document(self._source, data, lambda: self._lines)

    def _build_error(self, event: Any, message: str) -> SchemaError:
        return SchemaError([f"{self._source}:{_get_event_line(event)}: {message}"])

    def _read_value(self, event: Any, path: YamlPath) -> Any:
        self._lines.setdefault(path, _get_event_line(event))
        if len(path) > _MAX_DEPTH:
            raise self._build_error(event, f"nested more than {_MAX_DEPTH} levels deep: no schema needs that")
        if getattr(event, "anchor", None):
            raise self._build_error(
                event, f"YAML anchors and aliases ({event.anchor}) are not supported: repeat the content"
            )
        if isinstance(event, yaml.MappingStartEvent):
            return self._read_mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._read_sequence(path)
        return self._read_scalar(event)

    def _read_mapping(self, path: YamlPath) -> dict[str, Any]:
        data: dict[str, Any] = {}
        while not isinstance(event := self._loader.get_event(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._build_error(event, "a key must be a plain word")
            key = event.value
            if key in data:
                raise self._build_error(event, f"the key {key!r} occurs twice: remove one")
            self._lines[(*path, key)] = _get_event_line(event)
            data[key] = self._read_value(self._loader.get_event(), (*path, key))
        return data

    def _read_sequence(self, path: YamlPath) -> list[Any]:
        data: list[Any] = []
        while not isinstance(event := self._loader.get_event(), yaml.SequenceEndEvent):
            data.append(self._read_value(event, (*path, len(data))))
        return data

    def _read_scalar(self, event: Any) -> Any:
        tag = event.tag or self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag in _TEXT:
            return event.value
        if tag not in _PLAIN:
            raise self._build_error(
                event, f"{event.value!r} with the YAML tag {tag} is not supported: put it in quotes"
            )
        try:
            node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
            return _check_size(self._loader.construct_object(node))
        except (ValueError, KeyError) as error:
            raise self._build_error(
                event, f"{event.value[:40]!r} is not a valid {tag.rpartition(':')[2]}: put it in quotes"
            ) from error
