"""Effects of a row limit on a result: what it cuts, and how to get the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from adql import Translation
from adql.ir import Derived, Query, Relation, Scan, Select, has_window
from tap_service.models.work_class import ResultRows

#: the expected size of a suggested sample stays this many standard deviations below the limit
_DEVIATIONS = 3.0

#: factor on estimated, not counted, rows: the suggested sample stays within the limit even if they are more
_ESTIMATE_MARGIN = 1.1


@dataclass(frozen=True, slots=True)
class SampleSuggestion:
    """Text to insert at the offset ``at`` of the query, so that rows from the entire sky fit the limit.

    ``of``: the table, as written in the query if that is one line.
    """

    at: int
    text: str
    of: str


@dataclass(frozen=True, slots=True)
class RowLimit:
    """The row limit of one query, and its effect.

    Attributes
    ----------
    limit
        The limit in rows.
    hard, jobs
        The maximum limit of such a request, and of jobs.
    rows
        The rows of the result without the limit; None if unknown.
    order
        'sky' for HEALPix order, 'asked' for ORDER BY, otherwise ''.
    sample
        The sample to suggest; None if a sample would answer a different query.
    """

    limit: int
    hard: int
    jobs: int = 0
    rows: ResultRows | None = None
    order: str = ""
    sample: SampleSuggestion | None = None

    @property
    def is_cutting(self) -> bool:
        """Whether the limit is expected to cut the result; MAXREC=0 requests no rows."""
        return self.rows is not None and self.rows.precision != "at most" and 0 < self.limit < self.rows.rows

    @property
    def warning(self) -> str:
        """A warning before the run; '' if the limit is not expected to cut the result."""
        if not self.is_cutting:
            return ""
        surely = "will" if self.rows and self.rows.precision == "exact" else "will probably"
        cut = f"The query gives {self._total_text()} rows; the row limit of {self.limit:,} {surely} cut them."
        return f"{cut} {self._way_out('will be')}"

    @property
    def text_after_cut(self) -> str:
        """The text for a result that was cut: which rows are missing, and how to get them."""
        whole = f"The query gives {self._total_text()} rows. " if self.is_cutting else ""
        return whole + self._way_out("are")

    def _total_text(self) -> str:
        if self.rows is None:
            return ""
        return f"{self.rows.rows:,}" if self.rows.precision == "exact" else f"about {self.rows.rows:,}"

    def _way_out(self, verb: str) -> str:
        missing = {
            "sky": f"Rows come in HEALPix order, so entire parts of the sky {verb} missing. ",
            "asked": f"The last rows in the query's order {verb} missing. ",
        }
        text = missing.get(self.order, "") if self.limit else ""
        if self.limit < self.hard:
            text += f"Ask for more with MAXREC, up to {self.hard}."
        elif self.limit < self.jobs:
            text += f"A job gives more, with MAXREC up to {self.jobs}."
        else:
            text += "No request gets more here: ask in parts, such as one region or range of values at a time."
        if self.sample is not None and self.limit:
            text += f" For rows from everywhere, ask for a sample: FROM {self.sample.of}{self.sample.text}."
        return text


def apply_row_limit(given: RowLimit, rows: ResultRows | None, translation: Translation, text: str) -> RowLimit:
    """Return the limits of a query with their effect.

    Parameters
    ----------
    given
        The limits without their effect.
    rows
        The rows of the result without a limit; None if unknown.
    translation, text
        The translated query, and its text.

    Returns
    -------
    RowLimit
        The limits, with ``rows``, the order of the result, and a sample to suggest if the limit may cut it.
    """
    if translation.bound is None:
        return replace(given, rows=rows)
    query = translation.bound.query
    topped = rows is not None and translation.top is not None and translation.top <= rows.rows
    # it is unknown how many rows there would be without TOP
    sample = None if topped else _suggest_sample(query, given.limit, rows, text)
    return replace(given, rows=rows, order=_find_order(query), sample=sample)


def _find_order(query: Query) -> str:
    if query.order_by:
        return "asked"
    if not isinstance(query, Select) or query.is_grouped or query.distinct:
        return ""
    scan = _find_sampled_scan(query.from_) or query.from_
    return "sky" if isinstance(scan, Scan) and scan.entry.table.layout.position else ""


def _find_sampled_scan(relation: Relation) -> Scan | None:
    """Return the table in ``table TABLESAMPLE (percent)``."""
    if not isinstance(relation, Derived) or not isinstance(relation.query, Select):
        return None
    inner = relation.query.from_
    return inner if isinstance(inner, Scan) else None


def _suggest_sample(query: Query, limit: int, rows: ResultRows | None, text: str) -> SampleSuggestion | None:
    """Suggest TABLESAMPLE for an unordered SELECT from one table."""
    if not isinstance(query, Select) or query.is_grouped or query.distinct or query.order_by or has_window(query):
        return None
    if query.offset:
        return None  # the sample may have fewer rows than OFFSET skips
    if not isinstance(query.from_, Scan) or rows is None or not 0 < limit < rows.rows:
        return None
    start, end = query.from_.span
    if start == end:
        return None
    total = rows.rows * (_ESTIMATE_MARGIN if rows.precision == "about" else 1.0)
    written = text[start:end] if text[start:end].isprintable() else query.from_.entry.qualified_name
    return SampleSuggestion(end, f" TABLESAMPLE ({fitting_percentage(limit, total)})", written)


def fitting_percentage(limit: int, rows: float) -> str:
    """Return the largest percentage of two digits for which a sample of ``rows`` rows stays within ``limit``."""
    expected = (math.sqrt(_DEVIATIONS**2 + 4 * limit) - _DEVIATIONS) ** 2 / 4  # expected + 3 sqrt(expected) = limit
    percent = min(100 * expected / rows, 99.0)
    step = 10.0 ** (math.floor(math.log10(percent)) - 1)
    return f"{math.floor(percent / step + 1e-9) * step:.2g}"
