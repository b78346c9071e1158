"""LINKs and service descriptors of a VOTable in the schema file that ``skyhouse describe`` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from clickhouse_schema.schema_model import Schema
from loaders.pipeline.describe_file import describe_source
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tap_service.serializers import OK, ResultInfo, find_format

DECLARED = """\
name: s
tables:
- name: t
  columns:
  - name: did
    datatype: string
    skyhouse:links:
    - {href: "https://a.example/${did}?n=${a number}", content-role: doc, content-type: text/html, title: T, value: v}
    - {href: "https://a.example/"}
  - {name: a number, datatype: int}
  - {name: v, datatype: double, "votable:arraysize": "*"}
  skyhouse:services:
  - name: links
    description: Files of it
    standardID: ivo://ivoa.net/std/DataLink#links-1.1
    resourceIdentifier: ivo://a.example/links
    accessURL: https://a.example/links
    contentType: application/x-votable+xml;content=datalink
    exampleURL: https://a.example/links?ID=1
    inputParams:
    - {name: ID, ref: did, description: The observation}
    - {name: V, ref: v}
    - {name: RESPONSEFORMAT, value: votable}
    - {name: BAND, datatype: double, "votable:arraysize": "2", "votable:xtype": interval, ivoa:unit: m,
       ivoa:ucd: em.wl, votable:utype: x, min: 0.5, max: 1.5}
    - {name: COUNT, datatype: int, min: 1, description: How many}
    - {name: AT, datatype: timestamp}
    - {name: CALIB, options: [RELATIVE, NONE]}
  - {name: page, accessURL: "http://a.example", inputParams: [{name: n, ref: a number}]}
"""


def described_as(path: Path) -> Schema:
    """The output for a file is a valid schema file."""
    return read_schema(document_to_yaml(describe_source(open_source(path), "s", "t")), "described", strict=True)[0]


@pytest.mark.parametrize("responseformat", ["votable/b2", "votable/td"])
def test_links_of_a_result(tmp_path: Path, responseformat: str) -> None:
    declared = read_schema(DECLARED, "declared", strict=True)[0]
    translation = translate("SELECT * FROM s.t", Catalogue((declared,)))
    serializer = find_format(responseformat).serializer(translation.fields, ResultInfo(links=translation.links))
    path = tmp_path / "result.vot"
    path.write_bytes(serializer.write_header() + b"".join(serializer.write_footer(OK)))
    [table], [again] = declared.tables, described_as(path).tables
    assert [column.links for column in again.columns] == [column.links for column in table.columns]
    assert again.services == table.services


FOREIGN = """\
<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">
<RESOURCE type="meta" utype="adhoc:service" ID="early"><PARAM name="accessURL" value="http://a"/>
<GROUP name="inputParams"><PARAM name="ID" ref="second"/><PARAM name="U" datatype="float" unit="km/s" ucd="POS_EQ"
 value=""/><PARAM name="M" datatype="int" value=""><VALUES><MIN value="many"/></VALUES></PARAM></GROUP></RESOURCE>
<RESOURCE><TABLE>
<FIELD ID="first" name="second" datatype="int"><LINK href="http://a/${first}/${second}"/></FIELD>
<FIELD ID="second" name="b" datatype="int"><LINK href="http://a/${third}"/><LINK href="ftp://a/"/><LINK action="x"/>
<LINK href="http://a/${v}"/><LINK href="http://a/" content-role="next"/></FIELD>
<FIELD name="v" datatype="int" arraysize="3"/>
<DATA><TABLEDATA><TR><TD>1</TD><TD>2</TD><TD>&lt;LINK/&gt;</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE>
<RESOURCE type="meta" utype="adhoc:service" name="file"><PARAM name="accessURL" value="file:///etc/passwd"/>
<GROUP name="inputParams"><PARAM name="ID" ref="first"/></GROUP></RESOURCE>
<RESOURCE type="meta" utype="adhoc:service" name="other"><PARAM name="accessURL" value="http://a"/>
<GROUP name="inputParams"><PARAM name="ID" ref="third"/></GROUP></RESOURCE>
<RESOURCE type="meta" utype="adhoc:service" name="complex"><PARAM name="accessURL" value="http://a"/>
<GROUP name="inputParams"><PARAM name="ID" ref="first"/><PARAM name="Z" datatype="floatComplex"/></GROUP></RESOURCE>
<RESOURCE type="meta" utype="adhoc:service" name="EARLY"><PARAM name="accessURL" value="http://a"/>
<GROUP name="inputParams"><PARAM name="ID" value="0"/></GROUP></RESOURCE>
</VOTABLE>
"""


def test_what_no_schema_file_could_have_is_left_out(tmp_path: Path) -> None:
    """IDs precede names; a service with an invalid part is left out; the first of two services with one name counts."""
    path = tmp_path / "foreign.vot"
    path.write_text(FOREIGN)
    [table] = described_as(path).tables
    assert [[link.href for link in column.links] for column in table.columns] == [["http://a/${second}/${b}"], [], []]
    [service] = table.services
    assert (service.name, service.columns) == ("early", ("b",))
    assert [(param.name, param.unit, param.ucd, param.min) for param in service.input_params[1:]] == [
        ("U", "km.s**-1", "", None),
        ("M", "", "", None),
    ]


def test_a_document_with_an_error_after_its_table_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "broken.vot"
    path.write_text(FOREIGN.replace("</VOTABLE>", "</VOTABLE"))
    with pytest.raises(ReadError, match="line 19: the VOTable is not well-formed XML"):
        described_as(path)
