"""The dashboard, the alerts and their configuration use existing metrics, labels and values correctly."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tap_service.models.engine_share import Lane
from tap_service.models.work_class import WorkClass
from tap_service.service_metrics import REFUSED_LOGINS
from tap_service.storage.engine import engine
from tests.support.environment import ROOT
from tests.tap_service.monitoring import promql
from tests.tap_service.monitoring.exposed_metrics import read_page

FOLDER = ROOT / "compose" / "monitoring"
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text())
ALERTS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

#: what Prometheus adds to each series
_ADDED = {"job", "instance", "process"}
#: the values of labels that have few
_VALUES = {
    "lane": {*Lane, ""},
    "work": set(WorkClass),
    "phase": {"queued", "executing", "wait", "uploads", "translate", "first_batch", "engine", "total"},
    "state": {"running", "waiting"},
    "where": {"memory", "disk"},
    "place": {"jobs", "results", "spool", "data"},
    "reason": set(REFUSED_LOGINS),
    "kind": {name for name, each in vars(engine).items() if isinstance(each, type) and issubclass(each, Exception)},
    "status": {str(status) for status in range(200, 600)},
}


def list_expressions() -> Iterator[tuple[str, str, str]]:
    """Yield the path of each expression, its text, and the text that names labels of its result."""
    for panel in PANELS:
        for target in panel["targets"]:
            yield panel["title"], target["expr"], target["legendFormat"]
    for alert in ALERTS:
        yield alert["alert"], alert["expr"], " ".join(alert["annotations"].values())


def find_labels(name: str) -> set[str]:
    """Return the labels of a series. Raise KeyError if there is none of this name."""
    listed = read_page()
    if name == "up":
        return set(_ADDED)
    for suffix in ("_bucket", "_sum", "_count"):
        base = name.removesuffix(suffix)
        if base != name and base in listed and listed[base][0] == "histogram":
            return {*listed[base][1], *_ADDED} | ({"le"} if suffix == "_bucket" else set())
    kind, labels = listed[name]
    assert kind != "histogram", f"{name} has only _bucket, _sum and _count"
    return {*labels, *_ADDED}


def check_expression(text: str, legend: str) -> None:
    tree = promql.parse(text)
    selectors = [node for node in promql.walk(tree) if isinstance(node, promql.Selector)]
    assert selectors
    for selector in selectors:
        labels = find_labels(selector.name)
        for label, sign, wanted in selector.matchers:
            assert label in labels, f"{selector.name} has no label {label}"
            if label in _VALUES:
                values = [value for value in _VALUES[label] if promql._matches(value, sign, wanted)]
                assert values, f"{label} never is {wanted}"
                parts = wanted.split("|") if sign in ("=~", "!~") else [wanted]
                assert all(any(re.fullmatch(part, value) for value in _VALUES[label]) for part in parts), wanted
    of_all = set.intersection(*(find_labels(selector.name) for selector in selectors))
    grouped = [set(node.by) for node in promql.walk(tree) if isinstance(node, promql.Call) and node.by is not None]
    for names in grouped:
        assert names <= of_all, f"{text} groups by labels that do not exist"
    shown = set(re.findall(r"{{ ?(?:\$labels\.)?(\w+) ?}}", legend))
    assert shown <= (grouped[0] if grouped else of_all), f"{legend} shows labels that {text} has not"
    for node in promql.walk(tree):
        if isinstance(node, promql.Call) and node.function in ("rate", "increase"):
            assert isinstance(node.arguments[0], promql.Selector)
            assert node.arguments[0].seconds, f"{text}: a rate of no time"
            assert re.search(r"_(total|bucket|sum|count)$", node.arguments[0].name), f"{text}: a rate of a gauge"


@pytest.mark.parametrize(("where", "text", "legend"), list(list_expressions()))
def test_expressions(where: str, text: str, legend: str) -> None:
    check_expression(text, legend)


@pytest.mark.parametrize(
    ("text", "legend"),
    [
        ("sum(skyhouse_nothing)", ""),
        ("sum(skyhouse_http_request_seconds)", ""),
        ('skyhouse_jobs{lane="light"}', ""),
        ('skyhouse_jobs{work="tiny"}', ""),
        ('skyhouse_jobs{work=~"short|tiny"}', ""),
        ("sum by (lane) (skyhouse_jobs)", ""),
        ("sum by (work) (skyhouse_jobs)", "{{phase}}"),
        ("rate(skyhouse_jobs[5m])", ""),
        ("rate(skyhouse_rows_total)", ""),
    ],
)
def test_wrong_expressions_are_found(text: str, legend: str) -> None:
    with pytest.raises((AssertionError, KeyError)):
        check_expression(text, legend)


@pytest.mark.parametrize("text", ["sum(skyhouse_jobs", "rate(x[5y])", "x{a=}", "sum by work (x)", "x >> 1", ""])
def test_bad_syntax_is_found(text: str) -> None:
    with pytest.raises(promql.PromqlError):
        promql.parse(text)


def test_every_alert_says_what_to_do() -> None:
    page = (ROOT / "docs" / "monitoring.md").read_text()
    sections = re.findall(r"^### (Skyhouse\w+)$", page, re.MULTILINE)
    assert sections == [alert["alert"] for alert in ALERTS]
    for alert in ALERTS:
        assert set(alert) == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[mh]", alert["for"])
        assert alert["labels"]["severity"] in ("warning", "critical")
        notes = alert["annotations"]
        assert set(notes) == {"summary", "action", "runbook"}
        assert notes["runbook"] == f"docs/monitoring.md#{alert['alert'].lower()}"
        assert len(notes["action"]) > 30


def test_the_dashboard_can_be_imported() -> None:
    idents = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(idents)) == len(idents)
    assert DASHBOARD["templating"]["list"][0]["name"] == "datasource"
    corners = set()
    for panel in PANELS:
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        corners.add((at["x"], at["y"]))
    assert len(corners) == len(PANELS)


def test_the_configuration_of_prometheus() -> None:
    found = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())
    assert all((FOLDER / name).exists() for name in found["rule_files"])
    assert {each["job_name"] for each in found["scrape_configs"]} == {"skyhouse", "skyhouse-workers"}


# --- the alerts over made-up scrapes: each fires on its problem, and on nothing else


def series(text: str, value: float) -> tuple[tuple[str, promql.Labels], float]:
    """Return a sample of ``name{label="value"}``."""
    selector = promql.parse(text)
    return (selector.name, tuple(sorted((label, value) for label, _, value in selector.matchers))), value


_REQUESTS = 'skyhouse_http_requests_total{method="GET", route="/tap/sync", status="%s"}'
_BUCKETS = 'skyhouse_http_request_seconds_bucket{lane="light", le="%s", route="/tap/sync"}'
_JOBS = 'skyhouse_jobs{phase="%s", work="short"}'
_DISK = 'skyhouse_disk_%s_bytes{place="data"}'

#: values at the start and at the end of ten minutes
_NORMAL = {
    'up{job="skyhouse"}': (1, 1),
    'skyhouse_process_up{process="0"}': (1, 1),
    _REQUESTS % 200: (0, 1000),
    _REQUESTS % 429: (0, 10),
    _REQUESTS % 500: (0, 0),
    'skyhouse_refused_connections_total{status="429"}': (0, 5),
    _BUCKETS % "0.1": (0, 990),
    _BUCKETS % "5": (0, 1000),
    _BUCKETS % "+Inf": (0, 1000),
    'skyhouse_lane_oldest_seconds{lane="light"}': (0, 1),
    'skyhouse_job_oldest_seconds{work="short"}': (0, 60),
    _JOBS % "queued": (0, 3),
    _JOBS % "executing": (0, 3),
    "skyhouse_job_store_up": (1, 1),
    _DISK % "size": (1e12, 1e12),
    _DISK % "free": (5e11, 5e11),
    'skyhouse_spool_bytes{where="disk"}': (0, 1e9),
    'skyhouse_spool_limit_bytes{where="disk"}': (1e10, 1e10),
    'skyhouse_engine_errors_total{kind="ShardLost"}': (0, 0),
    'skyhouse_engine_errors_total{kind="EngineValueError"}': (0, 100),
    'skyhouse_refused_logins_total{reason="password"}': (0, 20),
    'skyhouse_log_failures_total{log="query"}': (0, 0),
    "skyhouse_usage_failures_total": (0, 0),
    'process_open_fds{job="skyhouse"}': (100, 100),
    'process_max_fds{job="skyhouse"}': (8000, 8000),
}
_PROBLEMS = {
    "SkyhouseDown": {'up{job="skyhouse"}': (1, 0)},
    "SkyhouseProcessSilent": {'skyhouse_process_up{process="0"}': (1, 0)},
    "SkyhouseErrors": {_REQUESTS % 500: (0, 20)},
    "SkyhouseRefusals": {_REQUESTS % 429: (0, 500)},
    "SkyhouseConnectionsRefused": {'skyhouse_refused_connections_total{status="429"}': (0, 1000)},
    "SkyhouseSlowLookUps": {_BUCKETS % "0.1": (0, 500)},
    "SkyhouseQueriesWait": {'skyhouse_lane_oldest_seconds{lane="light"}': (0, 90)},
    "SkyhouseJobsWait": {'skyhouse_job_oldest_seconds{work="short"}': (300, 901)},
    "SkyhouseNoJobsStart": {_JOBS % "executing": (0, 0)},
    "SkyhouseJobStoreDown": {"skyhouse_job_store_up": (1, 0)},
    "SkyhouseDiskAlmostFull": {_DISK % "free": (9e10, 9e10)},
    "SkyhouseDiskFills": {_DISK % "free": (5e11, 4.9e11)},
    "SkyhouseSpoolAlmostFull": {'skyhouse_spool_bytes{where="disk"}': (0, 9e9)},
    "SkyhouseEngineErrors": {'skyhouse_engine_errors_total{kind="ShardLost"}': (0, 9)},
    "SkyhouseLoginsRefused": {'skyhouse_refused_logins_total{reason="password"}': (0, 300)},
    "SkyhouseLogLost": {'skyhouse_log_failures_total{log="query"}': (0, 1)},
    "SkyhouseUsageNotStored": {"skyhouse_usage_failures_total": (0, 30)},
    "SkyhouseOpenFiles": {'process_open_fds{job="skyhouse"}': (100, 7900)},
}


def find_firing(values: dict[str, tuple[float, float]]) -> list[str]:
    scrapes = [
        (at, dict(series(name, pair[index]) for name, pair in values.items())) for index, at in ((0, 0.0), (1, 600.0))
    ]
    found = []
    for alert in ALERTS:
        result = promql.evaluate(promql.parse(alert["expr"]), scrapes, 600.0)
        if any(not math.isnan(value) for value in result.values()):
            found.append(alert["alert"])
    return found


def test_no_alert_fires_without_a_problem() -> None:
    assert find_firing(_NORMAL) == []


@pytest.mark.parametrize("alert", [alert["alert"] for alert in ALERTS])
def test_each_alert_fires_on_its_problem(alert: str) -> None:
    assert find_firing(_NORMAL | _PROBLEMS[alert]) == [alert]
