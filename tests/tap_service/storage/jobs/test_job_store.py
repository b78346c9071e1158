"""The job store. All stores run through the same tests: add a store to the fixture ``store``."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from tap_service.models.piece_work import Part, PieceWork
from tap_service.models.timestamps import add_seconds, now
from tap_service.models.uws_job import ExecutionPhase, Job, JobError, JobFilter, JobResult
from tap_service.models.work_class import EngineWait, Estimate, QueuedJob
from tap_service.services.jobs import job_search
from tap_service.services.jobs.job_search import search_jobs
from tap_service.storage.jobs.job_store import IllegalTransition, JobStore, JobStoreUnavailable, NoSuchJob
from tap_service.storage.jobs.redis_job_store import RedisJobStore
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore

PENDING, QUEUED, EXECUTING = ExecutionPhase.PENDING, ExecutionPhase.QUEUED, ExecutionPhase.EXECUTING
COMPLETED, ERROR, ABORTED = ExecutionPhase.COMPLETED, ExecutionPhase.ERROR, ExecutionPhase.ABORTED
RESULT = JobResult("key-1", 7, "text/csv", "csv", "key-1")
OTHER_RESULT = replace(RESULT, size=8)
FAILURE = JobError("it fails", transient=True)
PIECES = PieceWork("basis", (1, 12 * 4**29 - 1), (Part(1, 5, 1 << 40), Part(1, 0, 0)), 2)
ESTIMATE = Estimate(10, 80, 50.0, "scan")
T0 = datetime(2026, 1, 31, 12, 0, 0, 123_000, tzinfo=UTC)
WAIT = EngineWait("the engine does not answer", T0, T0)

_numbers = itertools.count()


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


def job(**properties: Any) -> Job:
    wanted = {
        "job_id": f"{next(_numbers):032x}",
        "owner": "kepler",
        "creation_time": T0,
        "destruction_time": add_seconds(T0, 100),
        "execution_duration": 60,
        **properties,
    }
    return Job(**wanted)


def made(store: JobStore, **properties: Any) -> str:
    new = job(**properties)
    store.create_job(new)
    return new.job_id


def brought_to(store: JobStore, phase: ExecutionPhase) -> str:
    """Bring a job to this phase by transitions; HELD and SUSPENDED are written directly."""
    if phase in (ExecutionPhase.HELD, ExecutionPhase.SUSPENDED, ExecutionPhase.UNKNOWN, ExecutionPhase.ARCHIVED):
        return made(store, phase=phase, attempt=1)
    job_id = made(store)
    steps: dict[ExecutionPhase, Callable[[], Any]] = {
        QUEUED: lambda: store.queue_job(job_id),
        EXECUTING: lambda: store.start_job(job_id, "w", T0),
        COMPLETED: lambda: store.complete_job(job_id, 1, T0, RESULT, {}),
        ERROR: lambda: store.fail_job(job_id, 1, T0, FAILURE, {}),
        ABORTED: lambda: store.abort_job(job_id, T0),
    }
    way = {
        PENDING: [],
        QUEUED: [QUEUED],
        EXECUTING: [QUEUED, EXECUTING],
        **{end: [QUEUED, EXECUTING, end] for end in (COMPLETED, ERROR, ABORTED)},
    }
    for step in way[phase]:
        steps[step]()
    assert store.get_job(job_id).phase is phase
    return job_id


#: changes of a job -> the phases that allow them, and the phase after them (None: as before)
UNFINISHED = {PENDING, QUEUED, EXECUTING, ExecutionPhase.HELD, ExecutionPhase.SUSPENDED}
LEGAL: dict[str, tuple[Callable[[JobStore, str], Any], set[ExecutionPhase], ExecutionPhase | None]] = {
    "queue": (lambda store, ident: store.queue_job(ident), {PENDING, ExecutionPhase.HELD}, QUEUED),
    "start": (lambda store, ident: store.start_job(ident, "w", T0), {QUEUED}, EXECUTING),
    "complete": (lambda store, ident: store.complete_job(ident, 1, T0, OTHER_RESULT, {}), {EXECUTING}, COMPLETED),
    "fail": (lambda store, ident: store.fail_job(ident, 1, add_seconds(T0, 1), FAILURE, {}), {EXECUTING}, ERROR),
    "abort": (lambda store, ident: store.abort_job(ident, T0), UNFINISHED, ABORTED),
    "requeue": (lambda store, ident: store.requeue_job(ident, 1, died=True), {EXECUTING}, QUEUED),
    "wait": (lambda store, ident: store.set_wait(ident, WAIT), {QUEUED}, None),
    "give up": (lambda store, ident: store.fail_waiting_job(ident, T0, FAILURE), {QUEUED}, ERROR),
    "report": (lambda store, ident: store.report_progress(ident, 1, T0, {}), {EXECUTING}, None),
    "foresee": (lambda store, ident: store.set_estimate(ident, 1, T0, ESTIMATE), {EXECUTING}, None),
    "pieces": (lambda store, ident: store.set_pieces(ident, 1, T0, PIECES), {EXECUTING}, None),
    "parameters": (lambda store, ident: store.set_parameters(ident, [("QUERY", "x")]), {PENDING}, None),
    "duration": (lambda store, ident: store.set_execution_duration(ident, 5), UNFINISHED, None),
    "destruction": (lambda store, ident: store.set_destruction_time(ident, T0), set(ExecutionPhase), None),
}


class TestPhases:
    @pytest.mark.parametrize("phase", ExecutionPhase)
    @pytest.mark.parametrize("act", LEGAL)
    def test_only_legal_transitions(self, store: JobStore, act: str, phase: ExecutionPhase) -> None:
        do, predecessors, successor = LEGAL[act]
        job_id = brought_to(store, phase)
        before = store.get_job(job_id)
        if phase in predecessors:
            do(store, job_id)
            assert store.get_job(job_id).phase is (successor or phase)
        else:
            with pytest.raises(IllegalTransition) as refused:
                do(store, job_id)
            assert refused.value.phase is phase
            assert store.get_job(job_id) == before

    def test_a_job_from_creation_to_result(self, store: JobStore) -> None:
        job_id = made(store, parameters=(("QUERY", "SELECT 1"),), run_id="r")
        store.queue_job(job_id)
        assert store.start_job(job_id, "pid 1", add_seconds(T0, 1)).attempt == 1
        store.report_progress(job_id, 1, add_seconds(T0, 2), {"rowsRead": 5, "percent": 10})
        done = store.complete_job(job_id, 1, add_seconds(T0, 3), RESULT, {"percent": 100, "seconds": 2.5})
        assert done == store.get_job(job_id)
        assert done.info == {"rowsRead": 5, "percent": 100, "seconds": 2.5}
        assert (done.start_time, done.end_time, done.heartbeat) == (
            add_seconds(T0, 1),
            add_seconds(T0, 3),
            add_seconds(T0, 2),
        )
        assert (done.result, done.error, done.worker, done.run_id) == (RESULT, None, "pid 1", "r")
        assert done.parameters == (("QUERY", "SELECT 1"),)

    def test_a_quote_is_renewed(self, store: JobStore) -> None:
        job_id = made(store, destruction_time=add_seconds(T0, 1000))
        store.queue_job(job_id, ESTIMATE)

        def quote(seconds: float, **info: int | float) -> datetime | None:
            return store.report_progress(job_id, 1, add_seconds(T0, seconds), info).quote

        assert store.start_job(job_id, "w", T0).quote == add_seconds(T0, 50)
        assert quote(1, percent=99, secondsLeft=0.1) == add_seconds(T0, 50)  # joins go on
        assert quote(2, percent=10, secondsLeft=90, pieces=10) == add_seconds(T0, 92)
        assert quote(93, percent=99) is None
        assert quote(94, percent=50, secondsLeft=20) == add_seconds(T0, 114)
        assert quote(95, percent=50, secondsLeft=2000, pieces=10) == add_seconds(T0, 1000)
        assert store.set_destruction_time(job_id, add_seconds(T0, 500)).quote == add_seconds(T0, 500)
        assert store.set_destruction_time(job_id, add_seconds(T0, 2000)).quote == add_seconds(T0, 500)
        assert store.requeue_job(job_id, 1, died=True).quote is None

    def test_info_is_the_last_report(self, store: JobStore) -> None:
        job_id = made(store, phase=EXECUTING)
        store.report_progress(job_id, 0, T0, {"percent": 50, "secondsLeft": 3})
        store.report_progress(job_id, 0, T0, {"percent": 99})
        assert store.report_progress(job_id, 0, T0, {}).info == {"percent": 99}
        store.report_progress(job_id, 0, T0, {"percent": 50, "secondsLeft": 3})
        assert store.abort_job(job_id, T0).info == {"percent": 50}

    def test_a_late_estimate(self, store: JobStore) -> None:
        job_id = made(store, phase=EXECUTING, start_time=T0, destruction_time=add_seconds(T0, 1000))
        told = store.set_estimate(job_id, 0, add_seconds(T0, 3), ESTIMATE)
        assert (told.foreseen, told.quote, told.heartbeat) == (ESTIMATE, add_seconds(T0, 53), add_seconds(T0, 3))
        assert [job.seconds for job in store.list_queued_jobs()[1]] == [50]

    def test_a_record_survives(self, store: JobStore) -> None:
        odd = "\x00\N{SNOWMAN} \U0001f52d '\"\\ </x>"
        whole = job(
            owner=odd,
            run_id=odd,
            note=odd,
            parameters=((odd, odd), ("UPLOAD", "")),
            quote=T0,
            start_time=T0,
            end_time=T0,
            result=RESULT,
            error=JobError(odd),
            info={"a": odd, "b": 1, "c": 0.5},
            attempt=3,
            deaths=2,
            worker=odd,
            heartbeat=T0,
            client="::1",
        )
        store.create_job(whole)
        assert store.get_job(whole.job_id) == whole

    @pytest.mark.parametrize("phase", [PENDING, EXECUTING, COMPLETED])
    def test_name_and_note_change_in_every_phase(self, store: JobStore, phase: ExecutionPhase) -> None:
        job_id = made(store, phase=phase, run_id="first", parameters=(("RUNID", "first"),))
        store.set_name(job_id, "second")
        changed = store.set_note(job_id, "why\nI ran it")
        assert (changed.run_id, changed.note, changed.phase) == ("second", "why\nI ran it", phase)
        assert store.get_job(job_id) == changed
        assert changed.parameters == (("RUNID", "first"),)
        [listed] = store.list_references(JobFilter("kepler"))
        assert listed.run_id == "second"

    def test_records_of_earlier_versions_have_no_note(self) -> None:
        adapter = TypeAdapter(Job)
        record = json.loads(adapter.dump_json(job(run_id="old")))
        del record["note"]
        assert adapter.validate_python(record).note == ""

    def test_a_replaced_attempt_cannot_change_the_job(self, store: JobStore) -> None:
        job_id = brought_to(store, EXECUTING)
        again = store.requeue_job(job_id, 1, died=True)
        assert (again.deaths, again.start_time, again.worker, again.info) == (1, None, "", {})
        assert store.start_job(job_id, "other", T0).attempt == 2
        for say in (
            lambda: store.complete_job(job_id, 1, T0, RESULT, {}),
            lambda: store.fail_job(job_id, 1, T0, FAILURE, {}),
            lambda: store.report_progress(job_id, 1, T0, {}),
            lambda: store.requeue_job(job_id, 1, died=True),
        ):
            with pytest.raises(IllegalTransition):
                say()
        assert store.complete_job(job_id, 2, T0, RESULT, {}).phase is COMPLETED

    def test_a_wait_is_kept_while_a_job_is_tried_again(self, store: JobStore) -> None:
        job_id = brought_to(store, EXECUTING)
        assert store.requeue_job(job_id, 1, died=False, wait=WAIT).wait == WAIT
        assert [job.wait for job in store.list_queued_jobs()[0]] == [WAIT]
        assert (store.start_job(job_id, "w", T0).wait, store.get_job(job_id).wait) == (WAIT, WAIT)
        assert store.set_pieces(job_id, 2, T0, replace(PIECES, parts=())).wait == WAIT
        assert store.set_pieces(job_id, 2, T0, PIECES).wait is None
        store.requeue_job(job_id, 2, died=False, wait=WAIT)
        assert store.set_wait(job_id, None).wait is None

    def test_an_end_may_be_reported_twice(self, store: JobStore) -> None:
        """The worker cannot know whether its first report arrived."""
        done, failed = brought_to(store, EXECUTING), brought_to(store, EXECUTING)
        for _ in range(2):
            assert store.complete_job(done, 1, T0, RESULT, {"a": 1}).phase is COMPLETED
            assert store.fail_job(failed, 1, T0, FAILURE, {"a": 1}).phase is ERROR

    def test_unknown_jobs(self, store: JobStore) -> None:
        job_id = brought_to(store, EXECUTING)
        assert store.delete_job(job_id).attempt == 1
        for act, _, _ in LEGAL.values():
            with pytest.raises(NoSuchJob):
                act(store, job_id)
        for gone in (store.get_job, store.delete_job):
            with pytest.raises(NoSuchJob):
                gone(job_id)


class TestParameters:
    def test_later_values_replace_and_uploads_accumulate(self, store: JobStore) -> None:
        job_id = made(store, parameters=(("QUERY", "old"), ("UPLOAD", "a,x"), ("custom", "1")))
        store.set_parameters(job_id, [("query", "new"), ("upload", "b,y"), ("CUSTOM", "2"), ("MAXREC", "5")])
        assert store.get_job(job_id).parameters == (
            ("UPLOAD", "a,x"),
            ("QUERY", "new"),
            ("UPLOAD", "b,y"),
            ("CUSTOM", "2"),
            ("MAXREC", "5"),
        )

    def test_the_run_id(self, store: JobStore) -> None:
        job_id = made(store, run_id="r1")
        assert store.set_parameters(job_id, [("LANG", "ADQL")]).run_id == "r1"
        store.set_parameters(job_id, [("RUNID", "r2")], run_id="r2")
        [listed] = store.list_references(JobFilter("kepler"))
        assert listed.run_id == store.get_job(job_id).run_id == "r2"


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Return the results or exceptions of concurrent calls."""
    outcomes: list[Any] = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run(index: int) -> None:
        barrier.wait()
        try:
            outcomes[index] = calls[index]()
        except (IllegalTransition, NoSuchJob) as refused:
            outcomes[index] = refused

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


class TestRaces:
    @pytest.mark.parametrize("round_", range(20))
    def test_one_of_abort_complete_fail_and_requeue_wins(self, store: JobStore, round_: int) -> None:
        job_id = brought_to(store, EXECUTING)
        outcomes = at_once(
            lambda: store.abort_job(job_id, T0),
            lambda: store.complete_job(job_id, 1, T0, RESULT, {}),
            lambda: store.fail_job(job_id, 1, T0, FAILURE, {}),
        )
        [winner] = [outcome for outcome in outcomes if isinstance(outcome, Job)]
        assert store.get_job(job_id) == winner
        assert (winner.result is not None) is (winner.phase is COMPLETED)
        assert (winner.error is not None) is (winner.phase is ERROR)

    def test_a_job_is_started_once(self, store: JobStore) -> None:
        job_id = brought_to(store, QUEUED)
        outcomes = at_once(*[lambda: store.start_job(job_id, "w", T0)] * 8)
        assert sum(isinstance(outcome, Job) for outcome in outcomes) == 1
        assert store.get_job(job_id).attempt == 1

    def test_a_job_is_deleted_once(self, store: JobStore) -> None:
        job_id = made(store)
        outcomes = at_once(*[lambda: store.delete_job(job_id)] * 8)
        assert sum(isinstance(outcome, Job) for outcome in outcomes) == 1

    def test_no_change_is_lost(self, store: JobStore) -> None:
        job_id = made(store)
        at_once(*[lambda n=n: store.set_parameters(job_id, [("UPLOAD", str(n))]) for n in range(16)])
        assert {value for _, value in store.get_job(job_id).parameters} == {str(n) for n in range(16)}


class TestLists:
    def fill(self, store: JobStore) -> list[Job]:
        phases = (PENDING, QUEUED, EXECUTING, COMPLETED, ERROR, ABORTED)
        owners = ("kepler", "brahe", None)
        jobs = [
            job(
                owner=owners[n % 3],
                phase=phases[n % 6 if n % 7 else 3],
                creation_time=add_seconds(T0, n // 2),
                run_id=str(n),
            )
            for n in range(60)
        ]
        jobs.append(job(phase=ExecutionPhase.ARCHIVED, creation_time=add_seconds(T0, 100)))
        for each in jobs:
            store.create_job(each)
        return jobs

    def test_all_filters_apply(self, store: JobStore) -> None:
        jobs = self.fill(store)
        owners = ("kepler", "brahe", "nobody", None)
        phase_sets = ((), (COMPLETED,), (PENDING, ERROR, ABORTED), (ExecutionPhase.HELD,), (ExecutionPhase.ARCHIVED,))
        for owner, phases, after, before, last in itertools.product(
            owners, phase_sets, (None, 0, 13, 1000), (None, 0, 14, 20), (None, 1, 5, 1000)
        ):
            since, until = (None if each is None else add_seconds(T0, each) for each in (after, before))
            wanted = JobFilter(owner, frozenset(phases), since, last, until)
            expected = [
                each
                for each in jobs
                if (owner is None or each.owner == owner)
                and (each.phase in phases if phases else each.phase is not ExecutionPhase.ARCHIVED)
                and (wanted.after is None or each.creation_time > wanted.after)
                and (wanted.before is None or each.creation_time < wanted.before)
            ]
            expected.sort(key=lambda each: each.creation_time, reverse=True)
            found = list(store.list_references(wanted))
            assert [each.creation_time for each in found] == [each.creation_time for each in expected][:last], wanted
            by_id = {each.job_id: each for each in expected}
            for each in found:
                source = by_id.pop(each.job_id)
                assert (each.phase, each.run_id, each.owner) == (source.phase, source.run_id, source.owner)

    def test_several_records(self, store: JobStore) -> None:
        ids = [made(store), made(store)]
        assert {each.job_id for each in store.get_jobs([*ids, "f" * 32])} == {*ids}
        assert store.get_jobs([]) == []

    def test_search_by_words(self, store: JobStore) -> None:
        def add(number: int, **about: Any) -> str:
            return made(store, creation_time=add_seconds(T0, 86400 * number), **about)

        query = (("QUERY", "SELECT ra FROM Survey.Stars"), ("MAXREC", "5"))
        ids = [
            add(0, parameters=query),
            add(1, run_id="Pleiades run"),
            add(2, note="For the\nPLEIADES paper", phase=ERROR),
        ]
        add(3, owner="brahe", note="pleiades")

        def find(*words: str, **also: Any) -> list[str]:
            return [each.job_id for each in search_jobs(store, JobFilter("kepler", words=words, **also))]

        assert find("pleiades") == [ids[2], ids[1]]
        assert find("pleiades", last=1) == find("pleiades", "paper") == [ids[2]]
        assert find("pleiades", phases=frozenset({PENDING})) == find("run", "PLEIADES") == [ids[1]]
        assert find("survey.stars") == find(ids[0][:30], "select") == find("2026-01-31") == [ids[0]]
        assert find("pleiades", before=add_seconds(T0, 86400 * 2)) == [ids[1]]
        assert find("nothing") == find("%") == []

    def test_a_search_reads_a_limited_number(self, store: JobStore, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(job_search, "MAX_SEARCHED", 3)
        ids = [made(store, note="seen", creation_time=add_seconds(T0, n)) for n in range(5)]
        found = search_jobs(store, JobFilter("kepler", words=("seen",)))
        assert [each.job_id for each in found] == ids[:1:-1]
        older = search_jobs(store, JobFilter("kepler", words=("seen",), before=add_seconds(T0, 2)))
        assert [each.job_id for each in older] == ids[1::-1]

    def test_a_long_list_comes_in_pages_and_each_job_once(self, store: JobStore) -> None:
        made_jobs = [job(creation_time=add_seconds(T0, n // 700)) for n in range(2500)]
        for each in made_jobs:
            store.create_job(each)
        rest = store.list_references(JobFilter("kepler"))
        first = next(rest)
        store.delete_job(made_jobs[0].job_id)  # the last of the list, which is still to be read
        found = [first, *rest]
        assert len({each.job_id for each in found}) == len(found) == 2499
        assert [each.creation_time for each in found] == sorted((each.creation_time for each in found), reverse=True)

    def test_queued_jobs_in_their_order(self, store: JobStore) -> None:
        jobs = [made(store, phase=QUEUED, creation_time=add_seconds(T0, n)) for n in (3, 1, 2)]
        made(store)
        assert [job.job_id for job in store.list_queued_jobs()[0]] == [jobs[1], jobs[2], jobs[0]]

    def test_queued_and_executing_jobs_are_listed(self, store: JobStore) -> None:
        waits, runs = made(store, owner="alice"), made(store, owner=None, client="192.0.2.1")
        foreseen = Estimate(10, 80, 12.5, "scan")
        store.queue_job(waits, foreseen, 3, T0)
        store.queue_job(runs)
        store.start_job(runs, "w", T0)
        expected = [QueuedJob(waits, "alice", 3, 12.5)], [QueuedJob(runs, "anonymous at 192.0.2.1", started=T0)]
        assert store.list_queued_jobs() == expected
        started = store.start_job(waits, "w", add_seconds(T0, 20))
        assert (started.foreseen, started.quote) == (foreseen, add_seconds(T0, 32.5))
        assert store.requeue_job(waits, 1, died=True).queued_job == QueuedJob(waits, "alice", 3, 12.5)
        for job_id in (waits, runs):
            store.delete_job(job_id)
        assert store.list_queued_jobs() == ([], [])

    def test_a_job_that_is_queued_at_once(self, store: JobStore) -> None:
        foreseen = Estimate(10, 80, 12.5, "scan")
        queued = store.create_queued_job(job(owner="alice"), foreseen, 3, T0)
        assert (queued.phase, queued.turn, queued.quote) == (QUEUED, 3, T0)
        assert store.get_job(queued.job_id) == queued
        assert store.list_queued_jobs() == ([QueuedJob(queued.job_id, "alice", 3, 12.5)], [])

    def test_pending_jobs_are_counted_by_user_or_address(self, store: JobStore) -> None:
        clients = (("ann", "192.0.2.1"), (None, "192.0.2.1"), (None, "192.0.2.1"), (None, "192.0.2.2"))
        jobs = [made(store, owner=owner, client=client) for owner, client in clients]
        keys = ("ann", "anonymous at 192.0.2.1", "anonymous at 192.0.2.2", "bob")
        assert [store.count_pending(key) for key in keys] == [1, 2, 1, 0]
        assert store.count_pending() == 4
        store.queue_job(jobs[1])
        store.delete_job(jobs[3])
        assert [store.count_pending(key) for key in keys] == [1, 1, 0, 0]

    def test_jobs_with_equal_fingerprints(self, store: JobStore) -> None:
        one, other = brought_to(store, EXECUTING), brought_to(store, EXECUTING)
        assert store.find_alike("f") == []
        store.complete_job(one, 1, T0, RESULT, {}, "f")
        store.complete_job(other, 1, T0, OTHER_RESULT, {}, "f")
        store.complete_job(brought_to(store, EXECUTING), 1, T0, RESULT, {})
        assert sorted(store.find_alike("f")) == sorted((one, other))
        store.delete_job(one)
        assert (store.find_alike("f"), store.find_alike("")) == ([other], [])

    def test_the_choice_is_locked(self, store: JobStore) -> None:
        inside: list[int] = []

        def choose() -> None:
            for _ in range(5):
                with store.lock_choice():
                    inside.append(1)
                    assert sum(inside) == 1
                    time.sleep(0.001)
                    inside.append(-1)

        at_once(*[choose] * 4)
        assert len(inside) == 40

    def test_rates(self, store: JobStore) -> None:
        assert store.read_rates() == {}
        store.set_rate("scan", 0.125)
        store.set_rate("join", 1e-7)
        store.set_rate("scan", 0.1)
        assert store.read_rates() == {"scan": 0.1, "join": 1e-7}

    def test_expired_jobs(self, store: JobStore) -> None:
        jobs = [made(store, destruction_time=add_seconds(T0, n)) for n in (3, 1, 2)]
        assert store.list_expired(add_seconds(T0, 2), 10) == [jobs[1], jobs[2]]
        assert store.list_expired(add_seconds(T0, 2), 1) == [jobs[1]]
        store.set_destruction_time(jobs[0], T0)
        assert store.list_expired(T0, 10) == [jobs[0]]

    def test_silent_jobs(self, store: JobStore) -> None:
        quiet, loud = brought_to(store, EXECUTING), brought_to(store, EXECUTING)
        brought_to(store, QUEUED)
        brought_to(store, COMPLETED)
        store.report_progress(loud, 1, add_seconds(T0, 10), {})
        assert [each.job_id for each in store.list_silent(add_seconds(T0, 5))] == [quiet]
        assert {each.job_id for each in store.list_silent(add_seconds(T0, 11))} == {quiet, loud}


def test_watching(store: JobStore) -> None:
    job_id, other = made(store), made(store)
    changes = threading.Semaphore(0)
    with store.watch_job(job_id, changes.release):
        while changes.acquire(timeout=0.1):  # an additional call does no harm
            pass
        store.set_execution_duration(job_id, 7)
        store.queue_job(other)
        assert not changes.acquire(timeout=0.05)
        store.queue_job(job_id)
        assert changes.acquire(timeout=10)
        store.abort_job(job_id, T0)
        assert changes.acquire(timeout=10)
        store.delete_job(job_id)
        assert changes.acquire(timeout=10)
    store.delete_job(other)
    assert not changes.acquire(timeout=0.05)


class TestStore:
    def test_a_change_that_raises_changes_nothing(self, store: JobStore) -> None:
        before = job()
        store.create_job(before)

        def flawed(_: Job) -> Job:
            raise KeyError("an error of the change")

        with pytest.raises(KeyError):
            store._change_job(before.job_id, flawed)
        assert store.get_job(before.job_id) == before
        assert store.queue_job(before.job_id).phase is QUEUED

    def test_owners_are_not_patterns(self, store: JobStore) -> None:
        jobs = {owner: made(store, owner=owner) for owner in ("a", "a:b", "A", "a%", "*", "", "\u00e9")}
        for owner, job_id in jobs.items():
            assert [each.job_id for each in store.list_references(JobFilter(owner))] == [job_id]

    def test_a_reopened_store_has_all_jobs(self, reopen: Callable[[], JobStore], store: JobStore) -> None:
        job_id = brought_to(store, EXECUTING)
        expected = store.get_job(job_id)
        store.close()
        again = reopen()
        assert again.get_job(job_id) == expected
        assert [each.job_id for each in again.list_references(JobFilter("kepler"))] == [job_id]
        again.close()

    def test_a_closed_store(self, store: JobStore) -> None:
        store.check_writable()
        store.close()
        for act in (
            store.check_writable,
            store.list_queued_jobs,
            lambda: store.get_job("j"),
            lambda: store.create_job(job()),
        ):
            with pytest.raises(JobStoreUnavailable):
                act()


def test_pieces_outlive_their_worker(reopen: Callable[[], JobStore]) -> None:
    store = reopen()
    job_id = brought_to(store, EXECUTING)
    for attempt in (1, 2):
        store.requeue_job(job_id, attempt, died=True)
        store.start_job(job_id, "w", T0)
    assert store.get_job(job_id).deaths == 2
    store.set_pieces(job_id, 3, T0, replace(PIECES, parts=()))
    assert store.get_job(job_id).deaths == 2
    store.set_pieces(job_id, 3, T0, PIECES)
    assert store.get_job(job_id).deaths == 0
    with pytest.raises(IllegalTransition):
        store.set_pieces(job_id, 2, T0, replace(PIECES, parts=()))
    store.requeue_job(job_id, 3, died=False)
    store.close()
    store = reopen()
    assert store.get_job(job_id).pieces == PIECES
    assert store.get_job(job_id).part_keys == (f"{job_id}-1x0",)
    store.close()


def test_instants_survive_to_the_millisecond(store: JobStore) -> None:
    instants = [T0 + timedelta(milliseconds=n) for n in (0, 1, 999)] + [datetime.max.replace(tzinfo=UTC, microsecond=0)]
    for at in instants:
        store.create_job(replace(job(), creation_time=at, destruction_time=at))
    assert sorted(each.creation_time for each in store.list_references(JobFilter("kepler"))) == instants
    assert now().microsecond % 1000 == 0
