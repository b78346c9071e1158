"""Expiry, recovery and sweep, over real stores."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tap_service.models.instants import later, now
from tap_service.models.job import ExecutionPhase, Job, JobResult
from tap_service.services.lifetimes import Lifetimes
from tap_service.storage.embedded import EmbeddedEngine
from tap_service.storage.jobs import NoSuchJob
from tap_service.storage.local_results import LocalResultStore
from tap_service.storage.results import ResultMissing
from tap_service.storage.sqlite_jobs import SqliteJobStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteJobStore]:
    store = SqliteJobStore(tmp_path)
    yield store
    store.close()


@pytest.fixture
def results(tmp_path: Path) -> LocalResultStore:
    return LocalResultStore(tmp_path / "results")


@pytest.fixture
def lifetimes(engine: EmbeddedEngine, store: SqliteJobStore, results: LocalResultStore) -> Lifetimes:
    return Lifetimes(engine, store, results)


def queued(store: SqliteJobStore, job_id: str, seconds: float = 1000) -> str:
    store.create(Job(job_id, None, now(), later(now(), seconds), 100))
    store.queue(job_id)
    return job_id


def completed(store: SqliteJobStore, results: LocalResultStore, job_id: str, seconds: float = 1000) -> Job:
    job = store.start(queued(store, job_id, seconds), "w", now())
    writer = results.create(job.result_key)
    writer.write(b"rows")
    result = JobResult(job.result_key, writer.commit(), "text/csv", "csv", "e")
    return store.complete(job_id, 1, now(), result, {})


def half_written(directory: Path, key: str) -> None:
    """What a writer leaves that was killed."""
    (directory / "results" / f"{key}.part").write_bytes(b"half")


def test_jobs_go_at_their_time_with_their_results(
    lifetimes: Lifetimes, store: SqliteJobStore, results: LocalResultStore
) -> None:
    completed(store, results, "a", -1)
    completed(store, results, "b")
    assert lifetimes.expire(now()) == 1
    assert results.keys(0) == ["b-1"]
    with pytest.raises(NoSuchJob):
        store.get("a")
    with pytest.raises(ResultMissing):
        results.read("a-1", 0, 4)


def test_jobs_of_silent_workers_begin_anew_twice(
    lifetimes: Lifetimes, store: SqliteJobStore, results: LocalResultStore, tmp_path: Path
) -> None:
    queued(store, "lost")
    store.start(queued(store, "alive"), "w", now() + timedelta(hours=1))
    for deaths in (1, 2):
        job = store.start("lost", "w", now())
        half_written(tmp_path, job.result_key)
        assert lifetimes.recover(later(now(), 1)) == 1
        assert (store.get("lost").deaths, results.keys(0)) == (deaths, [])
    store.start("lost", "w", now())
    assert lifetimes.recover(later(now(), 1)) == 1
    lost = store.get("lost")
    assert lost.phase is ExecutionPhase.ERROR
    assert lost.error is not None
    assert "has ended unexpectedly 3 times" in lost.error.message
    assert store.get("alive").phase is ExecutionPhase.EXECUTING


def test_what_no_job_counts_as_its_own_is_swept(
    lifetimes: Lifetimes, store: SqliteJobStore, results: LocalResultStore, tmp_path: Path
) -> None:
    completed(store, results, "done")
    running = store.start(queued(store, "running"), "w", now())
    for key in ("nobody-1", "done-2", "running-9", "check", running.result_key):
        half_written(tmp_path, key)
    abandoned = results.create("gone-1")
    abandoned.write(b"x")
    abandoned.commit()
    assert lifetimes.sweep() == 0
    for path in (tmp_path / "results").iterdir():
        os.utime(path, (time.time() - 100, time.time() - 100))
    assert lifetimes.sweep() == 5
    assert results.keys(0) == ["done-1", "running-1"]


def test_a_result_is_seen_when_it_is_whole(results: LocalResultStore) -> None:
    writer = results.create("a-1")
    for data in (b"12345", b"", b"67890" * 500_000):
        writer.write(data)
    with pytest.raises(ResultMissing):
        results.read("a-1", 0, 10)
    assert writer.commit() == 2_500_005
    writer.discard()
    assert b"".join(results.read("a-1", 3, 7)) == b"4567"
    reading = results.read("a-1", 0, 2_500_005)
    first = next(reading)
    results.delete("a-1")
    assert first + b"".join(reading) == b"12345" + b"67890" * 500_000
    results.delete("a-1")
