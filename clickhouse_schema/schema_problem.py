"""Problems of a schema, located by a path of YAML keys and list positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

YamlPath = tuple[str | int, ...]


class Problem(NamedTuple):
    """``path``: the place in the document to which ``message`` refers."""

    path: YamlPath
    message: str


class SchemaError(ValueError):
    """A schema that cannot be used. ``errors`` are lines for the user, with file and line where known."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = tuple(errors)
