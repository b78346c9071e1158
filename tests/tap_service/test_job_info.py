"""What jobInfo says of a job's work."""

from __future__ import annotations

from tests.tap_service.asking import create
from tests.tap_service.conftest import NUMBERS, Served


def test_what_a_short_job_took(service: Served) -> None:
    job = create(service.tap, "SELECT COUNT(*) AS c, SUM(half) AS s FROM svc.numbers WHERE n > 5", PHASE="RUN")
    assert job.ended() == "COMPLETED"
    info = job.info
    assert int(info["rowsRead"] or 0) == NUMBERS
    assert int(info["bytesRead"] or 0) >= 16 * NUMBERS
    assert int(info["peakMemory"] or 0) > 0
    assert float(info["seconds"] or 0) > 0
    assert info["rowsWritten"] == "1"
    assert int(info["bytesWritten"] or 0) == len(job.rows())
    assert (info["percent"], info["secondsLeft"], info["queryStatus"]) == ("100", "0", "OK")
