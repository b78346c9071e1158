"""Fetching files in a thread of its own, a bounded number ahead of those that are loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from loaders.load_error import LoadCancelled
from loaders.pipeline.read_ahead import read_ahead

_Item = TypeVar("_Item")


class FetchLimit:
    """At most ``max_files`` fetched files are on the disk; ``stop`` ends the fetching."""

    def __init__(self, max_files: int) -> None:
        self.max_files = max_files
        self._room = threading.Semaphore(max_files)
        self._is_stopped = threading.Event()

    def take_room(self) -> None:
        while not self._room.acquire(timeout=0.1):
            self.check()

    def give_room(self) -> None:
        self._room.release()

    def stop(self) -> None:
        self._is_stopped.set()

    def check(self) -> None:
        if self._is_stopped.is_set():
            raise LoadCancelled


@contextmanager
def fetch_ahead(
    fetch: Callable[[int], _Item], positions: Iterable[int], limit: FetchLimit
) -> Iterator[Iterator[_Item]]:
    """Return what ``fetch`` makes of each position; who has taken it calls ``give_room`` when it is deleted."""

    def fetch_all() -> Iterator[_Item]:
        for position in positions:
            limit.take_room()
            yield fetch(position)

    with read_ahead(fetch_all(), limit.max_files) as found:
        try:
            yield found
        finally:
            limit.stop()
