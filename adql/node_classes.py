"""The decorator of the classes of nodes, of the syntax tree and of the bound query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as node_class
else:

    def node_class(*, frozen: bool, slots: bool) -> Callable[[type], type]:  # noqa: ARG001  mypy holds it
        """Return ``dataclass(frozen=True, slots=True)``, frozen for mypy only.

        A frozen dataclass calls ``object.__setattr__`` for each field, so its nodes take three times as long to make.
        """
        return dataclass(slots=slots, unsafe_hash=True)


__all__ = ["node_class"]
