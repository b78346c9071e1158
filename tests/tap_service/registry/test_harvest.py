"""The registry, harvested by a client of OAI-PMH, and called with invalid requests."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from sickle.oaiexceptions import NoRecordsMatch

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from tap_service.config import Config
from tap_service.constants import REGISTRY_PAGE_RECORDS
from tap_service.service_errors import ServiceUnavailable
from tap_service.services.registry.harvest_service import HarvestService
from tap_service.services.registry.published_records import PublishedRecords
from tap_service.services.registry.registry_file import read_registry_file
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.open_storage import open_remote_engine
from tap_service.storage.registry_store import RegistryStore
from tests.support.ports import closed_port
from tests.support.registry_file import COLLECTIONS, write_registry_file
from tests.support.running_service import RunningService
from tests.tap_service.registry.running_registry import Registry, parse_answer

OAI = "{http://www.openarchives.org/OAI/2.0/}"
ANSWERS = etree.XMLSchema(etree.parse(Path(__file__).parent / "schemas" / "OAI-PMH.xsd"))
#: VOResource 1.1's pattern of identifiers
IVOID = re.compile(r"ivo://[\w\d][\w\d\-_\.!~\*'\(\)\+=]{2,}(/[\w\d\-_\.!~\*'\(\)\+=]+(/[\w\d\-_\.!~\*'\(\)\+=]+)*)?")
AUTHORITY = "ivo://test.example.org"
#: the collections of the file; each table with a position has one more record
OF_FILE = {
    AUTHORITY,
    f"{AUTHORITY}/registry",
    f"{AUTHORITY}/tap",
    f"{AUTHORITY}/numbers",
    *(f"{AUTHORITY}/part/{number}" for number in range(COLLECTIONS)),
}


@pytest.fixture
def every_record(svc_engine: EmbeddedEngine) -> set[str]:
    """Return the identifiers; other tests may have left tables with a position in the engine."""
    tables = [entry for entry in read_catalogue(svc_engine).entries if entry.table.layout.position]
    return OF_FILE | {f"{AUTHORITY}/scs/{entry.qualified_name}" for entry in tables}


def read_error(root: etree._Element) -> str:
    ANSWERS.assertValid(root)
    [error] = root.iter(f"{OAI}error")
    assert error.text
    return str(error.get("code"))


def test_identify(registry: Registry) -> None:
    said = registry.client.Identify()
    assert said.repositoryName == "Observatory <of> & Tests"
    assert said.baseURL == "https://example.org/sky/oai"
    assert said.adminEmail == "staff@example.org"
    assert said.deletedRecord == "persistent"
    assert said.granularity == "YYYY-MM-DDThh:mm:ssZ"
    [resource] = said.xml.iter("{http://www.ivoa.net/xml/RegistryInterface/v1.0}Resource")
    assert resource.findtext("identifier") == f"{AUTHORITY}/registry"
    assert [found.text for found in resource.iter("managedAuthority")] == ["test.example.org"]
    [address] = resource.iter("accessURL")
    assert address.text == said.baseURL


def test_the_rules_for_registration(registry: Registry) -> None:
    """The requirements of the Registry of Registries for a publishing registry, in addition to valid answers."""
    [own] = registry.client.Identify().xml.iter("{http://www.ivoa.net/xml/RegistryInterface/v1.0}Resource")
    managed = {f"ivo://{found.text}" for found in own.iter("managedAuthority")}
    records = {
        record.header.identifier: next(record.xml.iter("{http://www.ivoa.net/xml/RegistryInterface/v1.0}Resource"))
        for record in registry.client.ListRecords(metadataPrefix="ivo_vor", set="ivo_managed")
    }
    kind = "{http://www.w3.org/2001/XMLSchema-instance}type"
    assert managed == {name for name, found in records.items() if found.get(kind) == "vg:Authority"}
    assert all(name.startswith(tuple(managed)) for name in records)
    assert all(found.findtext("identifier") == name for name, found in records.items())
    listed = records[str(own.findtext("identifier"))]
    assert [found.text for found in listed.iter()] == [found.text for found in own.iter()]
    assert {found.get("status") for found in records.values()} == {"active"}
    stamps = registry.list_headers()
    assert {name: found.get("updated") for name, found in records.items()} == {
        name: stamp for name, (stamp, _) in stamps.items()
    }


def test_all_pages_have_all_records_once(registry: Registry, every_record: set[str]) -> None:
    headers = [header.identifier for header in registry.client.ListIdentifiers(metadataPrefix="ivo_vor")]
    assert len(headers) == len(set(headers)) > REGISTRY_PAGE_RECORDS
    assert set(headers) == every_record
    assert all(IVOID.fullmatch(identifier) for identifier in headers)
    for prefix in ("ivo_vor", "oai_dc"):
        records = list(registry.client.ListRecords(metadataPrefix=prefix, set="ivo_managed"))
        assert [record.header.identifier for record in records] == headers
        assert all(record.header.setSpecs == ["ivo_managed"] for record in records)


def test_pages_say_where_they_are(registry: Registry, every_record: set[str]) -> None:
    first = registry.ask(verb="ListIdentifiers", metadataPrefix="oai_dc")
    [token] = first.iter(f"{OAI}resumptionToken")
    assert (token.get("cursor"), token.get("completeListSize")) == ("0", str(len(every_record)))
    last = registry.ask(verb="ListIdentifiers", resumptionToken=token.text)
    [end] = last.iter(f"{OAI}resumptionToken")
    assert (end.get("cursor"), end.text) == (str(REGISTRY_PAGE_RECORDS), None)
    ANSWERS.assertValid(first)
    ANSWERS.assertValid(last)


def test_formats_and_sets(registry: Registry) -> None:
    assert {found.metadataPrefix for found in registry.client.ListMetadataFormats()} == {"ivo_vor", "oai_dc"}
    of_one = registry.client.ListMetadataFormats(identifier=f"{AUTHORITY}/tap")
    assert {found.metadataPrefix for found in of_one} == {"ivo_vor", "oai_dc"}
    assert [found.setSpec for found in registry.client.ListSets()] == ["ivo_managed"]


def test_dublin_core(registry: Registry) -> None:
    record = registry.client.GetRecord(identifier=f"{AUTHORITY}/part/3", metadataPrefix="oai_dc")
    assert record.metadata["title"] == ["Part 3"]
    assert record.metadata["creator"] == ["O'Tester, A."]
    assert record.metadata["relation"] == [f"{AUTHORITY}/tap"]


def test_identifiers_have_no_case(registry: Registry) -> None:
    record = registry.client.GetRecord(identifier="ivo://TEST.example.org/TAP", metadataPrefix="ivo_vor")
    assert record.header.identifier == f"{AUTHORITY}/tap"


def test_windows_have_both_their_ends(serve_registry: Callable[..., Registry], every_record: set[str]) -> None:
    registry = serve_registry()
    registry.ask(verb="Identify")
    registry.set_time(f"{AUTHORITY}/tap", 86_400)  # 1970-01-02T00:00:00Z
    registry.set_time(f"{AUTHORITY}/numbers", 2 * 86_400 - 1)

    def found(**window: str) -> set[str]:
        try:
            return {identifier.rpartition("/")[2] for identifier in registry.list_headers(**window)}
        except NoRecordsMatch:
            return set()

    both = {"tap", "numbers"}
    assert found(**{"from": "1970-01-02", "until": "1970-01-02"}) == both
    assert found(until="1970-01-02") == both
    assert found(until="1970-01-01") == set()
    assert found(until="1970-01-02T00:00:00Z") == {"tap"}
    assert found(until="1970-01-01T23:59:59Z") == set()
    assert found(**{"from": "1970-01-02T00:00:01Z", "until": "1970-01-03T00:00:00Z"}) == {"numbers"}
    assert found(**{"from": "1970-01-02T23:59:59Z", "until": "1970-01-02T23:59:59Z"}) == {"numbers"}
    assert len(found(**{"from": "1970-01-03"})) == len(every_record) - 2


def test_gone_records_stay_as_deleted(serve_registry: Callable[..., Registry]) -> None:
    registry = serve_registry()
    before = registry.list_headers()
    for identifier in before:
        registry.set_time(identifier, 1000)
    gone = f"{AUTHORITY}/part/{COLLECTIONS - 1}"
    write_registry_file(registry.file, COLLECTIONS - 1)
    after = registry.list_headers()
    assert after.keys() == before.keys()
    assert after[gone][1]
    #: of the others, only the service has changed, because it lists its collections
    assert {name for name, (stamp, _) in after.items() if stamp > "1971"} == {gone, f"{AUTHORITY}/tap"}
    record = registry.client.GetRecord(identifier=gone, metadataPrefix="ivo_vor")
    assert record.deleted
    assert record.xml.find(f"{OAI}metadata") is None

    write_registry_file(registry.file, COLLECTIONS)
    os.utime(registry.file, (0, 0))
    assert not registry.list_headers()[gone][1]
    assert registry.client.GetRecord(identifier=gone, metadataPrefix="oai_dc").metadata["title"]


def test_dates_outlive_the_service(serve_registry: Callable[..., Registry]) -> None:
    first = serve_registry()
    first.ask(verb="Identify")
    first.set_time(f"{AUTHORITY}/numbers", 1000)
    first.set_time(f"{AUTHORITY}/part/0", 2000)
    stamps = first.list_headers()
    again = serve_registry(first.file, first.state)
    assert again.list_headers() == stamps
    assert again.client.Identify().earliestDatestamp == first.client.Identify().earliestDatestamp


def test_a_broken_file_changes_nothing(serve_registry: Callable[..., Registry]) -> None:
    registry = serve_registry()
    before = registry.list_headers()
    registry.file.write_text("authority: [")
    assert registry.list_headers() == before


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("", "badVerb"),
        ("verb=", "badVerb"),
        ("verb=identify", "badVerb"),
        ("verb=Identify&verb=Identify", "badVerb"),
        ("verb=Identify&metadataPrefix=oai_dc", "badArgument"),
        ("verb=Identify&%3Cx%3E=1", "badArgument"),
        ("verb=ListSets&set=ivo_managed", "badArgument"),
        ("verb=ListSets&resumptionToken=a", "badResumptionToken"),
        ("verb=ListRecords", "badArgument"),
        ("verb=ListRecords&metadataPrefix=", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc", "badArgument"),
        ("verb=ListRecords&metadataPrefix=marc", "cannotDisseminateFormat"),
        ("verb=ListRecords&metadataPrefix=%3C%26%22", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&set=other", "noRecordsMatch"),
        ("verb=ListRecords&metadataPrefix=oai_dc&set=a%20b", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2026", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2026-02-30", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2026-02-03T10:00:00", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2026-02-03T25:00:00Z", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2026-02-03&until=2026-02-04T00:00:00Z", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2026-02-03&until=2026-02-02", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=9999-12-31", "noRecordsMatch"),
        ("verb=ListRecords&metadataPrefix=oai_dc&until=0001-01-01", "noRecordsMatch"),
        ("verb=ListRecords&resumptionToken=x", "badResumptionToken"),
        ("verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=x", "badArgument"),
        ("verb=ListRecords&resumptionToken=" + "A" * 9000, "badArgument"),
        ("verb=GetRecord&metadataPrefix=oai_dc", "badArgument"),
        ("verb=GetRecord&metadataPrefix=oai_dc&identifier=ivo://test.example.org/no", "idDoesNotExist"),
        ("verb=GetRecord&metadataPrefix=oai_dc&identifier=ivo://x/%3C!--%00", "badArgument"),
        ("verb=GetRecord&metadataPrefix=no&identifier=ivo://test.example.org/tap", "cannotDisseminateFormat"),
        ("verb=ListMetadataFormats&identifier=ivo://test.example.org/no", "idDoesNotExist"),
        ("verb=%FF", "badArgument"),
    ],
)
def test_errors(registry: Registry, arguments: str, code: str) -> None:
    by_get = parse_answer(httpx.get(f"{registry.url}?{arguments}", timeout=60, verify=False))
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    by_post = parse_answer(httpx.post(registry.url, content=arguments, headers=form, timeout=60, verify=False))
    assert read_error(by_get) == read_error(by_post) == code


def test_tokens_are_checked(registry: Registry) -> None:
    [found] = registry.ask(verb="ListRecords", metadataPrefix="ivo_vor").iter(f"{OAI}resumptionToken")
    token = str(found.text)
    text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    changed = {
        "another verb": token,
        "cut": token[:-3],
        "padded": token + "=",
        **{
            name: base64.urlsafe_b64encode(text.replace(old, new).encode()).decode().rstrip("=")
            for name, old, new in (
                ("no number", "begin=20", "begin=-1"),
                ("other digits", "begin=20", "begin=%D9%A2"),
                ("no format", "ivo_vor", "other"),
                ("no date", "from=", "from=yesterday"),
                ("twice", "begin=20", "begin=20&begin=20"),
                ("beyond the end", "after=ivo", "after=zzz"),
            )
        },
    }
    for name, hostile in changed.items():
        verb = "ListIdentifiers" if name == "another verb" else "ListRecords"
        assert read_error(registry.ask(verb=verb, resumptionToken=hostile)) == "badResumptionToken", name


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("verb", "identifier", "metadataPrefix", "from", "until", "set", "resumptionToken", "x"))
            | st.text(max_size=5),
            st.sampled_from(("ListRecords", "GetRecord", "oai_dc", "ivo_managed", "2026-01-01", f"{AUTHORITY}/no"))
            | st.text(max_size=20),
        ),
        max_size=5,
    )
)
def test_whatever_is_asked_the_answer_is_one_of_oai(registry: Registry, pairs: list[tuple[str, str]]) -> None:
    answer = registry.served.server.config.app.state.services.registry.answer(pairs)
    root = etree.fromstring(answer)
    if root.find(f"{OAI}ListRecords") is None and root.find(f"{OAI}GetRecord") is None:
        ANSWERS.assertValid(root)


def test_without_a_file_there_is_no_registry(service: RunningService) -> None:
    answer = httpx.get(f"{service.url}/oai?verb=Identify", timeout=60, verify=False)
    assert answer.status_code == 404
    assert "SKYHOUSE_REGISTRY" in answer.text


def test_other_methods_and_bodies(registry: Registry) -> None:
    assert httpx.head(f"{registry.url}?verb=Identify", timeout=60, verify=False).status_code == 200
    assert httpx.put(registry.url, timeout=60, verify=False).headers["allow"] == "GET, HEAD, POST"
    typed = httpx.post(registry.url, content=b"{}", headers={"Content-Type": "application/json"}, verify=False)
    assert read_error(parse_answer(typed)) == "badArgument"


@pytest.fixture
def closed() -> Iterator[int]:
    with closed_port() as port:
        yield port


def test_without_the_engine_the_records_stay(registry: Registry, tmp_path: Path, closed: int) -> None:
    services = registry.served.server.config.app.state.services
    metadata = read_registry_file(registry.file)
    registry.ask(verb="Identify")
    away = open_remote_engine(Config(clickhouse_url=f"http://127.0.0.1:{closed}"), is_required=False)

    def open_registry(state: Path) -> HarvestService:
        own = services.catalogue_cache, services.authenticator
        return HarvestService(
            PublishedRecords(services.config, registry.file, metadata, RegistryStore(state), away, *own)
        )

    with_records, without = open_registry(registry.state), open_registry(tmp_path / "empty.sqlite")
    assert b"<oai:header>" in with_records.answer([("verb", "ListIdentifiers"), ("metadataPrefix", "oai_dc")])
    with pytest.raises(ServiceUnavailable, match="has no records yet; try again later"):
        without.answer([("verb", "Identify")])
    for opened in (with_records, without, away):
        opened.close()
