"""The table of a workload's figures for docs/benchmarks.md."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tests.benchmarks.seeds.seed_workload import SeedWorkload

_HEAD = """### {title}

{source}

| measure | ours | aim | processor: service, engine | the seed | its core-seconds / ours | load |
|---|---|---|---|---|---|---|
"""


def format_report(workload: SeedWorkload, figures: Sequence[dict[str, Any]]) -> str:
    """Return Markdown; a measure that ran several times has its last figures."""
    last = {(row["measure"], row.get("state", "warm")): row for row in figures}
    head = _HEAD.format(title=workload.title, source=workload.source)
    return head + "\n".join(_format_row(row) for row in last.values()) + "\n"


def _format_row(row: dict[str, Any]) -> str:
    name = row["measure"] + (f", {row['state']}" if row.get("state", "warm") != "warm" else "")
    name += f": {row['what']}" if row.get("what") else ""
    count = row.get("count", 1)
    work = (row.get("service", 0.0) / count, row.get("engine", 0.0) / count)
    seed_core_seconds = row.get("seed_core_seconds")
    own = sum(work)
    ratio = f"{seed_core_seconds / own:,.0f}" if seed_core_seconds and own else ""
    unit = "/s" if row.get("is_rate") else "times" if row.get("is_ratio") else "s"
    cells = (
        name,
        _format_figure(row["figure"], unit),
        "" if row.get("aim") is None else _format_figure(row["aim"], unit),
        ", ".join(_format_figure(each, "s") for each in work),
        row.get("seed_figure", ""),
        ratio,
        f"{row.get('load', 0):.1f} on {os.cpu_count()} cores",
    )
    return f"| {' | '.join(cells)} |"


def _format_figure(value: float, unit: str) -> str:
    if unit == "times":
        return f"{value:.2f}"
    if unit == "/s":
        return f"{value:,.0f}/s"
    return f"{value * 1000:,.1f} ms" if value < 1 else f"{value:,.1f} s"
