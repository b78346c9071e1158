"""A thread that repeats a call."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger("skyhouse")


class PeriodicThread:
    """A thread that repeats a call until ``close``. Errors are logged, and the next round retries.

    Parameters
    ----------
    name : str
        The name of the thread.
    seconds : float
        The time between two calls.
    work : Callable[[], object]
        The call.
    failure : str
        The start of the log message about an error.
    """

    def __init__(self, name: str, seconds: float, work: Callable[[], object], failure: str) -> None:
        self._seconds = seconds
        self._work = work
        self._failure = failure
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._repeat_until_closed, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread after a running call."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _repeat_until_closed(self) -> None:
        while not self._closed.wait(self._seconds):
            call_and_log(self._work, self._failure)


def call_and_log(work: Callable[[], object], failure: str) -> None:
    """Make a call, and log its error instead of raising it.

    Parameters
    ----------
    work : Callable[[], object]
        The call.
    failure : str
        The start of the log message, which the text for operators of the error follows.
    """
    try:
        work()
    except Exception as error:
        _log.warning("%s: %s", failure, getattr(error, "detail", error))
