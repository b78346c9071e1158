"""The contents of the expressions of a SELECT, found in one walk, which decide whether a pass is needed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from adql.ir import Call, Column, Expr, Literal, Select, walk_join_conditions, walk_select_expressions


class Parts(NamedTuple):
    """The parts of expressions, without the contents of subqueries.

    ``calls``: the names of calls. ``columns``: relation numbers and names. ``kinds``: the classes of other nodes except
    literals.
    """

    calls: set[str]
    columns: set[tuple[int, str]]
    kinds: set[type[Expr]]


class SelectContents:
    """A SELECT with the parts of its expressions, which are collected when they are first needed.

    Attributes
    ----------
    select
        The SELECT.
    """

    def __init__(self, select: Select) -> None:
        self.select = select

    @cached_property
    def conditions(self) -> Parts:
        """The parts of WHERE and of each ON."""
        conditions = [*walk_join_conditions(self.select.from_)]
        if self.select.where is not None:
            conditions.append(self.select.where)
        return _collect_parts(conditions)

    @cached_property
    def others(self) -> Parts:
        """The parts of all other expressions."""
        return _collect_parts(walk_select_expressions(self.select, has_conditions=False))

    @property
    def has_other_kinds(self) -> bool:
        """Whether an expression contains anything but calls, columns and literals."""
        return bool(self.conditions.kinds or self.others.kinds)

    def has_kind(self, kinds: Iterable[type[Expr]]) -> bool:
        """Return whether an expression of the SELECT contains a node of one of these classes.

        Parameters
        ----------
        kinds
            Classes other than Call, Column and Literal, which are not collected.
        """
        return not (self.conditions.kinds.isdisjoint(kinds) and self.others.kinds.isdisjoint(kinds))

    def update(self, select: Select) -> SelectContents:
        """Return the contents of another SELECT; these contents if it is the same object."""
        return self if select is self.select else SelectContents(select)

    def has_call(self, names: Iterable[str]) -> bool:
        """Return whether an expression of the SELECT contains one of these calls, outside its subqueries."""
        return not (self.conditions.calls.isdisjoint(names) and self.others.calls.isdisjoint(names))


def _collect_parts(exprs: Iterable[Expr]) -> Parts:
    parts = Parts(set(), set(), set())
    waiting = [*exprs]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Column):
            parts.columns.add((part.relation, part.name))
        elif isinstance(part, Call):
            parts.calls.add(part.name)
            waiting += part.args
        elif not isinstance(part, Literal):
            parts.kinds.add(type(part))
            waiting += part.children
    return parts
