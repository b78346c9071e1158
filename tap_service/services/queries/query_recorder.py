"""Records the end of each query: in the metrics, the query log, the user's history and the usage statistics."""

from __future__ import annotations

from tap_service.models.client import Client
from tap_service.models.query_report import QueryReport
from tap_service.service_metrics import ServiceMetrics
from tap_service.services.queries.query_log import QueryLog
from tap_service.services.queries.tap_parameters import TapParameters
from tap_service.services.usage_counter import UsageCounter


class QueryRecorder:
    """One for each process."""

    def __init__(self, metrics: ServiceMetrics, log: QueryLog, usage: UsageCounter) -> None:
        self._metrics = metrics
        self._log = log
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
        if parameters is None:
            self._log.log_failure(report, query_id=query_id, client=client)
            return
        self._log.log_query(parameters, report, query_id=query_id, client=client)
        self._usage.count_query(report, parameters.format.extension, client, is_job=is_job)
