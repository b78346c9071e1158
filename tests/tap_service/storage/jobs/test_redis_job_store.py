"""The Redis job store: servers that disappear or restart, and the indexes."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from tap_service.models.timestamps import add_seconds
from tap_service.models.uws_job import ExecutionPhase, Job, JobFilter
from tap_service.storage.jobs.job_store import IllegalTransition, JobStoreUnavailable, NoSuchJob
from tap_service.storage.jobs.redis_job_store import RedisJobStore, _Record
from tests.tap_service.storage.jobs.test_job_store import FAILURE, RESULT, T0, brought_to, made
from tests.tap_service.storage.redis_server import SURVIVES_KILLS, RedisServer, redis_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis"), *SURVIVES_KILLS) as server:
        yield server


@pytest.fixture
def store(server: RedisServer) -> Iterator[RedisJobStore]:
    server.flush()
    store = RedisJobStore(server.url)
    yield store
    store.close()


def test_no_server(tmp_path: Path) -> None:
    store = RedisJobStore(RedisServer(tmp_path).url)
    with pytest.raises(JobStoreUnavailable, match="the job store does not answer"):
        store.check_writable()
    with pytest.raises(JobStoreUnavailable):
        list(store.list_references(JobFilter(None)))
    store.close()


def test_a_server_killed_and_restarted(server: RedisServer, store: RedisJobStore) -> None:
    told = threading.Event()
    job_id = brought_to(store, ExecutionPhase.EXECUTING)
    begun = store.get_job(job_id)
    with store.watch_job(job_id, told.set):
        server.kill()
        with pytest.raises(JobStoreUnavailable):
            store.get_job(job_id)
        told.clear()
        server.start()
        assert store.get_job(job_id) == begun
        wanted = JobFilter(begun.owner, frozenset({ExecutionPhase.EXECUTING}))
        assert [each.job_id for each in store.list_references(wanted)] == [job_id]
        assert told.wait(20)  # notifications were lost, so all watchers are called
        told.clear()
        store.complete_job(job_id, 1, T0, RESULT, {})
        assert told.wait(20)


def acts(store: RedisJobStore, name: str, number: int) -> list[Callable[[], Job]]:
    attempt = store.get_job(name).attempt
    return [
        lambda: store.queue_job(name),
        lambda: store.start_job(name, "w", add_seconds(T0, number)),
        lambda: store.report_progress(name, attempt, add_seconds(T0, number), {}),
        lambda: store.complete_job(name, attempt, add_seconds(T0, number), RESULT, {}),
        lambda: store.fail_job(name, attempt, add_seconds(T0, number), FAILURE, {}),
        lambda: store.requeue_job(name, attempt, died=True),
        lambda: store.abort_job(name, add_seconds(T0, number)),
        lambda: store.set_parameters(name, [], f"r{number}"),
        lambda: store.set_destruction_time(name, add_seconds(T0, number)),
        lambda: store.delete_job(name),
    ]


def test_indexes_follow_the_records(server: RedisServer, store: RedisJobStore) -> None:
    dice = random.Random(1)
    for number in range(300):
        name = f"j{number % 20}"
        if number < 20:
            made(store, job_id=name, owner=dice.choice([None, "anna", "bob"]), creation_time=add_seconds(T0, number))
            continue
        try:
            dice.choice(acts(store, name, number))()
        except (IllegalTransition, NoSuchJob):
            continue
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        records = [_Record.from_text(client.get(key)) for key in client.keys("skyhouse:job:*")]
        expected = {entry for record in records for entry in record.index_entries()}
        indices = [key for key in client.keys("skyhouse:*") if client.type(key) == "zset"]
        assert {(key, member) for key in indices for member in client.zrange(key, 0, -1)} == expected
    assert 0 < len(records) < 20


def test_a_change_with_a_lost_reply_is_made_once(store: RedisJobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver sends the script again, which finds the change made."""
    send = store._script

    def twice(**script: list) -> str:
        send(**script)
        return send(**script)

    job_id = made(store)
    monkeypatch.setattr(store, "_script", twice)
    assert store.queue_job(job_id).phase is ExecutionPhase.QUEUED
    assert store.start_job(job_id, "w", T0).attempt == 1
    assert store.get_job(job_id).attempt == 1
