"""Finds out whether the engine in this process may lower the priority of threads during a query."""

from __future__ import annotations

import os
import sys
import threading
from functools import cache

#: The setting of a query. ClickHouse 26.9 obeys it if the process has CAP_SYS_NICE, and gives each thread the niceness
#: 0 again afterwards: where that is refused, the process dies.
NICE_SETTING = "os_threads_nice_value_query"

_LOWEST = 19


@cache
def can_restore_priority() -> bool:
    """Return whether a thread of low priority may get a niceness of 0 again.

    The root user of a user namespace, as in a rootless container, has CAP_SYS_NICE, but may not do this.
    """
    if sys.platform != "linux":  # elsewhere ClickHouse ignores the setting, and all threads share one priority
        return False
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(_try_priorities()))  # the priority ends with the thread
    thread.start()
    thread.join()
    return answers == [True]


def _try_priorities() -> bool:
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _LOWEST)
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    except OSError:
        return False
    return True
