"""A thread that repeats one call."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger("skyhouse")


class PeriodicThread:
    """Calls ``work`` every ``seconds`` until ``close``.

    An error of ``work`` is logged after ``failure``, and the next round retries.
    """

    def __init__(self, name: str, seconds: float, work: Callable[[], object], failure: str) -> None:
        self._seconds = seconds
        self._work = work
        self._failure = failure
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._repeat_until_closed, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Wait for the end of a running round."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _repeat_until_closed(self) -> None:
        while not self._closed.wait(self._seconds):
            call_and_log(self._work, self._failure)


def call_and_log(work: Callable[[], object], failure: str) -> None:
    """Log any error instead of raising it: the caller goes on with other work, and retries later."""
    try:
        work()
    except Exception as error:
        _log.warning("%s: %s", failure, getattr(error, "detail", error))
