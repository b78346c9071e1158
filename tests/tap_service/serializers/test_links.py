"""LINKs and service descriptors in documents: what is written, and that validators and readers accept it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from astropy.io.votable import parse, validate

from clickhouse_schema.column_links import InputParam, Link, PlacedLink, PlacedService, ResultLinks, Service
from clickhouse_schema.datatypes import CHAR, DOUBLE, ICRS, INT, TIMESTAMP, ColumnType, Field
from tap_service.serializers import ResultInfo, overflow_status
from tap_service.serializers.arrow_serializer import CONTENT_KEY
from tests.support.stilts import read_output, run_stilts

VOTABLES = ("votable/b2", "votable/b", "votable/td")

FIELDS = [
    Field("did", CHAR, "", "meta.ref.ivoid"),
    Field("did", ColumnType("char", "8*"), "", "meta.ref.ivoid"),
    Field("a b", INT, "m", description="Number & more"),
    Field("at", TIMESTAMP),
    Field("dec", DOUBLE, "deg", coordinate_system=ICRS),
]
COLUMNS = [["x", "y"], ["z", None], [1, None], [None, None], [0.5, None]]

PAGE = Link(
    href="https://archive.example.org/o?id=${did}&n=${number}",
    content_role="doc",
    content_type="text/html",
    title='Page <of> "it"',
    value="v",
)
LINKS = Service(
    name="links",
    description="Files\nof the observation & more\n",
    standard_id="ivo://ivoa.net/std/DataLink#links-1.1",
    resource_identifier="ivo://archive.example.org/links",
    access_url="https://archive.example.org/links?a=b&c=d",
    content_type="application/x-votable+xml;content=datalink",
    example_url="https://archive.example.org/links?ID=x",
    input_params=(
        InputParam(name="ID", ref="did", description="The <observation>"),
        InputParam(name="RESPONSEFORMAT", value='"é"'),
    ),
)
CUTOUT = Service(
    name="cutout",
    access_url="http://archive.example.org/cut",
    input_params=(
        InputParam(name="N", ref="number"),
        InputParam(name="T", ref="at"),
        InputParam(
            name="BAND", datatype="double", arraysize="2", xtype="interval", unit="m", ucd="em.wl", min=1, max=2.5e-7
        ),
        InputParam(name="COUNT", datatype="int", max=20),
        InputParam(name="CALIB", description="Which", options=("RELATIVE", "NONE")),
    ),
)
RESULT = ResultLinks(
    (
        PlacedLink(1, PAGE, {"did": 1, "number": 2}),
        PlacedLink(1, Link(href="http://a"), {}),
        PlacedLink(2, Link(href="http://a/${number}"), {"number": 2}),
    ),
    (
        PlacedService(LINKS, {"did": 0}),
        PlacedService(CUTOUT, {"number": 2, "at": 3}),
        PlacedService(LINKS, {"did": 1}),
    ),
)
INFO = ResultInfo("SELECT ...", links=RESULT)


def test_whole_document(write: Any) -> None:
    document = write("votable/td", FIELDS[:3], COLUMNS[:3], info=INFO_OF_THREE, status=overflow_status(2, "")).decode()
    start = document.index("<TABLE>")
    assert document[start : document.index("<DATA>")] == (
        "<TABLE>\n"
        '<FIELD ID="did" name="did" datatype="char" arraysize="*" ucd="meta.ref.ivoid"/>\n'
        '<FIELD ID="did_2" name="did" datatype="char" arraysize="8*" ucd="meta.ref.ivoid">'
        '<LINK content-role="doc" content-type="text/html" title="Page &lt;of&gt; &quot;it&quot;" value="v"'
        ' href="https://archive.example.org/o?id=${did_2}&amp;n=${a_b}"/><LINK href="http://a"/></FIELD>\n'
        '<FIELD ID="a_b" name="a b" datatype="int" unit="m"><DESCRIPTION>Number &amp; more</DESCRIPTION>'
        '<LINK href="http://a/${a_b}"/></FIELD>\n'
    )
    assert document[document.index("</TABLE>") :] == (
        "</TABLE>\n"
        '<INFO name="QUERY_STATUS" value="OVERFLOW">'
        "The result was cut at 2 rows, the row limit of this request (MAXREC).</INFO>\n"
        "</RESOURCE>\n"
        '<RESOURCE type="meta" utype="adhoc:service" name="links">\n'
        "<DESCRIPTION>Files\nof the observation &amp; more</DESCRIPTION>\n"
        '<PARAM name="standardID" datatype="char" arraysize="*" value="ivo://ivoa.net/std/DataLink#links-1.1"/>\n'
        '<PARAM name="resourceIdentifier" datatype="char" arraysize="*" value="ivo://archive.example.org/links"/>\n'
        '<PARAM name="accessURL" datatype="char" arraysize="*"'
        ' value="https://archive.example.org/links?a=b&amp;c=d"/>\n'
        '<PARAM name="contentType" datatype="char" arraysize="*"'
        ' value="application/x-votable+xml;content=datalink"/>\n'
        '<PARAM name="exampleURL" datatype="char" arraysize="*" value="https://archive.example.org/links?ID=x"/>\n'
        '<GROUP name="inputParams">\n'
        '<PARAM name="ID" datatype="char" arraysize="8*" ucd="meta.ref.ivoid" ref="did_2" value="">'
        "<DESCRIPTION>The &lt;observation&gt;</DESCRIPTION></PARAM>\n"
        '<PARAM name="RESPONSEFORMAT" datatype="unicodeChar" arraysize="*" value="&quot;é&quot;"/>\n'
        "</GROUP>\n"
        "</RESOURCE>\n"
        "</VOTABLE>\n"
    )


INFO_OF_THREE = ResultInfo(links=ResultLinks(RESULT.of_columns, (RESULT.services[2],)))


def test_inputs_of_the_user(write: Any) -> None:
    document = write("votable", FIELDS, COLUMNS, info=INFO).decode()
    start = document.index('name="cutout"')
    group = document[document.index("<GROUP", start) : document.index("</GROUP>", start)]
    assert group == (
        '<GROUP name="inputParams">\n'
        '<PARAM name="N" datatype="int" unit="m" ref="a_b" value=""/>\n'
        '<PARAM name="T" datatype="char" arraysize="*" xtype="timestamp" ref="at" value=""/>\n'
        '<PARAM name="BAND" datatype="double" arraysize="2" xtype="interval" unit="m" ucd="em.wl" value="">'
        '<VALUES><MIN value="1"/><MAX value="2.5e-07"/></VALUES></PARAM>\n'
        '<PARAM name="COUNT" datatype="int" value=""><VALUES><MAX value="20"/></VALUES></PARAM>\n'
        '<PARAM name="CALIB" datatype="char" arraysize="*" value=""><DESCRIPTION>Which</DESCRIPTION>'
        '<VALUES><OPTION value="RELATIVE"/><OPTION value="NONE"/></VALUES></PARAM>\n'
    )


def test_a_service_for_two_rows_has_two_names(write: Any) -> None:
    votable = parse(io.BytesIO(write("votable", FIELDS, COLUMNS, info=INFO)))
    assert [resource.name for resource in votable.resources[1:]] == ["links", "cutout", "links_2"]


@pytest.mark.parametrize("responseformat", VOTABLES)
def test_validators_find_nothing(write: Any, tmp_path: Path, responseformat: str) -> None:
    """For unique names: astropy warns of others, whatever refers to them. votlint knows VOTable up to 1.4."""
    path = tmp_path / "result.vot"
    form = f"{responseformat};version=1.4"
    path.write_bytes(write(form, [FIELDS[0], replace(FIELDS[1], name="x"), *FIELDS[2:]], COLUMNS, info=INFO))
    said = io.StringIO()
    assert validate(str(path), output=said), said.getvalue()
    run = run_stilts("votlint", str(path))
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def _embedded(form: str, document: bytes) -> bytes:
    if form == "parquet":
        return bytes(pq.read_metadata(io.BytesIO(document)).metadata[CONTENT_KEY.encode()])
    if form == "arrow":
        return bytes(pa.ipc.open_stream(document).schema.metadata[CONTENT_KEY.encode()])
    with fits.open(io.BytesIO(document)) as hdus:
        return bytes(hdus[0].data.tobytes())


@pytest.mark.parametrize("form", ["parquet", "arrow", "fits"])
def test_votables_within_other_formats_have_links_too(write: Any, form: str) -> None:
    """Their columns have other names if two were equal, and references use these names."""
    votable = parse(io.BytesIO(_embedded(form, write(form, FIELDS, COLUMNS, info=INFO))))
    results, *services = votable.resources
    names = {field.ID: field.name for field in results.tables[0].fields}
    assert names["did_2"] == "did_2"
    assert results.tables[0].fields[1].links[0].href == "https://archive.example.org/o?id=${did_2}&n=${a_b}"
    refs = [[param.ref for param in service.groups[0].entries if param.ref] for service in services]
    assert refs == [["did"], ["a_b", "at"], ["did_2"]]


@pytest.mark.parametrize(("form", "known_as"), [("votable", "votable"), ("fits", "fits-plus")])
def test_topcats_library_keeps_links(write: Any, tmp_path: Path, form: str, known_as: str) -> None:
    """STIL writes what it has understood."""
    path = tmp_path / "result"
    path.write_bytes(write(form, FIELDS, COLUMNS, info=INFO))
    document = read_output("tcopy", f"in={path}", f"ifmt={known_as}", "ofmt=votable-tabledata", "out=-")
    results = parse(io.BytesIO(document)).resources[0]
    table = next(results.iter_tables())
    assert [link.href for link in table.fields[2].links] == ["http://a/${a_b}"]
    services = [resource for resource in results.resources if resource.utype == "adhoc:service"]
    refs = {service.name: [param.ref for param in service.groups[0].entries if param.ref] for service in services}
    assert refs == {"links": ["did"], "cutout": ["a_b", "at"], "links_2": ["did_2"]}


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "ecsv", "html", "text"])
def test_other_formats_have_no_links(write: Any, form: str) -> None:
    assert write(form, FIELDS, COLUMNS, info=INFO) == write(form, FIELDS, COLUMNS, info=ResultInfo("SELECT ..."))
