"""Some seconds of ``make soak``: every answer is correct, and everything is measured.

A trend needs several measurements: this takes a quarter of a minute, plus the start and end of its service.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.run_soak import Plan, run_soak

SECONDS = 15


@pytest.mark.timeout(600)
def test_mixed_load(tmp_path: Path) -> None:
    report = run_soak(tmp_path, Plan(SECONDS, rate=4, seed=2, shards=0))
    assert report.errors == []
    assert sum(report.outcomes["load"].values()) >= 3
    assert {"/sync", "job", "misbehaving client", "own table", "page"} < set(report.outcomes)
    assert all(report.find_p95())
    names = {"service: memory, MB", "service: open files", "service: threads", "disk: data, MB", "disk: results, MB"}
    assert {trend.name for trend in report.trends if trend.last > 0} >= names - {"disk: results, MB"}
    assert {trend.name for trend in report.trends} == names
