"""The cache of blocks: it returns what was written, within its limit."""

from __future__ import annotations

import os
from pathlib import Path

from tap_service.hats.gateway.block_cache import BlockCache

BLOCK = bytes(1000)


def sum_sizes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_blocks_are_kept_for_the_next_process(tmp_path: Path) -> None:
    BlockCache(tmp_path, 1 << 20).write("key/0/1", b"abc")
    cache = BlockCache(tmp_path, 1 << 20)
    assert cache.read("key/0/1") == b"abc"
    assert cache.read("key/0/2") is None


def test_a_broken_block_is_ignored(tmp_path: Path) -> None:
    cache = BlockCache(tmp_path, 1 << 20)
    cache.write("key/0/1", b"abc")
    for broken in (b"", b"abc", b"abd" + (tmp_path / "key/0/1").read_bytes()[3:]):
        (tmp_path / "key/0/1").write_bytes(broken)
        assert cache.read("key/0/1") is None
        cache.write("key/0/1", b"abc")
        assert cache.read("key/0/1") == b"abc"


def test_the_most_recently_used_blocks_stay(tmp_path: Path) -> None:
    cache = BlockCache(tmp_path, 20_000)
    for number in range(60):
        cache.write(f"key/{number}/0", BLOCK)
        os.utime(tmp_path / f"key/{number}/0", (number, number))
        if number >= 5:
            assert cache.read("key/5/0") == BLOCK  # this counts as a use
        assert sum_sizes(tmp_path) <= 20_000 * 1.05 + 1004
    kept = sorted(int(path.parent.name) for path in tmp_path.rglob("0") if path.is_file())
    assert 5 in kept
    assert kept[1:] == [*range(61 - len(kept), 60)]


def test_without_space_nothing_is_kept(tmp_path: Path) -> None:
    cache = BlockCache(tmp_path / "none", 0)
    cache.write("key/0", BLOCK)
    assert cache.read("key/0") is None
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").touch()
    BlockCache(tmp_path / "file", 1 << 20).write("key/0", BLOCK)  # a folder cannot be created there
