"""Fetches files in a separate thread, a limited number ahead of the files that are loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from loaders.load_error import LoadCancelled
from loaders.pipeline.read_ahead import read_ahead

_Item = TypeVar("_Item")


class FetchLimit:
    """Limits the number of fetched files on the disk. ``stop`` ends the fetching."""

    def __init__(self, max_files: int) -> None:
        self.max_files = max_files
        self._slots = threading.Semaphore(max_files)
        self._is_stopped = threading.Event()

    def take_slot(self) -> None:
        while not self._slots.acquire(timeout=0.1):
            self.check()

    def free_slot(self) -> None:
        self._slots.release()

    def stop(self) -> None:
        self._is_stopped.set()

    def check(self) -> None:
        if self._is_stopped.is_set():
            raise LoadCancelled


@contextmanager
def fetch_ahead(fetch: Callable[[int], _Item], indexes: Iterable[int], limit: FetchLimit) -> Iterator[Iterator[_Item]]:
    """Yield the results of ``fetch`` for each index. The caller calls ``free_slot`` when it has deleted the files."""

    def fetch_all() -> Iterator[_Item]:
        for index in indexes:
            limit.take_slot()
            yield fetch(index)

    with read_ahead(fetch_all(), limit.max_files) as found:
        try:
            yield found
        finally:
            limit.stop()
