"""Problems in a schema, located by a path of YAML keys and list positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

YamlPath = tuple[str | int, ...]


class Problem(NamedTuple):
    """A problem in a document; ``path`` is where it is."""

    path: YamlPath
    message: str


class SchemaError(ValueError):
    """A schema cannot be used.

    Parameters
    ----------
    errors : sequence of str
        Lines for the user, with file and line number if known.
    """

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = tuple(errors)
