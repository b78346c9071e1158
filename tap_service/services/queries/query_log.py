"""The query log: one line of JSON for each request, with all text of clients escaped."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import IO, Any

from tap_service.models.query_report import QueryReport
from tap_service.prometheus_metrics import ServiceMetrics
from tap_service.services.queries.tap_parameters import TapParameters


class QueryLog:
    """``target``: a file to append to, ``-`` for standard error, empty for none. An error of the log fails no query."""

    def __init__(self, target: str, metrics: ServiceMetrics) -> None:
        self._metrics = metrics
        self._file: IO[str] | None = None
        if target and target != "-":
            self._file = open(target, "a", encoding="utf-8", buffering=1)  # noqa: SIM115 (closed by close)
        self._stream = (self._file or sys.stderr) if target else None

    def log_query(self, parameters: TapParameters, report: QueryReport, *, query_id: str, client: str) -> None:
        """Log the end of a query with valid parameters."""
        self.log_record(
            query_id=query_id,
            runid=parameters.runid,
            client=client,
            query=parameters.query,
            lang=parameters.language,
            maxrec=parameters.maxrec,
            format=parameters.format.mime,
            status=report.status,
            lane=report.lane,
            rows=report.rows,
            bytes=report.bytes,
            milliseconds={phase: round(seconds * 1000, 3) for phase, seconds in report.seconds.items()},
            error=report.error,
        )

    def log_record(self, **record: Any) -> None:
        if self._stream is None:
            return
        instant = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        try:
            self._stream.write(json.dumps({**record, "time": instant, "kind": "query"}) + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            self._metrics.log_failures.inc()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
