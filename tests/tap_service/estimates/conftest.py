from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tap_service.services.estimates.estimator import Estimator
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore


@pytest.fixture
def estimator(engine: EmbeddedEngine, tmp_path: Path) -> Iterator[Estimator]:
    store = SqliteJobStore(tmp_path)
    yield Estimator(engine, store)
    store.close()
