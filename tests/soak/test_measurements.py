"""The verdict of a soak run: growth is found, random variation is not reported."""

from __future__ import annotations

import pytest

from tests.soak.measurements import find_trends
from tests.soak.run_soak import Plan, Report


def _sample(memory: list[float]) -> list[str]:
    """Return the quantities that grow, for the memory in each hundredth of a run."""
    report = Report(Plan(100, 1, 1, 0))
    report.trends = find_trends([(second, {"service: memory, MB": value}) for second, value in enumerate(memory)])
    return report.find_growth()


def test_growth_is_found() -> None:
    assert _sample([500 + second for second in range(100)]) == ["service: memory, MB grows by 9.3%"]


@pytest.mark.parametrize(
    "memory",
    [
        [500.0] * 100,
        [min(500.0, 20.0 * second) for second in range(100)],  # caches fill
        [500 + 400 * (second % 7 == 0) for second in range(100)],  # a query now and then
        [10 + second / 20 for second in range(100)],  # a small value
    ],
)
def test_other_changes_are_not(memory: list[float]) -> None:
    assert _sample(memory) == []


def test_slower_answers_are_found() -> None:
    report = Report(Plan(400, 1, 1, 0))
    report.times = [(start, 0.010 if start < 300 else 0.020) for start in range(400)]
    assert report.find_growth() == ["the p95 of short questions grows from 10 to 20 ms"]
    report.times = [(start, 0.020 if start < 100 else 0.010) for start in range(400)]
    assert report.find_growth() == []
