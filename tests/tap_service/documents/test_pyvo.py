"""The documents, read by pyvo from a server."""

from __future__ import annotations

import pytest
from pyvo.dal import TAPService


@pytest.fixture
def service(base_url: str) -> TAPService:
    return TAPService(base_url)


def test_capabilities(service, base_url, capsys):
    tap = service.get_tap_capability()
    language = tap.get_adql()
    assert [version.content for version in language.versions] == ["2.0", "2.1"]
    assert language.get_udf("ivo_twice").description == "Twice <x> & more"
    assert language.get_feature("ivo://ivoa.net/std/TAPRegExt#features-adqlgeo", "CONTAINS")
    assert language.get_feature("ivo://ivoa.net/std/TAPRegExt#features-adql-offset", "OFFSET")
    assert tap.interfaces[0].accessurls[0].content == base_url
    assert (service.maxrec, service.hardlimit) == (20000, 1000000)
    assert [method.ivo_id.rpartition("#")[2] for method in service.upload_methods] == ["upload-inline", "upload-http"]
    assert "ivo://ivoa.net/std/TAPRegExt#output-votable-binary2" in {entry.ivo_id for entry in tap.outputformats}
    service.describe()
    assert "ivo_twice(x INTEGER) -> INTEGER" in capsys.readouterr().out


def test_every_resource_is_declared(service, base_url):
    declared = {said.standardid: said.interfaces[0].accessurls[0].content for said in service.capabilities}
    assert declared == {
        "ivo://ivoa.net/std/TAP": base_url,
        "ivo://ivoa.net/std/VOSI#capabilities": f"{base_url}/capabilities",
        "ivo://ivoa.net/std/VOSI#availability": f"{base_url}/availability",
        "ivo://ivoa.net/std/VOSI#tables-1.1": f"{base_url}/tables",
        "ivo://ivoa.net/std/DALI#examples": f"{base_url}/examples",
        "ivo://ivoa.net/std/DataLink#links-1.1": "http://localhost/tap/datalink/links",
    }


def test_tables(service):
    tables = service.tables
    assert set(tables.keys()) >= {"survey.stars", "survey.spectra", "TAP_SCHEMA.columns"}
    stars = tables["survey.stars"]
    assert stars.description.split() == ["Stars", "&", "<other>", "things,", "some", "bright"]
    columns = {column.name: column for column in stars.columns}
    assert list(columns) == ["id", "ra", "dec", '"position"', '"size"', '"two words"', "seen", "code", "good"]
    assert (columns["ra"].unit, columns["ra"].ucd) == ("deg", "pos.eq.ra;meta.main")
    assert columns["dec"].utype == "obscore:Char.SpatialAxis"
    assert columns["ra"].std is True
    assert list(columns["id"].flags) == ["primary", "indexed"]
    assert list(columns["ra"].flags) == ["indexed", "nullable"]
    kinds = {name: (found.datatype.content, found.datatype.arraysize) for name, found in columns.items()}
    assert kinds["id"] == ("long", "1")
    assert kinds['"position"'] == ("double", "2")
    assert kinds["seen"] == ("char", "*")
    assert kinds['"two words"'] == ("unicodeChar", "*")
    assert kinds["code"] == ("char", "4")


def test_foreign_keys(service):
    (key,) = service.tables["survey.spectra"].foreignkeys
    assert (key.targettable, key.description) == ("survey.stars", "The star")
    assert [(pair.fromcolumn, pair.targetcolumn) for pair in key.fkcolumns] == [("star", "id")]


def test_examples(service):
    assert [example["QUERY"] for example in service.examples] == [
        "SELECT *\nFROM survey.stars\nWHERE ra < 1",
        "SELECT COUNT(*) FROM survey.stars WHERE \"two words\" = '&'",
    ]
