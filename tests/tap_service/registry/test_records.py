"""The records, validated by the IVOA's XML schemas and compared with the service's other documents."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from lxml import etree
from pyvo.io.vosi import parse_capabilities, parse_tables

from adql.regions import Moc
from tests.support.stilts import validate_document
from tests.tap_service.registry.running_registry import Registry

SCHEMAS = {
    "http://www.openarchives.org/OAI/2.0/": "OAI-PMH.xsd",
    "http://www.ivoa.net/xml/RegistryInterface/v1.0": "RegistryInterface.xsd",
    "http://www.ivoa.net/xml/VORegistry/v1.0": "VORegistry.xsd",
    "http://www.ivoa.net/xml/ConeSearch/v1.0": "ConeSearch.xsd",
}
RESOURCE = "{http://www.ivoa.net/xml/RegistryInterface/v1.0}Resource"
TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
AUTHORITY = "ivo://test.example.org"


def get_resource(registry: Registry, key: str) -> etree._Element:
    root = registry.ask(verb="GetRecord", metadataPrefix="ivo_vor", identifier=f"{AUTHORITY}{key}")
    [resource] = root.iter(RESOURCE)
    return resource


@pytest.mark.parametrize(
    "arguments",
    [
        "verb=Identify",
        "verb=ListRecords&metadataPrefix=ivo_vor&from=2000-01-01",
        f"verb=GetRecord&metadataPrefix=ivo_vor&identifier={AUTHORITY}/scs/svc.stars",
    ],
)
def test_answers_are_valid(registry: Registry, tmp_path: Path, arguments: str) -> None:
    """STILTS has the schemas of VOResource 1.1, VODataService 1.2 and TAPRegExt 1.0, and reads the others of here."""
    path = tmp_path / "answer.xml"
    path.write_bytes(httpx.get(f"{registry.url}?{arguments}", timeout=60, verify=False).content)
    folder = Path(__file__).parent / "schemas"
    validate_document(path, {namespace: folder / name for namespace, name in SCHEMAS.items()})


def test_each_record_has_its_type(registry: Registry) -> None:
    keys = ("", "/registry", "/tap", "/numbers", "/scs/svc.stars")
    kinds = {key: get_resource(registry, key).get(TYPE) for key in keys}
    assert kinds == {
        "": "vg:Authority",
        "/registry": "vg:Registry",
        "/tap": "vs:CatalogService",
        "/numbers": "vs:CatalogResource",
        "/scs/svc.stars": "vs:CatalogService",
    }


def test_the_service_is_that_of_its_documents(registry: Registry) -> None:
    """The capabilities equal /tap/capabilities and the tables equal /tap/tables, as read by pyvo."""
    resource = get_resource(registry, "/tap")
    said = httpx.get(f"{registry.served.tap}/capabilities", timeout=60, verify=False).content
    namespaces = "".join(f' xmlns:{prefix}="{address}"' for prefix, address in resource.nsmap.items())
    own = "".join(etree.tostring(found).decode() for found in resource.iterchildren("capability"))
    root = f'<v:capabilities xmlns:v="http://www.ivoa.net/xml/VOSICapabilities/v1.0"{namespaces}>{own}</v:capabilities>'
    ours = parse_capabilities(io.BytesIO(root.encode()))
    theirs = parse_capabilities(io.BytesIO(said))
    addresses = [(found.standardid, found.interfaces[0].accessurls[0].content) for found in ours]
    assert addresses == [(found.standardid, found.interfaces[0].accessurls[0].content) for found in theirs]
    assert ours[0].get_adql().get_udf("ivo_healpix_index") is not None
    assert ours[0].outputlimit.default.content == theirs[0].outputlimit.default.content

    tableset = b"".join(etree.tostring(found) for found in resource.find("tableset"))
    prefix = f'<v:tableset xmlns:v="http://www.ivoa.net/xml/VOSITables/v1.0"{namespaces}>'.encode()
    tables = {
        table.name: table for table in parse_tables(io.BytesIO(prefix + tableset + b"</v:tableset>")).iter_tables()
    }
    published = httpx.get(f"{registry.served.tap}/tables", timeout=60, verify=False).content
    known = {table.name: table for table in parse_tables(io.BytesIO(published)).iter_tables()}
    assert tables.keys() == known.keys() >= {"svc.stars", "svc.numbers", "TAP_SCHEMA.tables"}
    assert [column.name for column in tables["svc.stars"].columns] == ["id", "ra", "dec", "mag", "name"]


def test_a_collection_is_found_through_its_service(registry: Registry) -> None:
    resource = get_resource(registry, "/numbers")
    [related] = resource.iter("relatedResource")
    assert (resource.findtext(".//relationshipType"), related.get("ivo-id")) == ("IsServedBy", f"{AUTHORITY}/tap")
    [capability] = resource.iter("capability")
    assert capability.get("standardID") == "ivo://ivoa.net/std/TAP#aux"
    assert capability.findtext(".//accessURL") == "https://example.org/sky/tap"
    service = get_resource(registry, "/tap")
    [relation] = service.iter("relationship")
    assert relation.findtext("relationshipType") == "IsServiceFor"
    assert f"{AUTHORITY}/numbers" in {found.get("ivo-id") for found in relation.iter("relatedResource")}


def test_what_the_file_does_not_say_is_that_of_the_schema(registry: Registry) -> None:
    resource = get_resource(registry, "/numbers")
    assert resource.findtext(".//content/description") == "Tables of the service's tests"
    assert resource.findtext(".//source") == "2000A&A...355L..27H"
    assert resource.findtext("rights") == "CC BY 4.0"
    assert [found.text for found in resource.iter("waveband")] == ["Optical", "X-ray"]
    assert get_resource(registry, "/tap").find("rights").get("rightsURI") == "https://spdx.org/licenses/CC0-1.0.html"


def test_each_table_with_a_position_has_a_cone_search(registry: Registry) -> None:
    """Its record is only about the table, and has the metadata of the collections with the table."""
    listed = {key for key in registry.list_headers() if key.startswith(f"{AUTHORITY}/scs/svc.")}
    assert listed == {f"{AUTHORITY}/scs/svc.stars"}
    resource = get_resource(registry, "/scs/svc.stars")
    [cone, *_] = resource.iter("capability")
    assert cone.get("standardID") == "ivo://ivoa.net/std/ConeSearch"
    assert cone.findtext("interface/accessURL") == "https://example.org/sky/scs/svc.stars?"
    ra, dec = (float(cone.findtext(f"testQuery/{name}")) for name in ("ra", "dec"))
    assert (ra % 1, dec % 1) == (0, 0)  # a point of the grid
    assert [found.text for found in resource.iterfind("tableset/schema/table/name")] == ["svc.stars"]
    assert resource.findtext("content/description") == "Stars on a grid of one degree"
    assert resource.findtext("content/relationship/relationshipType") == "IsServiceFor"
    assert resource.findtext("rights") == "CC BY 4.0"


def test_coverage_is_that_of_the_rows(registry: Registry) -> None:
    """The stars are on a grid of one degree, up to 1 degree from the poles; the density cells are larger."""
    for key in ("/tap", "/part/3", "/numbers"):
        moc = Moc.parse_ascii(get_resource(registry, key).findtext("coverage/spatial"))
        assert 0.99 < moc.area / 41_253 <= 1
    assert get_resource(registry, "/part/3").findtext("coverage/temporal") == "50000.00 51000.50"
    assert get_resource(registry, "/numbers").find("coverage/temporal") is None


def test_a_closed_service_tells_its_tables_to_nobody(serve_registry: Callable[..., Registry], accounts: Path) -> None:
    registry = serve_registry(anonymous=False, accounts=accounts)
    tap, collection = get_resource(registry, "/tap"), get_resource(registry, "/numbers")
    for resource in (tap, collection):
        assert resource.find("tableset") is None
        assert resource.find("coverage/spatial") is None
        assert "Tables of the service's tests" not in etree.tostring(resource).decode()
    assert collection.findtext("title") == "Everything"
    methods = [found.get("standardID") for found in tap.iter("securityMethod")]
    assert methods
    assert None not in methods
