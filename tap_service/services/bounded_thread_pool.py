"""A pool of threads with a queue of limited length."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tap_service.service_errors import ServiceBusy

T = TypeVar("T")


class BoundedThreadPool:
    """A pool of threads that refuses calls when its queue is full.

    Parameters
    ----------
    name : str
        Prefix of the names of the threads.
    threads : int
        The number of calls that run at once.
    max_waiting : int
        The maximum number of calls that wait in order.
    """

    def __init__(self, name: str, threads: int, max_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, name)
        self._threads = threads
        self._max_pending = threads + max_waiting
        self._pending = 0
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Make a call on a thread, when one is free.

        Parameters
        ----------
        call : Callable[[], T]
            The call.

        Returns
        -------
        Future[T]
            The result of the call.

        Raises
        ------
        ServiceBusy
            The queue is full, or the pool is closed.
        """
        with self._lock:
            if self._pending >= self._max_pending:
                raise ServiceBusy(
                    f"{self._pending} requests are running or waiting, and this service accepts no more: "
                    "try again in a while"
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
        """The number of waiting calls."""
        return max(0, self._pending - self._threads)

    def close(self) -> None:
        """Cancel waiting calls; running calls finish."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _discard_call(self, _future: object = None) -> None:
        with self._lock:
            self._pending -= 1
