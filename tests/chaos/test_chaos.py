"""Some seconds of ``make chaos``: no job is lost, no answer is wrong, no load is lost or doubled, nothing is left behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.run import build_plan, run_chaos

SECONDS, SEED, SHARDS, LOADS = 24, 16, 2, 2


@pytest.mark.timeout(900)
def test_any_part_may_be_killed(tmp_path: Path) -> None:
    report = run_chaos(tmp_path, replace(build_plan(SECONDS, SEED, SHARDS), loads=LOADS))
    print("\n".join(report.lines()))
    assert report.faults == []
    assert set(report.kills) == {"ClickHouse server", "Redis", "worker", "process of a worker", "service"}
    assert report.loads.kills > 0
    assert sum(report.loads.modes.values()) == report.plan.loads
    right = [answer for answer in report.answers if answer.url and answer.outcome == "right"]
    assert len(right) > report.plan.jobs / 2
