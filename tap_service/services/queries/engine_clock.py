"""Measures the time that the engine works on a query, which the limit of /sync counts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class EngineClock:
    """Runs while one thread is inside ``running()``; read from any thread."""

    def __init__(self) -> None:
        self._total = 0.0
        self._since: float | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        self._since = time.monotonic()
        try:
            yield
        finally:
            since, self._since = self._since, None
            self._total += time.monotonic() - since

    @property
    def seconds(self) -> float:
        since = self._since
        return self._total + (0.0 if since is None else time.monotonic() - since)
