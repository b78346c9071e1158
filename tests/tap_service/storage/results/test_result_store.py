"""The result store's interface. All stores run through the same tests: add a store to the fixture ``store``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tap_service.storage.results.fsspec_result_store import FsspecResultStore
from tap_service.storage.results.local_result_store import LocalResultStore
from tap_service.storage.results.result_store import ResultMissing, ResultStore
from tests.servers.object_store import running_object_store

LONG = bytes(range(256)) * 20_000


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of an S3-compatible server."""
    with running_object_store("results") as url:
        yield url


@pytest.fixture(params=["local", "file", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ResultStore:
    if request.param == "local":
        return LocalResultStore(tmp_path / "results")
    if request.param == "file":
        return FsspecResultStore(f"file://{tmp_path}/results")
    return FsspecResultStore(f"{request.getfixturevalue('bucket')}/{request.node.originalname}")


def stored(store: ResultStore, key: str, data: bytes) -> int:
    writer = store.create_result(key)
    try:
        for start in range(0, len(data), 1_000_003):
            writer.write(data[start : start + 1_000_003])
        return writer.commit()
    finally:
        writer.discard()


def read(store: ResultStore, key: str, start: int = 0, end: int = 1 << 40) -> bytes:
    return b"".join(store.read_result(key, start, end))


class TestResultStore:
    def test_written_bytes_are_read(self, store: ResultStore) -> None:
        assert stored(store, "a-1", LONG) == len(LONG)
        assert stored(store, "b-1", b"") == 0
        assert read(store, "a-1") == LONG
        assert read(store, "b-1") == b""

    def test_ranges(self, store: ResultStore) -> None:
        stored(store, "a-1", LONG)
        for start, end in ((0, 1), (255, 258), (1_500_000, 4_000_001), (len(LONG) - 1, len(LONG)), (7, 7)):
            assert read(store, "a-1", start, end) == LONG[start:end]

    def test_pieces_are_small(self, store: ResultStore) -> None:
        stored(store, "a-1", LONG)
        assert max(len(piece) for piece in store.read_result("a-1", 0, len(LONG))) <= 1 << 20

    def test_a_result_is_invisible_before_commit(self, store: ResultStore) -> None:
        writer = store.create_result("a-1")
        writer.write(LONG)
        with pytest.raises(ResultMissing):
            store.read_result("a-1", 0, 1)
        writer.commit()
        writer.discard()
        assert read(store, "a-1", 0, 3) == LONG[:3]

    def test_a_discarded_result_leaves_nothing(self, store: ResultStore) -> None:
        writer = store.create_result("a-1")
        writer.write(LONG)
        writer.discard()
        writer.discard()
        with pytest.raises(ResultMissing):
            store.read_result("a-1", 0, 1)
        assert store.list_keys(0) == []

    def test_a_result_is_overwritten(self, store: ResultStore) -> None:
        stored(store, "a-1", b"whole")
        stored(store, "a-1", b"again")
        assert read(store, "a-1") == b"again"

    def test_deleting(self, store: ResultStore) -> None:
        stored(store, "a-1", b"x")
        store.delete_result("a-1")
        store.delete_result("a-1")
        with pytest.raises(ResultMissing):
            store.read_result("a-1", 0, 1)

    def test_keys_by_age(self, store: ResultStore) -> None:
        stored(store, "b-1", b"x")
        stored(store, "a-12", b"x")
        assert store.list_keys(0) == ["a-12", "b-1"]
        assert store.list_keys(1000) == []

    def test_check_leaves_nothing(self, store: ResultStore) -> None:
        store.check_writable()
        assert store.list_keys(0) == []

    def test_a_copy_outlives_the_original(self, store: ResultStore) -> None:
        writer = store.create_result("a-1")
        writer.write(b"rows")
        writer.commit()
        store.copy_result("a-1", "b-1")
        store.copy_result("a-1", "b-1")  # leftovers of a dead worker do no harm
        store.delete_result("a-1")
        assert b"".join(store.read_result("b-1", 0, 10)) == b"rows"
        assert store.list_keys(0) == ["b-1"]
        with pytest.raises(ResultMissing):
            store.copy_result("a-1", "c-1")
        store.delete_result("b-1")


def test_an_unusable_location(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        FsspecResultStore(f"file://{tmp_path}/file/results")
    with pytest.raises(OSError, match="cannot be used"):
        FsspecResultStore("no-such-protocol://x")
