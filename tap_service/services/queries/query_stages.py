"""The current stage of a running query, by name.

The engine reports the rows that it has read and joined, and the run reports the rows that it has written. The
number that grows identifies the stage; when none grows, the query groups or sorts.
"""

from __future__ import annotations

from enum import StrEnum

from adql.ir import Query, SetOperation, has_window, walk_joins, walk_selects
from adql.query_analysis import is_cross_match
from tap_service.storage.engine.engine import Progress


class QueryStage(StrEnum):
    """``PREPARING``: uploads are read and the query is translated. ``MATCHING``: a cross-match."""

    PREPARING = "preparing"
    READING = "reading"
    MATCHING = "matching"
    JOINING = "joining"
    GROUPING = "grouping"
    SORTING = "sorting"
    WRITING = "writing"


class QueryStages:
    """The stages of one query.

    Parameters
    ----------
    query : Query or None
        The query after the passes; None for SQL without an ADQL query, which only reads and writes.
    """

    def __init__(self, query: Query | None) -> None:
        selected = [] if query is None else list(walk_selects(query))
        found = [join for select in selected for join in walk_joins(select.from_)]
        #: MATCHING or JOINING, if there is a join
        self.join: QueryStage | None = None
        if found:
            self.join = QueryStage.MATCHING if any(map(is_cross_match, found)) else QueryStage.JOINING
        self._groups = any(select.is_grouped or select.distinct for select in selected)
        self._sorts = any(select.order_by or has_window(select) for select in selected)
        if isinstance(query, SetOperation):
            self._groups = self._groups or not query.all
            self._sorts = self._sorts or bool(query.order_by)

    def current_stage(self, before: Progress, seen: Progress, *, written: bool) -> QueryStage:
        """Return the stage between two reports of the engine.

        Parameters
        ----------
        before, seen : Progress
            The earlier and the later report.
        written : bool
            Whether rows of the result were written between the reports.
        """
        if seen.joined_rows > before.joined_rows and self.join is not None:
            return self.join
        if not seen.read_rows or seen.read_rows < seen.total_rows:
            return QueryStage.READING
        if written:
            return QueryStage.WRITING
        if self.join is not None and not seen.joined_rows:
            return self.join
        if self._groups:
            return QueryStage.GROUPING
        if self._sorts:
            return QueryStage.SORTING
        return self.join or QueryStage.READING
