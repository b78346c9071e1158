"""Documents of VOSI tables in the dialects of several data centres, as schema files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clickhouse_schema.schema_model import Column, Schema, Table
from tests.loaders.origin import dialects
from tests.loaders.origin.origin_server import Origin

Read = Callable[..., Schema]


def types(table: Table) -> dict[str, tuple[str, str, str]]:
    return {c.name: (c.type.datatype, c.type.arraysize, c.type.xtype) for c in table.columns}


@pytest.fixture
def vollt(origin: Origin) -> None:
    origin.publish(dialects.VOLLT)


@pytest.mark.usefixtures("vollt")
def test_types_of_tap_become_types_of_votable(schema: Read) -> None:
    assert types(schema("hip.main").tables[0]) == {
        "id": ("long", "", ""),
        "RAICRS": ("double", "", ""),
        "DEICRS": ("double", "", ""),
        "B-V": ("float", "", ""),
        "name": ("char", "20*", ""),
        "seen": ("char", "*", "timestamp"),
        "where": ("double", "2", "point"),
        "area": ("char", "*", "adql:REGION"),
        "note": ("unicodeChar", "*", ""),
    }


@pytest.mark.usefixtures("vollt")
def test_the_metadata_of_a_vollt_service(schema: Read) -> None:
    found = schema("hip.main")
    table = found.tables[0]
    assert (found.name, found.description, table.description) == ("hip", "A small survey", "Bright & near stars")
    assert table.columns[0] == Column(
        name="id", datatype="long", description="Number", ucd="meta.id;meta.main", principal=True, std=True
    )
    assert (table.layout.position, table.layout.id) == (("RAICRS", "DEICRS"), ("id",))
    assert table.primary_key == ()
    assert [column.name for column in table.columns if column.principal] == ["id", "RAICRS", "DEICRS"]


@pytest.mark.usefixtures("vollt")
def test_keys_become_constraints(schema: Read) -> None:
    (key,) = schema("hip.main").tables[0].keys
    assert (key.columns, key.referenced_table, key.referenced_columns) == (("id",), "other.stars", ("star",))
    assert key.description == "the same star"


@pytest.mark.usefixtures("vollt")
def test_comments_are_above_doubtful_lines(describe: Callable[..., str]) -> None:
    lines = describe("hip.main").splitlines()
    number = lines.index("  - name: B-V")
    assert lines[number - 1].startswith("  # 'PHOT_MAG_B' is a UCD1 from before 2005")
    assert lines[number - 2] == "  # 'mag(AB)' is not a VOUnit: write one, such as km.s**-1"
    at = lines.index("  columns:")
    assert lines[at - 1] == "  # left out: image: its datatype 'BLOB' is not valid in VOTable"
    assert "# the foreign key to other.images is left out: its column image is not among the columns" in "\n".join(
        lines
    )


@pytest.mark.usefixtures("vollt")
def test_other_indexes_of_the_origin_are_a_comment(describe: Callable[..., str]) -> None:
    text = describe("hip.main")
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("skyhouse:layout:")
    assert lines[at - 3 : at] == ["# indexes:", "# - B-V", "# - name"]


@pytest.mark.usefixtures("vollt")
def test_a_table_without_its_schema_is_found(schema: Read) -> None:
    assert schema("main").tables[0].name == "main"
    assert schema("other").name == "hip"


def test_the_metadata_of_a_dachs_service(origin: Origin, schema: Read, describe: Callable[..., str]) -> None:
    origin.publish(dialects.DACHS)
    table = schema("arigfh.katkat").tables[0]
    assert (table.description, table.utype, table.layout.id) == ("Catalogues", "fk:kat", ("catid",))
    assert table.primary_key == ("catid",)
    assert [column.nullable for column in table.columns] == [False, True, True]
    assert table.columns[1].utype == "fk:e"
    assert table.keys[0].referenced_table == "arigfh.katkat"
    text = describe("arigfh.katkat")
    assert "# 2,391 rows" in text
    assert "# the xtype 'interval' is not one of this datatype and arraysize: left out" in text


def test_a_key_to_the_table_itself_follows_its_new_name(origin: Origin, schema: Read) -> None:
    origin.publish(dialects.DACHS)
    found = schema("arigfh.katkat", "fk", "catalogues")
    assert (found.name, found.tables[0].name) == ("fk", "catalogues")
    assert found.tables[0].keys[0].referenced_table == "fk.catalogues"


def test_the_types_of_a_cadc_service(origin: Origin, schema: Read, describe: Callable[..., str]) -> None:
    origin.publish(dialects.CADC)
    assert types(schema("caom.plane").tables[0]) == {
        "planeURI": ("char", "512*", "uri"),
        "bounds": ("char", "*", "adql:REGION"),
        "lastModified": ("char", "*", "timestamp"),
        "origin": ("char", "*", ""),
        "band": ("char", "32*", ""),
        "edges": ("double", "2", "interval"),
    }
    assert "# the xtype 'adql:POINT' is not one of this datatype and arraysize: left out" in describe("caom.plane")


def test_the_metadata_of_the_gaia_archive(origin: Origin, schema: Read, describe: Callable[..., str]) -> None:
    origin.publish(dialects.GAIA)
    table = schema("gaiadr3.gaia_source").tables[0]
    assert (table.layout.position, table.layout.id) == (("ra", "dec"), ("source_id",))
    assert [column.name for column in table.columns if column.principal] == ["source_id", "ra", "dec"]
    assert (table.get_column("ra").utype, table.get_column("ra").unit) == ("stc:C1", "deg")
    assert table.get_column("cov").type.arraysize == "*"
    assert "# 1,811,709,771 rows" in describe("gaiadr3.gaia_source")
