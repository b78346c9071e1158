"""``skyhouse`` as its users start it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.running_skyhouse import running_skyhouse


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of ``skyhouse demo``."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="session")
def tap_url(demo_data: Path) -> Iterator[str]:
    """Yield the URL of ``skyhouse demo`` with a new data directory."""
    with running_skyhouse("demo", demo_data) as url:
        yield url
