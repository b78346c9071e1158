"""{links} of the rows of ObsCore: the shipped example with a column of previews, asked by pyvo and by hand."""

from __future__ import annotations

import csv
import gc
from collections.abc import Callable, Iterator

import httpx
import pytest
import pyvo
from pyvo.dal.adhoc import DatalinkResults

from clickhouse_schema.engine_tables.catalogue_log import write_grants
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.shipped_schemas import find_example_file, find_schema_file
from loaders.tables.table_grants import grant_access
from tap_service.constants import LINKS_STANDARD, MAX_LINK_ID_CHARACTERS, MAX_LINK_IDS
from tap_service.services.datalink import dataset_links
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.tap_service.conftest import Served

#: pyvo asks with stream=True and leaves connections to be collected
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

DATALINK = "application/x-votable+xml;content=datalink"
IMAGE, VISIBILITY, STRANGE = (
    f"ivo://example.org/skyhouse?{name}" for name in ("ex0001", "ex0026", "it's \"%\\x' OR 1")
)
PREVIEW = '{name: preview_url, datatype: string, "ivoa:ucd": "meta.ref.url;meta.preview"}'


@pytest.fixture(autouse=True)
def swept() -> Iterator[None]:
    """Close what pyvo leaves open within the test that opened it."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def obscore(svc_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    folder = tmp_path_factory.mktemp("obscore")
    schema = folder / "obscore.yaml"
    text = find_schema_file("obscore").read_text()
    schema.write_text(f"{text}  - {PREVIEW}\n")
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
    request = LoadRequest((folder / "obs.csv",), "ivoa.ObsCore", folder / "rejects.csv", schema, max_errors=0)
    load_files(svc_engine, request, Recorder())
    yield svc_engine
    drop_table(svc_engine, "ivoa.ObsCore", Recorder())


@pytest.fixture(scope="module")
def linked(obscore: EmbeddedEngine, serve: Callable[..., Served]) -> Served:
    return serve()


def _ask(linked: Served, *ids: str, **parameters: str) -> httpx.Response:
    data = {"ID": [*ids], **parameters}
    return httpx.post(f"{linked.tap}/datalink/links", data=data, timeout=60, verify=False)


def _rows(linked: Served, *ids: str) -> list[dict[str, str]]:
    return list(csv.DictReader(_ask(linked, *ids, RESPONSEFORMAT="csv").text.splitlines()))


def test_a_data_product_has_its_address_and_its_preview(linked: Served) -> None:
    url = f"{linked.tap}/datalink/links"
    response = httpx.get(url, params={"id": IMAGE}, verify=False)
    assert response.headers["content-type"] == DATALINK
    assert f'<INFO name="standardID" value="{LINKS_STANDARD}"/>' in response.text
    assert "<TABLEDATA>" in response.text
    links = DatalinkResults.from_result_url(f"{url}?ID={IMAGE.replace('?', '%3F')}")
    this, preview = links
    assert (this["ID"], this.semantics, this.access_url) == (IMAGE, "#this", "https://example.org/products/ex0001")
    assert (this.content_type, this.content_length, this["content_qualifier"]) == ("image/fits", 67_000_000, "#image")
    assert (preview.semantics, preview.access_url) == ("#preview", "https://example.org/previews/ex0001.png")
    assert this.description == "M 42 in Hα"
    field = links.getdesc("content_length")
    assert (field.datatype, str(field.unit), field.ucd) == ("long", "byte", "phys.size;meta.file")


def test_ids_are_answered_in_their_order_and_each_once(linked: Served) -> None:
    unknown = "ivo://example.org/nothing"
    rows = _rows(linked, VISIBILITY, unknown, IMAGE, VISIBILITY)
    assert [row["ID"] for row in rows] == [VISIBILITY, unknown, IMAGE, IMAGE]
    assert rows[1]["error_message"].startswith("NotFoundFault: ")
    assert rows[1]["semantics"] == "#this"
    assert [bool(row["access_url"]) for row in rows] == [True, False, True, True]


def test_any_text_is_an_id(linked: Served) -> None:
    [strange] = _rows(linked, STRANGE)[:1]
    assert strange["error_message"] == "DefaultFault: this data product has no address"
    assert strange["description"] == "image of M 42"
    others = ["'", "''); DROP TABLE x --", "\\", "\\'", "${obs_id}", "%", "\N{SNOWMAN}", "\U0001f600", "a\u00a0b"]
    rows = _rows(linked, *others)
    assert [row["ID"] for row in rows] == others
    assert {row["error_message"].partition(":")[0] for row in rows} <= {"NotFoundFault", "UsageFault"}
    rows = _rows(linked, "a\x00b", "x" * (MAX_LINK_ID_CHARACTERS + 1))
    assert [row["error_message"].partition(":")[0] for row in rows] == ["UsageFault", "UsageFault"]
    assert _ask(linked, "a\x00b\x1b").status_code == 200


def test_no_ids_have_no_links(linked: Served) -> None:
    response = _ask(linked)
    assert response.status_code == 200
    assert len(DatalinkResults.from_result_url(f"{linked.tap}/datalink/links")) == 0


def test_many_ids_overflow_and_pyvo_asks_again(linked: Served) -> None:
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
            "application/x-votable+xml;serialization=BINARY2",
            "application/x-votable+xml;serialization=BINARY2",
            b"<?xml",
        ),
        ("json", "application/json", b"{"),
        ("parquet", "application/vnd.apache.parquet", b"PAR1"),
    ],
)
def test_links_in_the_formats_of_results(linked: Served, form: str, content_type: str, start: bytes) -> None:
    response = _ask(linked, IMAGE, RESPONSEFORMAT=form)
    assert response.headers["content-type"] == content_type
    assert response.content.startswith(start)


def test_faults_begin_with_the_words_of_the_standard(linked: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    response = _ask(linked, IMAGE, RESPONSEFORMAT="docx")
    assert response.status_code == 400
    assert 'value="ERROR">UsageFault: RESPONSEFORMAT' in response.text
    monkeypatch.setattr(dataset_links, "MAX_LINK_ROWS", 1)
    response = _ask(linked, IMAGE, VISIBILITY)
    assert response.status_code == 400
    assert "UsageFault: these IDs have more than 1 links: ask for fewer IDs" in response.text


def test_results_tell_the_address_of_the_links(linked: Served, serve: Callable[..., Served]) -> None:
    """A service that knows its own address: here that of the other one, whose port is known."""
    assert list(pyvo.dal.TAPService(linked.tap).search("SELECT * FROM ivoa.ObsCore").iter_adhocservices()) == []
    service = pyvo.dal.TAPService(serve(public_url=linked.url).tap)
    results = service.search("SELECT obs_publisher_did AS did, target_name FROM ivoa.obscore WHERE calib_level = 2")
    assert [each.name for each in results.iter_adhocservices()] == ["links"]
    found = {links.original_row["did"]: list(links) for links in results.iter_datalinks()}
    assert found.keys() == set(results["did"])
    assert {link.semantics for link in found[IMAGE]} == {"#this", "#preview"}
    assert list(service.search("SELECT target_name FROM ivoa.ObsCore").iter_adhocservices()) == []


def test_the_capability_is_declared_with_the_table(linked: Served) -> None:
    [links] = [each for each in pyvo.dal.TAPService(linked.tap).capabilities if each.standardid == LINKS_STANDARD]
    [interface] = links.interfaces
    assert [each.content for each in interface.accessurls] == [f"{linked.tap}/datalink/links"]


def test_what_a_caller_may_not_see_has_no_links(linked: Served, obscore: EmbeddedEngine) -> None:
    grant_access(obscore, "ivoa.ObsCore", "insiders", Recorder())
    linked.refresh()
    try:
        [row] = _rows(linked, IMAGE)
        assert row["error_message"] == "NotFoundFault: there is no data product of this ID"
        assert LINKS_STANDARD not in httpx.get(f"{linked.tap}/capabilities", verify=False).text
    finally:
        write_grants(obscore, dict.clear)
        linked.refresh()
    assert len(_rows(linked, IMAGE)) == 2
