"""Return the freed memory of a long-lived process to the system.

Otherwise each thread keeps the memory that it once needed for a large answer: glibc has an arena per thread, Arrow's
mimalloc a heap per thread. After ten minutes of mixed load 1.3 GB were resident, with these settings 0.9 GB
(docs/reliability.md).
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

import pyarrow as pa

#: M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of malloc.h, with values for mallopt(3); a threshold of mmap that
#: is set does not grow with the largest freed block
_ARENAS = (-8, 2)
_MAPPED_BYTES = (-3, 1 << 20)
_KEPT_BYTES = (-1, 1 << 20)


def return_freed_memory() -> None:
    """Configure the allocators of this process and of its forks. Call it before threads start; it needs glibc."""
    pa.set_memory_pool(pa.system_memory_pool())
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            for parameter, value in (_ARENAS, _MAPPED_BYTES, _KEPT_BYTES):
                ctypes.CDLL(None).mallopt(parameter, value)
