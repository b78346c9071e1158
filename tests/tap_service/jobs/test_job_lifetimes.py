"""Expiry, recovery and sweep, over real stores."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from tap_service.models.piece_work import Part, PieceWork
from tap_service.models.timestamps import add_seconds, now
from tap_service.models.uws_job import ExecutionPhase, Job, JobResult
from tap_service.services.jobs import job_lifetimes
from tap_service.services.jobs.job_lifetimes import JobLifetimes
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import QueryCancelled
from tap_service.storage.engine.merge_tables import merge_table_name
from tap_service.storage.engine.query_tables import RESULT_OF_EXPORT
from tap_service.storage.jobs.job_store import NoSuchJob
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tap_service.storage.results.local_result_store import LocalResultStore
from tap_service.storage.results.result_store import ResultMissing

ENDLESS = "SELECT number, sipHash64(number) AS hash FROM numbers(1000000000000)"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteJobStore]:
    store = SqliteJobStore(tmp_path)
    yield store
    store.close()


@pytest.fixture
def results(tmp_path: Path) -> LocalResultStore:
    return LocalResultStore(tmp_path / "results")


@pytest.fixture
def lifetimes(engine: EmbeddedEngine, store: SqliteJobStore, results: LocalResultStore) -> JobLifetimes:
    return JobLifetimes(engine, store, results)


def queued(store: SqliteJobStore, job_id: str, seconds: float = 1000) -> str:
    store.create_job(Job(job_id, None, now(), add_seconds(now(), seconds), 100))
    store.queue_job(job_id)
    return job_id


def completed(store: SqliteJobStore, results: LocalResultStore, job_id: str, seconds: float = 1000) -> Job:
    job = store.start_job(queued(store, job_id, seconds), "w", now())
    writer = results.create_result(job.result_key)
    writer.write(b"rows")
    result = JobResult(job.result_key, writer.commit(), "text/csv", "csv", "e")
    return store.complete_job(job_id, 1, now(), result, {})


def test_queries_of_no_job_are_stopped(engine: EmbeddedEngine, store: SqliteJobStore, lifetimes: JobLifetimes) -> None:
    job = store.start_job(queued(store, "aa"), "w", now())
    with (
        engine.stream_batches(ENDLESS, query_id=job.query_id) as own,
        engine.stream_batches(ENDLESS, query_id="async-aa-0") as earlier,
        engine.stream_batches(ENDLESS, query_id="async-bb-1") as unknown,
        engine.stream_batches(ENDLESS, query_id="sync-cc") as other,
    ):
        for rows in (own, earlier, unknown, other):
            next(rows)
        lifetimes.stop_stray_queries()
        with pytest.raises(QueryCancelled):
            deque(earlier, maxlen=0)
        for rows in (own, unknown, other):
            assert next(rows).num_rows


def half_written(directory: Path, key: str) -> None:
    """Write the files that a killed writer leaves."""
    (directory / "results" / f"{key}.part").write_bytes(b"half")


def test_jobs_go_at_their_time_with_their_results(
    lifetimes: JobLifetimes, store: SqliteJobStore, results: LocalResultStore
) -> None:
    completed(store, results, "a", -1)
    completed(store, results, "b")
    assert lifetimes.destroy_expired(now()) == 1
    assert results.list_keys(0) == ["b-1"]
    with pytest.raises(NoSuchJob):
        store.get_job("a")
    with pytest.raises(ResultMissing):
        results.read_result("a-1", 0, 4)


def test_jobs_of_silent_workers_start_again_twice(
    lifetimes: JobLifetimes, store: SqliteJobStore, results: LocalResultStore, tmp_path: Path
) -> None:
    queued(store, "lost")
    store.start_job(queued(store, "alive"), "w", now() + timedelta(hours=1))
    for deaths in (1, 2):
        job = store.start_job("lost", "w", now())
        half_written(tmp_path, job.result_key)
        assert lifetimes.recover_jobs(add_seconds(now(), 1)) == 1
        assert (store.get_job("lost").deaths, results.list_keys(0)) == (deaths, [])
    store.start_job("lost", "w", now())
    assert lifetimes.recover_jobs(add_seconds(now(), 1)) == 1
    lost = store.get_job("lost")
    assert lost.phase is ExecutionPhase.ERROR
    assert lost.error is not None
    assert "has ended unexpectedly 3 times" in lost.error.message
    assert store.get_job("alive").phase is ExecutionPhase.EXECUTING


def test_what_no_job_counts_as_its_own_is_swept(
    lifetimes: JobLifetimes, store: SqliteJobStore, results: LocalResultStore, tmp_path: Path
) -> None:
    completed(store, results, "done")
    running = store.start_job(queued(store, "running"), "w", now())
    for key in ("nobody-1", "done-2", "running-9", "check", running.result_key):
        half_written(tmp_path, key)
    abandoned = results.create_result("gone-1")
    abandoned.write(b"x")
    abandoned.commit()
    assert lifetimes.sweep_orphans() == 0
    for path in (tmp_path / "results").iterdir():
        os.utime(path, (time.time() - 100, time.time() - 100))
    assert lifetimes.sweep_orphans() == 5
    assert results.list_keys(0) == ["done-1", "running-1"]


def in_pieces(store: SqliteJobStore, results: LocalResultStore, job_id: str, attempt: int, count: int) -> None:
    """Let the job's next attempt finish ``count`` pieces and start another one."""
    store.start_job(job_id, "w", now())
    job = store.get_job(job_id)
    work = job.pieces or PieceWork("basis", (1, 2, 3))
    for _ in range(count):
        number = len(work.parts)
        writer = results.create_result(job.part_key(attempt, number))
        writer.write(b"rows")
        work = replace(work, parts=(*work.parts, Part(attempt, 1, writer.commit())))
    store.set_pieces(job_id, attempt, now(), work)
    half_written(results._directory.parent, job.part_key(attempt, count))


def test_parts_are_kept_for_the_next_attempt_and_go_with_the_job(
    lifetimes: JobLifetimes, store: SqliteJobStore, results: LocalResultStore
) -> None:
    for job_id in ("kept", "destroyed", "aborted"):
        in_pieces(store, results, queued(store, job_id), 1, 2)
    assert lifetimes.sweep_orphans(0) == 0
    assert lifetimes.recover_jobs(add_seconds(now(), 1)) == 3
    assert lifetimes.sweep_orphans(0) == 3  # the incomplete ones
    kept = ["kept-1x0", "kept-1x1"]
    in_pieces(store, results, "kept", 2, 1)
    assert store.get_job("kept").part_keys == (*kept, "kept-2x2")
    assert store.get_job("kept").deaths == 0
    lifetimes.destroy_job("destroyed")
    store.abort_job("aborted", now())
    assert lifetimes.sweep_orphans(0) == 2
    assert results.list_keys(0) == [*kept, "kept-2x1", "kept-2x2"]
    lifetimes.destroy_job("kept")
    lifetimes.sweep_orphans(0)
    assert results.list_keys(0) == []


def test_tables_of_dead_workers_are_dropped(
    lifetimes: JobLifetimes, store: SqliteJobStore, engine: EmbeddedEngine
) -> None:
    prepare_engine(engine)
    running = store.start_job(queued(store, "running"), "w", now())
    for key in (running.result_key, "running-7", "nobody-1"):
        engine.execute(f"CREATE TABLE skyhouse.{merge_table_name(key)} (c1 String) ENGINE = MergeTree ORDER BY tuple()")
    lifetimes.sweep_orphans()
    sql = "SELECT name FROM system.tables WHERE database = 'skyhouse' AND startsWith(name, 'groups_')"
    # another deployment over the same engine may use databases that are unknown here
    assert engine.fetch_table(sql)["name"].to_pylist() == [
        merge_table_name("nobody-1"),
        merge_table_name(running.result_key),
    ]
    store.abort_job("running", now())
    lifetimes.sweep_orphans()
    assert engine.fetch_table(sql)["name"].to_pylist() == [merge_table_name("nobody-1")]
    lifetimes.sweep_orphans(minimum_age=0)
    assert engine.fetch_table(sql).num_rows == 0


def test_results_of_old_exports_are_dropped(
    lifetimes: JobLifetimes, engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_engine(engine)
    name = f"{RESULT_OF_EXPORT}0123"
    engine.execute(f"CREATE TABLE skyhouse.{name} (c1 String) ENGINE = MergeTree ORDER BY tuple()")
    sql = f"SELECT count() AS tables FROM system.tables WHERE database = 'skyhouse' AND name = '{name}'"
    lifetimes.sweep_orphans(minimum_age=0)  # an export by another process may be running
    assert engine.fetch_table(sql)["tables"].to_pylist() == [1]
    monkeypatch.setattr(job_lifetimes, "ORPHAN_EXPORT_SECONDS", 0)
    lifetimes.sweep_orphans()
    assert engine.fetch_table(sql)["tables"].to_pylist() == [0]


def test_a_result_is_seen_when_it_is_whole(results: LocalResultStore) -> None:
    writer = results.create_result("a-1")
    for data in (b"12345", b"", b"67890" * 500_000):
        writer.write(data)
    with pytest.raises(ResultMissing):
        results.read_result("a-1", 0, 10)
    assert writer.commit() == 2_500_005
    writer.discard()
    assert b"".join(results.read_result("a-1", 3, 7)) == b"4567"
    reading = results.read_result("a-1", 0, 2_500_005)
    first = next(reading)
    results.delete_result("a-1")
    assert first + b"".join(reading) == b"12345" + b"67890" * 500_000
    results.delete_result("a-1")
