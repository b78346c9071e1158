"""The file cache: each file is made once for all callers, completely or not at all, within the limits."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tap_service.storage.file_cache import FileCache, OpenFile


def _read(file: OpenFile) -> bytes:
    return b"".join(file.read_bytes(0, file.size))


def _write(content: bytes):
    return lambda path: path.write_bytes(content)


def _refuse(path: Path) -> None:
    raise AssertionError(f"{path} is made again")


def test_a_file_is_made_once_for_concurrent_callers(tmp_path):
    cache, made, together = FileCache(tmp_path, 1000), [], threading.Barrier(8)

    def make(path: Path) -> None:
        made.append(path)
        path.write_bytes(b"rows")

    def ask(_: int) -> bytes:
        together.wait()
        return _read(cache.make_file("table/a", make))

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(ask, range(8))] == [b"rows"] * 8
    assert len(made) == 1


def test_a_file_is_kept_for_the_next_process(tmp_path):
    _read(FileCache(tmp_path, 1000).make_file("table/a", _write(b"rows")))

    assert _read(FileCache(tmp_path, 1000).make_file("table/a", _refuse)) == b"rows"


def test_a_file_that_cannot_be_made_leaves_nothing(tmp_path):
    cache = FileCache(tmp_path, 1000)

    def fail(path: Path) -> None:
        path.write_bytes(b"ro")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        cache.make_file("table/a", fail)
    assert [*(tmp_path / "table").iterdir()] == []
    assert _read(cache.make_file("table/a", _write(b"rows"))) == b"rows"


def test_the_least_recently_used_files_are_deleted_first(tmp_path):
    cache = FileCache(tmp_path, 1000)
    for age, name in ((30, "a"), (20, "b"), (10, "c")):
        _read(cache.make_file(name, _write(b"x" * 300)))
        os.utime(tmp_path / name, (0, os.stat(tmp_path).st_mtime - age))
    _read(cache.make_file("a", _refuse))

    last = cache.make_file("d", _write(b"y" * 300))

    assert {path.name for path in tmp_path.iterdir()} == {"a", "c", "d"}
    assert _read(last) == b"y" * 300


def test_the_number_of_files_has_a_limit_and_a_file_that_is_sent_is_sent_to_its_end(tmp_path):
    cache = FileCache(tmp_path, 1_000_000, max_files=20)
    sent = cache.make_file("0", _write(b"rows"))
    os.utime(tmp_path / "0", (0, 0))
    for number in range(1, 30):
        cache.make_file(str(number), _write(b""))

        assert len([*tmp_path.iterdir()]) <= 21
    assert not (tmp_path / "0").exists()
    assert (tmp_path / "29").exists()
    assert _read(sent) == b"rows"


def test_processes_that_share_a_directory_keep_the_limit(tmp_path):
    caches = [FileCache(tmp_path, 10_000) for _ in range(3)]
    for number in range(90):
        caches[number % 3].make_file(str(number), _write(b"x" * 200))

        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10_000 + 3 * 10_000 / 20


def test_empty_folders_are_deleted_unless_a_file_is_being_made(tmp_path):
    cache, other = FileCache(tmp_path, 10), FileCache(tmp_path, 10)
    (tmp_path / "empty" / "inner").mkdir(parents=True)

    def make(path: Path) -> None:
        other.make_file("b", _write(b"x" * 300))  # which deletes empty folders
        path.write_bytes(b"rows")

    assert _read(cache.make_file("table/a", make)) == b"rows"
    assert [*tmp_path.rglob("*")] == [tmp_path / "table", tmp_path / "table" / "a"]


def test_threads_that_make_files_and_delete_folders_do_not_disturb_each_other(tmp_path):
    def make(worker: int) -> None:
        cache = FileCache(tmp_path, 10)
        for number in range(100):
            name = f"table/{number % 3}/{worker}"
            assert _read(cache.replace_file(name, _write(b"x" * 20))) == b"x" * 20

    with ThreadPoolExecutor(6) as pool:
        assert [*pool.map(make, range(6))] == [None] * 6


def test_a_file_beyond_the_limit_can_be_read_once(tmp_path):
    cache = FileCache(tmp_path, 10)

    assert _read(cache.make_file("a", _write(b"x" * 300))) == b"x" * 300
    assert [*tmp_path.iterdir()] == []


def test_unfinished_files_of_dead_processes_are_deleted(tmp_path):
    for age, name in ((10, "a.1.part"), (7200, "b.2.part")):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (0, os.stat(tmp_path).st_mtime - age))

    FileCache(tmp_path, 10)

    assert [path.name for path in tmp_path.iterdir()] == ["a.1.part"]
