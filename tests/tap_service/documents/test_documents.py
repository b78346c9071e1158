"""The contents of the documents, beyond what their schemas and pyvo check."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from tap_service.documents.availability_document import availability_document
from tap_service.documents.capabilities_document import capabilities_document
from tap_service.documents.service_description import Availability, ServiceDescription
from tap_service.serializers import FORMATS, find_format

XHTML = "{http://www.w3.org/1999/xhtml}"


def test_availability(made):
    assert made["availability"].decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<vosi:availability xmlns:vosi="http://www.ivoa.net/xml/VOSIAvailability/v1.0">\n'
        "<vosi:available>true</vosi:available>\n"
        "<vosi:upSince>2026-11-21T02:30:15.000Z</vosi:upSince>\n"
        "<vosi:note>Fine &amp; &lt;well&gt;</vosi:note>\n"
        "</vosi:availability>\n"
    )
    down = availability_document(Availability(False)).decode()
    assert "<vosi:available>false</vosi:available>" in down
    assert "upSince" not in down


def test_instants_have_milliseconds_in_every_document(made):
    """CADC's clients accept only these."""
    found = {name: re.findall(r"\d{4}-\d\d-\d\dT[^<\"]*", document.decode()) for name, document in made.items()}
    assert found["availability"]
    assert found["job-completed"]
    instants = [instant for some in found.values() for instant in some]
    assert [instant for instant in instants if not re.fullmatch(r"[-\d]{10}T[\d:]{8}\.\d{3}Z", instant)] == []


def test_every_format_is_declared_and_every_declared_value_is_accepted(made):
    declared = ET.fromstring(made["capabilities"]).findall(".//outputFormat")
    assert [entry.findtext("mime") for entry in declared] == [entry.mime for entry in FORMATS]
    for entry in declared:
        for value in (entry.findtext("mime"), *(alias.text for alias in entry.findall("alias"))):
            assert find_format(value).mime == entry.findtext("mime")


def test_feature_types_have_the_case_of_their_standard(made):
    kinds = [entry.get("type") for entry in ET.fromstring(made["capabilities"]).iter("languageFeatures")]
    of_tapregext = [f"ivo://ivoa.net/std/TAPRegExt#features-{kind}" for kind in ("udf", "adqlgeo")]
    assert kinds == [*of_tapregext, "ivo://ivoa.net/std/tapregext#features-adql-offset"]


def test_only_existing_features_are_declared():
    said = capabilities_document(ServiceDescription("http://localhost/tap")).decode()
    for word in ("uploadMethod", "uploadLimit", "outputLimit", "retentionPeriod", "dataModel", "languageFeatures"):
        assert word not in said


def test_minimal_tableset_has_all_tables_without_columns(made):
    full, minimal = ET.fromstring(made["tables"]), ET.fromstring(made["tables-min"])
    names = [table.findtext("name") for table in full.iter("table")]
    assert [table.findtext("name") for table in minimal.iter("table")] == names
    assert {"TAP_SCHEMA.tables", "survey.stars"} < set(names)
    assert minimal.findall(".//column") == minimal.findall(".//foreignKey") == []
    assert [schema.findtext("name") for schema in minimal.findall("schema")] == ["TAP_SCHEMA", "survey"]


def test_single_table_is_the_one_of_the_tableset(made):
    alone = ET.fromstring(made["tables/survey.stars"])
    among = next(t for t in ET.fromstring(made["tables"]).iter("table") if t.findtext("name") == "survey.stars")
    assert alone.tag == "{http://www.ivoa.net/xml/VOSITables/v1.0}table"
    assert [ET.tostring(child) for child in alone] == [ET.tostring(child) for child in among]


def test_column_types_have_votable_names(made):
    columns = ET.fromstring(made["tables/survey.stars"]).iter("column")
    xtypes = {found.findtext("name"): found.find("dataType").get("extendedType") for found in columns}
    assert {name: xtype for name, xtype in xtypes.items() if xtype} == {'"position"': "point", "seen": "timestamp"}


def test_examples_follow_dali(made):
    page = ET.fromstring(made["examples"])
    assert [node.get("vocab") for node in page.iter() if node.get("vocab")] == ["http://www.ivoa.net/rdf/examples#"]
    examples = page.findall(f".//{XHTML}div[@vocab]/{XHTML}div[@typeof='example']")
    assert [(node.get("id"), node.get("resource")) for node in examples] == [("cone", "#cone"), ("all", "#all")]
    properties = [[(node.get("property"), node.text) for node in ex.iter() if node.get("property")] for ex in examples]
    assert properties[0] == [
        ("name", "Cone around <M 45>"),
        ("query", "SELECT *\nFROM survey.stars\nWHERE ra < 1"),
        ("table", "survey.stars"),
    ]
    assert len(properties[1]) == 2
