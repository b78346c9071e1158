"""The figures as a Markdown table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tests.benchmarks.matches.measured_match import MeasuredMatch

HEADER = (
    "| match | by | found | seconds | processor s | rows a core-second | memory | of the engine | read | columns |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def format_row(kind: str, title: str, rows: int, taken: Sequence[MeasuredMatch]) -> str:
    """Return a row with medians; a match without any ran out of memory."""
    if not taken:
        return f"| {kind} | {title} | out of memory | | | | | | | |"
    seconds, processor = _median(taken, "seconds"), _median(taken, "processor")
    engine_memory = max(each.engine_memory for each in taken)
    engine_read = max(each.engine_read for each in taken)
    cells = (
        kind,
        title,
        f"{taken[0].found.number:,}",
        f"{seconds:.2f}",
        f"{processor:.2f}",
        f"{rows / processor / 1e6:.2f} M",
        _format_bytes(_median(taken, "memory")),
        _format_bytes(engine_memory) if engine_memory else "",
        _format_bytes(_median(taken, "read")),
        _format_bytes(engine_read) if engine_read else "",
    )
    return f"| {' | '.join(cells)} |"


def _median(taken: Sequence[MeasuredMatch], name: str) -> float:
    return statistics.median(float(getattr(each.usage, name)) for each in taken)


def _format_bytes(count: float) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
