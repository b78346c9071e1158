"""jobInfo describes the work of a job."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.models.query_report import QueryReport
from tap_service.services.estimates.estimator import Estimator
from tap_service.services.jobs.job_progress import JobProgress
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Progress
from tap_service.storage.jobs.job_store import JobStore
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tests.support.running_service import RunningService
from tests.support.service_tables import NUMBERS
from tests.tap_service.async_client import create_job


def test_what_a_short_job_took(service: RunningService) -> None:
    job = create_job(service.tap, "SELECT COUNT(*) AS c, SUM(half) AS s FROM svc.numbers WHERE n > 5", PHASE="RUN")
    assert job.wait_for_end() == "COMPLETED"
    info = job.info
    assert int(info["rowsRead"] or 0) == NUMBERS
    assert int(info["bytesRead"] or 0) >= 16 * NUMBERS
    assert int(info["peakMemory"] or 0) > 0
    assert float(info["seconds"] or 0) > 0
    assert info["rowsWritten"] == "1"
    assert int(info["bytesWritten"] or 0) == len(job.rows())
    assert (info["percent"], info["secondsLeft"], info["queryStatus"]) == ("100", "0", "OK")


class Told:
    """Computes jobInfo of a query from given figures of the engine."""

    def __init__(self, engine: EmbeddedEngine, catalogue: Catalogue, rates: JobStore, query: str) -> None:
        translation = translate(query, catalogue)
        self.foreseen = Estimator(engine, rates).estimate_cost(translation, 1)
        self._report = QueryReport()
        self._progress = JobProgress(self._report, 10**9, translation.query, self.foreseen)

    def __call__(self, read: float, joined: float = 0.0, written: float = 0.0) -> tuple[str, int | None]:
        """Return stage and percent for these fractions of the estimated work."""
        steps = self.foreseen.steps
        assert steps
        self._report.rows = round(written * steps.written)
        seen = Progress(round(read * 1000), 0, 1000, 0, math.floor(joined * steps.joined))
        self._progress.update_progress(seen)
        info = self._progress.info_while_running()
        percent = info.get("percent")
        return str(info["stage"]), None if percent is None else int(percent)


@pytest.fixture
def told(demo_engine: EmbeddedEngine, demo_catalogue: Catalogue, tmp_path: Path) -> Iterator[Callable[[str], Told]]:
    store = SqliteJobStore(tmp_path)
    yield lambda query: Told(demo_engine, demo_catalogue, store, query)
    store.close()


APART = "DISTANCE(a.ra, a.dec, b.ra, b.dec)"
STARS = "FROM tycho2.bright AS a JOIN tycho2.bright AS b ON"


def test_percent_goes_on_after_the_last_row_is_read(told: Callable[[str], Told]) -> None:
    match = told(f"SELECT a.ra {STARS} {APART} < 5")
    looks = [match(0.5), match(1), match(1, 0.3, 0.3), match(1, 0.6, 0.6), match(1, 1, 0.9), match(1, 1, 1)]
    assert [stage for stage, _ in looks] == ["reading", "matching", "matching", "matching", "matching", "writing"]
    percents = [percent for _, percent in looks]
    assert percents == sorted(percents, key=lambda percent: percent or 0)
    assert percents[1] is not None
    assert percents[1] < 5  # nearly all of the work is in the pairs
    assert percents[-1] == 99


def test_no_percent_where_nobody_knows(told: Callable[[str], Told]) -> None:
    match = told(f"SELECT a.ra {STARS} {APART} < 5")
    assert match(1, 0.9, 0.9)[1] is not None
    assert match(1, 1.2, 0.9) == ("matching", None)  # more than estimated
    assert match(1, 1.2, 1.2) == ("writing", None)
    for query in (
        f"SELECT a.ra {STARS} {APART} < 5 WHERE a.vt_mag < 7",  # possibly fewer than estimated
        f"SELECT COUNT(*) {STARS} a.origin = b.origin",
    ):
        unsure = told(query)
        assert [unsure(0.5), unsure(1, 0.2)][1][1] is None
    ordered = told("SELECT ra FROM tycho2.bright ORDER BY vt_mag")
    assert ordered(0.5)[1] is not None
    assert ordered(1) == ("sorting", None)
    grouped = told("SELECT origin, COUNT(*) FROM tycho2.bright GROUP BY origin")
    assert grouped(1) == ("grouping", None)
