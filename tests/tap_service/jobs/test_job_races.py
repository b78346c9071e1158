"""Aborts and deletions at any moment, and a job store that is locked for a while."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.support.running_service import RunningService
from tests.tap_service.async_client import FINISHED, Job, create_job

Eventually = Callable[[Callable[[], bool]], None]

SOME = "SELECT TOP 20000 n, word FROM svc.numbers"


def files(path: Path) -> set[str]:
    return {file.name for file in (path / "results").iterdir()}


def test_abort_and_delete_at_any_moment(
    serve: Callable[..., RunningService], tmp_path: Path, eventually: Eventually
) -> None:
    """A job always ends, and has a result if and only if it is COMPLETED."""
    service = serve(jobs_path=tmp_path, concurrent_jobs=4, user_running_jobs=4)

    def one(number: int) -> Job | None:
        job = create_job(service.tap, SOME, PHASE="RUN")
        for _ in range(number % 5):
            assert job.get().status_code == 200
        if number % 3 == 0:
            assert job.delete().status_code == 303
            return None
        if number % 3 == 1:
            assert job.post("/phase", PHASE="ABORT").status_code in (303, 403)
        return job

    with ThreadPoolExecutor(6) as pool:
        jobs = [job for job in pool.map(one, range(45)) if job is not None]
    eventually(lambda: all(job.phase in FINISHED for job in jobs))
    completed = {job.url.rsplit("/", 1)[1] for job in jobs if job.phase == "COMPLETED"}
    assert len(completed) >= 15
    assert all(job.phase in ("COMPLETED", "ABORTED") for job in jobs)
    eventually(lambda: service.metric("skyhouse_jobs_executing") == 0)
    assert files(tmp_path) == {f"{ident}-1{preview}" for ident in completed for preview in ("", "f")}


def test_a_job_store_that_does_not_answer(
    serve: Callable[..., RunningService], tmp_path: Path, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program locks the file: clients get 503 with Retry-After, and the end of each job is still recorded."""
    monkeypatch.setattr("tap_service.storage.jobs.sqlite_job_store._PATIENCE_SECONDS", 0.05)
    service = serve(jobs_path=tmp_path, concurrent_jobs=1, user_running_jobs=1)
    job = create_job(service.tap, "SELECT COUNT(*) AS c FROM svc.numbers AS a JOIN svc.numbers AS b ON a.n = b.n")
    another = sqlite3.connect(tmp_path / "jobs.sqlite", isolation_level=None)
    job.run()
    eventually(lambda: service.metric("skyhouse_jobs_executing") == 1)
    another.execute("BEGIN EXCLUSIVE")
    refused = httpx.post(f"{service.tap}/async", data={"QUERY": SOME})
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) > 0
    assert "the job store cannot be used" in refused.text
    assert "the store for jobs is unavailable" in httpx.get(f"{service.tap}/availability").text
    another.execute("ROLLBACK")
    another.close()
    assert job.wait_for_end() == "COMPLETED"
    assert httpx.post(f"{service.tap}/async", data={"QUERY": SOME}).status_code == 303
