"""REUSE=true returns the stored result of an identical query, in both deployments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from clickhouse_schema.engine_tables.catalogue_log import register_table, unregister_table
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.accounts import Accounts
from tests.support.running_service import RunningService
from tests.tap_service.async_client import Job, create_job

TYCHO, KEPLER = ("tycho", "uraniborg"), ("kepler", "harmonices")
STARS = "SELECT id, ra FROM svc.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 5)) ORDER BY id"
FIRST = "resultOf"


@pytest.fixture(scope="module", params=["embedded", "cluster"])
def service(
    request: pytest.FixtureRequest, serve: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory
) -> RunningService:
    path: Path = tmp_path_factory.mktemp("users") / "accounts.sqlite"
    accounts = Accounts(path)
    accounts.add_user(*TYCHO)
    accounts.add_user(*KEPLER)
    accounts.close()
    start = serve if request.param == "embedded" else request.getfixturevalue("serve_cluster")
    started: RunningService = start(accounts=path)
    return started


def done(service: RunningService, query: str = STARS, auth: tuple[str, str] | None = TYCHO, **parameters: str) -> Job:
    asked = {"REUSE": "true", "FORMAT": "csv", **parameters}
    job = create_job(service.tap, query, auth, PHASE="RUN", **asked)
    assert job.wait_for_end() == "COMPLETED", job.message
    return job


def ident(job: Job) -> str:
    return job.url.rsplit("/", 1)[1]


def test_the_same_result_at_once(service: RunningService) -> None:
    first = done(service, REUSE="false")
    again = done(service)
    assert FIRST not in first.info
    assert again.info[FIRST] == ident(first)
    assert again.info["rowsWritten"] == first.info["rowsWritten"]
    assert again.rows() == first.rows()
    assert again.get("/results/result").headers["etag"] == first.get("/results/result").headers["etag"]
    assert again.get("/preview").content == first.get("/preview").content
    # the file is deleted with the last job that counts it
    rows = first.rows()
    first.delete()
    assert again.rows() == rows
    third = done(service)
    assert third.info[FIRST] == ident(again)
    again.delete()
    assert third.rows() == rows
    third.delete()
    assert FIRST not in done(service).info


@pytest.mark.parametrize(
    "changed",
    [
        {"REUSE": "false"},
        {"REUSE": ""},
        {"FORMAT": "tsv"},
        {"MAXREC": "7"},
        {"query": STARS + " "},
        {"query": STARS.replace("20, 5", "20, 5.5")},
        {"auth": KEPLER},
    ],
)
def test_nothing_but_the_identical(service: RunningService, changed: dict[str, Any]) -> None:
    done(service)
    assert FIRST not in done(service, **changed).info


@pytest.mark.parametrize(
    "query",
    [
        "SELECT RAND() AS r FROM svc.stars WHERE id < 3",
        "SELECT id FROM (SELECT id, RAND() AS r FROM svc.stars) AS s WHERE r < 0.5 AND id < 50",
        "SELECT COUNT(*) AS n FROM svc.stars TABLESAMPLE (10)",
        "SELECT table_name FROM TAP_SCHEMA.tables",
        "SELECT id FROM svc.stars WHERE id < 3 AND 'svc.stars' IN (SELECT table_name FROM TAP_SCHEMA.tables)",
    ],
)
def test_chance_and_tap_schema_are_asked_again(service: RunningService, query: str) -> None:
    done(service, query)
    assert FIRST not in done(service, query).info


def test_nobody_has_no_results_to_use(service: RunningService) -> None:
    done(service, auth=None)
    assert FIRST not in done(service, auth=None).info


def test_changed_data_are_asked_again(service: RunningService) -> None:
    first, second = done(service), done(service)
    assert second.info[FIRST]
    table = Table(name="one", columns=(Column(name="n", datatype="int"),))
    service.engine.execute("CREATE DATABASE IF NOT EXISTS other")
    service.engine.execute(create_table_sql(table, "other.one"))
    register_table(service.engine, Schema(name="other", tables=(table,)), table)
    assert FIRST not in done(service).info
    assert first.rows() == second.rows()
    unregister_table(service.engine, "other", "one")
    service.engine.execute("DROP TABLE other.one")


def test_a_wrong_value(service: RunningService) -> None:
    job = create_job(service.tap, STARS, TYCHO, PHASE="RUN", REUSE="perhaps")
    assert job.wait_for_end() == "ERROR"
    assert "REUSE is given once, as true or false" in job.message


def test_sync_does_not_mind(service: RunningService) -> None:
    data = {"LANG": "ADQL", "QUERY": STARS, "REUSE": "true", "FORMAT": "csv"}
    assert httpx.post(f"{service.tap}/sync", data=data, auth=TYCHO).text == done(service).rows()
