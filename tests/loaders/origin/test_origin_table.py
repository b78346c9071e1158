"""Tables of origins that publish them in several ways, or badly."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from clickhouse_schema.schema_model import Schema
from loaders.origin.origin_client import OriginClient
from loaders.origin.origin_error import OriginError, OriginMissing
from loaders.origin.origin_table import read_origin_table
from tests.loaders.origin import dialects
from tests.loaders.origin.origin_server import Origin, Reply, TapSchema, votable

Read = Callable[..., Schema]

#: TAP 1.0: types of TAP, ``size``, no xtype, no column_index
OLD = TapSchema(
    schemas=[{"schema_name": "viz", "description": "Catalogues"}],
    tables=[
        {"schema_name": "viz", "table_name": '"I/239/hip"', "description": "It's a table"},
        {"schema_name": "viz", "table_name": "Stars"},
        {"schema_name": "viz", "table_name": "stars"},
    ],
    columns=[
        {"table_name": '"I/239/hip"', "column_name": "HIP", "datatype": "adql:INTEGER", "ucd": "meta.id;meta.main",
         "principal": 1, "indexed": 1, "std": 0, "size": "", "unit": "", "description": "Number"},
        {"table_name": '"I/239/hip"', "column_name": '"B-V"', "datatype": "adql:REAL", "unit": "mag", "principal": 0},
        {"table_name": '"I/239/hip"', "column_name": "Sp", "datatype": "adql:VARCHAR", "size": 12},
        {"table_name": "stars", "column_name": "x", "datatype": "INTEGER"},
        {"table_name": "Stars", "column_name": "y", "datatype": "INTEGER"},
    ],
    keys=[{"key_id": "k'1", "from_table": '"I/239/hip"', "target_table": "tyc.main", "description": "same"}],
    key_columns=[{"key_id": "k'1", "from_column": "HIP", "target_column": "hip"}],
)  # fmt: skip


@pytest.fixture
def old(origin: Origin) -> Origin:
    origin.answers["/tap/sync"] = OLD
    return origin


def test_a_service_without_tables_has_tap_schema(old: Origin, schema: Read) -> None:
    found = schema("viz.I/239/hip")
    table = found.tables[0]
    assert (found.name, found.description, table.name, table.description) == (
        "viz", "Catalogues", "I/239/hip", "It's a table",
    )  # fmt: skip
    assert [(c.name, c.type.datatype, c.type.arraysize, c.unit, c.principal) for c in table.columns] == [
        ("HIP", "int", "", "", True),
        ("B-V", "float", "", "mag", False),
        ("Sp", "char", "12*", "", False),
    ]
    assert (table.layout.id, table.columns[0].ucd, table.columns[0].description) == (
        ("HIP",), "meta.id;meta.main", "Number",
    )  # fmt: skip


def test_keys_of_tap_schema(old: Origin, schema: Read) -> None:
    (key,) = schema('"I/239/hip"').tables[0].keys
    assert (key.name, key.columns, key.referenced_table, key.referenced_columns, key.description) == (
        "k'1", ("HIP",), "tyc.main", ("hip",), "same",
    )  # fmt: skip


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(("wanted", "column"), [("viz.stars", "x"), ("viz.Stars", "y"), ("stars", "x")])
def test_a_name_in_the_same_case_is_preferred(schema: Read, wanted: str, column: str) -> None:
    assert schema(wanted).tables[0].columns[0].name == column


def test_a_name_in_neither_case_is_ambiguous(old: Origin, schema: Read) -> None:
    with pytest.raises(OriginError, match=r"viz\.STARS may be one of several tables: viz\.Stars, viz\.stars"):
        schema("viz.STARS")


def test_two_tables_that_differ_only_in_case_in_one_document(origin: Origin, schema: Read) -> None:
    twin = dialects.CADC.replace("caom.Plane", "caom.PLANE").partition("<schema>")[2].partition("</vosi")[0]
    origin.publish(dialects.CADC.replace("</vosi", f"<schema>{twin}</vosi"))
    assert schema("caom.PLANE").tables[0].name == "PLANE"
    with pytest.raises(OriginError, match=r"caom\.plane may be one of several tables: caom\.Plane, caom\.PLANE"):
        schema("caom.plane")


def test_both_sources_complement_each_other(origin: Origin, schema: Read) -> None:
    origin.publish(dialects.CADC, "/tap/tables/caom.Plane")
    about = {"table_name": "caom.Plane", "datatype": "char", "arraysize": "*"}
    rows = [
        about | {"column_name": "band", "description": "Band", "principal": 1, "column_index": 1, "indexed": 1},
        about
        | {"column_name": "edges", "datatype": "double", "arraysize": "2", "xtype": "interval", "column_index": 0},
    ]
    names = dict.fromkeys(key for row in rows for key in row)
    rows = [{name: row.get(name, "") for name in names} for row in rows]
    tables = [{"schema_name": "caom", "table_name": "caom.Plane", "description": "Planes"}]
    origin.answers["/tap/sync"] = TapSchema(tables=tables, columns=rows)
    table = schema("caom.Plane").tables[0]
    assert table.description == "Planes"
    assert (table.get_column("band").description, table.get_column("band").principal) == ("Band", True)
    assert not table.get_column("planeURI").principal


def test_a_list_without_columns_is_completed_by_tap_schema(old: Origin, schema: Read) -> None:
    old.publish("<tableset><schema><name>viz</name><table><name>stars</name></table></schema></tableset>")
    assert schema("viz.stars").tables[0].columns[0].name == "x"


def test_similar_names_are_suggested_for_a_missing_table(origin: Origin, schema: Read) -> None:
    origin.publish(dialects.GAIA)
    with pytest.raises(OriginMissing, match=r"has no table gaiadr3\.gaia_sorce: did you mean gaiadr3\.gaia_source\?"):
        schema("gaiadr3.gaia_sorce")


def test_similar_names_come_from_tap_schema_too(old: Origin, schema: Read) -> None:
    with pytest.raises(OriginMissing, match=r"has no table viz\.starz: did you mean viz\.[Ss]tars"):
        schema("viz.starz")


def test_an_address_that_describes_nothing(origin: Origin, schema: Read) -> None:
    with pytest.raises(OriginError, match=r"describes no tables: .*404 Not Found.* Is this the address of a TAP"):
        schema("a.b")


def test_an_error_of_the_origin_is_reported_in_its_words(origin: Origin, schema: Read) -> None:
    origin.answers["/tap/sync"] = Reply(
        b'<VOTABLE><RESOURCE type="results"><INFO name="QUERY_STATUS" value="ERROR">no such\ntable</INFO></RESOURCE></VOTABLE>'
    )
    with pytest.raises(OriginError, match="rejects the query: no such table"):
        schema("a.b")


def test_a_truncated_answer_is_not_taken_as_complete(origin: Origin, schema: Read) -> None:
    cut = votable([{"schema_name": "a", "table_name": "a.b"}]).body
    assert isinstance(cut, bytes)
    origin.answers["/tap/sync"] = Reply(
        cut.replace(b"</TABLE>", b'</TABLE><INFO name="QUERY_STATUS" value="OVERFLOW"/>')
    )
    with pytest.raises(OriginError, match="truncates the answer"):
        schema("a.b")


def test_a_table_before_the_error_in_a_document_is_complete(origin: Origin, schema: Read) -> None:
    origin.publish(dialects.GAIA.partition("</table>")[0] + "</table><table><na")
    assert len(schema("gaiadr3.gaia_source").tables[0].columns) == 7
    with pytest.raises(OriginError, match="line 18: the definition is not well-formed XML"):
        schema("gaiadr3.other")


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ('<!DOCTYPE t [<!ENTITY a "a">]><tableset/>', "DOCTYPE, which is not allowed"),
        ("<tableset>" + "<a>" * 20, "deeper than 16 levels"),
        ("<html><body>Welcome</body></html>", "starts with the element html instead of"),
        ("<tableset><schema><name>a</name><table><name>a.b</name>" + "<column><name>c</name><dataType>int</dataType>"
         "</column>" * 5001, "deeper|more than 5000 columns"),
        ("<tableset><!--" + "x" * 3_000_000, "text or a comment of more than"),
    ],
)  # fmt: skip
def test_hostile_documents(origin: Origin, schema: Read, document: str, reason: str) -> None:
    origin.publish(document)
    with pytest.raises(OriginError, match=reason):
        schema("a.b")


def endless() -> Iterator[bytes]:
    yield b"<tableset><schema><name>viz</name>"
    for number in itertools.count(0, 100):
        yield b"".join(
            b"<table><name>viz.t%d</name><description>%s</description><column><name>c</name><dataType>int</dataType>"
            b"</column></table>" % (number + i, b"x" * 1000)
            for i in range(100)
        )


def test_an_endless_document_takes_little_memory(
    origin: Origin, client: OriginClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loaders.origin.vosi_tables._MAX_DOCUMENT_BYTES", 12 << 20)
    origin.answers["/tap/tables"] = lambda _form: Reply(endless())
    tracemalloc.start()
    with pytest.raises(OriginError, match="sends more than 12,582,912 bytes"):
        read_origin_table(client, origin.tap, "a.b")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_the_rest_of_a_document_is_not_read(origin: Origin, client: OriginClient) -> None:
    origin.answers["/tap/tables"] = lambda _form: Reply(endless())
    assert str(read_origin_table(client, origin.tap, "viz.t1000").name) == "viz.t1000"
