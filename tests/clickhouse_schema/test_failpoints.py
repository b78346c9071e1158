"""Only tests use failpoints, and they use each of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clickhouse_schema import failpoints
from clickhouse_schema.failpoints import Failpoint, reach
from tests.cluster.dying import interrupted_at, killed_at
from tests.support.environment import ROOT

PACKAGES = ("adql", "clickhouse_schema", "loaders", "tap_service", "workers")


def read_sources(*packages: str) -> dict[str, str]:
    paths = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths}


def test_a_failpoint_does_nothing_by_itself() -> None:
    assert failpoints.observer is None
    for point in Failpoint:
        reach(point)


def test_the_product_does_not_observe_failpoints() -> None:
    """It reaches them by name, and uses nothing else from their module."""
    imported = re.compile(r"from clickhouse_schema\.failpoints import ([\w, ]+)|(import .*\bfailpoints\b)")
    found = {
        name
        for path, source in read_sources(*PACKAGES).items()
        if path != "clickhouse_schema/failpoints.py"
        for names, module in imported.findall(source)
        for name in (names or module).split(", ")
    }
    assert found == {"Failpoint", "reach"}


def test_each_failpoint_is_in_the_product_and_something_is_killed_there() -> None:
    """``killed_at`` fails if its failpoint is not reached."""
    own = str(Path(__file__).relative_to(ROOT))
    product = "".join(read_sources(*PACKAGES).values())
    tests = "".join(source for path, source in read_sources("tests").items() if path != own)
    for point in Failpoint:
        assert re.search(rf"\bFailpoint\.{point.name}\b", product), point
        assert re.search(rf"\bFailpoint\.{point.name}\b", tests), point


def test_a_failpoint_that_is_not_reached_fails_the_test() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"), killed_at(None, Failpoint.PUBLISH_EXCHANGE, 2):
        reach(Failpoint.PUBLISH_EXCHANGE)
    with (
        pytest.raises(AssertionError, match="was not reached 2 times"),
        interrupted_at(Failpoint.PUBLISH_EXCHANGE, 2, lambda: None),
    ):
        reach(Failpoint.PUBLISH_EXCHANGE)
    assert failpoints.observer is None
