"""The metrics are the ones in docs/metrics.md, with a bounded number of label values."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tap_service.service_metrics import ServiceMetrics
from tap_service.shared_metrics import MetricsSocket, SharedMetrics
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job
from tests.tap_service.monitoring.exposed_metrics import list_exposed, read_page

Eventually = Callable[[Callable[[], bool]], None]


def test_the_page_has_every_metric(service: RunningService, tmp_path: Path) -> None:
    assert read_page() == list_exposed(service.server.config.app.state.services.metrics, tmp_path)


def read_metrics(service: RunningService) -> dict[str, Metric]:
    text = httpx.get(f"{service.url}/metrics").text
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_those_who_ask_together_share_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many clients keep one thread busy, not all of them; later clients get a new text."""
    metrics, go_on, written = ServiceMetrics(), threading.Event(), count(1)

    def write_slowly() -> bytes:
        assert go_on.wait(30)
        return b"%d" % next(written)

    async def ask() -> list[bytes]:
        asking = [asyncio.ensure_future(metrics.read_text()) for _ in range(20)]
        await asyncio.sleep(0)  # all have sent requests
        asking[3].cancel()  # whose connection ends
        go_on.set()
        together = await asyncio.gather(*asking[:3], *asking[4:])
        return sorted({*together, await metrics.read_text()})

    monkeypatch.setattr(metrics, "format_text", write_slowly)
    assert asyncio.run(ask()) == [b"1", b"2"]


def test_labels_do_not_come_from_clients(service: RunningService) -> None:
    for number in range(3):
        httpx.get(f"{service.url}/tap/async/unknown-{number}")
        httpx.get(f"{service.url}/path-{number}")
        httpx.request(f"VERB{number}", f"{service.url}/tap/sync")
    httpx.get(service.tap)
    samples = read_metrics(service)["skyhouse_http_requests"].samples
    assert {sample.labels["method"] for sample in samples} <= {"GET", "HEAD", "POST", "other"}
    routes = {sample.labels["route"] for sample in samples}
    assert {"/tap/async/{job_id}", "none", "/tap"} <= routes
    assert not any(re.search(r"\d", route) for route in routes)
    count = service.metric("skyhouse_http_requests_total", route="/tap/async/{job_id}", method="GET", status="404")
    assert count == 3


def test_requests_to_sync_have_their_lane(service: RunningService, eventually: Eventually) -> None:
    before = service.metric("skyhouse_http_request_seconds_count", route="/tap/sync", lane="light")
    assert service.ask("SELECT id FROM svc.stars WHERE id = 7").status_code == 200
    eventually(
        lambda: service.metric("skyhouse_http_request_seconds_count", route="/tap/sync", lane="light") == before + 1
    )


def test_refused_logins(own: RunningService, eventually: Eventually) -> None:
    def count(reason: str) -> float:
        return own.metric("skyhouse_refused_logins_total", reason=reason)

    url = f"{own.tap}/tables"
    assert httpx.get(url, auth=("ann", "wrong")).status_code == 401
    assert httpx.get(url, headers={"Authorization": "Bearer nothing"}).status_code == 401
    assert httpx.get(url, headers={"Authorization": "Digest x"}).status_code == 401
    assert [count("password"), count("token"), count("other scheme"), count("missing")] == [1, 1, 1, 0]


def test_errors_of_queries_and_uploads(service: RunningService, eventually: Eventually) -> None:
    table = "a,b\n1,2\n"
    assert service.ask("SELECT 1/(n-n) AS x FROM svc.numbers WHERE CAST('x' AS INTEGER) = n").status_code == 400
    for text, status in ((table, 200), ("\x00\x01", 400)):
        answer = httpx.post(
            service.sync,
            data={"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.t", "UPLOAD": "t,param:f"},
            files={"f": ("t.csv", text, "text/csv")},
            timeout=60,
        )
        assert answer.status_code == status, answer.text
    eventually(lambda: service.metric("skyhouse_uploads_total", outcome="read") == 1)
    eventually(lambda: service.metric("skyhouse_uploads_total", outcome="refused") == 1)


def test_errors_of_the_engine(service: RunningService, eventually: Eventually) -> None:
    answer = service.ask("SELECT CAST(word AS INTEGER) AS x FROM svc.numbers")
    assert answer.status_code == 400, answer.text
    eventually(lambda: service.metric("skyhouse_engine_errors_total", kind="EngineValueError") >= 1)


def test_refusals_before_any_route(service: RunningService) -> None:
    before = service.metric("skyhouse_refused_connections_total", status="400")
    assert b" 400 " in service.raw(b"nonsense\r\n\r\n")
    assert service.metric("skyhouse_refused_connections_total", status="400") == before + 1


def test_how_long_the_oldest_waits(serve: Callable[..., RunningService], heavy: str, eventually: Eventually) -> None:
    service = serve(concurrent_queries=1, sync_seconds=1000)
    asking = [threading.Thread(target=service.ask, args=(heavy,)) for _ in range(4)]
    for thread in asking:
        thread.start()
    try:
        eventually(lambda: max(_ages(service)) > 0)
        assert service.metric("skyhouse_queries_waiting") > 0
    finally:
        while any(thread.is_alive() for thread in asking):
            service.set_time_limit(0)
            asking[0].join(0.1)
    assert max(_ages(service)) == 0


def _ages(service: RunningService) -> list[float]:
    return [sample.value for sample in read_metrics(service)["skyhouse_lane_oldest_seconds"].samples]


def test_the_queue_of_jobs_and_disks(serve: Callable[..., RunningService], heavy: str, eventually: Eventually) -> None:
    service = serve(concurrent_jobs=1, user_running_jobs=1)
    jobs = [create_job(service.tap, heavy, PHASE="RUN") for _ in range(2)]

    def count(phase: str) -> float:
        samples = read_metrics(service)["skyhouse_jobs"].samples
        return sum(sample.value for sample in samples if sample.labels["phase"] == phase)

    try:
        eventually(lambda: (count("executing"), count("queued")) == (1, 1))
        found = read_metrics(service)
        assert max(sample.value for sample in found["skyhouse_job_oldest_seconds"].samples) > 0
        assert found["skyhouse_job_store_up"].samples[0].value == 1
        free = {sample.labels["place"]: sample.value for sample in found["skyhouse_disk_free_bytes"].samples}
        size = {sample.labels["place"]: sample.value for sample in found["skyhouse_disk_size_bytes"].samples}
        assert set(free) == set(size) == {"data", "jobs", "results", "spool"}
        assert all(0 < free[disk] < size[disk] for disk in free)
    finally:
        for job in jobs:
            httpx.delete(job.url)


class TestSeveralProcesses:
    @pytest.fixture
    def group(self, tmp_path: Path) -> Any:
        members = [ServiceMetrics() for _ in range(2)]
        for number, each in enumerate(members):
            each.share_in(tmp_path, str(number))
        yield members
        for each in members:
            each.close()

    def test_each_shows_all(self, group: list[ServiceMetrics]) -> None:
        group[0].record_request("/tap", "GET", 200, "", 0.02)
        group[1].record_request("/tap", "GET", 200, "", 0.02)
        group[1].rows.inc(5)
        for each in group:
            text = each.format_text().decode()
            assert text.count("# TYPE skyhouse_rows_total counter") == 1
            assert 'skyhouse_rows_total{process="0"} 0.0' in text
            assert 'skyhouse_rows_total{process="1"} 5.0' in text
            for number in (0, 1):
                assert (
                    "skyhouse_http_requests_total"
                    f'{{method="GET",process="{number}",route="/tap",status="200"}} 1.0' in text
                )
                assert f'skyhouse_process_up{{process="{number}"}} 1.0' in text

    def test_one_that_is_gone(self, group: list[ServiceMetrics], tmp_path: Path) -> None:
        path = tmp_path / "2.socket"
        dead = MetricsSocket(tmp_path, "2", lambda: b"")
        dead._socket.close()  # as after SIGKILL: the file remains
        assert path.exists()
        found = {
            sample.labels["process"]: sample.value for sample in next(iter(SharedMetrics(tmp_path).collect())).samples
        }
        assert found == {"0": 1.0, "1": 1.0, "2": 0.0}
        texts = iter([b"# TYPE x gauge\nx 1\n"])
        again = MetricsSocket(tmp_path, "2", lambda: next(texts))
        try:
            assert b'x{process="2"} 1.0' in group[0].format_text()
            for _ in range(2):  # an error of one scrape leaves the thread alive
                assert b'skyhouse_process_up{process="2"} 0.0' in group[0].format_text()
        finally:
            again.close()
