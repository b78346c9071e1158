"""The watch store. Files and Redis run through the same tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tap_service.models.watch import Delivery, DeliveryState, RunState, Watch, WatchRun, end_attempt, note_attempt
from tap_service.storage.watch_store import (
    WATCHES_FILE,
    NameTaken,
    NoSuchWatch,
    TooManyWatches,
    WatchStore,
    WatchStoreUnavailable,
)
from tests.support.ports import closed_port

T0 = datetime(2026, 1, 31, 12, 0, 0, 123_000, tzinfo=UTC)
_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "redis"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], WatchStore]:
    """Open the test's own store, empty at first."""
    if request.param == "sqlite":
        return lambda: WatchStore.open("", tmp_path / "jobs")
    server = request.getfixturevalue("redis")
    server.flush()
    return lambda: WatchStore.open(server.url, None)


@pytest.fixture
def store(reopen: Callable[[], WatchStore]) -> Iterator[WatchStore]:
    store = reopen()
    yield store
    store.close()


def make_watch(name: str = "bright", **properties: Any) -> Watch:
    wanted = {
        "watch_id": f"w{next(_numbers)}",
        "owner": "kepler",
        "name": name,
        "created": T0,
        "query": "SELECT 1",
        "table": "sky.alerts",
        "result_table": name,
        "since": 3,
        **properties,
    }
    return Watch(**wanted)


def test_a_watch_outlives_the_process(reopen: Callable[[], WatchStore]) -> None:
    run = WatchRun("a_1", 4, T0, 10, T0, T0, RunState.DONE, "job", deliveries=(Delivery("mail", T0),))
    wanted = make_watch(runs=(run,), webhook="https://example.org/ü", secret="s", last_run=T0)
    first = reopen()
    first.add_watch(wanted)
    first.close()
    store = reopen()
    assert store.get_watch(wanted.watch_id) == wanted
    store.close()


def test_names_are_unique_for_an_owner(store: WatchStore) -> None:
    first, other = make_watch(), make_watch(owner="tycho")
    store.add_watch(first)
    store.add_watch(other)
    with pytest.raises(NameTaken):
        store.add_watch(make_watch())
    assert store.list_watches("kepler") == [first]
    assert store.list_watches() == [first, other]
    assert store.delete_watch(first.watch_id) == first
    again = make_watch()
    store.add_watch(again)
    assert store.list_watches("kepler") == [again]
    for missing in (store.get_watch, store.delete_watch):
        with pytest.raises(NoSuchWatch):
            missing(first.watch_id)
    with pytest.raises(NoSuchWatch):  # a watch that is deleted during a change stays deleted
        store.change_watch(first.watch_id, lambda watch: watch)


def test_an_owner_has_a_maximum_number_of_watches(store: WatchStore) -> None:
    """Even if several are added concurrently."""
    for owner in ("tycho", "kepler"):
        store.add_watch(make_watch("first", owner=owner), limit=4)
    with ThreadPoolExecutor(12) as threads:
        adding = [threads.submit(store.add_watch, make_watch(f"w{number}"), limit=4) for number in range(12)]
    refused = [each.exception() for each in adding if each.exception()]
    assert [str(error) for error in refused if isinstance(error, TooManyWatches)] == ["4"] * 9
    assert len(store.list_watches("kepler")) == 4
    store.add_watch(make_watch("tenth"))


def test_concurrent_changes_are_serialized(store: WatchStore) -> None:
    watch = make_watch()
    store.add_watch(watch)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(40):
            threads.submit(store.change_watch, watch.watch_id, lambda each: replace(each, rows=each.rows + 1))
    assert store.get_watch(watch.watch_id).rows == 40

    def fail(_: Watch) -> Watch:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.change_watch(watch.watch_id, fail)
    assert store.get_watch(watch.watch_id).rows == 40


def test_an_unusable_store_says_so(tmp_path: Path) -> None:
    (tmp_path / WATCHES_FILE).mkdir()
    with pytest.raises(WatchStoreUnavailable, match="the store of watches cannot be used"):
        WatchStore.open("", tmp_path)
    with closed_port() as port:
        away = WatchStore.open(f"redis://127.0.0.1:{port}/0", None)
        with pytest.raises(WatchStoreUnavailable, match="does not answer"):
            away.get_watch("a")
        away.close()


def test_deliveries_are_retried_and_given_up() -> None:
    delivery = Delivery("webhook", T0)
    waits = []
    while delivery.state is DeliveryState.PENDING:
        delivery = end_attempt(note_attempt(delivery, T0, 60), T0, "no answer")
        waits.append((delivery.due - T0).total_seconds())
    assert waits[:8] == [10, 30, 120, 600, 1800, 7200, 21_600, 43_200]
    assert (delivery.state, delivery.attempts, delivery.error) == (DeliveryState.GIVEN_UP, 9, "no answer")
    done = end_attempt(note_attempt(Delivery("mail", T0, error="before"), T0, 60), T0, "")
    assert (done.state, done.error) == (DeliveryState.DELIVERED, "")
