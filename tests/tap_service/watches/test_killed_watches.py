"""A process is killed at any step of a watch; after the next start, the rows exist exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tap_service.models.timestamps import now
from tap_service.services.user_tables.user_table_storage import UserTableStorage
from tests.support.running_service import RunningService
from tests.tap_service.watches.alerts import Receiver, add_alerts, alerts_table, receiver
from tests.tap_service.watches.watcher import BRIGHT, Watcher


class Killed(BaseException):
    """No code handles it, as no code handles the death of a process."""


@pytest.fixture(scope="module")
def hook() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture(scope="module")
def alice(
    serve: Callable[..., RunningService], accounts: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watcher]:
    """A user of a service that does rounds only when a test calls them."""
    service = serve(accounts=accounts, webhook_hosts=("localhost",))
    with alerts_table(service.engine, tmp_path_factory.mktemp("alerts")):
        service.refresh()
        user = Watcher(service, "alice")
        user.rounds._thread.close()
        yield user
        user.remove_all()


def restart(alice: Watcher) -> None:
    """Do what the next process does at its start with jobs that were being executed."""
    while alice.services._dispatcher._runner.n_running:  # the thread of the job is dying
        time.sleep(0.01)
    alice.services._dispatcher._lifetimes.recover_jobs(now() + timedelta(days=1))
    alice.services._dispatcher._wake_idle()


def die(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, count: int, *, after: bool) -> list[str]:
    """Let the ``count``-th call of a method kill the process, before or after it has done its work."""
    original, calls, dead = getattr(owner, name), [], []

    def call(*arguments: Any, **options: Any) -> Any:
        calls.append(name)
        if len(calls) < count:
            return original(*arguments, **options)
        if after:
            original(*arguments, **options)
        dead.append(name)
        raise Killed

    monkeypatch.setattr(owner, name, call)
    return dead


def go_on(alice: Watcher, dead: list[str]) -> None:
    """Do rounds until the process is killed, in a round or in the job of a run."""
    while not dead:
        try:
            alice.rounds.run_round()
        except Killed:
            return


def test_rows_are_there_once(alice: Watcher, hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of a watch changes when a run waits, starts and ends, and when a message is tried."""
    monkeypatch.setattr("tap_service.services.watches.watch_rounds._CREATION_SECONDS", 0)
    monkeypatch.setattr("tap_service.services.watches.watch_rounds._ATTEMPT_PERIOD", 0)
    services = alice.services
    steps: list[tuple[Any, str, int, bool]] = [
        *((services._watch_store, "change_watch", count, True) for count in (1, 2, 3, 4)),
        (services.jobs, "create_watch_job", 1, False),
        (UserTableStorage, "append_rows", 1, False),
        (UserTableStorage, "append_rows", 1, True),
        (services.stores.jobs, "complete_job", 1, False),
    ]
    watch = alice.watch(name="killed", query=BRIGHT, webhook=hook.url)
    wanted: list[int] = []
    for number, (owner, method, count, after) in enumerate(steps):
        first = 10_000 + 100 * number
        add_alerts(alice.service.engine, tmp_path, first, 10)
        wanted += [first, first + 1]
        with monkeypatch.context() as patch:
            go_on(alice, die(patch, owner, method, count, after=after))
        if method in ("append_rows", "complete_job"):  # the additions of the job
            restart(alice)
        done = alice.wait(watch, *["DONE"] * (number + 1))
        assert alice.ids("mydb.killed") == wanted, (method, count)
        assert (done["rows"], done["runs_done"]) == (len(wanted), number + 1)
        alice.wait_for_messages(watch)
    told = {document["delivery"]: document["addition"]["number"] for document in hook.documents}
    assert sorted(told.values()) == sorted(run["addition"] for run in done["runs"])


def test_additions_are_found_after_a_pause_of_the_service(alice: Watcher, tmp_path: Path) -> None:
    """Additions made while no service ran are found; the table of results was removed meanwhile."""
    watch = alice.watch(name="slept", query=BRIGHT)
    for number in range(3):
        add_alerts(alice.service.engine, tmp_path, 30_000 + 100 * number, 10)
    assert alice.http("DELETE", "tables/mydb.slept").status_code == 204
    alice.wait(watch, "DONE", "DONE", "DONE")
    assert alice.ids("mydb.slept") == [30_000, 30_001, 30_100, 30_101, 30_200, 30_201]


def test_a_job_that_was_destroyed_is_made_again(
    alice: Watcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = alice.watch(name="destroyed", query=BRIGHT)
    add_alerts(alice.service.engine, tmp_path, 40_000, 10)
    with monkeypatch.context() as patch:
        patch.setattr(alice.rounds, "_complete_run", lambda watch, *_: watch)
        while not (job := alice.show(watch)["runs"] and alice.show(watch)["runs"][0]["job"]):
            alice.rounds.run_round()
        while "COMPLETED" not in alice.http("GET", f"async/{job}/phase").text:
            pass
    assert alice.http("DELETE", f"async/{job}").status_code in (200, 303)
    monkeypatch.setattr("tap_service.services.watches.watch_rounds._CREATION_SECONDS", 0)
    alice.wait(watch, "DONE")
    assert alice.ids("mydb.destroyed") == [40_000, 40_001]
