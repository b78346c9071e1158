"""{links} of the rows of ObsCore: the shipped example with a column of previews, requested by pyvo and by hand."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator

import httpx
import pytest
import pyvo
from pyvo.dal.adhoc import DatalinkResults, SodaQuery

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import write_grants
from clickhouse_schema.obscore import MANDATORY
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.schema_names import find_example_file, find_schema_file
from loaders.tables.table_grants import grant_access
from tap_service.constants import LINKS_STANDARD, MAX_LINK_ID_CHARACTERS, MAX_LINK_IDS
from tap_service.services.datalink import dataset_links
from tap_service.services.datalink.dataset_links import DatasetLinks
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.support.running_service import RunningService

DATALINK = "application/x-votable+xml;content=datalink"
IMAGE, VISIBILITY, STRANGE = (
    f"ivo://example.org/skyhouse?{name}" for name in ("ex0001", "ex0026", "it's \"%\\x' OR 1")
)
CUTOUT = """  skyhouse:services:
  - name: cutout
    description: Parts of the image
    standardID: ivo://ivoa.net/std/SODA#sync-1.0
    accessURL: https://example.org/soda
    inputParams:
    - {name: ID, ref: obs_publisher_did}
    - {name: CIRCLE, datatype: double, "votable:arraysize": "3", "votable:xtype": circle, "ivoa:unit": deg}
  - name: of_the_target
    accessURL: https://example.org/target
    inputParams: [{name: ID, ref: obs_publisher_did}, {name: TARGET, ref: target_name}]
"""
PREVIEW = '{name: preview_url, datatype: string, "ivoa:ucd": "meta.ref.url;meta.preview"}'


@pytest.fixture(scope="module")
def obscore(svc_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    folder = tmp_path_factory.mktemp("obscore")
    schema = folder / "obscore.yaml"
    text = find_schema_file("obscore").read_text()
    schema.write_text(f"{text}  - {PREVIEW}\n{CUTOUT}")
    with find_example_file("obscore").open(newline="") as file:
        rows = [row | {"preview_url": ""} for row in csv.DictReader(file)]
    rows[0]["preview_url"] = "https://example.org/previews/ex0001.png"
    rows += [
        rows[0] | {"obs_publisher_did": STRANGE, "obs_title": "", "access_url": "", "access_estsize": ""},
    ]
    with (folder / "obs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    request = LoadRequest(
        files=(folder / "obs.csv",),
        table="ivoa.ObsCore",
        rejects=folder / "rejects.csv",
        schema_file=schema,
        max_errors=0,
    )
    load_files(svc_engine, request, Recorder())
    yield svc_engine
    drop_table(svc_engine, "ivoa.ObsCore", Recorder())


@pytest.fixture(scope="module")
def linked(obscore: EmbeddedEngine, serve: Callable[..., RunningService]) -> RunningService:
    return serve()


def _ask(linked: RunningService, *ids: str, **parameters: str) -> httpx.Response:
    data = {"ID": [*ids], **parameters}
    return httpx.post(f"{linked.tap}/datalink/links", data=data, timeout=60, verify=False)


def _rows(linked: RunningService, *ids: str) -> list[dict[str, str]]:
    return list(csv.DictReader(_ask(linked, *ids, RESPONSEFORMAT="csv").text.splitlines()))


def test_a_data_product_has_its_address_and_its_preview(linked: RunningService) -> None:
    url = f"{linked.tap}/datalink/links"
    response = httpx.get(url, params={"id": IMAGE}, verify=False)
    assert response.headers["content-type"] == DATALINK
    assert f'<INFO name="standardID" value="{LINKS_STANDARD}"/>' in response.text
    assert "<TABLEDATA>" in response.text
    links = DatalinkResults.from_result_url(f"{url}?ID={IMAGE.replace('?', '%3F')}")
    this, preview, cutout = links
    assert (this["ID"], this.semantics, this.access_url) == (IMAGE, "#this", "https://example.org/products/ex0001")
    assert (this.content_type, this.content_length, this["content_qualifier"]) == ("image/fits", 67_000_000, "#image")
    assert (preview.semantics, preview.access_url) == ("#preview", "https://example.org/previews/ex0001.png")
    assert this.description == "M 42 in Hα"
    assert (cutout.semantics, cutout["access_url"], cutout["service_def"]) == ("#cutout", "", "service_1")
    [service] = links.iter_adhocservices()
    assert (service.ID, service.name) == ("service_1", "cutout")
    assert SodaQuery.from_resource(cutout, service, circle=(83.8, -5.4, 0.1))["ID"] == IMAGE
    field = links.getdesc("content_length")
    assert (field.datatype, str(field.unit), field.ucd) == ("long", "byte", "phys.size;meta.file")


def test_ids_are_answered_in_their_order_and_each_once(linked: RunningService) -> None:
    unknown = "ivo://example.org/nothing"
    rows = _rows(linked, VISIBILITY, unknown, IMAGE, VISIBILITY)
    assert [row["ID"] for row in rows] == [*[VISIBILITY] * 2, unknown, *[IMAGE] * 3]
    assert rows[2]["error_message"].startswith("NotFoundError: ")
    assert [row["semantics"] for row in rows] == ["#this", "#cutout", "#this", "#this", "#preview", "#cutout"]
    filled = [[name for name in ("access_url", "service_def", "error_message") if row[name]] for row in rows]
    assert [len(names) for names in filled] == [1] * len(rows)


def test_any_text_is_an_id(linked: RunningService) -> None:
    [strange] = _rows(linked, STRANGE)[:1]
    assert strange["error_message"] == "DefaultFault: this data product has no URL"
    assert strange["description"] == "image of M 42"
    others = ["'", "''); DROP TABLE x --", "\\", "\\'", "${obs_id}", "%", "\N{SNOWMAN}", "\U0001f600", "a\u00a0b"]
    rows = _rows(linked, *others)
    assert [row["ID"] for row in rows] == others
    assert {row["error_message"].partition(":")[0] for row in rows} <= {"NotFoundError", "UsageError"}
    rows = _rows(linked, "a\x00b", "x" * (MAX_LINK_ID_CHARACTERS + 1))
    assert [row["error_message"].partition(":")[0] for row in rows] == ["UsageError", "UsageError"]
    assert _ask(linked, "a\x00b\x1b").status_code == 200


def test_no_ids_have_no_links(linked: RunningService) -> None:
    response = _ask(linked)
    assert response.status_code == 200
    assert len(DatalinkResults.from_result_url(f"{linked.tap}/datalink/links")) == 0


def test_many_ids_overflow_and_pyvo_asks_again(linked: RunningService) -> None:
    ids = [f"ivo://example.org/{number}" for number in range(2 * MAX_LINK_IDS + 5)]
    response = _ask(linked, *ids)
    assert 'name="QUERY_STATUS" value="OVERFLOW"' in response.text
    assert response.text.count("<TR>") == MAX_LINK_IDS


@pytest.mark.parametrize(
    ("form", "content_type", "start"),
    [
        ("votable", DATALINK, b"<?xml"),
        ("application/x-votable+xml", DATALINK, b"<?xml"),
        (DATALINK, DATALINK, b"<?xml"),
        (
            "votable;version=1.4",
            f"{DATALINK};version=1.4",
            b'<?xml version="1.0" encoding="UTF-8"?>\n<VOTABLE version="1.4"',
        ),
        (
            "application/x-votable+xml;serialization=BINARY2",
            "application/x-votable+xml;serialization=BINARY2",
            b"<?xml",
        ),
        ("json", "application/json", b"{"),
        ("parquet", "application/vnd.apache.parquet", b"PAR1"),
    ],
)
def test_links_in_the_formats_of_results(linked: RunningService, form: str, content_type: str, start: bytes) -> None:
    response = _ask(linked, IMAGE, RESPONSEFORMAT=form)
    assert response.headers["content-type"] == content_type
    assert response.content.startswith(start)


def test_errors_begin_with_the_words_of_the_standard(linked: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    response = _ask(linked, IMAGE, RESPONSEFORMAT="docx")
    assert response.status_code == 400
    assert 'value="ERROR">UsageError: RESPONSEFORMAT' in response.text
    assert "UsageError: links are a single table" in _ask(linked, IMAGE, RESPONSEFORMAT="hats").text
    monkeypatch.setattr(dataset_links, "MAX_LINK_ROWS", 1)
    response = _ask(linked, IMAGE, VISIBILITY)
    assert response.status_code == 400
    assert "UsageError: these IDs have more than 1 links: request fewer IDs" in response.text


def test_results_tell_the_address_of_the_links(linked: RunningService, serve: Callable[..., RunningService]) -> None:
    """A service that knows its own address: here the address of the other service, whose port is known."""
    without = pyvo.dal.TAPService(linked.tap).search("SELECT * FROM ivoa.ObsCore")
    assert [each.name for each in without.iter_adhocservices()] == ["cutout", "of_the_target"]
    service = pyvo.dal.TAPService(serve(public_url=linked.url).tap)
    results = service.search("SELECT obs_publisher_did AS did, target_name FROM ivoa.obscore WHERE calib_level = 2")
    assert [each.name for each in results.iter_adhocservices()] == ["cutout", "of_the_target", "links"]
    found = {links.original_row["did"]: list(links) for links in results.iter_datalinks()}
    assert found.keys() == set(results["did"])
    assert {link.semantics for link in found[IMAGE]} == {"#this", "#preview", "#cutout"}
    assert list(service.search("SELECT target_name FROM ivoa.ObsCore").iter_adhocservices()) == []


@pytest.mark.parametrize("key", ["unicode", "long"])
def test_columns_of_other_types_are_left_out(key: str, engine: EmbeddedEngine) -> None:
    """Links of a hand-made ObsCore table, with the standard's names but other types and another case."""
    types = {"obs_publisher_did": key, "access_url": "unicode"}
    columns = tuple(Column(name=name.upper(), datatype=types.get(name, "double")) for name in MANDATORY)
    table = Table(name="OBSCORE", columns=columns)
    engine.execute("CREATE DATABASE IF NOT EXISTS IVOA")
    engine.execute(create_table_sql(table, "IVOA.OBSCORE"))
    try:
        engine.execute(
            "INSERT INTO IVOA.OBSCORE (OBS_PUBLISHER_DID, ACCESS_URL, ACCESS_ESTSIZE, DATAPRODUCT_TYPE)"
            " VALUES ('7', 'https://x/a', 1.2345, 5), ('7', 'https://x/b', nan, 5), ('7', 'https://x/c', 1e300, 5)"
        )
        catalogue = Catalogue((Schema(name="IVOA", tables=(table,)),))
        links = DatasetLinks(engine, catalogue).find_links(["7"]).links
    finally:
        engine.execute("DROP DATABASE IVOA SYNC")
    if key == "unicode":
        assert [link.access_url for link in links] == ["https://x/a", "https://x/b", "https://x/c"]
        assert [link.content_length for link in links] == [1234, None, None]
    else:
        assert [link.error_message for link in links] == ["NotFoundError: there is no data product with this ID"]


def test_the_capability_is_declared_with_the_table(linked: RunningService) -> None:
    [links] = [each for each in pyvo.dal.TAPService(linked.tap).capabilities if each.standardid == LINKS_STANDARD]
    [interface] = links.interfaces
    assert [each.content for each in interface.accessurls] == [f"{linked.tap}/datalink/links"]


def test_what_a_caller_may_not_see_has_no_links(linked: RunningService, obscore: EmbeddedEngine) -> None:
    grant_access(obscore, "ivoa.ObsCore", "insiders", Recorder())
    linked.refresh()
    try:
        [row] = _rows(linked, IMAGE)
        assert row["error_message"] == "NotFoundError: there is no data product with this ID"
        assert LINKS_STANDARD not in httpx.get(f"{linked.tap}/capabilities", verify=False).text
    finally:
        write_grants(obscore, dict.clear)
        linked.refresh()
    assert len(_rows(linked, IMAGE)) == 3
