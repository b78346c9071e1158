"""Matches of Skyhouse: jobs of a service, and a small match through /sync."""

from __future__ import annotations

import io
import time
import xml.etree.ElementTree as ElementTree

import httpx

from tests.benchmarks.matches.match_data import MatchData
from tests.benchmarks.matches.match_kinds import KINDS, Found, MatchKind, read_pairs
from tests.benchmarks.matches.measured_match import MeasuredMatch, OutOfMemoryError
from tests.benchmarks.process_tree import measure_tree
from tests.benchmarks.service_process import ServiceProcess

_WARM_UP = "SELECT TOP 1 table_name FROM TAP_SCHEMA.tables"
#: the service is idle when it has used less processor time than this (first number) in this many seconds (second)
_REST_PROCESSOR, _REST_SECONDS = 0.03, 0.5
_JOB_SECONDS = 7200
_UNFINISHED = ("PENDING", "QUEUED", "EXECUTING")
#: the maximum that a service allows by default
_MAX_ROWS = 100_000_000


def measure_service(kind: str, data: MatchData) -> MeasuredMatch:
    """Match once in a service that has just started and answered one query, from the request to the end of the job."""
    service = ServiceProcess(data.service)
    service.start()
    try:
        with httpx.Client(base_url=service.tap, timeout=_JOB_SECONDS) as client:
            _run_job(client, MatchKind(_WARM_UP))
            client.post("/sync", data={"LANG": "ADQL", "QUERY": _WARM_UP}).raise_for_status()
            _wait_for_rest(service)
            if kind == "small":
                return _measure_sync(client, service, data)
            return _measure_job(client, service, kind, data)
    finally:
        service.stop()


def _measure_job(client: httpx.Client, service: ServiceProcess, kind: str, data: MatchData) -> MeasuredMatch:
    with measure_tree(service.pid) as usage:
        job = _run_job(client, KINDS[kind])
    work = _read_work(client, job)
    if work.get("queryStatus") != "OK":
        raise AssertionError(f"the job has not all rows: {work}")
    found = _read_result(client, job, kind, data)
    client.delete(job)
    return MeasuredMatch(usage[0], found, int(work.get("peakMemory", 0)), int(work.get("bytesRead", 0)))


def _run_job(client: httpx.Client, kind: MatchKind) -> str:
    """Run a job to its end; return its address."""
    form = {
        "LANG": "ADQL",
        "QUERY": kind.query,
        "RESPONSEFORMAT": "parquet" if kind.is_list else "csv",
        "MAXREC": str(_MAX_ROWS),
        "EXECUTIONDURATION": str(_JOB_SECONDS),
        "PHASE": "RUN",
    }
    job = client.post("/async", data=form).headers["location"]
    while (phase := client.get(f"{job}/phase").text) in _UNFINISHED:
        client.get(job, params={"WAIT": "60"}).raise_for_status()
    if phase != "COMPLETED":
        reason = client.get(f"{job}/error").text
        raise OutOfMemoryError(reason) if "memory" in reason else RuntimeError(reason)
    return job


def _read_work(client: httpx.Client, job: str) -> dict[str, str]:
    elements = ElementTree.fromstring(client.get(job).text).iter()
    return {element.tag.rsplit("}", 1)[-1]: element.text or "" for element in elements}


def _read_result(client: httpx.Client, job: str, kind: str, data: MatchData) -> Found:
    if not KINDS[kind].is_list:
        return Found(int(client.get(f"{job}/results/result").text.split()[1]))
    path = data.folder / "result.parquet"
    with client.stream("GET", f"{job}/results/result") as answer, path.open("wb") as file:
        for block in answer.raise_for_status().iter_bytes():
            file.write(block)
    found = read_pairs(path)
    path.unlink()
    return found


def _measure_sync(client: httpx.Client, service: ServiceProcess, data: MatchData) -> MeasuredMatch:
    form = {"LANG": "ADQL", "QUERY": KINDS["small"].query, "RESPONSEFORMAT": "parquet", "UPLOAD": "few,param:few"}
    upload = data.parquet("few").read_bytes()
    files = {"few": ("few.parquet", upload, "application/vnd.apache.parquet")}
    with measure_tree(service.pid) as usage:
        answer = client.post("/sync", data=form, files=files).raise_for_status()
    return MeasuredMatch(usage[0], read_pairs(io.BytesIO(answer.content)))


def _wait_for_rest(service: ServiceProcess) -> None:
    used = service.read_processor_seconds()
    while True:
        time.sleep(_REST_SECONDS)
        before, used = used, service.read_processor_seconds()
        if used - before <= _REST_PROCESSOR:
            return
