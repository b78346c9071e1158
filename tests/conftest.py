"""Fixtures that every package's tests share: one embedded engine in a test process, for it allows one data path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tap_service.storage.embedded import EmbeddedEngine


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    """The test process's only embedded engine, empty at first. Tests use databases with names of their own."""
    data_path: Path = tmp_path_factory.mktemp("data")
    engine = EmbeddedEngine(data_path)
    yield engine
    engine.close()
