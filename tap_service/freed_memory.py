"""Memory that a long-lived process has freed goes back to the system.

Otherwise each of its many threads keeps what it once needed for a large answer: glibc in an arena of its own, Arrow's
mimalloc in a heap of its own. Ten minutes of mixed load left 1.3 GB resident, with this 0.9 GB (docs/reliability.md).
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

import pyarrow as pa

#: M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of malloc.h with values for mallopt(3). A set threshold of mmap
#: does not grow with the largest block that was freed.
_ARENAS = (-8, 2)
_MAPPED_BYTES = (-3, 1 << 20)
_KEPT_BYTES = (-1, 1 << 20)


def return_freed_memory() -> None:
    """Set this for the process and what it forks. Call it before threads start; only glibc has these settings."""
    pa.set_memory_pool(pa.system_memory_pool())
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            for parameter, value in (_ARENAS, _MAPPED_BYTES, _KEPT_BYTES):
                ctypes.CDLL(None).mallopt(parameter, value)
