"""Definitions of tables in VOSI's format."""

from __future__ import annotations

import pytest

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.schema_model import Column, ForeignKey, Schema, Table
from tap_service.documents.tableset_document import append_tables, table_document, tableset_document
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_definition import DefinedKey
from tap_service.readers.vosi_table_reader import find_root_name, read_definition

_HEAD = '<table xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:vs="http://www.ivoa.net/xml/VODataService/v1.1">'


def column(data_type: str) -> bytes:
    return f"{_HEAD}<column><name>c</name>{data_type}</column></table>".encode()


@pytest.mark.parametrize(
    ("data_type", "expected"),
    [
        ('<dataType xsi:type="vs:VOTableType">int</dataType>', ColumnType("int")),
        ('<dataType xsi:type="vs:VOTableType" arraysize="*">double</dataType>', ColumnType("double", "*")),
        ('<dataType xsi:type="vs:VOTableType" arraysize="8*">char</dataType>', ColumnType("char", "8*")),
        (
            '<dataType xsi:type="vs:VOTableType" arraysize="*" extendedType="timestamp">char</dataType>',
            ColumnType("char", "*", "timestamp"),
        ),
        (
            '<dataType xsi:type="vs:VOTableType" arraysize="3" extendedType="circle">double</dataType>',
            ColumnType("double", "3", "circle"),
        ),
        ('<dataType xsi:type="vs:TAPType">BIGINT</dataType>', ColumnType("long")),
        ('<dataType xsi:type="vs:TAPType" size="12">VARCHAR</dataType>', ColumnType("char", "12*")),
        ('<dataType xsi:type="vs:TAPType" size="0">VARCHAR</dataType>', ColumnType("char", "*")),
        ('<dataType xsi:type="vs:TAPType">adql:TIMESTAMP</dataType>', ColumnType("char", "*", "timestamp")),
        ('<dataType xsi:type="vs:TAPType">POINT</dataType>', ColumnType("double", "2", "point")),
        ("<dataType>real</dataType>", ColumnType("float")),
        ("<dataType>short</dataType>", ColumnType("short")),
    ],
)
def test_types(data_type: str, expected: ColumnType) -> None:
    found = read_definition(column(data_type)).columns[0]
    assert (found.field.type, found.unusable) == (expected, "")


@pytest.mark.parametrize("data_type", ["<dataType>BLOB</dataType>", "<dataType>DROP TABLE</dataType>"])
def test_types_that_are_none(data_type: str) -> None:
    assert "is not valid in VOTable" in read_definition(column(data_type)).columns[0].unusable


def test_what_the_service_writes_is_read() -> None:
    keys = (ForeignKey(name="k", columns=("a",), referenced_table="s.u", referenced_columns=("b",), description="why"),)
    names = ("a", "select", 'odd "name"')
    columns = tuple(
        Column(name=name, datatype="double", unit="deg", ucd="pos", utype="u:t", description=f"<{name}>")
        for name in names
    )
    table = Table(name="t", description="A & B", utype="x:y", columns=columns, keys=keys)
    found = read_definition(table_document(TableEntry(Schema(name="s"), table)))
    assert (found.description, found.utype) == ("A & B", "x:y")
    assert [each.field for each in found.columns] == [each.field for each in columns]
    assert found.keys == [DefinedKey("s.u", [("a", "b")], "why")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(b"", ""), (b"a,b\n1,2", ""), (b"<", ""), (b"<t:table xmlns:t='x'><b", "table"), (b"<a></b>", "a")],
)
def test_the_root_of_what_may_be_no_document(text: bytes, expected: str) -> None:
    assert find_root_name(text) == expected


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><table><description>&b;</description></table>'
    with pytest.raises(ReadError, match="line 1: the definition has a DOCTYPE"):
        read_definition(bomb)


@pytest.mark.parametrize("detail", [True, False])
def test_a_list_with_tables_of_ones_own_is_a_list_of_all(detail: bool) -> None:
    columns = (Column(name="a", datatype="int"),)
    schemas = (Schema(name="public"), Schema(name="mydb", description="Own & <mine>"))
    public, own = (tuple(TableEntry(schema, Table(name=n, columns=columns)) for n in "ab") for schema in schemas)
    both = tableset_document((*public, *own), detail=detail)
    assert append_tables(tableset_document(public, detail=detail), own, detail=detail) == both
