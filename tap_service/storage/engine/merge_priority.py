"""Lets merges in this process give way to queries.

The embedded engine starts its merge threads with the first table, and ignores the server setting
``os_threads_nice_value_merge_mutate``. Linux knows each thread by its name, and has a priority for each.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_THREADS = Path("/proc/self/task")

#: ClickHouse's name of these threads
_MERGE_THREAD = "MergeMutate"

#: a tenth of the processor time of a thread that answers a query, and all time that queries leave
NICE = 10


def lower_merge_priority() -> bool:
    """Give merge threads a low priority; return whether there are any. Does nothing without ``/proc``."""
    is_found = False
    with suppress(OSError):
        for thread in _THREADS.iterdir():
            with suppress(OSError):  # the thread has just ended
                if (thread / "comm").read_text().strip() == _MERGE_THREAD:
                    os.setpriority(os.PRIO_PROCESS, int(thread.name), NICE)
                    is_found = True
    return is_found
