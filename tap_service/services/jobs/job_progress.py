"""Progress of a job for jobInfo: from the engine's process list while it runs, and totals at its end."""

from __future__ import annotations

import time
from collections.abc import Callable

from adql.ir import Query
from tap_service.models.query_report import QueryReport
from tap_service.models.uws_job import Info
from tap_service.models.work_class import Estimate
from tap_service.services.queries.query_stages import QueryStage, QueryStages
from tap_service.storage.engine.engine import Progress

#: the fraction reported until the job ends
_MAX_FRACTION = 0.99

#: below this fraction the remaining time cannot be estimated
_MIN_FRACTION_FOR_SECONDS_LEFT = 0.05

_NO_PROGRESS = Progress(0, 0, 0, 0)


class JobProgress:
    """Progress of the work of one job. For a short query, the engine may report none.

    Parameters
    ----------
    report : QueryReport
        The outcome so far.
    limit : int
        The row limit.
    query : Query or None
        The bound query, whose parts tell the stages; None for work that is no query.
    estimate : Estimate or None
        The estimated cost.
    plan : str
        The plan as text.
    pieces : callable or None
        Returns the progress of a job in pieces.
    """

    def __init__(
        self,
        report: QueryReport,
        limit: int,
        query: Query | None,
        estimate: Estimate | None = None,
        *,
        plan: str = "",
        pieces: Callable[[], Info] | None = None,
    ) -> None:
        self._report = report
        self._limit = limit
        self._estimate = estimate
        self._plan = plan
        self.pieces = pieces
        self._began = time.monotonic()
        self._seen: Progress | None = None
        self._before = _NO_PROGRESS
        self._stages = QueryStages(query)
        self._stage = QueryStage.PREPARING
        self._written = 0

    @property
    def bytes_read(self) -> int:
        """The bytes that the engine has reported so far."""
        return self._seen.read_bytes if self._seen else 0

    def update_progress(self, progress: Progress | None) -> None:
        """Take the engine's report, None if it does not know the query. A job in pieces runs many queries in turn."""
        report = self._report
        if progress is None:
            if report.rows and self.pieces is None:
                self._stage = QueryStage.WRITING
            return
        last = self._seen or _NO_PROGRESS
        if progress.read_rows < last.read_rows:
            self._before, last = self._total_progress, _NO_PROGRESS
        self._stage = self._stages.current_stage(last, progress, written=report.rows > self._written)
        self._seen, self._written = progress, report.rows

    @property
    def _total_progress(self) -> Progress:
        """The sum over all pieces that the engine has reported."""
        before, seen = self._before, self._seen or _NO_PROGRESS
        return Progress(
            before.read_rows + seen.read_rows,
            before.read_bytes + seen.read_bytes,
            seen.total_rows,
            max(before.peak_memory, seen.peak_memory),
            before.joined_rows + seen.joined_rows,
        )

    def info_while_running(self) -> Info:
        """Return the fields that docs/async.md describes."""
        elapsed = time.monotonic() - self._began
        info: dict[str, str | int | float] = {**self._work_info(elapsed), "stage": self._stage}
        if self.pieces is not None:
            return {**info, **self.pieces()}
        if self._seen is not None and self._seen.total_rows:
            info["rowsExpected"] = self._seen.total_rows
            fraction = self._estimate_fraction(self._seen)
            if fraction is not None:
                info["percent"] = int(fraction * 100)
                if fraction >= _MIN_FRACTION_FOR_SECONDS_LEFT:
                    info["secondsLeft"] = round(elapsed * (1 - fraction) / fraction, 1)
        return info

    def _estimate_fraction(self, seen: Progress) -> float | None:
        """Return the completed fraction of the work, or None if it is unknown.

        Each step has the weight of its estimated seconds. The fraction is unknown during grouping and sorting, when a
        join or the result has more rows than estimated, and when conditions may leave fewer.
        """
        if self._stage in (QueryStage.GROUPING, QueryStage.SORTING):
            return None
        read = min(seen.read_rows / seen.total_rows, 1.0)
        steps = self._estimate.steps if self._estimate else None
        if self._estimate is None or steps is None or not steps.sure:
            is_reading = self._stage is QueryStage.READING and self._stages.join is None
            return min(read, _MAX_FRACTION) if is_reading else None
        written = self._report.rows
        if seen.joined_rows > steps.joined or written > steps.written:
            return None
        reading = max(self._estimate.seconds - steps.join_seconds - steps.write_seconds, 0.0)
        done = reading * read
        done += steps.join_seconds * (seen.joined_rows / steps.joined if steps.joined else 1.0)
        done += steps.write_seconds * (written / steps.written if steps.written else 1.0)
        whole = reading + steps.join_seconds + steps.write_seconds
        return min(done / whole, _MAX_FRACTION) if whole else None

    def info_at_end(self) -> Info:
        pieces = self.pieces() if self.pieces else {}
        return {**self._work_info(time.monotonic() - self._began), **pieces, "percent": 100, "secondsLeft": 0}

    def _work_info(self, elapsed: float) -> dict[str, str | int | float]:
        report = self._report
        info: dict[str, str | int | float] = {
            "seconds": round(elapsed, 3),
            "rowsWritten": report.rows,
            "bytesWritten": report.bytes,
            "rowLimit": self._limit,
        }
        if self._plan:
            info["plan"] = self._plan
        if report.status:
            info["queryStatus"] = report.status
        if report.warning:
            info["warning"] = report.warning
        if self._seen is not None:
            so_far = self._total_progress
            info["rowsRead"] = so_far.read_rows
            info["bytesRead"] = so_far.read_bytes
            info["peakMemory"] = so_far.peak_memory
        return info
