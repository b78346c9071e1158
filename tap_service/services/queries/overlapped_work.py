"""Overlap of two kinds of work: a thread encodes one batch while the engine computes the next."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType


class OverlappedWork:
    """Runs calls in order on one thread. The next call raises the error of the previous one.

    Leaving the context waits for the running call.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "encoder")
        self._last: Future[None] | None = None

    def __enter__(self) -> OverlappedWork:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def run_after_previous(self, work: Callable[[], None]) -> None:
        """Start ``work`` when the previous call has ended."""
        self.finish()
        self._last = self._pool.submit(work)

    def finish(self) -> None:
        """Wait for the last call, and raise its error."""
        last, self._last = self._last, None
        if last is not None:
            last.result()
