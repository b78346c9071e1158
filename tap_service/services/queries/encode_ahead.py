"""Work that is done while its next piece is being made: a batch is encoded while the engine makes another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType


class OverlappedWork:
    """Pieces of work one after the other; all but the first, which may be the only one, on a thread of its own.

    An error shows at the next call. Leaving the context waits for what still runs.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None
        self._first = True

    def __enter__(self) -> OverlappedWork:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run_after_previous(self, work: Callable[[], None]) -> None:
        """Begin with ``work`` when all before it is done."""
        if self._first:
            self._first = False
            work()
            return
        self.finish()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "behind")
        self._last = self._pool.submit(work)

    def finish(self) -> None:
        """Wait for all of it. Raises what it has failed with."""
        last, self._last = self._last, None
        if last is not None:
            last.result()
