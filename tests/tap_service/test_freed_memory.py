"""The settings with which a process returns freed memory to the system; ``make soak`` measures their effect."""

from __future__ import annotations

import platform
import re
import subprocess
import sys

import pytest

#: prints glibc's arenas while 16 threads allocate, and Arrow's memory pool
_PROGRAM = """
import ctypes, sys, threading
import pyarrow as pa
from tap_service.freed_memory import return_freed_memory

if sys.argv[1] == "True":
    return_freed_memory()
barrier = threading.Barrier(17)

def hold_memory():
    held = [bytes(700) for _ in range(5000)]
    barrier.wait()
    barrier.wait()

threads = [threading.Thread(target=hold_memory) for _ in range(16)]
for thread in threads:
    thread.start()
barrier.wait()
print(pa.default_memory_pool().backend_name, flush=True)
libc = ctypes.CDLL(None)
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
barrier.wait()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the settings are glibc's")
def test_threads_share_what_they_have_freed() -> None:
    def run(is_returned: bool) -> tuple[str, int]:
        command = [sys.executable, "-c", _PROGRAM, str(is_returned)]
        said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        return said.split()[0], len(re.findall("<heap nr=", said))

    pool, arenas = run(True)
    assert (pool, arenas) == ("system", 2)
    assert run(False)[1] > 2
