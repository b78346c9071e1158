"""The record store. Files and Redis run through the same tests."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tap_service.storage.history_store import HISTORY_FILE, HistoryStore
from tap_service.storage.records.open_records import open_records
from tap_service.storage.records.record_format import RecordFormat
from tap_service.storage.records.record_store import RecordChange, RecordStore
from tap_service.storage.share_store import SHARES_FILE, ShareStore
from tap_service.storage.site_state import SITE_FILE, SiteState, StateKind, open_site_state
from tap_service.storage.watch_store import WATCHES_FILE, WatchStore
from tests.tap_service.storage.redis_server import RedisServer
from tests.tap_service.storage.test_history_store import entry
from tests.tap_service.storage.test_share_store import T0, share
from tests.tap_service.storage.test_watch_store import make_watch

FORMAT = RecordFormat(
    file_name="stars.sqlite",
    subject="the store of stars",
    unavailable=RuntimeError,
    former_tables="CREATE TABLE stars (name TEXT, record TEXT)",
    conversion="INSERT INTO record SELECT 'stars', name, record FROM stars; DROP TABLE stars",
)


@pytest.fixture(params=["sqlite", "redis"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], RecordStore]:
    """Open the test's own store, empty at first."""
    if request.param == "sqlite":
        return lambda: open_records(FORMAT, "", tmp_path)
    server = request.getfixturevalue("redis")
    server.flush()
    return lambda: open_records(FORMAT, server.url, None)


@pytest.fixture
def store(reopen: Callable[[], RecordStore]) -> Iterator[RecordStore]:
    with closing(reopen()) as store:
        yield store


def test_records(store: RecordStore, reopen: Callable[[], RecordStore]) -> None:
    def write(change: RecordChange) -> None:
        for key in ("Vega", "Deneb", "Altaïr"):
            change.put_record("stars", key, key.upper())
        change.put_record("planets", "Vega", "none")

    store.change_records(write)
    store.change_records(lambda change: change.delete_records("stars", ["Deneb", "Antares"]))
    with closing(reopen()) as other, other.read_records() as records:
        assert records.get_record("stars", "Vega") == "VEGA"
        assert records.get_record("stars", "Deneb") is None
        assert records.get_records("stars") == {"Vega": "VEGA", "Altaïr": "ALTAÏR"}
        assert records.find_records("stars", ["Altaïr", "Deneb", "Vega"]) == ["ALTAÏR", "VEGA"]
        assert records.find_records("stars", []) == []
        assert records.get_records("nothing") == {}


def test_an_index_is_sorted_by_scores_and_then_by_members(store: RecordStore) -> None:
    store.change_records(lambda change: change.add_members("magnitude", {"b": 2, "é": 1, "z": 1, "a": 5}))
    store.change_records(lambda change: change.add_members("magnitude", {"a": 0}))
    with store.read_records() as records:
        assert records.list_members("magnitude") == ["a", "z", "é", "b"]
        assert records.list_members("magnitude", descending=True, skip=1, limit=2) == ["é", "z"]
        assert records.list_members("magnitude", skip=9) == []
        assert records.list_members("magnitude", limit=0) == []
        assert records.list_up_to("magnitude", 1, 2) == ["a", "z"]
        assert records.read_scores("magnitude") == {"a": 0, "z": 1, "é": 1, "b": 2}
    store.change_records(lambda change: change.remove_members("magnitude", ["a", "nothing"]))
    with store.read_records() as records:
        assert records.list_members("magnitude") == ["z", "é", "b"]


def test_an_index_of_texts(store: RecordStore) -> None:
    store.change_records(lambda change: change.add_members("names", dict.fromkeys(("a 1", "b", "b 2", "é"), 0)))
    with store.read_records() as records:
        assert records.list_below("names", "b 2") == ["b", "a 1"]
        assert records.list_below("names", "z", 1) == ["b 2"]


def test_an_index_expires(store: RecordStore, eventually: Callable[[Callable[[], bool]], None]) -> None:
    for index, seconds in (("short", 1), ("long", 100)):
        store.change_records(lambda change, index=index: change.add_members(index, {"a": 0}))  # type: ignore[misc]
        store.change_records(lambda change, index=index, seconds=seconds: change.expire_index(index, seconds))  # type: ignore[misc]

    def list_members(index: str) -> list[str]:
        store.change_records(
            lambda change: change.put_record("stars", "Vega", "")
        )  # a file deletes with the next change
        with store.read_records() as records:
            return records.list_members(index)

    eventually(lambda: list_members("short") == [])
    assert list_members("long") == ["a"]


def test_only_an_index_with_members_expires(store: RecordStore) -> None:
    """Members that are added after the end of an index was set on none, or after the last member left it, stay."""
    store.change_records(lambda change: change.expire_index("early", 1))
    store.change_records(lambda change: change.add_members("emptied", {"a": 0}))
    store.change_records(lambda change: change.expire_index("emptied", 1))
    store.change_records(lambda change: change.remove_members("emptied", ["a"]))
    for index in ("early", "emptied"):
        store.change_records(lambda change, index=index: change.add_members(index, {"b": 0}))  # type: ignore[misc]
    time.sleep(1.1)
    store.change_records(lambda change: change.put_record("stars", "Vega", ""))  # a file deletes with the next change
    with store.read_records() as records:
        assert [records.list_members(index) for index in ("early", "emptied")] == [["b"], ["b"]]


def test_a_failed_step_changes_nothing(store: RecordStore) -> None:
    def fail(change: RecordChange) -> None:
        change.put_record("stars", "Vega", "")
        change.add_members("names", {"Vega": 1})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.change_records(fail)
    with store.read_records() as records:
        assert (records.get_record("stars", "Vega"), records.list_members("names")) == (None, [])


@pytest.mark.parametrize("reads", ["record", "table", "index"])
def test_a_step_is_repeated_if_what_it_has_read_changes(
    store: RecordStore, reopen: Callable[[], RecordStore], reads: str
) -> None:
    """Each of four threads, with separate connections, adds 20 numbers, none twice."""

    def add_next(change: RecordChange) -> None:
        if reads == "record":
            number = int(change.get_record("stars", "count") or 0)
        elif reads == "table":
            number = int(change.get_records("stars").get("count", 0))
        else:
            number = len(change.list_members("numbers"))
        change.put_record("stars", "count", str(number + 1))
        change.add_members("numbers", {f"{number}": number})

    def add_numbers(_: int) -> None:
        with closing(reopen()) as other:
            for _ in range(20):
                other.change_records(add_next)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add_numbers, range(4)))
    with store.read_records() as records:
        assert records.list_members("numbers") == [f"{number}" for number in range(80)]


def test_a_change_between_reading_and_writing_is_seen(store: RecordStore, reopen: Callable[[], RecordStore]) -> None:
    """The step of one connection waits, or is called again, while another connection changes the record."""
    store.change_records(lambda change: change.put_record("stars", "Vega", "1"))
    seen: list[str | None] = []
    with closing(reopen()) as other:
        other_thread = threading.Thread(
            target=other.change_records,
            args=(lambda change: change.put_record("stars", "Vega", f"{change.get_record('stars', 'Vega')}0"),),
        )

        def extend(change: RecordChange) -> None:
            seen.append(change.get_record("stars", "Vega"))
            if len(seen) == 1:
                other_thread.start()
                other_thread.join(0.5)
            change.put_record("stars", "Vega", f"{seen[-1]}1")

        store.change_records(extend)
        other_thread.join()
    with store.read_records() as records:
        assert records.get_record("stars", "Vega") == {1: "110", 2: "101"}[len(seen)]


FORMER_FILES = {
    SHARES_FILE: """
        CREATE TABLE shares (
            share_id TEXT PRIMARY KEY, user TEXT NOT NULL, created INTEGER NOT NULL, due INTEGER NOT NULL,
            bytes INTEGER NOT NULL, record TEXT NOT NULL
        );
        CREATE INDEX shares_of_user ON shares (user, created, bytes);
        CREATE INDEX shares_by_creation ON shares (created, bytes);
        CREATE INDEX shares_by_due ON shares (due);
    """,
    WATCHES_FILE: """
        CREATE TABLE watches (
            watch_id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, record TEXT NOT NULL,
            UNIQUE (owner, name)
        );
    """,
    HISTORY_FILE: """
        CREATE TABLE queries (
            user TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (user, id)
        ) WITHOUT ROWID;
        CREATE INDEX queries_by_id ON queries (id);
    """,
    SITE_FILE: """
        CREATE TABLE IF NOT EXISTS document (
            kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires REAL, PRIMARY KEY (kind, key)
        );
    """,
}


def make_former_file(directory: Path, name: str, rows: list[tuple[object, ...]], version: int = 1) -> None:
    """Make a file of the first version of a store."""
    with closing(sqlite3.connect(directory / name)) as connection:
        connection.executescript(FORMER_FILES[name])
        [(table,)] = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for row in rows:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in row)})", row)
        connection.commit()
        connection.execute(f"PRAGMA user_version = {version}")


def test_shares_of_the_first_version(tmp_path: Path, redis: RedisServer) -> None:
    redis.flush()
    mine, anonymous = share(), share(owner=None, client="192.0.2.1")
    with closing(ShareStore.open(redis.url, None)) as store, redis.connect() as client:
        for each in (mine, anonymous):
            store.write_share(each)
        records = client.hgetall("skyhouse:shares:records")
    rows = [(each.share_id, each.user, 0, 0, 0, records[each.share_id]) for each in (mine, anonymous)]
    make_former_file(tmp_path, SHARES_FILE, rows)
    with closing(ShareStore.open("", tmp_path)) as store:
        assert store.list_shares("kepler") == [mine]
        assert store.list_due(mine.expiry, 9) == sorted((mine, anonymous), key=lambda each: each.share_id)
        assert store.count_shares("kepler").anonymous_size == anonymous.stored_bytes
        assert store.delete_share(mine.share_id) == mine
    assert (tmp_path / f"{SHARES_FILE}.version-1").exists()


def test_watches_of_the_first_version(tmp_path: Path, redis: RedisServer) -> None:
    redis.flush()
    watch = make_watch()
    with closing(WatchStore.open(redis.url, None)) as store, redis.connect() as client:
        store.add_watch(watch)
        record = client.hget("skyhouse:watches:records", watch.watch_id)
    make_former_file(tmp_path, WATCHES_FILE, [(watch.watch_id, watch.owner, watch.name, record)])
    with closing(WatchStore.open("", tmp_path)) as store:
        assert store.list_watches() == [watch]


def test_a_history_of_the_first_version(tmp_path: Path) -> None:
    entries = [entry(number) for number in range(3)]
    make_former_file(tmp_path, HISTORY_FILE, [("kepler", each.id, each.model_dump_json()) for each in entries])
    with closing(HistoryStore.open("", tmp_path, 1000)) as store:
        assert store.list_entries("kepler", "", 9) == entries[::-1]
        store.add_entries([("kepler", entries[0])])
        assert len(store.list_entries("kepler", "", 9)) == 3
        store.trim_entries([], 9, entries[1].id[:15])
        assert store.list_entries("kepler", "", 9) == entries[:0:-1]


@pytest.mark.parametrize("version", [0, 1])
def test_documents_of_the_first_version(tmp_path: Path, version: int) -> None:
    """The first release left the version at 0."""
    until = T0.timestamp() * 2
    rows = [("notes", "a", '{"text": "é"}', None), ("notes", "b", "1", until), ("drain", "c", "true", 1.5)]
    make_former_file(tmp_path, SITE_FILE, rows, version)
    with closing(open_site_state("", tmp_path)) as state:
        assert state.read_all(StateKind.NOTES) == {"a": {"text": "é"}, "b": 1}
        assert state.get(StateKind.DRAIN, "c") is None


def test_documents_expire_and_are_removed(reopen: Callable[[], RecordStore]) -> None:
    with closing(SiteState(reopen())) as state:
        state.put(StateKind.WORK, "b", {"n": 1}, 100)
        state.put(StateKind.WORK, "a", [1])
        state.put(StateKind.WORK, "expired", 3, -1)
        assert state.get(StateKind.WORK, "expired") is None
        assert list(state.read_all(StateKind.WORK).items()) == [("a", [1]), ("b", {"n": 1})]
        assert [state.remove(StateKind.WORK, key) for key in ("a", "a", "expired")] == [True, False, False]
        assert state.get(StateKind.WORK, "b") == {"n": 1}
