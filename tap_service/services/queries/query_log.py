"""Records of queries that have ended: a line of the query log, and an entry in the history of their user."""

from __future__ import annotations

import re

from tap_service.models.client import Client
from tap_service.models.history_entry import HistoryEntry, make_entry_id
from tap_service.models.query_report import QueryReport
from tap_service.models.timestamps import add_seconds, now
from tap_service.services.history.query_history import MAX_QUERY, QueryHistory
from tap_service.services.line_log import LineLog
from tap_service.services.queries.tap_parameters import TapParameters

#: the engine's id of the query of a job: see ``Job.query_id``
_JOB_QUERY = re.compile(r"async-(.+)-\d+")
_NOT_ENDED = "REQUEUED"


class QueryLog:
    def __init__(self, lines: LineLog, history: QueryHistory) -> None:
        self._lines = lines
        self._history = history

    def log_query(self, parameters: TapParameters, report: QueryReport, *, query_id: str, client: Client) -> None:
        """Record the end of a query with valid parameters."""
        user = client.name
        if user is not None and parameters.in_history and report.status != _NOT_ENDED:
            self._history.add_query(user, _build_entry(parameters, report, query_id))
        self._lines.write_record(
            query_id=query_id,
            runid=parameters.runid,
            client=client.address,
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

    def log_failure(self, report: QueryReport, *, query_id: str, client: Client) -> None:
        """Log a query with invalid parameters."""
        named = {"query_id": query_id} if query_id else {}
        self._lines.write_record(
            **named, client=client.address, user=client.name, status=report.status, error=report.error
        )

    def close(self) -> None:
        self._lines.close()


def _build_entry(parameters: TapParameters, report: QueryReport, query_id: str) -> HistoryEntry:
    job = _JOB_QUERY.fullmatch(query_id)
    seconds = report.seconds.get("total", 0.0)
    created = add_seconds(now(), -seconds)
    return HistoryEntry(
        id=make_entry_id(created),
        job_id=job[1] if job else None,
        created=created,
        seconds=round(seconds, 3),
        engine_seconds=round(report.seconds.get("engine", 0.0), 3),
        status=report.status,
        rows=report.rows,
        bytes=report.bytes,
        format=parameters.format.mime,
        run_id=parameters.runid,
        query=parameters.query[:MAX_QUERY],
        is_cut=len(parameters.query) > MAX_QUERY,
        error=report.error,
    )
