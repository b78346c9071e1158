"""Prometheus metrics, which docs/metrics.md lists."""

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

#: seconds, from a look-up to a long download
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)

#: why credentials are refused: what was wrong, none where they are needed, or others are still checked
REFUSED_LOGINS = ("password", "token", "other scheme", "missing", "too many")

disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the series, and no panel shows them


class ServiceMetrics:
    """The metrics of one process. ``shared`` has those that are the same in each process of a deployment."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.shared = CollectorRegistry()
        #: of this process, or of all that share
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
            "How long the oldest waiting request of a lane has waited there",
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
        self.spool_limit = Gauge("skyhouse_spool_limit_bytes", "Room of the spool", ["where"], registry=registry)
        self.requests = Counter(
            "skyhouse_http_requests", "HTTP requests that have ended", ["route", "method", "status"], registry=registry
        )
        self.request_seconds = Histogram(
            "skyhouse_http_request_seconds",
            "HTTP requests from their head to the last byte of the response",
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
            "skyhouse_usage_failures", "Rounds in which usage could not be stored; it is kept", registry=registry
        )

        for outcome in ("read", "refused"):  # a rate misses the step to the first sample of a series
            self.uploads.labels(outcome)
        for reason in REFUSED_LOGINS:
            self.refused_logins.labels(reason)
        for status in ("429", "503"):
            self.refused_connections.labels(status)

    def record_query(self, report: QueryReport) -> None:
        """Count a query that has ended."""
        self._find_status(report.status).inc()
        self.rows.inc(report.rows)
        self.bytes.inc(report.bytes)
        self.record_phases(report.seconds)
        for kind in report.engine_errors:
            self.engine_errors.labels(kind).inc()

    def record_phases(self, seconds: Mapping[str, float]) -> None:
        for phase, value in seconds.items():
            self._find_phase(phase).observe(value)

    def record_request(self, route: str, method: str, status: int, lane: str, seconds: float) -> None:
        """Count an HTTP request. All labels must be of bounded number: ``route`` is a template."""
        self._find_request(route, method, str(status)).inc()
        self._find_request_seconds(route, lane).observe(seconds)

    def share_in(self, folder: Path, process: str) -> None:
        """Show these metrics with those of other processes that share ``folder``."""
        self._shown = CollectorRegistry()
        self._shown.register(SharedMetrics(folder))
        self._socket = MetricsSocket(folder, process, self._format_own)

    async def read_text(self) -> bytes:
        """Return ``format_text``. Whoever asks while the text is being written gets the same text."""
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(asyncio.to_thread(self.format_text))
        return await asyncio.shield(self._writing)

    def format_text(self) -> bytes:
        """Return the metrics of all processes. Waits for them, and for the stores that ``shared`` asks."""
        return generate_latest(self._shown) + generate_latest(self.shared)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def _format_own(self) -> bytes:
        return generate_latest(self.registry)
