"""Prometheus metrics of the service."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from tap_service.models.query_report import QueryReport

#: seconds, from a look-up to a long download
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)


class ServiceMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.queries = Counter("skyhouse_queries", "Finished queries by status", ["status"], registry=self.registry)
        self.rows = Counter("skyhouse_rows", "Rows of results", registry=self.registry)
        self.bytes = Counter("skyhouse_bytes", "Bytes of results", registry=self.registry)
        self.seconds = Histogram(
            "skyhouse_query_seconds",
            "Duration of queries by phase",
            ["phase"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._find_phase = cache(self.seconds.labels)
        self.in_flight = Gauge("skyhouse_queries_in_flight", "Queries in progress", registry=self.registry)
        self.jobs = Gauge("skyhouse_jobs_executing", "Jobs that this process executes", registry=self.registry)
        self.waiting = Gauge("skyhouse_queries_waiting", "Waiting queries", registry=self.registry)
        self.lanes = Gauge(
            "skyhouse_lane_requests", "Requests to /sync by lane and state", ["lane", "state"], registry=self.registry
        )
        self.connections = Gauge("skyhouse_open_connections", "Open connections", registry=self.registry)
        self.spool = Gauge("skyhouse_spool_bytes", "Bytes in the spool", ["where"], registry=self.registry)
        self.log_failures = Counter(
            "skyhouse_query_log_failures", "Lines of the query log that could not be written", registry=self.registry
        )

    def record_query(self, report: QueryReport) -> None:
        """Count a query that has ended."""
        self.queries.labels(report.status).inc()
        self.rows.inc(report.rows)
        self.bytes.inc(report.bytes)
        self.record_phases(report.seconds)

    def record_phases(self, seconds: Mapping[str, float]) -> None:
        for phase, value in seconds.items():
            self._find_phase(phase).observe(value)

    def format_text(self) -> bytes:
        return generate_latest(self.registry)
