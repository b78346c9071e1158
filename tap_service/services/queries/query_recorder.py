"""Records the end of each query: in the metrics, the query log, the user's history and the usage statistics."""

from __future__ import annotations

import re

from tap_service.models.client import Client
from tap_service.models.history_entry import HistoryEntry, make_entry_id
from tap_service.models.query_report import QueryReport
from tap_service.models.timestamps import add_seconds, now
from tap_service.service_metrics import ServiceMetrics
from tap_service.services.history.query_history import MAX_QUERY, QueryHistory
from tap_service.services.line_log import LineLog
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.services.usage_counter import UsageCounter

#: the engine's id of the query of a job: see ``Job.query_id``
_JOB_QUERY = re.compile(r"async-(.+)-\d+")
_NOT_ENDED = "REQUEUED"


class QueryRecorder:
    """Records ended queries in the metrics, the query log, the history and the usage statistics. One for each process.

    Parameters
    ----------
    metrics : ServiceMetrics
        The metrics of the process.
    lines : LineLog
        The query log.
    history : QueryHistory
        The queries of each user.
    usage : UsageCounter
        The usage statistics.
    """

    def __init__(self, metrics: ServiceMetrics, lines: LineLog, history: QueryHistory, usage: UsageCounter) -> None:
        self._metrics = metrics
        self._lines = lines
        self._history = history
        self._usage = usage

    def record_query(
        self,
        report: QueryReport,
        parameters: TapParameters | None,
        client: Client,
        *,
        query_id: str = "",
        is_job: bool = False,
    ) -> None:
        """Record a query that has ended.

        Parameters
        ----------
        report
            The outcome.
        parameters
            The parameters of the query; None if they are invalid.
        client
            The client, for a job its creator.
        query_id
            The engine's name for the query; '' if the query did not reach the engine.
        is_job
            Whether the query was a job.
        """
        self._metrics.record_query(report)
        address, user = client.address, client.name
        if parameters is None:
            named = {"query_id": query_id} if query_id else {}
            self._lines.write_record(**named, client=address, user=user, status=report.status, error=report.error)
            return
        if user is not None and parameters.in_history and report.status != _NOT_ENDED:
            self._history.add_query(user, _build_entry(parameters, report, query_id))
        self._lines.write_record(
            query_id=query_id,
            runid=parameters.runid,
            client=address,
            user=user,
            query=parameters.query,
            lang=parameters.language,
            maxrec=parameters.maxrec,
            format=parameters.format.mime,
            status=report.status,
            lane=report.lane,
            rows=report.rows,
            bytes=report.bytes,
            milliseconds={step: round(seconds * 1000, 3) for step, seconds in report.seconds.items()},
            error=report.error,
        )
        self._usage.count_query(report, parameters.format.extension, client, is_job=is_job)


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
