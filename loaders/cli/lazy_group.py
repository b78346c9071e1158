"""A group of commands that are imported and built when they are looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperGroup


def build_group_class(table: Mapping[str, str]) -> type[TyperGroup]:
    """Return the class of a group with the commands of a table: names and ``module:object``, of functions or apps."""

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = _LazyCommands(table)  # type: ignore[assignment]  # of which nothing is set

    return LazyGroup


class _LazyCommands(Mapping[str, Any]):
    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = _build_command(name, resolve_name(self._table[name]))
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def _build_command(name: str, found: Any) -> Any:
    """Return typer's command for a function or an app, as it would be in a group of others."""
    group = typer.Typer()
    if isinstance(found, typer.Typer):
        group.add_typer(found, name=name)
    else:
        group.command(name)(found)
    return typer.main.get_group(group).commands[name]
