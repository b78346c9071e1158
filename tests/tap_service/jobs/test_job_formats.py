"""Results of jobs in formats whose header or footer is written last."""

from __future__ import annotations

from typing import Any

import pytest

from tap_service.serializers import find_format
from tests.tap_service.async_client import create_job
from tests.tap_service.serializers.readers import read

ROWS = 40_000
QUERY = f"SELECT n, word FROM svc.numbers WHERE n < {ROWS} ORDER BY n"


@pytest.mark.parametrize("form", ["fits", "parquet", "arrow-file", "json", "text"])
def test_rows(service: Any, form: str) -> None:
    job = create_job(service.tap, QUERY, FORMAT=form, PHASE="RUN")
    assert job.wait_for_end() == "COMPLETED"
    answer = job.get("/results/result")
    found = find_format(form)
    assert answer.headers["content-type"] == found.content_type
    assert answer.headers["content-disposition"] == f'inline; filename="result.{found.extension}"'
    numbers, words = read(found.mime, answer.content)
    assert [int(number) for number in numbers] == list(range(ROWS))
    assert words == [f"row {number}" for number in range(ROWS)]
    job.delete()


@pytest.mark.parametrize("form", ["fits", "parquet"])
def test_a_job_that_fails_has_no_result(service: Any, form: str) -> None:
    job = create_job(
        service.tap,
        "SELECT CAST(n - 967000 AS SMALLINT) AS x FROM svc.numbers WHERE n > 960000",
        FORMAT=form,
        MAXREC="1000000",
        PHASE="RUN",
    )
    assert job.wait_for_end() == "ERROR"
    assert job.get("/results/result").status_code == 404
    job.delete()
