"""The history store. Files and Redis run through the same tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tap_service.models.history_entry import HistoryEntry, first_id_at, make_entry_id
from tap_service.models.timestamps import add_seconds
from tap_service.storage.history_store import HISTORY_FILE, HistoryStore, HistoryUnavailable
from tests.support.ports import closed_port
from tests.tap_service.storage.redis_server import RedisServer

T0 = datetime(2026, 1, 31, 12, 0, 0, 123_000, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "redis"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], HistoryStore]:
    """Open the test's own store, empty at first."""
    if request.param == "sqlite":
        return lambda: HistoryStore.open("", tmp_path / "jobs", 10**9)
    server = request.getfixturevalue("redis")
    server.flush()
    return lambda: HistoryStore.open(server.url, None, 1000)


@pytest.fixture
def store(reopen: Callable[[], HistoryStore]) -> Iterator[HistoryStore]:
    store = reopen()
    yield store
    store.close()


def entry(seconds: float = 0, query: str = "SELECT 'é \n \x00'") -> HistoryEntry:
    created = add_seconds(T0, seconds)
    return HistoryEntry(
        id=make_entry_id(created),
        job_id="0a",
        created=created,
        seconds=1.5,
        engine_seconds=0.25,
        status="OK",
        rows=10**12,
        bytes=2**60,
        format="text/csv",
        run_id="run",
        query=query,
        is_cut=False,
        error="",
    )


def test_entries_outlive_the_store(store: HistoryStore, reopen: Callable[[], HistoryStore]) -> None:
    entries = [entry(number) for number in range(5)]
    store.add_entries([("kepler", each) for each in entries] + [("tycho", entry(9))])
    again = reopen()
    assert again.list_entries("kepler", "", 10) == entries[::-1]
    assert again.list_entries("kepler", "", 2) == entries[:2:-1]
    assert again.list_entries("kepler", entries[3].id, 2) == entries[2:0:-1]
    assert again.list_entries("kepler", first_id_at(add_seconds(T0, 1)), 9) == entries[:1]
    assert again.list_entries("nobody", "", 10) == []
    again.close()


def test_a_repeated_addition_adds_nothing(store: HistoryStore) -> None:
    entries = [("kepler", entry())]
    store.add_entries(entries)
    store.add_entries(entries)
    assert len(store.list_entries("kepler", "", 10)) == 1


def test_entries_of_one_user_are_deleted(store: HistoryStore) -> None:
    store.add_entries([("kepler", entry()), ("kepler:x", entry()), ("tycho", entry())])
    store.delete_entries("kepler")
    assert [len(store.list_entries(user, "", 9)) for user in ("kepler", "kepler:x", "tycho")] == [0, 1, 1]


def test_old_entries_and_entries_beyond_the_limit_are_deleted(store: HistoryStore) -> None:
    store.add_entries([(user, entry(number)) for user in ("kepler", "tycho") for number in range(10)])
    store.trim_entries(["kepler"], 3, "")
    assert [each.created for each in store.list_entries("kepler", "", 99)] == [add_seconds(T0, n) for n in (9, 8, 7)]
    assert len(store.list_entries("tycho", "", 99)) == 10
    store.trim_entries(["kepler", "tycho"], 100, first_id_at(add_seconds(T0, 8)))
    assert [len(store.list_entries(user, "", 99)) for user in ("kepler", "tycho")] == [2, 2]


def test_old_entries_of_inactive_users_are_deleted_when_others_add_queries(store: HistoryStore) -> None:
    store.add_entries([(user, entry(number)) for user in ("kepler", "tycho") for number in range(4)])
    oldest = first_id_at(add_seconds(T0, 2))
    for _ in range(2):
        store.trim_entries(["galileo"], 100, oldest)
        assert [len(store.list_entries(user, "", 99)) for user in ("kepler", "tycho")] == [2, 2]
    store.delete_entries("tycho")
    store.trim_entries(["galileo"], 100, first_id_at(add_seconds(T0, 9)))
    assert [len(store.list_entries(user, "", 99)) for user in ("kepler", "tycho")] == [0, 0]
    with store._records.read_records() as records:
        assert records.list_members("history-oldest") == []


def test_redis_forgets_an_inactive_user(redis: RedisServer) -> None:
    store = HistoryStore.open(redis.url, None, 1000)
    store.add_entries([("galileo", entry())])
    with redis.connect() as client:
        assert 900 < client.ttl("skyhouse:history:galileo") <= 1000
    store.close()


def test_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / HISTORY_FILE).write_bytes(b"no database" * 100)
    with pytest.raises(HistoryUnavailable, match="the history of queries cannot be used: file is not a database"):
        HistoryStore.open("", tmp_path, 10**9)


def test_no_redis() -> None:
    with closed_port() as port:
        store = HistoryStore.open(f"redis://127.0.0.1:{port}/0", None, 10)
        with pytest.raises(HistoryUnavailable, match="does not answer"):
            store.list_entries("kepler", "", 1)
        store.close()
