"""Workers expose the metrics of all their processes at one address; the service exposes the cluster's queue."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.support.ports import free_port
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job

Eventually = Callable[[Callable[[], bool]], None]


def read_sums(url: str) -> dict[str, float]:
    """Return the sum of each metric over its series, by name."""
    try:
        text = httpx.get(url, timeout=60).text
    except httpx.TransportError:
        return {}
    found: dict[str, float] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name = line.partition("{")[0].partition(" ")[0]
            found[name] = found.get(name, 0.0) + float(line.rpartition(" ")[2])
    return found


def test_the_metrics_of_workers(serve_cluster: Callable[..., RunningService], eventually: Eventually) -> None:
    address = f"127.0.0.1:{free_port()}"
    service = serve_cluster(worker_metrics=address)
    url = f"http://{address}/metrics"
    jobs = [create_job(service.tap, f"SELECT TOP {n + 1} n FROM svc.numbers", PHASE="RUN") for n in range(3)]
    for job in jobs:
        assert job.wait_for_end() == "COMPLETED"
    eventually(lambda: read_sums(url).get("skyhouse_queries_total") == 3)
    found = read_sums(url)
    assert found["skyhouse_rows_total"] == 6
    assert 1 <= found["skyhouse_process_up"] == found["skyhouse_build_info"]
    assert 'process="worker-' in httpx.get(url).text
    assert not any(name.startswith("skyhouse_http") for name, value in found.items() if value)
    shown = read_sums(f"{service.url}/metrics")
    assert shown["skyhouse_job_store_up"] == 1
    assert shown["skyhouse_jobs"] == 0


def test_an_occupied_address(
    cluster_settings: Callable[..., dict[str, Any]], tmp_path: Path, eventually: Eventually
) -> None:
    from tests.tap_service.worker_processes import Workers

    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        address = f"127.0.0.1:{port}"
        workers = Workers(cluster_settings(worker_metrics=address), tmp_path / "output")
        try:
            eventually(lambda: workers.has_said(f"the metrics of the workers cannot be served at {address}: "))
        finally:
            workers.stop()
            workers.wait()
