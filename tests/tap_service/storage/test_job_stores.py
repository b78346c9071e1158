"""The job store's interface. Every store runs through the same tests: add it to the fixture ``store``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tap_service.models.job import ExecutionPhase, Job, JobError, JobFilter, JobResult
from tap_service.storage.jobs import IllegalTransition, JobStore, JobStoreUnavailable, NoSuchJob
from tap_service.storage.redis_jobs import RedisJobStore
from tap_service.storage.sqlite_jobs import SqliteJobStore
from tests.tap_service.storage.redis_server import RedisServer, redis_server

T0 = datetime(2026, 1, 31, 12, 0, 0, 123000, tzinfo=UTC)
PENDING, QUEUED, EXECUTING = ExecutionPhase.PENDING, ExecutionPhase.QUEUED, ExecutionPhase.EXECUTING
COMPLETED, ERROR, ABORTED = ExecutionPhase.COMPLETED, ExecutionPhase.ERROR, ExecutionPhase.ABORTED

RESULT = JobResult("j-1", 12, "text/csv", "csv", "e")
FAULT = JobError("it fails")


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["sqlite", "redis"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], JobStore]:
    """Open the test's own store, empty at first."""
    if request.param == "sqlite":
        return lambda: SqliteJobStore(tmp_path / "jobs")
    server = request.getfixturevalue("redis")
    server.flush()
    return lambda: RedisJobStore(server.url)


@pytest.fixture
def store(reopen: Callable[[], JobStore]) -> Iterator[JobStore]:
    store = reopen()
    yield store
    store.close()


def job(job_id: str = "j", owner: str | None = None, after: float = 0, **more: object) -> Job:
    created = T0 + timedelta(seconds=after)
    return replace(Job(job_id, owner, created, created + timedelta(days=1), 600), **more)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def ids(store: JobStore, wanted: JobFilter) -> list[str]:
    return [reference.job_id for reference in store.references(wanted)]


def started(store: JobStore, job_id: str = "j", seconds: float = 1) -> Job:
    store.queue(job_id)
    return store.start(job_id, "worker", at(seconds))


class TestJobStore:
    def test_a_job_comes_back_as_it_went_in(self, store: JobStore) -> None:
        whole = job(
            owner="ü:ser",
            phase=ERROR,
            parameters=(("QUERY", "SELECT 'é\\\"\x00'"), ("UPLOAD", "a"), ("UPLOAD", "b")),
            run_id="r\n☆",
            client="::1",
            quote=at(1),
            start_time=at(2),
            end_time=at(3),
            result=RESULT,
            error=FAULT,
            info={"rows": 3, "percent": 1.5, "plan": "x"},
            attempt=2,
            deaths=1,
            worker="w",
            heartbeat=at(4),
        )
        store.create(whole)
        assert store.get("j") == whole
        assert store.delete("j") == whole

    def test_what_is_not_there(self, store: JobStore) -> None:
        for act in (store.get, store.delete, store.queue):
            with pytest.raises(NoSuchJob):
                act("nothing")
        assert store.queued() == store.expired(at(10**6), 10) == store.silent(at(10**6)) == []

    def test_a_whole_life(self, store: JobStore) -> None:
        store.create(job())
        store.set_parameters("j", [("query", "SELECT 1")], "run")
        assert store.queue("j").phase is QUEUED
        begun = store.start("j", "worker", at(1))
        assert (begun.phase, begun.attempt, begun.worker, begun.heartbeat) == (EXECUTING, 1, "worker", at(1))
        assert store.report("j", 1, at(2), {"rows": 1}).info == {"rows": 1}
        done = store.complete("j", 1, at(3), RESULT, {"bytes": 5})
        assert (done.phase, done.end_time, done.result, done.info) == (
            COMPLETED,
            at(3),
            RESULT,
            {"rows": 1, "bytes": 5},
        )
        assert store.get("j") == done

    def test_only_legal_transitions(self, store: JobStore) -> None:
        acts: dict[str, Callable[[str], Job]] = {
            "queue": store.queue,
            "start": lambda name: store.start(name, "w", at(1)),
            "complete": lambda name: store.complete(name, 1, at(1), RESULT, {}),
            "fail": lambda name: store.fail(name, 1, at(1), FAULT, {}),
            "abort": lambda name: store.abort(name, at(1)),
            "requeue": lambda name: store.requeue(name, 1, died=True),
            "report": lambda name: store.report(name, 1, at(1), {}),
            "parameters": lambda name: store.set_parameters(name, [("MAXREC", "1")]),
        }
        legal = {
            PENDING: {"queue", "abort", "parameters"},
            QUEUED: {"start", "abort"},
            EXECUTING: {"complete", "fail", "abort", "requeue", "report"},
            COMPLETED: set(),
            ERROR: set(),
            ABORTED: set(),
        }
        for phase, allowed in legal.items():
            for name, act in acts.items():
                before = job(f"{phase}-{name}", phase=phase, attempt=1, heartbeat=at(0))
                store.create(before)
                if name in allowed:
                    act(before.job_id)
                else:
                    with pytest.raises(IllegalTransition) as refused:
                        act(before.job_id)
                    assert refused.value.phase is phase
                    assert store.get(before.job_id) == before

    def test_an_attempt_that_was_given_up_has_no_say(self, store: JobStore) -> None:
        store.create(job())
        started(store)
        assert store.requeue("j", 1, died=True).deaths == 1
        again = store.start("j", "other", at(2))
        assert again.attempt == 2
        for act in (
            lambda: store.complete("j", 1, at(3), RESULT, {}),
            lambda: store.fail("j", 1, at(3), FAULT, {}),
            lambda: store.report("j", 1, at(3), {}),
            lambda: store.requeue("j", 1, died=True),
        ):
            with pytest.raises(IllegalTransition):
                act()
        assert store.get("j") == again

    def test_an_end_that_is_told_twice_is_told(self, store: JobStore) -> None:
        """The first answer may have been lost on its way."""
        store.create(job())
        started(store)
        assert store.complete("j", 1, at(3), RESULT, {}) == store.complete("j", 1, at(3), RESULT, {})
        store.create(job("k"))
        started(store, "k")
        assert store.fail("k", 1, at(3), FAULT, {}) == store.fail("k", 1, at(3), FAULT, {})

    def test_what_a_change_raises_changes_nothing(self, store: JobStore) -> None:
        store.create(job())

        def flawed(_: Job) -> Job:
            raise KeyError("a fault of its own")

        with pytest.raises(KeyError):
            store._change("j", flawed)
        assert store.get("j") == job()
        assert store.queue("j").phase is QUEUED

    def test_lists_newest_first(self, store: JobStore) -> None:
        for number in range(5):
            store.create(job(f"j{number}", "anna", number // 2, run_id=f"r{number}"))
        store.create(job("other", "bob"))
        store.create(job("nobody's"))
        store.queue("j1")
        assert ids(store, JobFilter("anna")) == ["j4", "j3", "j2", "j1", "j0"]
        assert ids(store, JobFilter("anna", last=2)) == ["j4", "j3"]
        assert ids(store, JobFilter("anna", last=0)) == []
        assert ids(store, JobFilter("anna", after=at(0))) == ["j4", "j3", "j2"]
        assert ids(store, JobFilter("anna", after=at(-0.001))) == ["j4", "j3", "j2", "j1", "j0"]
        assert ids(store, JobFilter("anna", frozenset({QUEUED}))) == ["j1"]
        assert ids(store, JobFilter("anna", frozenset({QUEUED, PENDING}), after=at(-1), last=4)) == [
            "j4",
            "j3",
            "j2",
            "j1",
        ]
        assert ids(store, JobFilter("nobody")) == []
        assert set(ids(store, JobFilter(None))) == {"j0", "j1", "j2", "j3", "j4", "other", "nobody's"}
        (first,) = store.references(JobFilter("anna", last=1))
        assert (first.phase, first.run_id, first.owner, first.creation_time) == (PENDING, "r4", "anna", at(2))

    def test_owners_are_not_patterns(self, store: JobStore) -> None:
        for number, owner in enumerate(["a", "a:b", "A", "a%", "*", "", "é"]):
            store.create(job(f"j{number}", owner))
        for number, owner in enumerate(["a", "a:b", "A", "a%", "*", "", "é"]):
            assert ids(store, JobFilter(owner)) == [f"j{number}"]

    def test_archived_jobs_are_listed_on_demand(self, store: JobStore) -> None:
        store.create(job("old", "anna", phase=ExecutionPhase.ARCHIVED))
        store.create(job("new", "anna"))
        assert ids(store, JobFilter("anna")) == ["new"]
        assert ids(store, JobFilter("anna", frozenset({ExecutionPhase.ARCHIVED}))) == ["old"]

    def test_long_lists_come_in_pages(self, store: JobStore, monkeypatch: pytest.MonkeyPatch) -> None:
        """Most of them made in the same millisecond."""
        monkeypatch.setattr(f"{type(store).__module__}._PAGE", 50)
        for number in range(220):
            store.create(job(f"j{number}", "anna", max(0, number - 200)))
        expected = [f"j{number}" for number in range(219, -1, -1)]
        assert ids(store, JobFilter("anna")) == expected
        assert ids(store, JobFilter(None, last=170)) == expected[:170]

    def test_lists_follow_changes(self, store: JobStore) -> None:
        store.create(job("j", "anna"))
        store.set_parameters("j", [], "named")
        assert [reference.run_id for reference in store.references(JobFilter("anna"))] == ["named"]
        started(store)
        assert ids(store, JobFilter("anna", frozenset({EXECUTING}))) == ["j"]
        assert store.queued() == []
        store.delete("j")
        assert ids(store, JobFilter("anna")) == ids(store, JobFilter(None)) == []

    def test_queued_the_oldest_first(self, store: JobStore) -> None:
        for number, after in enumerate([3, 1, 2, 1]):
            store.create(job(f"j{number}", after=after))
            store.queue(f"j{number}")
        store.create(job("pending"))
        assert store.queued() == ["j1", "j3", "j2", "j0"]

    def test_expired(self, store: JobStore) -> None:
        for number in range(3):
            store.create(job(f"j{number}", destruction_time=at(number)))
        assert store.expired(at(-0.001), 10) == []
        assert store.expired(at(1), 10) == ["j0", "j1"]
        assert store.expired(at(5), 2) == ["j0", "j1"]
        store.set_destruction_time("j0", at(4))
        store.delete("j1")
        assert store.expired(at(5), 10) == ["j2", "j0"]

    def test_silent(self, store: JobStore) -> None:
        for number in range(4):
            store.create(job(f"j{number}"))
            started(store, f"j{number}", number)
        store.report("j0", 1, at(10), {})
        store.complete("j1", 1, at(2), RESULT, {})
        assert [each.job_id for each in store.silent(at(3))] == ["j2"]
        assert sorted(each.job_id for each in store.silent(at(3.001))) == ["j2", "j3"]
        store.requeue("j2", 1, died=True)
        assert {each.job_id for each in store.silent(at(11))} == {"j0", "j3"}

    def test_of_many_at_once_one_is_first(self, reopen: Callable[[], JobStore], store: JobStore) -> None:
        """Each act is done by one of eight threads; a running number loses nothing."""
        acts: dict[str, Callable[[str], Job]] = {
            "queue": store.queue,
            "start": lambda name: store.start(name, "w", at(1)),
            "complete": lambda name: store.complete(
                name, 1, at(2), replace(RESULT, key=threading.current_thread().name), {}
            ),
            "delete": store.delete,
        }
        for name in ("a", "b", "c"):
            store.create(job(name))
            for act in acts.values():
                assert len(self.winners(act, name)) == 1
        store.create(job("count", phase=EXECUTING, attempt=1))

        def more(old: Job) -> Job:
            return replace(old, deaths=old.deaths + 1)

        self.winners(lambda name: [store._change(name, more) for _ in range(20)][-1], "count")
        assert store.get("count").deaths == 160

    @staticmethod
    def winners(act: Callable[[str], Job], name: str) -> list[Job]:
        won: list[Job] = []
        ready = threading.Barrier(8)

        def attempt() -> None:
            ready.wait()
            try:
                won.append(act(name))
            except (IllegalTransition, NoSuchJob):
                return

        threads = [threading.Thread(target=attempt) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return won

    def test_watchers_are_told_of_phases(self, store: JobStore) -> None:
        told, other = threading.Event(), threading.Event()
        store.create(job())
        store.create(job("k"))
        with store.watch("j", told.set), store.watch("k", other.set):
            told.clear()
            other.clear()
            for act in (
                lambda: store.queue("j"),
                lambda: store.start("j", "w", at(1)),
                lambda: store.complete("j", 1, at(1), RESULT, {}),
                lambda: store.delete("j"),
            ):
                act()
                assert told.wait(20)
                told.clear()
            assert not other.is_set()
            store.set_destruction_time("k", at(5))
            store.queue("k")
            assert other.wait(20)
        store.abort("k", at(1))
        assert not told.is_set()

    def test_a_store_opened_again_has_it_all(self, reopen: Callable[[], JobStore], store: JobStore) -> None:
        store.create(job("j", "anna"))
        expected = started(store)
        store.close()
        again = reopen()
        assert again.get("j") == expected
        assert ids(again, JobFilter("anna")) == ["j"]
        again.close()

    def test_a_closed_store(self, store: JobStore) -> None:
        store.check()
        store.close()
        for act in (store.check, store.queued, lambda: store.get("j"), lambda: store.create(job())):
            with pytest.raises(JobStoreUnavailable):
                act()
