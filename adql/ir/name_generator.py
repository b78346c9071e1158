"""Generated names of relations and outputs."""

from __future__ import annotations


class NameGenerator:
    """The generated relation numbers and output aliases of one translation, and two facts about the query.

    ``keeps_join_order``: a pass found a join that ClickHouse must not reorder. ``is_correlated``: a subquery uses a
    column of a query around it.
    """

    def __init__(self) -> None:
        self.keeps_join_order = False
        self.is_correlated = False
        self._relations = 0
        self._aliases = 0

    def new_relation(self) -> int:
        self._relations += 1
        return self._relations

    def new_alias(self) -> str:
        self._aliases += 1
        return f"c{self._aliases}"
