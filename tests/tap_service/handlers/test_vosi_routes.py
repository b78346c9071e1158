"""Availability, capabilities, tables and examples, as clients read them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
import pyvo
from pyvo.io.vosi import parse_availability

from adql import OBJECT_NAME_FUNCTIONS
from adql.functions import USER_DEFINED
from adql.syntax.extensions import EXTENSIONS, FEATURE_TYPE
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import register_table, unregister_table
from clickhouse_schema.schema_model import Column, Example, Schema, Table
from tap_service.config import Config
from tap_service.constants import LANGUAGES
from tap_service.serializers import FORMATS
from tap_service.services.catalogue.example_queries import build_examples


def test_capabilities(service: Any) -> None:
    described = pyvo.dal.TAPService(service.tap)
    assert {capability.standardid for capability in described.capabilities} == {
        "ivo://ivoa.net/std/TAP",
        "ivo://ivoa.net/std/VOSI#capabilities",
        "ivo://ivoa.net/std/VOSI#availability",
        "ivo://ivoa.net/std/VOSI#tables-1.1",
        "ivo://ivoa.net/std/DALI#examples",
    }
    tap = described.get_tap_capability()
    assert (described.maxrec, described.hardlimit) == (100_000, 10_000_000)
    assert {entry.mime for entry in tap.outputformats} == {entry.mime for entry in FORMATS}
    [language] = tap.languages
    forms = [feature.form for feature in language.get_feature_list("ivo://ivoa.net/std/TAPRegExt#features-udf")]
    # tables that are searched for names declare them, like the demo's tables, which the engine may hold
    looked_up = {form for function in OBJECT_NAME_FUNCTIONS for form in function.signatures}
    assert [form for form in forms if form not in looked_up] == [
        form for function in USER_DEFINED if function not in OBJECT_NAME_FUNCTIONS for form in function.signatures
    ]
    assert [feature.form for feature in language.get_feature_list(FEATURE_TYPE)] == [entry.form for entry in EXTENSIONS]
    assert {"ADQL", *(f"ADQL-{version.content}" for version in language.versions)} == set(LANGUAGES)
    assert {method.ivo_id for method in tap.uploadmethods} == {
        f"ivo://ivoa.net/std/TAPRegExt#upload-{word}" for word in ("inline", "http", "https")
    }
    assert tap.uploadlimit.hard.content == Config().upload_bytes


def test_every_declared_url_answers(service: Any) -> None:
    document = httpx.get(service.tap + "/capabilities").content
    addresses = [element.text or "" for element in ElementTree.fromstring(document).iter("accessURL")]
    assert len(addresses) == 5
    assert all(address.startswith(service.tap) for address in addresses)
    for address in addresses:
        assert httpx.get(address).status_code == 200, address


@pytest.mark.parametrize(
    "path", ["", "/", "/availability", "/capabilities", "/tables", "/tables/svc.stars", "/examples"]
)
def test_head(service: Any, path: str) -> None:
    response = httpx.head(service.tap + path)
    assert (response.status_code, response.content) == (200, b"")


class TestTables:
    def test_pyvo_reads_tables_and_columns(self, service: Any) -> None:
        tables = pyvo.dal.TAPService(service.tap).tables
        assert {"svc.stars", "svc.numbers", "TAP_SCHEMA.columns"} <= set(tables.keys())
        by_name = {column.name: column for column in tables["svc.stars"].columns}
        assert (by_name["ra"].unit, by_name["ra"].ucd) == ("deg", "pos.eq.ra;meta.main")

    def test_without_columns(self, service: Any) -> None:
        response = httpx.get(service.tap + "/tables", params={"detail": "min"})
        assert "<name>svc.stars</name>" in response.text
        assert "<column" not in response.text

    @pytest.mark.parametrize("name", ["svc.stars", "SVC.Stars"])
    def test_one_table(self, service: Any, name: str) -> None:
        root = ElementTree.fromstring(httpx.get(f"{service.tap}/tables/{name}").content)
        assert root.findtext("name") == "svc.stars"
        assert len(root.findall("column")) == 5

    def test_a_new_table_appears_without_restart(
        self, service: Any, svc_engine: Any, eventually: Callable[[Callable[[], bool]], None]
    ) -> None:
        table = {"name": "late", "columns": [{"name": "x", "datatype": "int"}]}
        schema = Schema.model_validate_json(json.dumps({"name": "svc", "tables": [table]}))
        svc_engine.execute("CREATE TABLE svc.late (x Nullable(Int32)) ENGINE = MergeTree ORDER BY tuple()")
        register_table(svc_engine, schema, schema.tables[0])
        eventually(lambda: "svc.late" in httpx.get(service.tap + "/tables").text)
        assert service.ask("SELECT x FROM svc.late", FORMAT="csv").text == "x\r\n"
        unregister_table(svc_engine, "svc", "late")
        svc_engine.execute("DROP TABLE svc.late")
        eventually(lambda: "svc.late" not in httpx.get(service.tap + "/tables").text)
        assert service.ask("SELECT x FROM svc.late").status_code == 400


class TestExamples:
    def test_each_example_runs(self, service: Any) -> None:
        examples = pyvo.dal.TAPService(service.tap).examples
        assert len(examples) >= 4
        for example in examples:
            assert len(example.execute().to_table()) > 0, example["QUERY"]

    def test_one_vocabulary(self, service: Any) -> None:
        page = httpx.get(service.tap + "/examples").text
        assert re.findall(r'vocab="([^"]*)"', page) == ["http://www.ivoa.net/rdf/examples#"]

    def test_tables_have_the_names_that_queries_write(self, svc_engine: Any) -> None:
        """/tables and TAP_SCHEMA use these names, and clients compare them."""
        written = Example(name="All", query='SELECT * FROM "Odd Schema"."Select T"')
        columns = (Column(name="x", datatype="int"),)
        tables = tuple(Table(name=name, columns=columns) for name in ("Select T", "size"))
        catalogue = Catalogue((Schema(name="Odd Schema", tables=tables, examples=(written,)),))
        named = [example.tables for example in build_examples(svc_engine, catalogue)]
        assert named == [('"Odd Schema"."Select T"',), ('"Odd Schema"."size"',), ("TAP_SCHEMA.tables",)]


class TestAvailability:
    def test_available(self, service: Any) -> None:
        document = httpx.get(service.tap + "/availability").content
        availability = parse_availability(io.BytesIO(document).read)
        assert availability.available is True
        assert availability.upsince is not None
        assert list(availability.notes) == ["the service accepts queries, by /sync and /async"]

    def test_a_full_result_store(self, serve: Callable[..., Any], tmp_path: Path) -> None:
        broken = serve(spool_path=tmp_path / "missing")
        response = httpx.get(broken.tap + "/availability")
        assert response.status_code == 200
        assert ">false<" in response.text
        assert "the store for results is unavailable" in response.text

    def test_engine_down(self, tmp_path: Path) -> None:
        """Needs its own process, because a process has one engine."""
        script = """
            import asyncio, sys
            from pathlib import Path
            import httpx
            from clickhouse_schema.engine_tables.engine_setup import prepare_engine
            from tap_service.config import Config
            from tap_service.application import create_app
            from tap_service.storage.engine.embedded_engine import EmbeddedEngine
            engine = EmbeddedEngine(Path(sys.argv[1]))
            prepare_engine(engine)
            app = create_app(Config(query_log="", jobs_path=Path(sys.argv[1]) / "jobs"), engine)
            engine.close()
            async def ask():
                transport = httpx.ASGITransport(app)
                async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
                    said = await client.get("/tap/availability")
                    print(said.status_code, said.text)
                    said = await client.get("/tap/sync", params={"QUERY": "SELECT table_name FROM TAP_SCHEMA.tables"})
                    print(said.status_code, said.text)
            asyncio.run(ask())
        """
        command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "data")]
        said = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout
        availability, sync = said.split("</vosi:availability>")
        assert availability.startswith("200 ")
        assert "<vosi:available>false</vosi:available>" in availability
        assert "the engine is unavailable: the engine is shut down" in availability
        assert sync.strip().startswith("503 ")
        assert "the engine stopped this query" in sync


def test_metrics(service: Any) -> None:
    service.ask("SELECT TOP 1 n FROM svc.numbers")
    text = httpx.get(service.url + "/metrics").text
    for name in (
        'skyhouse_queries_total{status="OK"}',
        "skyhouse_rows_total",
        "skyhouse_bytes_total",
        'skyhouse_query_seconds_bucket{le="0.005",phase="engine"}',
        "skyhouse_queries_in_flight",
        'skyhouse_spool_bytes{where="memory"}',
    ):
        assert name in text


def test_the_landing_page(serve: Callable[..., Any]) -> None:
    service = serve(title="Stars & <Co>", contact="observer@example.org")
    page = httpx.get(service.tap).text
    assert "<h1>Stars &amp; &lt;Co&gt;</h1>" in page
    assert f"<pre>{service.tap}</pre>" in page
    assert "svc.stars" in page
    assert "observer@example.org" in page
