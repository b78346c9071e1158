"""Usage statistics: counted exactly, stored once, without names of users."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from loaders.cli.skyhouse_command import app
from tap_service.models.query_report import QueryReport
from tap_service.services.usage_counter import UsageCounter, find_origin
from tap_service.storage.usage.redis_usage_store import RedisUsageStore
from tap_service.storage.usage.sqlite_usage_store import SqliteUsageStore
from tap_service.storage.usage.usage_store import UsageAddition, UsageCounts, UsageKey, UsageStore, UsageUnavailable
from tests.support.clients import make_client
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job
from tests.tap_service.storage.redis_server import redis_server
from tests.tap_service.users import USERS

Eventually = Callable[[Callable[[], bool]], None]
STARS = UsageKey("table", "svc.stars", "local")


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server.new_url


@pytest.fixture(params=["sqlite", "redis"])
def open_store(request: Any, tmp_path: Path, redis_url: Callable[[], str]) -> Iterator[Callable[[], UsageStore]]:
    """Open one store of the test many times, as several processes do."""
    url, opened = redis_url(), list[UsageStore]()

    def open_next() -> UsageStore:
        opened.append(
            SqliteUsageStore(tmp_path / "usage.sqlite") if request.param == "sqlite" else RedisUsageStore(url)
        )
        return opened[-1]

    yield open_next
    for store in opened:
        store.close()


def test_sums_of_several_processes(open_store: Callable[[], UsageStore]) -> None:
    one, other = open_store(), open_store()
    counts = UsageCounts(3, 1, 2, 10**12, 2**60, 0.5)
    one.add_usage("2026-11", {STARS: UsageAddition(counts, frozenset({b"a" * 8, b"b" * 8}))})
    other.add_usage("2026-11", {STARS: UsageAddition(counts, frozenset({b"b" * 8, b"c" * 8}))})
    other.add_usage("2026-12", {STARS: UsageAddition(counts, frozenset({b"a" * 8}))})
    first, second = sorted(one.read_usage(), key=lambda entry: entry.month)
    assert (first.month, first.key, first.clients) == ("2026-11", STARS, 3)
    assert first.counts == UsageCounts(6, 2, 4, 2 * 10**12, 2**61, 1.0)
    assert (second.month, second.counts, second.clients) == ("2026-12", counts, 1)


def test_keys_are_common_and_forgotten(open_store: Callable[[], UsageStore], eventually: Eventually) -> None:
    one, other = open_store(), open_store()
    key = one.find_key("log 2026-11-23", 100)
    assert len(key) == 32
    assert other.find_key("log 2026-11-23", 100) == key
    assert other.find_key("log 2026-11-24", 100) != key
    short = one.find_key("log 2026-11-22", 1)
    eventually(lambda: other.find_key("log 2026-11-22", 100) != short)


def test_a_new_key_follows_one_that_ends_while_it_is_read(
    redis_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RedisUsageStore(redis_url())
    get = store._redis.get

    def get_too_late(key: str) -> None:
        store._redis.delete(key)
        monkeypatch.setattr(store._redis, "get", get)

    first = store.find_key("log 2026-11-23", 100)
    monkeypatch.setattr(store._redis, "get", get_too_late)
    second = store.find_key("log 2026-11-23", 100)
    assert len(second) == len(first)
    assert second != first
    assert store.find_key("log 2026-11-23", 100) == second
    store.close()


def test_a_forgotten_key_leaves_the_file(tmp_path: Path) -> None:
    store = SqliteUsageStore(tmp_path / "usage.sqlite")
    key = store.find_key("old", -1)
    assert key in (tmp_path / "usage.sqlite").read_bytes()
    store.find_key("new", 100)
    store.close()
    assert key not in (tmp_path / "usage.sqlite").read_bytes()


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite"
    path.write_bytes(b"nonsense" * 1000)
    with pytest.raises(UsageUnavailable, match=r"the file of usage statistics .*usage.sqlite cannot be used: "):
        SqliteUsageStore(path)


def test_what_cannot_be_stored_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, failures = SqliteUsageStore(tmp_path / "usage.sqlite"), list[None]()
    counter = UsageCounter(store, lambda: failures.append(None))
    report = QueryReport("OK", rows=5, bytes=7, seconds={"engine": 0.25})

    def fail(*_: Any) -> None:
        raise UsageUnavailable("the disk is full")

    for method in ("find_key", "add_usage"):
        with monkeypatch.context() as patch:
            patch.setattr(store, method, fail)
            counter.count_query(report, "csv", make_client("ann"))
            with pytest.raises(UsageUnavailable):
                counter.store_counts()
    counter.store_counts()
    counter.store_counts()  # once
    assert {entry.key: (entry.counts, entry.clients) for entry in store.read_usage()} == {
        UsageKey(by, name, "local"): (UsageCounts(2, 0, 0, 10, 14, 0.5), 1)
        for by, name in (("all", ""), ("format", "csv"))
    }
    assert len(failures) == 2
    counter.close()
    assert b"ann" not in (tmp_path / "usage.sqlite").read_bytes()


def test_classes_of_users() -> None:
    assert [find_origin(owner) for owner in (None, "ann", "eduGAIN:ann:x")] == ["anonymous", "local", "eduGAIN"]


def test_a_killed_process_loses_what_was_not_stored(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        from pathlib import Path
        from tap_service.models.query_report import QueryReport
        from tap_service.services.usage_counter import UsageCounter
        from tap_service.storage.usage.sqlite_usage_store import SqliteUsageStore
        from tests.support.clients import make_client
        counter = UsageCounter(SqliteUsageStore(Path(sys.argv[1])))
        for _ in range(3):
            counter.count_query(QueryReport("OK"), "csv", make_client())
        counter.store_counts()
        counter.count_query(QueryReport("OK"), "csv", make_client())
        os.kill(os.getpid(), signal.SIGKILL)
    """
    path = tmp_path / "usage.sqlite"
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(path)], timeout=60)
    store = SqliteUsageStore(path)
    assert {entry.counts.queries for entry in store.read_usage()} == {3}
    store.close()


def print_usage(data: Path, *options: str) -> Any:
    result = CliRunner().invoke(app, ["usage", "--data", str(data), "--json", *options])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_from_queries_to_the_command(
    serve: Callable[..., RunningService], tmp_path: Path, accounts: Path, eventually: Eventually
) -> None:
    accounts = shutil.copy(accounts, tmp_path / "accounts.sqlite")
    service = serve(usage=tmp_path / "usage.sqlite", accounts=accounts)
    name, password = next(iter(USERS.items()))
    join = "SELECT TOP 3 a.id FROM svc.stars AS a JOIN svc.numbers AS b ON a.id = b.n"
    assert service.ask(join, FORMAT="csv").status_code == 200
    assert service.ask("SELECT TOP 2 n FROM svc.numbers").status_code == 200
    assert service.ask("SELECT nothing FROM svc.numbers").status_code == 400
    assert service.ask("SELECT 1", MAXREC="x").status_code == 400
    data = {"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.t", "UPLOAD": "t,param:f", "FORMAT": "csv"}
    files = {"f": ("t.csv", "a,b\n1,2\n", "text/csv")}
    assert httpx.post(service.sync, data=data, files=files, auth=(name, password), timeout=60).status_code == 200
    assigned = CliRunner().invoke(app, ["user", "limits", "bob", "@survey", "--accounts", str(accounts)])
    assert assigned.exit_code == 0, assigned.output
    time.sleep(1)  # a running service reads it within a second
    assert httpx.post(service.sync, data=data, files=files, auth=("bob", USERS["bob"]), timeout=60).status_code == 200
    create_job(service.tap, "SELECT TOP 4 n FROM svc.numbers", PHASE="RUN").wait_for_end()
    usage = service.server.config.app.state.services._components.usage
    eventually(lambda: sum(each.counts.queries for each in _tallies(usage, "all")) == 6)
    usage.store_counts()

    [total] = print_usage(tmp_path)
    assert (total["queries"], total["failed"], total["jobs"], total["rows"], total["users"]) == (6, 1, 1, 11, 3)
    assert total["bytes"] > 0
    assert total["seconds"] > 0
    by_table = {line["table"]: (line["queries"], line["rows"]) for line in print_usage(tmp_path, "--by", "table")}
    assert by_table == {"svc.numbers": (3, 9), "svc.stars": (1, 3), "TAP_UPLOAD": (2, 2)}
    by_user = {line["user"]: line["queries"] for line in print_usage(tmp_path, "--by", "user")}
    assert by_user == {"anonymous": 4, "local": 1, "@survey": 1}
    by_format = {line["format"]: line["queries"] for line in print_usage(tmp_path, "--by", "format")}
    assert sum(by_format.values()) == 6
    assert by_format["csv"] == 3
    assert print_usage(tmp_path, "--month", total["month"], "--by", "format") == print_usage(tmp_path, "--by", "format")
    assert print_usage(tmp_path, "--month", "2001-01") == []


def _tallies(usage: UsageCounter, by: str) -> list[Any]:
    return [tally for month in usage._tallies.values() for key, tally in month.items() if key.by == by]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), 0, "no usage was counted yet; the service stores it every minute"),
        (("--month", "2026-11"), 0, "no usage was counted in 2026-11"),
        (("--month", "November"), 2, "--month is a month such as 2026-11"),
        (("--by", "name"), 2, "--by is one of table, user, format"),
    ],
)
def test_the_command_without_usage(tmp_path: Path, options: tuple[str, ...], code: int, said: str) -> None:
    result = CliRunner().invoke(app, ["usage", "--data", str(tmp_path), *options])
    assert result.exit_code == code
    assert said in result.output
    assert not list(tmp_path.iterdir())


def test_the_table_of_the_command(tmp_path: Path) -> None:
    store = SqliteUsageStore(tmp_path / "usage.sqlite")
    for name, queries in (("svc.stars", 5), ("svc.numbers", 12345)):
        counts = UsageCounts(queries, 1, 0, 20, 300, 1.25)
        store.add_usage("2026-11", {UsageKey("table", name, "local"): UsageAddition(counts, frozenset({b"x"}))})
    store.close()
    result = CliRunner().invoke(app, ["usage", "--data", str(tmp_path), "--by", "table"])
    assert result.stdout == (
        "month    table        queries  failed  jobs  rows  bytes  seconds  users\n"
        "2026-11  svc.numbers    12345       1     0    20    300      1.2      1\n"
        "2026-11  svc.stars          5       1     0    20    300      1.2      1\n"
    )
