"""What the binders of one statement share: the catalogue, generated names, WITH tables, limits and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adql.errors import AdqlError, AdqlSemanticError, AdqlUnsupported, Span
from adql.ir import NameGenerator
from adql.resolve.object_positions import ObjectPositions
from adql.syntax import nodes
from clickhouse_schema.catalogue import Catalogue, TableEntry

#: Every use of a WITH table binds it again: in a chain where each uses the one before twice, the number doubles.
MAX_RELATIONS = 500

#: Operands of AND and OR. ClickHouse spends more time on planning than on reading; 10,000 cones took it 15 minutes.
MAX_CONDITIONS = 1000

#: Branches of CASE that are tested one by one. ClickHouse's planning time grows with the square of their number:
#: 1.5 s for 2,000 and 30 s for 8,000, on one core.
MAX_BRANCHES = 2000

MAX_ERRORS = 10


class Resolution:
    """State of the resolution of one statement. ``tables``: the catalogue tables that it reads, by qualified name."""

    def __init__(self, catalogue: Catalogue, fresh: NameGenerator, positions: ObjectPositions) -> None:
        self.catalogue = catalogue
        self.fresh = fresh
        self.positions = positions
        self.common_tables: dict[str, nodes.CommonTable] = {}
        self.tables: dict[str, TableEntry] = {}
        self.errors: list[AdqlError] = []
        self._conditions = 0
        self._branches = 0

    def new_relation(self, span: Span) -> int:
        relation = self.fresh.new_relation()
        if relation > MAX_RELATIONS:
            raise AdqlSemanticError(
                f"more than {MAX_RELATIONS} tables in one query", span, "WITH tables count at each use"
            )
        return relation

    def count_conditions(self, count: int, span: Span) -> None:
        self._conditions += count
        if self._conditions > MAX_CONDITIONS:
            raise AdqlUnsupported(
                f"the query joins more than {MAX_CONDITIONS} conditions by AND and OR",
                span,
                "upload the values as a table and join it (UPLOAD), by position or by value; or write them as IN (...)",
            )

    def count_branches(self, count: int, span: Span) -> None:
        self._branches += count
        if self._branches > MAX_BRANCHES:
            raise AdqlUnsupported(
                f"the query has more than {MAX_BRANCHES} branches of CASE that are not look-ups",
                span,
                "compare one value with literals and return literals (WHEN x = 1 THEN 'a'), which have no such limit; "
                "or upload the values as a table and join it (UPLOAD)",
            )

    @contextmanager
    def collect_errors(self) -> Iterator[None]:
        """Record an error and continue, so that one answer reports all errors of the query."""
        try:
            yield
        except AdqlError as error:
            self.errors.append(error)
            if len(self.errors) >= MAX_ERRORS:
                raise
