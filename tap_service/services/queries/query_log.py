"""The query log: one line of JSON for each query."""

from __future__ import annotations

from tap_service.models.query_report import QueryReport
from tap_service.services.line_log import LineLog
from tap_service.services.queries.tap_parameters import TapParameters


class QueryLog:
    def __init__(self, lines: LineLog) -> None:
        self._lines = lines

    def log_query(
        self, parameters: TapParameters, report: QueryReport, *, query_id: str, client: str, user: str | None
    ) -> None:
        """Log the end of a query with valid parameters."""
        self._lines.write_record(
            query_id=query_id,
            runid=parameters.runid,
            client=client,
            user=user,
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

    def log_failure(self, report: QueryReport, *, client: str, user: str | None = None, query_id: str = "") -> None:
        """Log a query whose parameters cannot be used."""
        named = {"query_id": query_id} if query_id else {}
        self._lines.write_record(**named, client=client, user=user, status=report.status, error=report.error)

    def close(self) -> None:
        self._lines.close()
