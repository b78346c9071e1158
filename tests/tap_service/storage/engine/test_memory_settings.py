"""The settings that depend on the memory limit of a query."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import MemoryLimit, combine_settings
from tap_service.storage.engine.engine_errors import translate_error
from tap_service.storage.engine.memory_settings import choose_memory_settings, find_memory_of_join

#: minimum memory of one thread: blocks, and buffers of the files of a join with 16 buckets
BLOCKS = ("preferred_block_size_bytes", "prefer_external_sort_block_bytes")


def test_without_a_limit_the_engine_decides() -> None:
    assert choose_memory_settings(0) == choose_memory_settings(0, is_frugal=True) == {}


@pytest.mark.parametrize("limit", [100_000_000, 300_000_000, 1 << 30, 4 << 30, 64 << 30])
@pytest.mark.parametrize("is_frugal", [False, True])
def test_a_join_goes_to_disk_before_the_limit(limit: int, is_frugal: bool) -> None:
    settings = choose_memory_settings(limit, is_frugal=is_frugal)
    assert settings["max_memory_usage"] == limit
    assert settings["max_bytes_before_external_join"] == find_memory_of_join(limit, is_frugal=is_frugal) <= limit / 4
    assert settings["max_bytes_before_external_group_by"] <= limit / 2
    for step in ("join", "sort", "group_by", "distinct"):
        assert settings[f"max_bytes_ratio_before_external_{step}"] == 0


def test_an_ample_limit_leaves_blocks_and_threads_to_the_engine() -> None:
    assert not {"max_threads", "max_block_size", *BLOCKS} & choose_memory_settings(4 << 30).keys()
    assert "max_threads" not in choose_memory_settings(1 << 30)


def test_a_small_limit_has_small_blocks_and_few_threads() -> None:
    small, frugal = (choose_memory_settings(300_000_000, is_frugal=is_frugal) for is_frugal in (False, True))
    assert (small["max_threads"], frugal["max_threads"]) == (2, 1)
    for settings in (small, frugal):
        held = sum(settings[name] for name in BLOCKS) + 32 * settings["temporary_files_buffer_size"]
        assert settings["max_threads"] * held < 300_000_000 / 10
    assert all(frugal[name] <= small[name] for name in (*BLOCKS, "max_block_size", "max_bytes_before_external_sort"))


def test_all_sizes_grow_with_the_limit() -> None:
    limits = [1 << power for power in range(20, 32)]
    for lower, higher in pairwise(limits):
        less, more = choose_memory_settings(lower), choose_memory_settings(higher)
        assert all(less[name] <= more[name] for name in less.keys() & more.keys())


def test_the_lowest_of_several_bounds_applies() -> None:
    combined = combine_settings({"max_threads": 4, "a": 1}, {"max_threads": 2, "max_block_size": 9}, {"a": 2})
    assert combined == {"max_threads": 2, "max_block_size": 9, "a": 2}
    assert combine_settings({"max_threads": 1}, {"max_threads": 3})["max_threads"] == 1


@pytest.mark.parametrize("code", [241, 173, 734])
def test_errors_of_memory(code: int) -> None:
    assert type(translate_error(f"Code: {code}. DB::Exception: no more")) is MemoryLimit


def test_the_engine_knows_the_settings(engine: EmbeddedEngine) -> None:
    for is_frugal in (False, True):
        for name, value in choose_memory_settings(300_000_000, is_frugal=is_frugal).items():
            found = engine.fetch_table(f"SELECT toFloat64(getSetting('{name}')) AS value", {name: value})
            assert found["value"].to_pylist() == [value]
