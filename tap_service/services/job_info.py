"""What jobInfo tells of a job's work: from the engine's process list while it runs, and what it took at its end."""

from __future__ import annotations

import time
from collections.abc import Callable

from tap_service.models.job import Info
from tap_service.services.execution import Execution
from tap_service.storage.engine import Progress

#: a fraction below this foretells nothing
_FORETOLD_FROM = 0.05

_NOTHING = Progress(0, 0, 0, 0)


class JobProgress:
    """Of one execution. The engine's words come late or never where a query is short: then they are not told."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._began = time.monotonic()
        self._seen: Progress | None = None
        self._before = _NOTHING
        #: the plan in words
        self.plan = ""
        #: how far a job in pieces is
        self.pieces: Callable[[], Info] | None = None

    @property
    def bytes_read(self) -> int:
        """As far as the engine has told."""
        return self._seen.read_bytes if self._seen else 0

    def seen(self, progress: Progress) -> None:
        """What the engine says now. A job in pieces asks it for one after the other."""
        if self._seen is not None and progress.read_rows < self._seen.read_rows:
            self._before = self._so_far
        self._seen = progress

    @property
    def _so_far(self) -> Progress:
        """Of all pieces that the engine was seen at."""
        before, seen = self._before, self._seen or _NOTHING
        return Progress(
            before.read_rows + seen.read_rows,
            before.read_bytes + seen.read_bytes,
            seen.total_rows,
            max(before.peak_memory, seen.peak_memory),
        )

    def while_running(self) -> Info:
        """``percent`` is of the rows that the engine expects to read: joins and sorts go on after the last of them.

        How long they do is not told.
        """
        elapsed = time.monotonic() - self._began
        info: dict[str, str | int | float] = {**self._work(elapsed)}
        if self.pieces is not None:
            return {**info, **self.pieces()}
        if self._seen is not None and self._seen.total_rows:
            fraction = min(self._seen.read_rows / self._seen.total_rows, 0.99)
            info["rowsExpected"] = self._seen.total_rows
            info["percent"] = int(fraction * 100)
            if fraction >= _FORETOLD_FROM and self._seen.read_rows < self._seen.total_rows:
                info["secondsLeft"] = round(elapsed * (1 - fraction) / fraction, 1)
        return info

    def at_end(self) -> Info:
        pieces = self.pieces() if self.pieces else {}
        return {**self._work(time.monotonic() - self._began), **pieces, "percent": 100, "secondsLeft": 0}

    def _work(self, elapsed: float) -> dict[str, str | int | float]:
        report = self._execution.report
        info: dict[str, str | int | float] = {
            "seconds": round(elapsed, 3),
            "rowsWritten": report.rows,
            "bytesWritten": report.bytes,
            "rowLimit": self._execution.limit,
        }
        if self.plan:
            info["plan"] = self.plan
        if report.status:
            info["queryStatus"] = report.status
        if self._seen is not None:
            so_far = self._so_far
            info["rowsRead"] = so_far.read_rows
            info["bytesRead"] = so_far.read_bytes
            info["peakMemory"] = so_far.peak_memory
        return info
