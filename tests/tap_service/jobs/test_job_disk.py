"""The disk space of jobs: sums in both job stores, limits of clients and of all, and the deletions that free space."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tap_service.config import Config
from tap_service.models.piece_work import Part, PieceWork
from tap_service.models.timestamps import add_seconds, now
from tap_service.models.uws_job import ExecutionPhase, Job, JobFile, JobResult
from tap_service.service_errors import QuotaExceeded
from tap_service.services.jobs.job_disk import JobDisk, MeteredResults
from tap_service.storage.accounts import Accounts
from tap_service.storage.jobs.job_store import JobStore
from tap_service.storage.jobs.redis_job_store import RedisJobStore
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tap_service.storage.open_storage import JobStores
from tap_service.storage.results.fsspec_result_store import FsspecResultStore
from tap_service.storage.results.local_result_store import LocalResultStore
from tap_service.storage.results.result_store import ResultMissing
from tap_service.storage.share_store import ShareStore
from tests.support.running_service import RunningService
from tests.tap_service.async_client import ENDLESS, create_job
from tests.tap_service.async_client import Job as Client
from tests.tap_service.storage.redis_server import RedisServer, redis_server
from tests.tap_service.users import User, write_accounts

MEGABYTE = 1 << 20
T0 = now()


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["sqlite, directory", "redis, fsspec"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JobStores]:
    jobs: JobStore
    if request.param.startswith("sqlite"):
        jobs = SqliteJobStore(tmp_path / "jobs")
        yield JobStores(jobs, LocalResultStore(tmp_path / "results"), ShareStore.open("", tmp_path / "jobs"))
    else:
        server = request.getfixturevalue("redis")
        server.flush()
        jobs = RedisJobStore(server.url)
        yield JobStores(jobs, FsspecResultStore(f"file://{tmp_path}/results"), ShareStore.open(server.url, None))
    jobs.close()


def job(name: str, owner: str | None = "ann", client: str = "192.0.2.1", **properties: Any) -> Job:
    times = {"creation_time": T0, "destruction_time": add_seconds(T0, 1000), "execution_duration": 60}
    return Job(**{"job_id": name, "owner": owner, "client": client, **times, **properties})


def complete(stores: JobStores, made: Job, size: int) -> None:
    """Run a job and store a result of ``size`` bytes."""
    stores.jobs.create_job(made)
    stores.jobs.queue_job(made.job_id)
    running = stores.jobs.start_job(made.job_id, "w", T0)
    for key in (running.result_key, running.preview_key):
        writer = stores.results.create_result(key)
        writer.write(bytes(size))
        writer.commit()
    result = JobResult(running.result_key, size, "text/csv", "csv", "e")
    stores.jobs.complete_job(made.job_id, 1, T0, result, {"bytesWritten": size})


def test_the_sums_follow_every_change(stores: JobStores) -> None:
    jobs = stores.jobs
    sums = lambda: (jobs.count_stored("ann"), jobs.count_stored("anonymous at 2001:db8::/64"), jobs.count_stored())  # noqa: E731
    assert sums() == (0, 0, 0)
    files = (JobFile("f", "a-f", 1000, "text/csv"),)
    jobs.create_job(job("a", files=files))
    jobs.set_parameters("a", (), files=[JobFile("g", "a-g", 500, "text/csv")])
    assert sums() == (1500, 0, 1500)
    complete(stores, job("b", None, "2001:db8::5"), 70)
    assert sums() == (1500, 70, 1570)
    jobs.queue_job("a")
    jobs.start_job("a", "w", T0)
    jobs.set_pieces("a", 1, T0, PieceWork("basis", (), (Part(1, 5, 10_000),)))
    jobs.report_progress("a", 1, T0, {"bytesWritten": 200})
    assert sums() == (11_700, 70, 11_770)
    jobs.requeue_job("a", 1, died=True)
    assert sums() == (11_500, 70, 11_570)
    jobs.start_job("a", "w", T0)
    for _ in range(2):  # the second time as after a lost reply
        jobs.complete_job("a", 2, T0, JobResult("a-2", 30, "text/csv", "csv", "e"), {"bytesWritten": 30})
    assert sums() == (30, 70, 100)
    jobs.archive_job("b", {"resultDeleted": "now"})
    assert sums() == (30, 0, 30)
    jobs.delete_job("a")
    jobs.delete_job("b")
    assert sums() == (0, 0, 0)


def test_concurrent_changes_are_all_counted(stores: JobStores) -> None:
    def create(thread: int) -> None:
        for number in range(10):
            name = f"{thread}-{number}"
            stores.jobs.create_job(job(name, files=(JobFile("f", name, 7, ""),)))
            if number % 2:
                stores.jobs.delete_job(name)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores.jobs.count_stored("ann") == stores.jobs.count_stored() == 4 * 5 * 7


def test_a_client_that_has_used_its_space(stores: JobStores) -> None:
    disk = JobDisk(Config(user_job_disk=1000, anonymous_job_disk=100), stores)
    complete(stores, job("a"), 900)
    with disk.reserve(job("b"), 60), pytest.raises(QuotaExceeded), disk.reserve(job("c"), 60):
        pass
    with disk.reserve(job("b"), 100), disk.reserve(job("d", "bob"), 1000), disk.reserve(job("e", None), 100):
        pass
    complete(stores, job("f"), 100)
    with pytest.raises(QuotaExceeded, match="your jobs would take 1001 bytes, and may take 1000 bytes: delete"):
        disk.reserve(job("g"), 0).__enter__()
    with pytest.raises(QuotaExceeded, match="the jobs of your address"):
        disk.reserve(job("h", None), 101).__enter__()
    stores.jobs.delete_job("f")
    with disk.reserve(job("b"), 100):
        pass
    with JobDisk(Config(user_job_disk=0, job_disk=0), stores).reserve(job("b"), 1 << 50):
        pass


def test_the_oldest_anonymous_results_make_room(stores: JobStores) -> None:
    disk = JobDisk(Config(job_disk=1000), stores)
    complete(stores, job("users"), 300)
    for number, name in enumerate(("third", "first", "second")):
        created = add_seconds(T0, (3, 1, 2)[number])
        complete(stores, job(name, None, f"192.0.2.{number}", creation_time=created), 200)
    with disk.reserve(job("new"), 150):
        pass
    phases = {name: stores.jobs.get_job(name).phase for name in ("users", "first", "second", "third")}
    assert [name for name, phase in phases.items() if phase is ExecutionPhase.ARCHIVED] == ["first"]
    archived = stores.jobs.get_job("first")
    assert archived.result is None
    assert str(archived.info["resultDeleted"]).startswith("deleted at 20")
    for key in (archived.result_key, archived.preview_key):
        with pytest.raises(ResultMissing):
            list(stores.results.read_result(key, 0, 1))
    assert stores.jobs.count_stored() == 700
    with pytest.raises(QuotaExceeded, match="all jobs take"):  # more space than exists cannot be freed
        disk.reserve(job("endless"), 1001).__enter__()
    assert stores.jobs.count_stored() == 700
    with pytest.raises(QuotaExceeded, match="all jobs take the 1000 bytes that the service has"):
        disk.reserve(job("large"), 701).__enter__()
    assert {stores.jobs.get_job(name).phase for name in ("second", "third")} == {ExecutionPhase.ARCHIVED}
    assert stores.jobs.get_job("users").result is not None


def test_files_of_anonymous_jobs_make_room_for_users(stores: JobStores) -> None:
    """Otherwise a few addresses would block all users until those jobs expire."""
    disk = JobDisk(Config(job_disk=1000), stores)
    complete(stores, job("result", None, "192.0.2.9"), 100)
    for number in range(4):
        name = f"idle{number}"
        key = f"{name}-f0"
        writer = stores.results.create_result(key)
        writer.write(bytes(200))
        writer.commit()
        made = job(name, None, f"192.0.2.{number}", creation_time=add_seconds(T0, -number))
        stores.jobs.create_job(replace(made, files=(JobFile("f", key, 200, ""),)))
    stores.jobs.create_job(job("without", None))
    stores.jobs.queue_job("idle3")
    with pytest.raises(
        QuotaExceeded, match="all jobs take"
    ):  # only results of anonymous clients are deleted for other anonymous clients
        disk.reserve(job("another", None, "192.0.2.8"), 250).__enter__()
    assert stores.jobs.get_job("result").phase is ExecutionPhase.ARCHIVED
    with disk.reserve(job("users"), 500):
        pass
    phases = [stores.jobs.get_job(f"idle{number}").phase for number in range(4)]
    assert phases == [ExecutionPhase.PENDING, ExecutionPhase.PENDING, ExecutionPhase.ABORTED, ExecutionPhase.ABORTED]
    error = stores.jobs.get_job("idle3").error
    assert error is not None
    assert "the disk space of its files was needed" in error.message
    assert sorted(stores.results.list_keys(0)) == ["idle0-f0", "idle1-f0"]
    assert stores.jobs.count_stored() == 400
    assert stores.jobs.list_idle(9) == ["idle1", "idle0"]
    stores.jobs.queue_job("idle1")
    stores.jobs.start_job("idle1", "w", T0)
    assert stores.jobs.list_idle(9) == ["idle0"]
    with pytest.raises(QuotaExceeded):
        disk.reserve(job("large"), 900).__enter__()
    assert stores.jobs.get_job("idle1").phase is ExecutionPhase.EXECUTING
    assert stores.jobs.get_job("without").phase is ExecutionPhase.PENDING


def test_a_running_job_is_stopped_while_it_writes(stores: JobStores) -> None:
    disk = JobDisk(Config(user_job_disk=50 * MEGABYTE), stores)
    complete(stores, job("before"), 10 * MEGABYTE)
    stores.jobs.create_job(job("runs", files=(JobFile("f", "runs-f", 10 * MEGABYTE, ""),)))
    stores.jobs.queue_job("runs")
    running = stores.jobs.start_job("runs", "w", T0)
    writer = MeteredResults(stores.results, disk).create_result(running.result_key)
    for number in range(3):
        writer.write(bytes(10 * MEGABYTE))
        stores.jobs.report_progress("runs", 1, T0, {"bytesWritten": (number + 1) * 10 * MEGABYTE})
    with pytest.raises(QuotaExceeded, match="would take 60 MiB, and may take 50 MiB"):
        writer.write(bytes(10 * MEGABYTE))
    writer.write(b"the reason, for those who read it already", anyway=True)
    writer.discard()


# --- over HTTP


def test_a_result_that_grows_beyond_the_space(serve: Callable[..., RunningService], accounts: Path) -> None:
    """The job is stopped long before its end; its output is deleted, and its owner may continue."""
    service = serve(accounts=accounts, user_job_disk=20 * MEGABYTE)
    auth = ("alice", "correct-horse")
    grown = create_job(service.tap, ENDLESS, auth, PHASE="RUN", FORMAT="csv", MAXREC=90_000_000)
    assert grown.wait_for_end() == "ERROR"
    assert "your jobs would take" in grown.message
    assert "may take 20 MiB: delete jobs" in grown.message
    services = service.server.config.app.state.services
    assert services.stores.jobs.count_stored() == 0
    assert not services.stores.results.list_keys(0)
    small = create_job(service.tap, "SELECT TOP 10 n FROM svc.numbers", auth, PHASE="RUN")
    assert small.wait_for_end() == "COMPLETED"


def test_files_of_jobs_that_nobody_runs(
    serve: Callable[..., RunningService], eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """507 stores nothing; another address has separate space; a full service deletes the oldest anonymous result."""
    service = serve(anonymous_job_disk=3000, job_disk=5000)

    def create(client: str, size: int, **parameters: str) -> httpx.Response:
        data = {"QUERY": "SELECT * FROM TAP_UPLOAD.t", "UPLOAD": "t,param:f", **parameters}
        files = {"f": ("f.csv", b"id\n" + b"1\n" * (size // 2 - 2), "text/csv")}
        return httpx.post(f"{service.tap}/async", data=data, files=files, headers={"X-Forwarded-For": client})

    first = Client(create("192.0.2.1", 1000, PHASE="RUN", FORMAT="csv").headers["location"])
    assert first.wait_for_end() == "COMPLETED"
    results = service.server.config.app.state.services.stores.results
    eventually(lambda: not any("-f" in key for key in results.list_keys(0)))  # its file is no longer needed
    made = [create("192.0.2.2", 1400) for _ in range(3)]
    assert [answer.status_code for answer in made] == [303, 303, 507]
    assert "may take 3000 bytes: delete jobs" in made[-1].text
    assert first.phase == "COMPLETED"
    last = create("192.0.2.3", 1900)
    assert last.status_code == 303
    assert first.phase == "ARCHIVED"
    assert (first.info["resultDeleted"] or "").startswith("deleted at ")
    missing = first.get("/results/result")
    assert (missing.status_code, "to make room for newer results" in missing.text) == (404, True)
    full = create("192.0.2.4", 1000)
    assert full.status_code == 507
    assert "all jobs take" in full.text
    pending = Client(made[0].headers["location"])
    posted = httpx.post(f"{pending.url}/parameters", files={"g": bytes(2500)}, headers={"X-Forwarded-For": "192.0.2.2"})
    assert posted.status_code == 507
    pending.post("/phase", PHASE="ABORT")
    assert len([key for key in results.list_keys(0) if "-f" in key]) == 2
    assert create("192.0.2.4", 1000).status_code == 303


def test_classes_have_their_own_space(
    serve: Callable[..., RunningService], tmp_path: Path, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """A user whom the operator assigns to a class has its space at once, also in a worker."""
    path = write_accounts(tmp_path / "accounts.sqlite")
    service = serve(accounts=path, client_limits="@users=4/50/1M, @survey=4/50/3M, bob=4/50/0M")

    def status(user: User, size: int) -> int:
        answer = user.http("POST", "async", files={"f": bytes(size)})
        if answer.status_code == 303:
            user.http("DELETE", answer.headers["location"].removeprefix(f"{service.tap}/"))
        return answer.status_code

    alice, bob = User(service, "alice"), User(service, "bob")
    assert (status(alice, MEGABYTE - 1), status(alice, 2 * MEGABYTE), status(bob, 4 * MEGABYTE)) == (303, 507, 303)
    accounts = Accounts(path)
    accounts.set_class("alice", "@survey")
    eventually(lambda: status(alice, 2 * MEGABYTE) == 303)
    assert status(alice, 4 * MEGABYTE) == 507
    accounts.set_class("alice", "")
    accounts.close()
    eventually(lambda: status(alice, 2 * MEGABYTE) == 507)


def test_jobs_of_earlier_versions_count_from_their_next_change(tmp_path: Path) -> None:
    store = SqliteJobStore(tmp_path / "jobs")
    store.create_job(job("old", files=(JobFile("f", "old-f", 70, ""),)))
    store._writer.execute("UPDATE jobs SET record = json_remove(record, '$.stored')")
    store._writer.execute("DROP TABLE stored")
    store._writer.execute("PRAGMA user_version = 1")
    store.close()
    store = SqliteJobStore(tmp_path / "jobs")
    assert store.count_stored() == 0
    store.set_execution_duration("old", 5)
    assert store.count_stored() == 70
    assert replace(store.delete_job("old"), stored=0).files
    assert store.count_stored() == 0
    store.close()
