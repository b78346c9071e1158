"""/tap/estimate and /tap/tables/{name}/density against the rows of the tables, and the requests that they refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import httpx
import numpy as np
import pytest
from cdshealpix import nested

from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import RunningService
from tests.support.service_tables import NUMBERS
from tests.tap_service.async_client import create_job
from tests.tap_service.users import User, temporary_user

STARS = 360 * 179


def estimate(service: RunningService, query: str, **parameters: Any) -> httpx.Response:
    return httpx.post(f"{service.tap}/estimate", data={"LANG": "ADQL", "QUERY": query, **parameters}, timeout=60)


def errors(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"]
    return answer.json()["errors"]


class TestEstimate:
    def test_what_a_query_costs_and_gives(self, service: RunningService) -> None:
        answer = estimate(service, "SELECT n, half AS h FROM svc.numbers ORDER BY half")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["access-control-allow-origin"] == "*"
        told = answer.json()
        assert (told["rows"], told["kind"], told["workClass"]) == (NUMBERS, "scan", "short")
        assert told["bytes"] == pytest.approx(16 * NUMBERS, rel=0.3)
        assert told["seconds"] > 0
        assert told["tables"] == ["svc.numbers"]
        assert any("sort by 1 expression" in line for line in told["plan"])
        assert [(field["name"], field["datatype"]) for field in told["fields"]] == [("n", "long"), ("h", "double")]
        assert set(told["maxrec"]) == {"default", "hard", "asyncHard"}
        assert told["maxrec"]["default"] <= told["maxrec"]["hard"]
        assert told["syncSeconds"] == 10

    def test_a_shape_in_a_point_is_answered_with_a_warning(self, service: RunningService) -> None:
        query = "SELECT TOP 1 CONTAINS(CIRCLE(10, 20, 1), POINT(ra, dec)) AS n FROM svc.stars"
        [warning] = estimate(service, query).json()["warnings"]
        assert warning.startswith(
            "Line 1, column 14: CONTAINS of a CIRCLE in a POINT is 1 only if the shape has no extent"
        )
        assert warning.endswith("write CONTAINS(point, shape).")
        form = {"LANG": "ADQL", "QUERY": query}
        told = httpx.post(f"{service.tap}/sync", data=form | {"RESPONSEFORMAT": "json"}, timeout=60).json()
        assert told["metadata"]["notes"] == [warning]
        assert told["data"] == [[0]]
        assert f'<INFO name="note" value="{warning}"' in httpx.post(f"{service.tap}/sync", data=form, timeout=60).text
        job = create_job(service.tap, query, PHASE="RUN")
        assert job.wait_for_end() == "COMPLETED"
        assert job.info["warning"] == warning
        plain = "SELECT CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 1)) AS n FROM svc.stars"
        assert estimate(service, plain).json()["warnings"] == []

    def test_columns_are_described(self, service: RunningService) -> None:
        fields = estimate(service, "SELECT ra, name FROM svc.stars").json()["fields"]
        assert fields == [
            {
                "name": "ra",
                "datatype": "double",
                "arraysize": "",
                "xtype": "",
                "unit": "deg",
                "ucd": "pos.eq.ra;meta.main",
                "description": "",
            },
            {
                "name": "name",
                "datatype": "unicodeChar",
                "arraysize": "20*",
                "xtype": "",
                "unit": "",
                "ucd": "",
                "description": "",
            },
        ]

    def test_as_get_and_head(self, service: RunningService) -> None:
        address = f"{service.tap}/estimate?LANG=ADQL&QUERY=SELECT+ra+FROM+svc.stars"
        assert httpx.get(address).json()["rows"] == STARS
        head = httpx.head(address)
        assert (head.status_code, head.content) == (200, b"")

    def test_heavy_work_is_called_so(self, service: RunningService, heavy: str) -> None:
        told = estimate(service, heavy).json()
        assert (told["workClass"], told["kind"]) == ("very long", "join")

    def test_nothing_runs(self, service: RunningService, heavy: str) -> None:
        before = service.metric("skyhouse_queries_total", status="OK")
        assert estimate(service, heavy).status_code == 200
        assert estimate(service, "SELECT n FROM svc.numbers").status_code == 200
        assert service.metric("skyhouse_queries_total", status="OK") == before
        assert service.metric("skyhouse_queries_in_flight") == 0

    def test_an_error_has_its_position(self, service: RunningService) -> None:
        (error,) = errors(estimate(service, "SELECT n,\n  hlaf\nFROM svc.numbers"))
        assert (error["line"], error["column"], error["endLine"], error["endColumn"]) == (2, 3, 2, 7)
        assert "hlaf" in error["message"]
        assert "half" in error["hint"]

    def test_what_repairs_an_error(self, service: RunningService) -> None:
        query = "SELECT '😀' AS x, hlaf FROM svc.numbers"
        (error,) = errors(estimate(service, query))
        (fix,) = error["fixes"]
        assert fix == {"start": 17, "end": 21, "text": "half"}
        assert estimate(service, query[: fix["start"]] + fix["text"] + query[fix["end"] :]).status_code == 200

    def test_an_error_without_a_repair(self, service: RunningService) -> None:
        (error,) = errors(estimate(service, "SELECT n FROM svc.numbers WHERE n > 'a'"))
        assert "fixes" not in error

    def test_each_of_several_errors(self, service: RunningService) -> None:
        found = errors(estimate(service, "SELECT one, n, two FROM svc.numbers"))
        assert [(error["column"], error["endColumn"]) for error in found] == [(8, 11), (16, 19)]

    def test_characters_are_counted_and_not_their_bytes(self, service: RunningService) -> None:
        (error,) = errors(estimate(service, "SELECT '😀é' AS x, oops FROM svc.numbers"))
        assert (error["line"], error["column"], error["endColumn"]) == (1, 19, 23)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"QUERY": ""},
            {"QUERY": "   "},
            {"QUERY": "SELECT n FROM svc.numbers", "MAXREC": "many"},
            {"QUERY": "SELECT n FROM svc.numbers", "FORMAT": "application/x-word"},
            {"QUERY": "SELECT n FROM svc.numbers", "LANG": "SQL"},
            {"QUERY": "SELECT a FROM TAP_UPLOAD.mine", "UPLOAD": "mine,param:nowhere"},
            {"QUERY": "SELECT a FROM TAP_UPLOAD.mine", "UPLOAD": "mine"},
            {"QUERY": "SELECT a FROM TAP_UPLOAD.mine", "UPLOAD": "mine,file:///etc/passwd"},
        ],
    )
    def test_other_parameters_have_errors_without_a_position(
        self, service: RunningService, parameters: dict[str, str]
    ) -> None:
        (error,) = errors(httpx.post(f"{service.tap}/estimate", data={"LANG": "ADQL", **parameters}))
        assert error["message"]
        assert "line" not in error

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT",
            "SELECT n FROM",
            "(" * 5000,
            "SELECT " + "-" * 20_000,
            "SELECT n FROM svc.numbers WHERE n IN (" + "1," * 3000,
            "SELECT '\x00\ud7ff\u202e' FROM nowhere",
            "DROP TABLE svc.numbers",
            "SELECT n FROM system.parts",
            "SELECT n FROM svc.numbers; SELECT 1",
            'SELECT "n` FROM svc.numbers',
            "𓀀" * 1000,
        ],
    )
    def test_hostile_queries_get_a_sentence(self, service: RunningService, query: str) -> None:
        for error in errors(estimate(service, query)):
            assert error["message"]
            if "line" in error:
                lines = query.split("\n")
                assert 1 <= error["line"] <= len(lines)
                assert (error["line"], error["column"]) <= (error["endLine"], error["endColumn"])
                assert error["endColumn"] <= len(lines[error["endLine"] - 1]) + 1

    def test_no_form(self, service: RunningService) -> None:
        answer = httpx.post(f"{service.tap}/estimate", content=b"\xff\xfe", headers={"Content-Type": "text/xml"})
        assert "Content-Type" in errors(answer)[0]["message"]

    def test_too_long(self, service: RunningService) -> None:
        answer = estimate(service, "SELECT " + "n" * 30_000_000)
        assert answer.status_code == 413
        assert "the limit of this service" in answer.text

    def test_uploads_are_read_and_dropped(self, service: RunningService, svc_engine: EmbeddedEngine) -> None:
        answer = httpx.post(
            f"{service.tap}/estimate",
            data={"QUERY": "SELECT m.*, s.mag FROM TAP_UPLOAD.mine AS m JOIN svc.stars AS s ON m.id = s.id"},
            files={"UPLOAD": (None, "mine,param:part"), "part": ("mine.csv", b"id,word\n1,one\n2,two\n", "text/csv")},
        )
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert [field["name"] for field in told["fields"]] == ["id", "word", "mag"]
        assert sorted(told["tables"]) == ["TAP_UPLOAD.mine", "svc.stars"]
        left = "SELECT count() AS n FROM system.tables WHERE name LIKE 'sync-%' OR name LIKE '%upload%'"
        assert svc_engine.fetch_table(left)["n"][0].as_py() == 0

    def test_nobody_without_a_name_where_names_are_asked_for(
        self, serve: Callable[..., RunningService], accounts: Any
    ) -> None:
        closed = serve(accounts=accounts, anonymous=False)
        assert estimate(closed, "SELECT n FROM svc.numbers").status_code == 401
        assert httpx.get(f"{closed.tap}/tables/svc.stars/density").status_code == 401


def density(service: RunningService, table: str, **parameters: Any) -> httpx.Response:
    return httpx.get(f"{service.tap}/tables/{table}/density", params=parameters, timeout=60)


@pytest.fixture(scope="module")
def demo(
    demo_engine: EmbeddedEngine,
    start_server: Callable[..., AbstractContextManager[RunningService]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningService]:
    """The demo tables were loaded, so they have density tables."""
    config = Config(query_log="", jobs_path=tmp_path_factory.mktemp("jobs"))
    with start_server(config, demo_engine) as service:
        yield service


class TestDensity:
    @pytest.mark.parametrize("order", [0, 2, 5])
    @pytest.mark.parametrize("table", ["tycho2.bright", "openngc.objects"])
    def test_counts_are_those_of_the_rows(
        self, demo: RunningService, demo_engine: EmbeddedEngine, table: str, order: int
    ) -> None:
        rows = demo_engine.fetch_table(f"SELECT ra, dec FROM {table}")
        ra, dec = (rows[name].to_numpy().astype(float) for name in ("ra", "dec"))
        placed = ~(np.isnan(ra) | np.isnan(dec))
        cells, counts = np.unique(nested_cells(ra[placed], dec[placed], order), return_counts=True)
        assert density(demo, table, order=order).json() == {
            "order": order,
            "rows": len(ra),
            "withoutPosition": int((~placed).sum()),
            "cells": cells.tolist(),
            "counts": counts.tolist(),
            "hats": None,
        }

    def test_finer_cells_than_are_counted_are_not_given(self, demo: RunningService) -> None:
        assert density(demo, "tycho2.bright", order=29).json() == density(demo, "tycho2.bright").json()
        assert density(demo, "tycho2.bright").json()["order"] == 5

    def test_rows_of_tables_without_position(self, service: RunningService) -> None:
        assert density(service, "svc.numbers").json() == {"order": None, "rows": NUMBERS}
        assert density(service, "TAP_SCHEMA.tables").json()["rows"] >= 7

    def test_headers(self, service: RunningService) -> None:
        answer = density(service, "SVC.STARS")
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"] == "no-cache"
        assert httpx.head(f"{service.tap}/tables/svc.stars/density").content == b""

    @pytest.mark.parametrize("order", ["-1", "30", "1.5", "five", "٣", "1e1", "999999999999", " 3", "3;DROP"])
    def test_orders_that_are_none(self, service: RunningService, order: str) -> None:
        answer = density(service, "svc.stars", order=order)
        assert answer.status_code == 400
        assert "order must be an integer from 0 to 29" in answer.text

    @pytest.mark.parametrize(
        "name", ["svc.nothing", "nothing", "system.parts", "skyhouse.density", "a'b", "%00", "日本"]
    )
    def test_tables_that_are_none(self, service: RunningService, name: str) -> None:
        answer = density(service, name)
        assert answer.status_code == 404
        assert "there is no table" in answer.text

    def test_post_is_not_allowed(self, service: RunningService) -> None:
        answer = httpx.post(f"{service.tap}/tables/svc.stars/density")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


def nested_cells(lon: Any, lat: Any, order: int) -> Any:
    from astropy import units
    from astropy.coordinates import Latitude, Longitude

    found = nested.lonlat_to_healpix(Longitude(lon, units.deg), Latitude(lat, units.deg), order)
    return found.astype(np.int64)


class TestOwnTables:
    @pytest.fixture
    def alice(self, own: RunningService) -> Iterator[User]:
        with temporary_user(own, "alice") as found:
            assert found.put("mydb.mine", b"id,ra,dec\n1,10.5,20.5\n2,11.5,-20.5\n3,,\n").status_code == 201
            yield found

    def test_their_owner_sees_them(self, alice: User) -> None:
        told = alice.http("GET", "tables/mydb.mine/density", params={"order": "0"})
        assert told.headers["cache-control"] == "private, no-cache"
        assert told.json()["rows"] == 3
        asked = alice.http("POST", "estimate", data={"QUERY": "SELECT id FROM mydb.mine"})
        assert (asked.json()["rows"], asked.json()["tables"]) == (3, ["mydb.mine"])

    def test_nobody_else_does(self, alice: User, own: RunningService) -> None:
        with temporary_user(own, "bob") as bob:
            assert bob.http("GET", "tables/mydb.mine/density").status_code == 404
            answer = bob.http("POST", "estimate", data={"QUERY": "SELECT id FROM mydb.mine"})
            assert answer.status_code == 400
        assert density(own, "mydb.mine").status_code == 404
        assert errors(estimate(own, "SELECT id FROM mydb.mine"))
