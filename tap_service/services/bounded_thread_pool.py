"""A pool of threads with a queue of limited length."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tap_service.service_errors import ServiceBusy

T = TypeVar("T")


class BoundedThreadPool:
    """Runs ``threads`` calls at once; ``max_waiting`` more wait in order, and further ones are refused."""

    def __init__(self, name: str, threads: int, max_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, name)
        self._threads = threads
        self._max_pending = threads + max_waiting
        self._pending = 0
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Raise ServiceBusy when the queue is full."""
        with self._lock:
            if self._pending >= self._max_pending:
                raise ServiceBusy(
                    f"{self._pending} requests run or wait, and this service accepts no more: try again in a while"
                )
            self._pending += 1
        try:
            future = self._pool.submit(call)
        except RuntimeError as error:
            self._discard_call()
            raise ServiceBusy("the service is shutting down") from error
        future.add_done_callback(self._discard_call)
        return future

    @property
    def n_waiting(self) -> int:
        return max(0, self._pending - self._threads)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _discard_call(self, _future: object = None) -> None:
        with self._lock:
            self._pending -= 1
