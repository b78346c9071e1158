"""Previews: the first rows of a running job."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import httpx
from astropy.io.votable import parse as parse_votable

from tests.support.running_service import RunningService
from tests.tap_service.async_client import ENDLESS, Job, create_job


def first_rows(job: Job) -> Any:
    response = job.get("/preview")
    assert response.headers["content-type"] == "application/x-votable+xml;serialization=TABLEDATA"
    assert "a preview, and not its result" in response.text
    return parse_votable(io.BytesIO(response.content)).get_first_table()


def kept(service: RunningService, job: Job) -> list[str]:
    ident = job.url.rsplit("/", 1)[1]
    return [key for key in service.server.config.app.state.services.jobs._results.list_keys(0) if key.startswith(ident)]


def test_while_it_runs(service: RunningService, eventually: Callable[[Callable[[], bool]], None]) -> None:
    job = create_job(service.tap, ENDLESS, MAXREC="100000000", FORMAT="csv", PHASE="RUN")
    eventually(lambda: job.get("/preview").status_code == 200)
    assert job.phase == "EXECUTING"
    table = first_rows(job)
    assert len(table.array) == 50
    assert [field.name for field in table.fields] == ["n", "half"]
    job.post("/phase", PHASE="ABORT")
    eventually(lambda: kept(service, job) == [])
    assert job.get("/preview").status_code == 404
    job.delete()


def test_when_it_has_ended(service: RunningService, eventually: Callable[[Callable[[], bool]], None]) -> None:
    job = create_job(service.tap, "SELECT TOP 3 n, word FROM svc.numbers ORDER BY n")
    assert job.get("/preview").status_code == 404
    job.run().wait_for_end()
    assert first_rows(job).array["word"].tolist() == ["row 0", "row 1", "row 2"]
    assert httpx.head(job.url + "/preview").status_code == 200
    job.delete()
    assert job.get("/preview").status_code == 404
    eventually(lambda: kept(service, job) == [])


def test_of_no_rows(service: RunningService) -> None:
    job = create_job(service.tap, "SELECT n FROM svc.numbers WHERE n < 0", PHASE="RUN")
    assert job.wait_for_end() == "COMPLETED"
    missing = job.get("/preview")
    assert missing.status_code == 404
    assert "the job has given no rows: it is COMPLETED" in missing.text
