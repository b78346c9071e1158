"""What one resolution shares: the catalogue, the counters of generated names, the errors found so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adql.errors import AdqlError, AdqlSemanticError, AdqlUnsupported, Span
from adql.ir import NameGenerator
from adql.resolve.object_name_binder import KnownNames
from clickhouse_schema.catalogue import Catalogue, TableEntry

#: A WITH table is bound anew at each use: a chain of them, each used twice, would double at every step.
MOST_RELATIONS = 500

#: Operands of AND and OR: the engine plans longer than it works for more, a quarter of an hour for ten thousand cones.
MOST_CONDITIONS = 1000

#: Branches of CASE that are tested one by one: the engine plans them in a time that grows with the square of their
#: number, 2,000 in 1.5 s and 8,000 in half a minute of one core.
MOST_BRANCHES = 2000

MOST_ERRORS = 10


class Context:
    def __init__(self, catalogue: Catalogue, fresh: NameGenerator, names: KnownNames) -> None:
        self.catalogue = catalogue
        self.fresh = fresh
        self.names = names
        self.errors: list[AdqlError] = []
        self.tables: dict[str, TableEntry] = {}
        self._conditions = 0
        self._branches = 0

    def next_relation(self, span: Span) -> int:
        relation = self.fresh.new_relation()
        if relation > MOST_RELATIONS:
            raise AdqlSemanticError(
                f"more than {MOST_RELATIONS} tables in one query", span, "WITH tables count at each use"
            )
        return relation

    def count_conditions(self, count: int, span: Span) -> None:
        self._conditions += count
        if self._conditions > MOST_CONDITIONS:
            raise AdqlUnsupported(
                f"the query joins more than {MOST_CONDITIONS} conditions by AND and OR",
                span,
                "upload the values as a table and join it (UPLOAD), by position or by value; or write them as IN (...)",
            )

    def count_branches(self, count: int, span: Span) -> None:
        self._branches += count
        if self._branches > MOST_BRANCHES:
            raise AdqlUnsupported(
                f"the query has more than {MOST_BRANCHES} branches of CASE that are no look-up",
                span,
                "compare one value with literals and give literals (WHEN x = 1 THEN 'a'), of which there may be more; "
                "or upload the values as a table and join it (UPLOAD)",
            )

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Note an error and go on, so that one answer tells all that is wrong."""
        try:
            yield
        except AdqlError as error:
            self.errors.append(error)
            if len(self.errors) >= MOST_ERRORS:
                raise
