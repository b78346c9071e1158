"""End a process that crashes or hangs, and write the stacks of its threads."""

from __future__ import annotations

import faulthandler
import signal
import sys


def report_crashes() -> None:
    """Write the stacks of all threads to standard error if this process crashes."""
    if sys.stderr is not None:
        faulthandler.enable()


def end_within(seconds: int) -> None:
    """Make the kernel end this process by SIGALRM, even if its threads hang.

    Call it on the main thread. A second call has no effect.

    Parameters
    ----------
    seconds : int
        The time from now on, at least 1 second. At its end, the stacks of all threads are written to standard error.
    """
    if signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0):
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if sys.stderr is not None:
        faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(seconds)
