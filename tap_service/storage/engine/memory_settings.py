"""The settings with which a query stays within its memory limit: the sizes of buffers, and when to use the disk.

ClickHouse 26.9 turns a hash join into a grace hash join, which uses the disk, but by default only at half of the
server's memory, which exceeds the limit of one query. Other memory does not depend on the query: blocks that are read,
a buffer for each file of each bucket of a join, blocks of each sorted file while files are merged. With a limit of 300
MB these alone exceed the limit, so their sizes follow it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

#: the limit from which on the engine's default blocks and buffers are small enough
_AMPLE = 4 << 30

#: rows of the engine's blocks, preferred bytes of a block, buffers of temporary files, and blocks of sorted files
_BLOCK_ROWS = 65_409
_BLOCK_BYTES = 4_000_000
_FILE_BUFFER_BYTES = 1 << 20
_SORTED_BLOCK_BYTES = 16 << 20

#: memory of a thread: the blocks on which it works
_THREAD_BYTES = 128 << 20
_MAX_COUNTED_THREADS = 4

#: fraction of the limit for the rows that one join keeps; its hash table grows by doubling
_JOIN_PART = 4
_FRUGAL_JOIN_PART = 8

#: 26.9 ignores the number of bytes from which a sort uses the disk while a ratio of the server's memory is set too
_NO_RATIOS = {f"max_bytes_ratio_before_external_{step}": 0 for step in ("join", "sort", "group_by", "distinct")}


@lru_cache(maxsize=64)
def choose_memory_settings(limit: int, *, is_frugal: bool = False) -> Mapping[str, int]:
    """Return the settings of a query that may use ``limit`` bytes of memory.

    Parameters
    ----------
    limit : int
        The memory limit in bytes; 0 leaves everything to the engine.
    is_frugal : bool
        Use one thread, the smallest blocks, and the disk early: slow, for a query that has already reached the limit.
    """
    if not limit:
        return MappingProxyType({})
    kept = find_memory_of_join(limit, is_frugal=is_frugal)
    settings = {
        "max_memory_usage": limit,
        "max_bytes_before_external_join": kept,
        "max_bytes_before_external_sort": kept,
        # of the entire query, including the rows that its joins keep
        "max_bytes_before_external_group_by": 2 * kept,
        "max_bytes_before_external_distinct": 2 * kept,
        **_NO_RATIOS,
    }
    if limit >= _AMPLE and not is_frugal:
        return MappingProxyType(settings)
    settings |= {
        "temporary_files_buffer_size": _scale(_FILE_BUFFER_BYTES, limit, least=1 << 14),
        "prefer_external_sort_block_bytes": _scale(_SORTED_BLOCK_BYTES, limit, least=1 << 18),
    }
    if is_frugal:
        settings |= {
            "max_threads": 1,
            "max_block_size": _scale(_BLOCK_ROWS, limit, least=8192),
            "preferred_block_size_bytes": _scale(_BLOCK_BYTES, limit, least=250_000),
        }
        return MappingProxyType(settings)
    settings |= {
        "max_block_size": _scale(4 * _BLOCK_ROWS, limit, least=8192, most=_BLOCK_ROWS),
        "preferred_block_size_bytes": _scale(_BLOCK_BYTES, limit, least=1_000_000),
    }
    threads = max(1, limit // _THREAD_BYTES)
    settings |= {"max_threads": threads} if threads <= _MAX_COUNTED_THREADS else {}
    return MappingProxyType(settings)


def find_memory_of_join(limit: int, *, is_frugal: bool = False) -> int:
    """Return how many bytes of rows a join keeps in memory; further rows go to disk.

    Parameters
    ----------
    limit, is_frugal
        As for ``choose_memory_settings``.
    """
    return limit // (_FRUGAL_JOIN_PART if is_frugal else _JOIN_PART)


def _scale(ample: int, limit: int, *, least: int, most: int | None = None) -> int:
    """Return a size scaled by the ratio of the limit to the ample limit."""
    return max(least, min(ample if most is None else most, ample * limit // _AMPLE))
