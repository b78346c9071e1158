"""What the row limit of a request does to its result: what it will cut, what it has cut, and the way out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from adql import Translation
from adql.ir import Derived, Query, Relation, Scan, Select, has_window
from tap_service.models.work_class import ResultRows

#: a sample of random size stays within the limit unless it is larger than expected by more standard deviations
_DEVIATIONS = 3.0

#: how much more than foreseen a sample is to have room for, where rows are not counted but estimated
_MARGIN = 1.1


@dataclass(frozen=True, slots=True)
class SampleSuggestion:
    """What to insert into the query, after so many of its characters, to get rows from everywhere within the limit.

    ``of``: the table in words, as the query writes it where that is one line.
    """

    at: int
    text: str
    of: str


@dataclass(frozen=True, slots=True)
class RowLimit:
    """The limit in force, the one that no such request may exceed, and what they mean for one query.

    ``jobs``: the highest limit of jobs.
    ``rows``: what it would give without, None if nobody knows. ``order``: 'sky' if rows come by their place in the sky,
    'asked' if the query has an ORDER BY, '' for any other. ``sample``: None where a sample would answer another query.
    """

    limit: int
    hard: int
    jobs: int = 0
    rows: ResultRows | None = None
    order: str = ""
    sample: SampleSuggestion | None = None

    @property
    def is_cutting(self) -> bool:
        """Whether it is foreseen to cut the result; with MAXREC=0 nobody wants rows."""
        return self.rows is not None and self.rows.precision != "at most" and 0 < self.limit < self.rows.rows

    @property
    def warning(self) -> str:
        """What it will cut, and the way out; '' if that is not foreseen."""
        if not self.is_cutting:
            return ""
        surely = "will" if self.rows and self.rows.precision == "exact" else "will probably"
        cut = f"The query gives {self._total_text()} rows; the row limit of {self.limit:,} {surely} cut them."
        return f"{cut} {self._way_out('will be')}"

    @property
    def text_after_cut(self) -> str:
        """Of a result that was cut: what is missing, and the way out."""
        whole = f"The query gives {self._total_text()} rows. " if self.is_cutting else ""
        return whole + self._way_out("are")

    def _total_text(self) -> str:
        if self.rows is None:
            return ""
        return f"{self.rows.rows:,}" if self.rows.precision == "exact" else f"about {self.rows.rows:,}"

    def _way_out(self, verb: str) -> str:
        missing = {
            "sky": f"Rows come in HEALPix order, so whole parts of the sky {verb} missing. ",
            "asked": f"The last rows in the query's order {verb} missing. ",
        }
        said = missing.get(self.order, "") if self.limit else ""
        if self.limit < self.hard:
            said += f"Ask for more with MAXREC, up to {self.hard}."
        elif self.limit < self.jobs:
            said += f"A job gives more, with MAXREC up to {self.jobs}."
        else:
            said += "No request gets more here: ask in parts, such as one region or range of values at a time."
        if self.sample is not None and self.limit:
            said += f" For rows from everywhere, ask for a sample: FROM {self.sample.of}{self.sample.text}."
        return said


def apply_row_limit(given: RowLimit, rows: ResultRows | None, translation: Translation, text: str) -> RowLimit:
    """What the ``given`` limits mean for the query ``text`` that was translated."""
    if translation.bound is None:
        return replace(given, rows=rows)
    query = translation.bound.query
    topped = rows is not None and translation.top is not None and translation.top <= rows.rows
    sample = (
        None if topped else _suggest_sample(query, given.limit, rows, text)
    )  # of how many rows TOP took these is not known
    return replace(given, rows=rows, order=_find_order(query), sample=sample)


def without_limit(translation: Translation) -> Query | None:
    """The query as it was resolved, with no limit but its own."""
    if translation.bound is None:
        return None
    return replace(translation.bound.query, limit=translation.top)


def _find_order(query: Query) -> str:
    if query.order_by:
        return "asked"
    if not isinstance(query, Select) or query.is_grouped or query.distinct:
        return ""
    scan = _find_sampled_scan(query.from_) or query.from_
    return "sky" if isinstance(scan, Scan) and scan.entry.table.layout.position else ""


def _find_sampled_scan(relation: Relation) -> Scan | None:
    """The table of ``table TABLESAMPLE (percent)``."""
    if not isinstance(relation, Derived) or not isinstance(relation.query, Select):
        return None
    inner = relation.query.from_
    return inner if isinstance(inner, Scan) else None


def _suggest_sample(query: Query, limit: int, rows: ResultRows | None, text: str) -> SampleSuggestion | None:
    """TABLESAMPLE of the table that an unordered SELECT takes all its rows from."""
    if not isinstance(query, Select) or query.is_grouped or query.distinct or query.order_by or has_window(query):
        return None
    if query.offset:
        return None  # a sample may have fewer rows than are left out
    if not isinstance(query.from_, Scan) or rows is None or not 0 < limit < rows.rows:
        return None
    start, end = query.from_.span
    if start == end:
        return None
    total = rows.rows * (_MARGIN if rows.precision == "about" else 1.0)
    written = text[start:end] if text[start:end].isprintable() else query.from_.entry.qualified_name
    return SampleSuggestion(end, f" TABLESAMPLE ({fitting_percentage(limit, total)})", written)


def fitting_percentage(limit: int, rows: float) -> str:
    """The largest, of two digits, with which a sample of so many rows is not foreseen to exceed the limit."""
    expected = (math.sqrt(_DEVIATIONS**2 + 4 * limit) - _DEVIATIONS) ** 2 / 4  # expected + 3 sqrt(expected) = limit
    percent = min(100 * expected / rows, 99.0)
    step = 10.0 ** (math.floor(math.log10(percent)) - 1)
    return f"{math.floor(percent / step + 1e-9) * step:.2g}"
