"""The outcome of one query, for the log, the metrics and a job's info."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class QueryReport:
    """The outcome of a query so far.

    Times are in seconds; ``warning`` tells of what the query perhaps does not mean, and of rows that the row limit or
    the format left out; ``lane`` is that of a request to /sync; ``engine_errors`` are the kinds of the engine's errors
    on the way.
    """

    status: str = ""
    rows: int = 0
    bytes: int = 0
    error: str = ""
    warning: str = ""
    lane: str = ""
    engine_errors: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
