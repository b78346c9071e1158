"""Turns, slots and limits of the queue; the tests of the stores cover their part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_service.models.timestamps import add_seconds, now
from tap_service.models.uws_job import ExecutionPhase, Job
from tap_service.models.work_class import EngineWait, Estimate, QueuedJob, WorkClass
from tap_service.service_errors import ServiceBusy, TooManyJobs
from tap_service.services.jobs.job_queue import JobQueue, QueueRules, count_slots, find_startable, share_threads
from tap_service.storage.jobs.job_store import NoSuchJob
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore

SHORT, LONG, VERY_LONG = WorkClass.SHORT, WorkClass.LONG, WorkClass.VERY_LONG
SECONDS = {SHORT: 1.0, LONG: 60.0, VERY_LONG: 3600.0}
T0 = datetime(2026, 1, 1, tzinfo=UTC)


def rules(short: int = 1, long: int = 1, very_long: int = 1, user_running: int = 10) -> QueueRules:
    return QueueRules({SHORT: short, LONG: long, VERY_LONG: very_long}, user_running, 1000, 1000)


class Asked:
    """A queue over a real store, filled by users."""

    def __init__(self, store: SqliteJobStore, rules: QueueRules) -> None:
        self.store = store
        self.queue = JobQueue(store, rules)
        self.made = 0

    def put(self, user: str | None, work: WorkClass, name: str = "", client: str = "192.0.2.1") -> Job:
        self.made += 1
        job = Job(
            name or f"{user}{self.made}",
            user,
            add_seconds(T0, self.made),
            add_seconds(now(), 10_000),
            100,
            client=client,
        )
        self.store.create_job(job)
        return self.queue.put_job(job, Estimate(1, 1, SECONDS[work], "scan"))

    def taken(self) -> str:
        job = self.queue.take_job("w")
        assert job is not None
        return job.job_id

    def done(self, job_id: str) -> None:
        self.store.delete_job(job_id)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteJobStore]:
    store = SqliteJobStore(tmp_path)
    yield store
    store.close()


@pytest.mark.parametrize(("seconds", "work"), [(0, SHORT), (9.9, SHORT), (10, LONG), (599, LONG), (600, VERY_LONG)])
def test_classes(seconds: float, work: WorkClass) -> None:
    assert WorkClass.from_seconds(seconds) is work


@pytest.mark.parametrize("heavy", [1, 2, 3, 8])
def test_every_class_has_a_slot(heavy: int) -> None:
    slots = count_slots(heavy)
    assert all(count >= 1 for count in slots.values())
    assert slots[LONG] + slots[VERY_LONG] == max(2, heavy)


def test_one_users_hundred_do_not_delay_anothers_one(store: SqliteJobStore) -> None:
    asked = Asked(store, rules())
    for _ in range(100):
        asked.put("alice", LONG)
    for _ in range(7):  # others come later, too
        asked.done(asked.taken())
    first = asked.taken()
    asked.put("bob", LONG, "b")
    asked.done(first)
    assert asked.taken() == "b"


def test_users_take_turns_and_each_ones_jobs_keep_their_order(store: SqliteJobStore) -> None:
    asked = Asked(store, rules())
    for user in "abc":
        for number in range(3):
            asked.put(user, LONG, f"{user}{number}")
    order = []
    for _ in range(9):
        order.append(asked.taken())
        asked.done(order[-1])
    assert order == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]


def test_anonymous_users_are_addresses(store: SqliteJobStore) -> None:
    asked = Asked(store, rules())
    for number in range(3):
        asked.put(None, LONG, f"a{number}")
    asked.put(None, LONG, "b", "192.0.2.2")
    asked.put("192.0.2.1", LONG, "c")
    order = []
    for _ in range(3):
        order.append(asked.taken())
        asked.done(order[-1])
    assert order == ["a0", "b", "c"]


@pytest.mark.parametrize(
    ("address", "user"),
    [
        ("2001:db8::1", "anonymous at 2001:db8::/64"),
        ("2001:db8::ffff:1:2", "anonymous at 2001:db8::/64"),
        ("2001:db8:0:1::1", "anonymous at 2001:db8:0:1::/64"),
        ("fe80::1%eth0", "anonymous at fe80::/64"),
        ("::ffff:192.0.2.1", "anonymous at 192.0.2.1"),
        ("192.0.2.1", "anonymous at 192.0.2.1"),
        ("", "anonymous at "),
    ],
)
def test_who_has_many_addresses_is_one_user(address: str, user: str) -> None:
    assert Job("a", None, now(), now(), 1, client=address).queued_job.user == user


def test_heavier_work_does_not_block_lighter(store: SqliteJobStore) -> None:
    asked = Asked(store, rules())
    for number in range(5):
        asked.put("alice", VERY_LONG, f"v{number}")
        asked.put("alice", LONG, f"l{number}")
    asked.put("alice", SHORT, "s")
    assert asked.queue.startable_classes() == [WorkClass.VERY_LONG, WorkClass.LONG, WorkClass.SHORT]
    assert {asked.taken() for _ in range(3)} == {"s", "l0", "v0"}
    assert (asked.queue.count_waiting(), asked.queue.startable_classes(), asked.queue.take_job("w")) == (8, [], None)


def test_a_user_has_no_more_running_than_allowed(store: SqliteJobStore) -> None:
    asked = Asked(store, rules(long=3, user_running=2))
    for number in range(3):
        asked.put("alice", LONG, f"a{number}")
    asked.put("bob", LONG, "b")
    first = [asked.taken() for _ in range(3)]
    assert first == ["a0", "b", "a1"]
    assert asked.queue.take_job("w") is None
    asked.done("a0")
    assert asked.taken() == "a2"


def test_what_lasts_longer_than_foreseen_frees_its_slot_for_lighter_work() -> None:
    waits = QueuedJob("b", "bob", 0, 1.0)
    runs = QueuedJob("a", "alice", 0, 1.0, T0)
    assert find_startable([waits], [runs], rules(), add_seconds(T0, 9)) == []
    assert find_startable([waits], [runs], rules(), add_seconds(T0, 11)) == [waits]
    assert find_startable([replace(waits, seconds=60)], [runs], rules(), add_seconds(T0, 11)) == []


def test_limits(store: SqliteJobStore) -> None:
    asked = Asked(store, QueueRules(count_slots(2), 2, 2, 3))
    asked.put("alice", LONG)
    asked.put("alice", SHORT)
    with pytest.raises(TooManyJobs, match="2 of your jobs wait already"):
        asked.put("alice", SHORT, "third")
    third = store.get_job("third")
    assert third.phase is ExecutionPhase.PENDING
    with pytest.raises(TooManyJobs):
        asked.queue.put_job(replace(third, job_id="new"), None, is_new=True)
    with pytest.raises(NoSuchJob):
        store.get_job("new")
    asked.put("bob", SHORT)
    with pytest.raises(ServiceBusy, match="3 jobs wait already"):
        asked.put("carol", SHORT)
    asked.taken()
    asked.put("carol", SHORT)


def test_anonymous_clients_leave_slots_for_users(store: SqliteJobStore) -> None:
    asked = Asked(store, QueueRules(count_slots(2), 2, 2, 4, reserve=50))
    for number in range(2):
        asked.put(None, SHORT, client=f"192.0.2.{number}")
    with pytest.raises(
        ServiceBusy, match="2 jobs are already waiting, and the rest of the queue is reserved for users: log in"
    ):
        asked.put(None, SHORT, client="192.0.2.9")
    for user in ("alice", "bob"):
        asked.put(user, SHORT)
    with pytest.raises(ServiceBusy, match="4 jobs wait already, the maximum"):
        asked.put("carol", SHORT)


def test_quotes(store: SqliteJobStore) -> None:
    """A quote adds waiting jobs and half of the running ones, ends before the destruction, and needs an estimate."""
    asked = Asked(store, rules(long=2))
    asked.put("alice", LONG, "a")
    asked.taken()
    asked.put("alice", LONG, "b")
    before = now()
    quote = asked.put("alice", LONG, "c").quote
    assert quote is not None
    assert add_seconds(before, (30 + 60) / 2 + 60) <= quote <= add_seconds(now(), (30 + 60) / 2 + 60)
    job = Job("mortal", None, now(), add_seconds(now(), 50), 100)
    store.create_job(job)
    assert asked.queue.put_job(job, Estimate(1, 1, 1e30, "scan")).quote == job.destruction_time
    unknown = replace(job, job_id="unknown")
    store.create_job(unknown)
    assert asked.queue.put_job(unknown, None).quote is None


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(list(WorkClass))), max_size=60), st.data())
def test_no_job_is_lost_and_limits_hold(jobs: list[tuple[str, WorkClass]], data: st.DataObject) -> None:
    given = rules(short=2, long=2, very_long=1, user_running=3)
    waiting = [
        QueuedJob(str(n), user, data.draw(st.integers(0, 5)), SECONDS[work]) for n, (user, work) in enumerate(jobs)
    ]
    running: list[QueuedJob] = []
    while waiting:
        started = find_startable(waiting, running, given, T0)
        running += [replace(job, started=T0) for job in started]
        waiting = [job for job in waiting if job not in started]
        assert find_startable(waiting, running, given, T0) == []
        for user in "abcd":
            assert sum(job.user == user for job in running) <= 3
        for work, most in given.slots.items():
            assert sum(job.work_class(T0) is work for job in running) <= most
        assert running
        running.pop(data.draw(st.integers(0, len(running) - 1)))


def threads_with_others(seconds: float, others: list[float], cores: int = 8) -> int:
    rules = QueueRules(count_slots(cores), 10, 1000, 1000, cores)
    slots = [QueuedJob(f"other{number}", "u", 0, each) for number, each in enumerate(others)]
    return share_threads(QueuedJob("mine", "u", 0, seconds), slots, rules, T0)


def test_a_lone_job_has_all_cores() -> None:
    assert threads_with_others(5, []) == 0


def test_jobs_of_the_same_duration_share_the_cores() -> None:
    assert threads_with_others(5, [5]) == 4
    assert threads_with_others(5, [5, 5, 5]) == 2
    assert threads_with_others(5, [5], cores=2) == 1
    assert threads_with_others(5, [5, 5, 5], cores=2) == 1


def test_short_jobs_do_not_take_cores_from_one_that_outlasts_them() -> None:
    assert threads_with_others(3600, [1] * 20) == 0
    assert threads_with_others(1, [3600]) == 4


def test_no_more_jobs_count_than_may_run() -> None:
    """Four of the long jobs run at once on eight cores."""
    assert threads_with_others(60, [60] * 100) == 2
    assert threads_with_others(5, [5] * 100) == 1


def test_a_job_without_estimate_shares_with_all() -> None:
    assert threads_with_others(0, [1, 1, 1]) == 2


def test_the_queue_counts_all_other_jobs(store: SqliteJobStore) -> None:
    asked = Asked(store, QueueRules(count_slots(2), 2, 10, 10, 2))
    alone = asked.put("a", SHORT)
    assert asked.queue.share_threads(alone) == 0
    asked.put("b", SHORT)
    assert asked.queue.share_threads(alone) == 1


def test_a_job_that_is_tried_again_later_holds_nobody_up() -> None:
    later = EngineWait("away", T0, add_seconds(T0, 10))
    queued = [
        QueuedJob("first", "a", 0, 1.0, None, later),
        QueuedJob("second", "a", 1, 1.0, None, EngineWait("away", T0)),
    ]
    for seconds, expected in ((0, ["second"]), (9, ["second"]), (10, ["first", "second"])):
        found = find_startable(queued, [], rules(short=2), add_seconds(T0, seconds))
        assert [job.job_id for job in found] == expected
