"""A group of commands whose modules are imported when a command is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperGroup


def build_group_class(table: Mapping[str, str]) -> type[TyperGroup]:
    """Return the class of a group of commands.

    Parameters
    ----------
    table : mapping of str to str
        The names of the commands, each with the ``module:object`` of its function or Typer app.
    """

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = _LazyCommands(table)  # type: ignore[assignment]  # nobody adds a command

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
    """Return Typer's command for a function or an app, as in a group with other commands."""
    group = typer.Typer()
    if isinstance(found, typer.Typer):
        group.add_typer(found, name=name)
    else:
        group.command(name)(found)
    return typer.main.get_group(group).commands[name]
