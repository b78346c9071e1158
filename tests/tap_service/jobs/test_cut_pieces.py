"""Jobs that do not fit into memory, in one query or in pieces, are cut into smaller pieces and continue."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import EngineUnreachable, MemoryLimit, Settings
from tests.support.running_service import RunningService, running_service
from tests.tap_service.async_client import Job, create_job
from tests.tap_service.piecewise_tables import STARS, cut_tables

ALL = "SELECT id, ra, dec, word FROM cut.stars"
GROUPS = "SELECT MOD(id, 50) AS k, COUNT(*) AS n, SUM(id) AS s FROM cut.stars GROUP BY MOD(id, 50)"
MATCH = (
    "SELECT a.id AS i, b.id AS j FROM cut.stars AS a LEFT JOIN cut.others AS b"
    " ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.1"
)
EVERYTHING = {"FORMAT": "csv", "MAXREC": "1000000"}


class TightEngine:
    """An engine whose queries of cut.stars run out of memory if they have more than ``room`` rows."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self._engine = engine
        self.room = 3000
        #: the settings of each query that ran out of memory, and the number of the others
        self.refused: list[Settings] = []
        self.n_run = 0
        #: number of queries after which the engine is unreachable once
        self.unreachable_after = -1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def stream_batches(
        self, sql: str, *, settings: Settings | None = None, **options: Any
    ) -> Iterator[Iterator[pa.RecordBatch]]:
        if "`cut`.`stars`" in sql:  # a table of these tests
            if self.n_run == self.unreachable_after:
                self.unreachable_after = -1
                raise EngineUnreachable("the engine does not answer")
            if self._count_rows(sql) > self.room:
                self.refused.append(settings or {})
                raise MemoryLimit("memory limit exceeded", 241)
            self.n_run += 1
        with self._engine.stream_batches(sql, settings=settings, **options) as batches:
            yield batches

    def _count_rows(self, sql: str) -> int:
        """Return the number of rows of a result, or of the rows of cut.stars from which its groups are made."""
        rows = f"({sql})"
        if "GROUP BY" in sql:
            bounds = (part.split(")")[0] for part in sql.split("`hpx29` ")[1:])
            rows = f"cut.stars WHERE {' AND '.join(f'hpx29 {bound}' for bound in bounds) or '1'}"
        return int(self._engine.fetch_table(f"SELECT count() AS n FROM {rows}", {"join_use_nulls": 1})["n"][0].as_py())


@pytest.fixture(scope="module")
def tight_engine(svc_engine: EmbeddedEngine) -> Iterator[TightEngine]:
    with cut_tables(svc_engine):
        yield TightEngine(svc_engine)


@pytest.fixture(scope="module")
def service(tight_engine: TightEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Return an estimate of zero, so that no query is expected to take long or much memory."""
    config = Config(
        query_log="", jobs_path=tmp_path_factory.mktemp("jobs"), piece_seconds=1000, clickhouse_url="http://away"
    )
    with running_service(config, tight_engine) as service:
        yield service


@pytest.fixture
def tight(service: RunningService, tight_engine: TightEngine) -> tuple[RunningService, TightEngine]:
    tight_engine.room, tight_engine.n_run, tight_engine.unreachable_after = 3000, 0, -1
    tight_engine.refused.clear()
    return service, tight_engine


def run_job(service: RunningService, query: str) -> Job:
    job = create_job(service.tap, query, PHASE="RUN", **EVERYTHING)
    assert job.wait_for_end() == "COMPLETED", job.message
    return job


def table(text: str) -> list[list[str]]:
    return sorted(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("query", [ALL, GROUPS, MATCH])
def test_a_job_that_lacks_memory_is_cut_until_its_pieces_fit(
    tight: tuple[RunningService, TightEngine], query: str
) -> None:
    service, engine = tight
    job = run_job(service, query)
    rows, info = table(job.rows()), job.info
    assert STARS / 3000 < int(info["pieces"] or 0) < 20
    assert info["piecesDone"] == info["pieces"]
    assert (info["plan"] or "").splitlines()[0].endswith("so that each fits into memory")
    assert engine.refused
    engine.room = STARS
    assert rows == table(run_job(service, query).rows())


def test_a_whole_job_first_tries_the_least_memory(tight: tuple[RunningService, TightEngine]) -> None:
    service, engine = tight
    run_job(service, ALL)
    as_usual, frugal = engine.refused[:2]
    assert "max_threads" not in as_usual or as_usual["max_threads"] > 1
    assert frugal["max_threads"] == 1
    assert frugal["max_bytes_before_external_join"] < as_usual["max_bytes_before_external_join"]


def test_finished_pieces_and_cuts_outlast_an_interruption(tight: tuple[RunningService, TightEngine]) -> None:
    service, engine = tight
    engine.unreachable_after = 4
    job = run_job(service, ALL)
    assert engine.unreachable_after == -1
    assert sorted(int(row[0]) for row in csv.reader(io.StringIO(job.rows())) if row[0] != "id") == list(range(STARS))
    assert engine.n_run == int(job.info["pieces"] or 0)


def test_what_fits_in_no_piece_fails_and_says_what_to_do(tight: tuple[RunningService, TightEngine]) -> None:
    service, engine = tight
    engine.room = -1
    job = create_job(service.tap, ALL, PHASE="RUN", **EVERYTHING)
    assert job.wait_for_end() == "ERROR"
    assert "needs more memory than this service allows for one query" in job.message
    assert "smaller region" in job.message
    assert len(engine.refused) < 60
    assert engine.refused[-1]["max_threads"] == 1


def test_what_cannot_be_divided_runs_once_more(tight: tuple[RunningService, TightEngine]) -> None:
    service, engine = tight
    job = create_job(service.tap, f"{ALL} ORDER BY dec", PHASE="RUN", **EVERYTHING)
    assert job.wait_for_end() == "ERROR"
    assert len(engine.refused) == 2
    assert "pieces" not in job.info


def test_sync_runs_once_more_within_its_request(tight: tuple[RunningService, TightEngine]) -> None:
    service, engine = tight
    assert service.ask(ALL, **EVERYTHING).status_code == 400
    assert [settings["max_bytes_before_external_join"] for settings in engine.refused] == [1 << 30, 1 << 29]
    engine.room = STARS
    assert len(table(service.ask(ALL, **EVERYTHING).text)) == STARS + 1


Eventually = Callable[[Callable[[], bool]], None]


def test_nothing_stays_behind(tight: tuple[RunningService, TightEngine], eventually: Eventually) -> None:
    service, _ = tight
    job = run_job(service, ALL)
    jobs_path: Path = service.server.config.app.state.services.config.jobs_path
    ident = job.url.rsplit("/", 1)[1]
    eventually(lambda: not list((jobs_path / "results").glob(f"{ident}-*x*")))
