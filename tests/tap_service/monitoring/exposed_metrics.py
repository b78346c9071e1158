"""The exposed metrics of the service, and their descriptions in docs/metrics.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.metrics import MetricWrapperBase

from tap_service.service_metrics import ServiceMetrics
from tap_service.shared_metrics import MetricsSocket, SharedMetrics
from tests.support.environment import ROOT

_ROW = re.compile(r"^\| `(\w+)` \| (\w+) \|([^|]*)\| [^|]+ \|", re.MULTILINE)

#: by name: the type and the labels
Listed = dict[str, tuple[str, frozenset[str]]]


def list_exposed(metrics: ServiceMetrics, folder: Path) -> Listed:
    """Return every metric of a service; ``folder`` is empty."""
    found: Listed = {}
    for registry in (metrics.registry, metrics.shared):
        for collector in _list_collectors(registry):
            labels = frozenset(collector._labelnames) if isinstance(collector, MetricWrapperBase) else None
            found |= _describe_all(collector.collect(), labels)
    shared = MetricsSocket(folder, "0", lambda: b"\n")
    found |= _describe_all(SharedMetrics(folder).collect(), None)
    shared.close()
    return found


def _list_collectors(registry: CollectorRegistry) -> list:
    return list(registry._collector_to_names)


def _describe_all(families: Iterable[Metric], labels: frozenset[str] | None) -> Listed:
    return {
        f"{family.name}_total" if family.type == "counter" else family.name: (
            family.type,
            frozenset(name for sample in family.samples for name in sample.labels) if labels is None else labels,
        )
        for family in families
    }


def read_page() -> Listed:
    text = (ROOT / "docs" / "metrics.md").read_text()
    return {name: (kind, frozenset(re.findall(r"`(\w+)`", labels))) for name, kind, labels in _ROW.findall(text)}
