"""Some seconds of ``make chaos``: no job is lost, no answer is wrong, no load is lost or doubled, nothing is left
over.

It takes a minute: each kind of component is killed and starts again, and then all jobs and loads must end.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.run import build_plan, run_chaos

#: each kind of component is killed once, and the loader
SECONDS, SECONDS_BETWEEN_KILLS, SEED, SHARDS, LOADS = 12, 2, 22, 2, 2


@pytest.mark.timeout(900)
def test_any_part_may_be_killed(tmp_path: Path) -> None:
    plan = build_plan(SECONDS, SEED, SHARDS)
    report = run_chaos(tmp_path, replace(plan, loads=LOADS, seconds_between_kills=SECONDS_BETWEEN_KILLS))
    print("\n".join(report.lines()))
    assert report.errors == []
    assert set(report.kills) == {"ClickHouse server", "Redis", "worker", "process of a worker", "service"}
    assert report.loads.kills > 0
    assert sum(report.loads.modes.values()) == report.plan.loads
    right = [answer for answer in report.answers if answer.url and answer.outcome == "right"]
    assert len(right) > report.plan.jobs / 2
