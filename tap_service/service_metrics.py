"""Prometheus metrics; docs/metrics.md lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from tap_service.constants import VERSION
from tap_service.models.query_report import QueryReport
from tap_service.shared_metrics import MetricsSocket, SharedMetrics

#: in seconds, from a look-up to a long download
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)

#: why credentials are refused: the wrong kind, missing credentials, or too many passwords that are being checked
REFUSED_LOGINS = ("password", "token", "other scheme", "missing", "too many")

disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the number of series, and no panel shows them


class ServiceMetrics:
    """The metrics of one process; ``shared`` contains metrics that are the same in each process of a deployment."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.shared = CollectorRegistry()
        #: the metrics of this process, or of all processes that share a folder
        self._shown = self.registry
        self._socket: MetricsSocket | None = None
        self._writing: asyncio.Future[bytes] | None = None
        registry = self.registry
        ProcessCollector(registry=registry)
        Gauge("skyhouse_build_info", "1, with the version", ["version"], registry=registry).labels(VERSION).set(1)
        self.queries = Counter("skyhouse_queries", "Finished queries by status", ["status"], registry=registry)
        self.rows = Counter("skyhouse_rows", "Rows of results", registry=registry)
        self.bytes = Counter("skyhouse_bytes", "Bytes of results", registry=registry)
        self.seconds = Histogram(
            "skyhouse_query_seconds", "Duration of queries by phase", ["phase"], buckets=_BUCKETS, registry=registry
        )
        self._find_phase = cache(self.seconds.labels)
        self._find_status = cache(self.queries.labels)
        self.engine_errors = Counter(
            "skyhouse_engine_errors", "Errors of the engine that stopped queries", ["kind"], registry=registry
        )
        self.uploads = Counter("skyhouse_uploads", "Uploaded tables by outcome", ["outcome"], registry=registry)
        self.in_flight = Gauge("skyhouse_queries_in_flight", "Queries in progress", registry=registry)
        self.jobs = Gauge("skyhouse_jobs_executing", "Jobs that this process executes", registry=registry)
        self.waiting = Gauge("skyhouse_queries_waiting", "Waiting queries", registry=registry)
        self.lanes = Gauge(
            "skyhouse_lane_requests", "Requests to /sync by lane and state", ["lane", "state"], registry=registry
        )
        self.lane_ages = Gauge(
            "skyhouse_lane_oldest_seconds",
            "Time for which the oldest waiting request of a lane has waited",
            ["lane"],
            registry=registry,
        )
        self.connections = Gauge("skyhouse_open_connections", "Open connections", registry=registry)
        self.refused_connections = Counter(
            "skyhouse_refused_connections",
            "Requests and connections refused before any route, by HTTP status",
            ["status"],
            registry=registry,
        )
        self.spool = Gauge("skyhouse_spool_bytes", "Bytes in the spool", ["where"], registry=registry)
        self.spool_limit = Gauge("skyhouse_spool_limit_bytes", "Limit of the spool", ["where"], registry=registry)
        self.requests = Counter(
            "skyhouse_http_requests", "Finished HTTP requests", ["route", "method", "status"], registry=registry
        )
        self.request_seconds = Histogram(
            "skyhouse_http_request_seconds",
            "Duration of HTTP requests from their headers to the last byte of the response",
            ["route", "lane"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._find_request = cache(self.requests.labels)
        self._find_request_seconds = cache(self.request_seconds.labels)
        self.refused_logins = Counter(
            "skyhouse_refused_logins", "Requests refused for their credentials", ["reason"], registry=registry
        )
        self.log_failures = Counter(
            "skyhouse_log_failures", "Lines of a log that could not be written", ["log"], registry=registry
        )
        self.usage_failures = Counter(
            "skyhouse_usage_failures", "Failed attempts to store usage, which is kept in memory", registry=registry
        )

        for outcome in ("read", "refused"):  # a rate would miss the step from no sample to the first sample
            self.uploads.labels(outcome)
        for reason in REFUSED_LOGINS:
            self.refused_logins.labels(reason)
        for status in ("429", "503"):
            self.refused_connections.labels(status)

    def record_query(self, report: QueryReport) -> None:
        """Count a query that has ended. Thread-safe.

        Parameters
        ----------
        report : QueryReport
            Its outcome: the status, rows, bytes, durations of phases and errors of the engine.
        """
        self._find_status(report.status).inc()
        self.rows.inc(report.rows)
        self.bytes.inc(report.bytes)
        self.record_phases(report.seconds)
        for kind in report.engine_errors:
            self.engine_errors.labels(kind).inc()

    def record_phases(self, seconds: Mapping[str, float]) -> None:
        """Count the durations of the phases of a query, in seconds."""
        for phase, value in seconds.items():
            self._find_phase(phase).observe(value)

    def record_request(self, route: str, method: str, status: int, lane: str, seconds: float) -> None:
        """Count an HTTP request.

        Parameters
        ----------
        route : str
            The template of the route, never a path: the number of labels must be bounded.
        method, status, lane : str, int, str
            The method, the status of the response, and the lane of a query, '' for other requests.
        seconds : float
            The duration.
        """
        self._find_request(route, method, str(status)).inc()
        self._find_request_seconds(route, lane).observe(seconds)

    def share_in(self, folder: Path, process: str) -> None:
        """Combine these metrics with the metrics of other processes that share a folder.

        Parameters
        ----------
        folder : Path
            The folder of the sockets.
        process : str
            The name of this process.
        """
        self._shown = CollectorRegistry()
        self._shown.register(SharedMetrics(folder))
        self._socket = MetricsSocket(folder, process, self._format_own)

    async def read_text(self) -> bytes:
        """Return ``format_text``; concurrent requests get the same text."""
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(asyncio.to_thread(self.format_text))
        return await asyncio.shield(self._writing)

    def format_text(self) -> bytes:
        """Return the metrics of all processes. Waits for these processes, and for the stores that ``shared`` reads."""
        return generate_latest(self._shown) + generate_latest(self.shared)

    def close(self) -> None:
        """Stop answering other processes."""
        if self._socket is not None:
            self._socket.close()

    def _format_own(self) -> bytes:
        return generate_latest(self.registry)
