"""A table with LINKs and a DataLink service: pyvo and astropy use its results, and a server replaces the archive."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import pyvo
from pyvo.dal.adhoc import DatalinkQuery, DatalinkResults

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, register_table, unregister_table
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.servers.server_thread import run_server
from tests.support.running_service import RunningService

DATALINK = "application/x-votable+xml;content=datalink"
_COLUMNS = ("ID", "access_url", "service_def", "error_message", "description", "semantics", "content_type")


class Archive(BaseHTTPRequestHandler):
    """``/links`` returns two links for each ID, at most two IDs at once; it knows only the IDs of the table."""

    def do_GET(self) -> None:
        self._answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _answer(self, query: str) -> None:
        parameters = parse_qs(query)
        self.server.asked.append(parameters)  # type: ignore[attr-defined]
        rows = "".join(
            f"<TR><TD>{escape(did)}</TD><TD>http://127.0.0.1/{quote(did)}/{semantics}</TD><TD/><TD/><TD/>"
            f"<TD>#{semantics}</TD><TD>image/fits</TD></TR>"
            for did in parameters["ID"][:2]
            for semantics in ("this", "preview")
        )
        fields = "".join(f'<FIELD name="{name}" datatype="char" arraysize="*"/>' for name in _COLUMNS)
        body = (
            '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE type="results">'
            f'<INFO name="QUERY_STATUS" value="OK"/><TABLE>{fields}<DATA><TABLEDATA>{rows}</TABLEDATA></DATA></TABLE>'
            "</RESOURCE></VOTABLE>"
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", DATALINK)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def archive() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Archive)
    server.asked = []  # type: ignore[attr-defined]
    with run_server(server):
        yield server


def schema_with(archive: str) -> Schema:
    links = {
        "name": "links",
        "standardID": "ivo://ivoa.net/std/DataLink#links-1.1",
        "accessURL": f"{archive}/links",
        "contentType": DATALINK,
        "inputParams": [{"name": "ID", "ref": "obs_publisher_did"}, {"name": "RESPONSEFORMAT", "value": "votable"}],
    }
    cutout = {
        "name": "cutout",
        "standardID": "ivo://ivoa.net/std/SODA#sync-1.0",
        "accessURL": f"{archive}/cutout",
        "inputParams": [
            {"name": "ID", "ref": "obs_publisher_did"},
            {"name": "NUMBER", "ref": "number"},
            {
                "name": "CIRCLE",
                "datatype": "double",
                "votable:arraysize": "3",
                "votable:xtype": "circle",
                "ivoa:unit": "deg",
            },
        ],
    }
    columns = [
        {
            "name": "obs_publisher_did",
            "datatype": "string",
            "ivoa:ucd": "meta.ref.ivoid",
            "votable:utype": "obscore:Curation.PublisherDID",
            "skyhouse:links": [{"href": f"{archive}/page/${{obs_publisher_did}}", "content-role": "doc"}],
        },
        {"name": "number", "datatype": "int", "nullable": False},
        {"name": "access_url", "datatype": "string", "votable:utype": "obscore:Access.Reference"},
        {"name": "access_format", "datatype": "string", "votable:utype": "obscore:Access.Format"},
    ]
    tables = [
        {"name": "obscore", "columns": columns, "skyhouse:services": [links, cutout]},
        {"name": "bare", "columns": columns},
    ]
    return Schema.model_validate_json(json.dumps({"name": "dl", "tables": tables}))


DIDS = ["ivo://x/?a b", "ivo://x/?2", "ivo://x/?3&c", "ivo://x/?4", "ivo://x/?5"]


@pytest.fixture(scope="module")
def linked(
    serve: Callable[..., RunningService], svc_engine: EmbeddedEngine, archive: ThreadingHTTPServer
) -> Iterator[pyvo.dal.TAPService]:
    """The service with the tables dl.obscore and, without services, dl.bare."""
    url = f"http://127.0.0.1:{archive.server_port}"
    schema = schema_with(url)
    values = ", ".join(
        f"('{did}', {number}, '{url}/links?ID={quote(did)}', '{DATALINK}')" for number, did in enumerate(DIDS)
    )
    svc_engine.execute("CREATE DATABASE dl")
    for table in schema.tables:
        svc_engine.execute(create_table_sql(table, f"dl.{table.name}"))
        svc_engine.execute(f"INSERT INTO dl.{table.name} VALUES {values}")
        register_table(svc_engine, schema, table)
    yield pyvo.dal.TAPService(serve().tap)
    for table in schema.tables:
        unregister_table(svc_engine, "dl", table.name)
    svc_engine.execute("DROP DATABASE dl")


def test_the_catalogue_keeps_them(
    linked: pyvo.dal.TAPService, svc_engine: EmbeddedEngine, archive: ThreadingHTTPServer
) -> None:
    [kept] = [schema for schema in read_catalogue(svc_engine).schemas if schema.name == "dl"]
    declared = schema_with(f"http://127.0.0.1:{archive.server_port}")
    assert {table.name: table for table in kept.tables} == {table.name: table for table in declared.tables}
    assert next(iter(linked.tables["dl.obscore"].columns)).name == "obs_publisher_did"


@pytest.mark.parametrize("responseformat", ["votable", "votable/b", "votable/td"])
def test_services_of_a_result(linked: pyvo.dal.TAPService, responseformat: str) -> None:
    results = linked.search(
        "SELECT number AS n, obs_publisher_did AS did FROM dl.obscore", responseformat=responseformat
    )
    assert [resource.name for resource in results.iter_adhocservices()] == ["links", "cutout"]
    assert results.get_adhocservice_by_ivoid("ivo://ivoa.net/std/soda").name == "cutout"
    did = results.resultstable.get_field_by_id("did")
    assert did.links[0].href.endswith("/page/${did}")


def test_links_of_all_rows(linked: pyvo.dal.TAPService, archive: Any) -> None:
    results = linked.search("SELECT obs_publisher_did AS did, number FROM dl.obscore ORDER BY number")
    archive.asked.clear()
    found = list(results.iter_datalinks())
    assert sorted(links.getrecord(0)["ID"] for links in found) == sorted(DIDS)
    assert {links.original_row["did"]: links.original_row["number"] for links in found} == dict(
        zip(DIDS, range(5), strict=True)
    )
    assert all(asked["RESPONSEFORMAT"] == ["votable"] for asked in archive.asked)
    assert archive.asked[0]["ID"] == DIDS
    ordered = [links.getrecord(0)["ID"] for links in results.iter_datalinks(preserve_order=True)]
    assert ordered == DIDS
    row = results[2]
    assert [link["access_url"].rpartition("/")[2] for link in row.getdatalink()] == ["this", "preview"]


PAIR = "FROM dl.obscore AS a JOIN dl.obscore AS b ON a.number = 0 AND b.number = 3"


def test_each_of_two_rows_has_its_own(linked: pyvo.dal.TAPService) -> None:
    results = linked.search(
        f"SELECT a.obs_publisher_did AS x, a.number AS n, b.obs_publisher_did AS y, b.number {PAIR}"
    )
    services = {service.name: service for service in results.iter_adhocservices()}
    assert list(services) == ["links", "cutout", "links_2", "cutout_2"]
    asked = {name: DatalinkQuery.from_resource(results[0], service) for name, service in services.items()}
    assert [asked[name]["ID"] for name in services] == [DIDS[0], DIDS[0], DIDS[3], DIDS[3]]
    assert [asked[name]["NUMBER"] for name in ("cutout", "cutout_2")] == [0, 3]
    with_circle = DatalinkQuery.from_resource(results[0], services["cutout_2"], circle=(1, 2, 0.5))
    assert with_circle["CIRCLE"] == "1 2 0.5"


def test_columns_of_equal_names_are_referred_to_by_their_ids(linked: pyvo.dal.TAPService) -> None:
    """The IDs are astropy's names of the columns; pyvo searches names first, and sees only one of two equal names."""
    results = linked.search(f"SELECT a.obs_publisher_did, a.number, b.obs_publisher_did, b.number {PAIR}")
    [row] = results.resultstable.array
    taken = [
        {param.name: row[param.ref] for param in service.groups[0].entries if param.ref}
        for service in results.iter_adhocservices()
    ]
    whole = [{"ID": DIDS[0], "NUMBER": 0}, {"ID": DIDS[3], "NUMBER": 3}]
    assert taken == [{"ID": DIDS[0]}, whole[0], {"ID": DIDS[3]}, whole[1]]
    hrefs = [link.href.rpartition("/")[2] for field in results.resultstable.fields for link in field.links]
    assert hrefs == ["${obs_publisher_did}", "${obs_publisher_did_2}"]


def test_none_where_a_column_is_missing_or_computed(linked: pyvo.dal.TAPService) -> None:
    results = linked.search("SELECT obs_publisher_did || '' AS obs_publisher_did, number FROM dl.obscore")
    assert list(results.iter_adhocservices()) == []
    assert [link for field in results.resultstable.fields for link in field.links] == []
    results = linked.search("SELECT obs_publisher_did FROM dl.obscore")
    assert [service.name for service in results.iter_adhocservices()] == ["links"]


def test_jobs_and_empty_results_have_them_too(linked: pyvo.dal.TAPService) -> None:
    results = linked.run_async("SELECT * FROM dl.obscore WHERE number < 0")
    assert len(results) == 0
    assert [service.name for service in results.iter_adhocservices()] == ["links", "cutout"]


def test_a_result_that_is_cut_has_them_too(linked: pyvo.dal.TAPService) -> None:
    results = linked.search("SELECT * FROM dl.obscore", maxrec=2)
    assert results.query_status == "OVERFLOW"
    assert [resource.utype for resource in results.votable.resources] == [None, "adhoc:service", "adhoc:service"]


def test_links_by_access_url_need_no_service(linked: pyvo.dal.TAPService) -> None:
    """ObsCore's way: access_url is the URL of the links where access_format says so."""
    results = linked.search("SELECT access_url, access_format, number FROM dl.bare WHERE number = 0")
    assert list(results.iter_adhocservices()) == []
    [links] = results.iter_datalinks()
    assert isinstance(links, DatalinkResults)
    assert [link["ID"] for link in links] == [DIDS[0]] * 2
