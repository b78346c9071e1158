"""The share store. Files and Redis run through the same tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tap_service.models.result_provenance import ResultProvenance, TableVersion
from tap_service.models.share import Share
from tap_service.models.timestamps import add_seconds
from tap_service.models.uws_job import JobFile, JobResult
from tap_service.storage.share_store import SHARES_FILE, NoSuchShare, ShareStore, ShareStoreUnavailable, StoredShares
from tests.support.ports import closed_port
from tests.tap_service.storage.redis_server import RedisServer

T0 = datetime(2026, 1, 31, 12, 0, 0, 123_000, tzinfo=UTC)
_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "redis"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], ShareStore]:
    """Open the test's own store, empty at first."""
    if request.param == "sqlite":
        return lambda: ShareStore.open("", tmp_path / "jobs")
    server = request.getfixturevalue("redis")
    server.flush()
    return lambda: ShareStore.open(server.url, None)


@pytest.fixture
def store(reopen: Callable[[], ShareStore]) -> Iterator[ShareStore]:
    store = reopen()
    yield store
    store.close()


def share(**properties: Any) -> Share:
    tables = (TableVersion("svc.stars", "17", T0, 5), TableVersion("svc.numbers"))
    wanted = {
        "share_id": f"share{next(_numbers)}",
        "owner": "kepler",
        "creation_time": T0,
        "expiry": add_seconds(T0, 100),
        "result_expiry": add_seconds(T0, 50),
        "query": "q" * 10,
        "maxrec": 1000,
        "provenance": ResultProvenance("f" * 64, 5, True, tables, ("2000A&A...355L..27H",)),
        **properties,
    }
    return Share(**wanted)


RESULT = JobResult("share-a-result", 1000, "text/csv", "csv", "tag")


def test_a_share_outlives_the_process(reopen: Callable[[], ShareStore]) -> None:
    files = (JobFile("t", "share-a-file0", 7, "text/csv", "e" * 64),)
    wanted = share(result=RESULT, files=files, restricted=frozenset({"svc.stars"}), title="Stérn", layout="{}")
    first = reopen()
    first.write_share(wanted)
    first.close()
    store = reopen()
    assert store.get_share(wanted.share_id) == wanted
    assert wanted.stored_bytes == 1000 + 7 + 10 + 5 + 2
    store.close()


def test_a_share_is_replaced_and_deleted_once(store: ShareStore) -> None:
    kept, gone = share(result=RESULT), share(result=RESULT)
    for each in (kept, gone):
        store.write_share(each)
    store.replace_share(replace(kept, result=None))
    assert store.get_share(kept.share_id).result is None
    assert store.delete_share(gone.share_id) == gone
    for missing in (store.get_share, store.delete_share):
        with pytest.raises(NoSuchShare):
            missing(gone.share_id)
    with pytest.raises(NoSuchShare):  # a share that is deleted during a change stays deleted
        store.replace_share(gone)
    assert store.count_shares("kepler") == StoredShares(1, 10, 0, 10)


def test_lists_are_of_one_user_and_start_with_the_newest(store: ShareStore) -> None:
    made = [share(creation_time=add_seconds(T0, second), owner=owner) for second, owner in enumerate("abab")]
    anonymous = [share(owner=None, client=client, creation_time=T0) for client in ("192.0.2.1", "2001:db8::1")]
    for each in (*made, *anonymous):
        store.write_share(each)
    assert store.list_shares("a") == [made[2], made[0]]
    assert store.list_shares(last=2) == [made[3], made[2]]
    assert len(store.list_shares()) == 6
    assert store.list_shares("anonymous at 2001:db8::/64") == [anonymous[1]]
    assert store.count_shares("b") == StoredShares(2, 20, 20, 60)
    assert store.count_shares("anonymous at 2001:db8::/64") == StoredShares(1, 10, 20, 60)
    store.replace_share(replace(anonymous[0], query="q"))
    store.delete_share(anonymous[1].share_id)
    assert store.count_shares("nobody") == StoredShares(0, 0, 1, 41)


def test_a_share_is_created_only_if_the_check_allows_it(store: ShareStore) -> None:
    """Concurrent creations stop at the limit."""

    class Full(Exception):
        pass

    def check(stored: StoredShares) -> None:
        if stored.anonymous_size + 10 > 35:
            raise Full

    def create(number: int) -> bool:
        try:
            store.create_share(share(owner=None, client=f"192.0.2.{number}"), check)
        except Full:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(create, range(8))) == 3
    assert store.count_shares("nobody").anonymous_size == 30


def test_anonymous_shares_of_an_earlier_version_count(redis: RedisServer) -> None:
    redis.flush()
    store = ShareStore.open(redis.url, None)
    for owner in (None, None, "kepler"):
        store.write_share(share(owner=owner))
    with redis.connect() as client:
        client.delete("skyhouse:shares:anonymous", "skyhouse:shares:state")
    assert store.count_shares("nobody") == StoredShares(0, 0, 20, 30)
    store.close()


def test_due_shares(store: ShareStore) -> None:
    with_rows, without = share(result=RESULT), share(result=None)
    for each in (with_rows, without):
        store.write_share(each)
    assert store.list_due(add_seconds(T0, 49), 10) == []
    assert store.list_due(add_seconds(T0, 50), 10) == [with_rows]
    store.write_share(replace(with_rows, result=None))
    assert store.list_due(add_seconds(T0, 99), 10) == []
    assert len(store.list_due(add_seconds(T0, 100), 10)) == 2
    assert len(store.list_due(add_seconds(T0, 100), 1)) == 1


def test_an_unusable_store_says_so(tmp_path: Path) -> None:
    (tmp_path / SHARES_FILE).mkdir()
    with pytest.raises(ShareStoreUnavailable, match="the store of shares cannot be used"):
        ShareStore.open("", tmp_path)
    with closed_port() as port:
        away = ShareStore.open(f"redis://127.0.0.1:{port}/0", None)
        with pytest.raises(ShareStoreUnavailable, match="does not answer"):
            away.get_share("a")
        away.close()
