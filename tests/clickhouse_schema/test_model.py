"""The rules of the model, its derived types, and its documents."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from clickhouse_schema.datatypes import CHAR, POINT, TIMESTAMP, UNICODE, ColumnType
from clickhouse_schema.schema_model import Column, Example, ForeignKey, Layout, Schema, Table
from clickhouse_schema.table_index import TableIndex
from clickhouse_schema.tap_schema import TAP_SCHEMA


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ({"datatype": "byte"}, ColumnType("unsignedByte")),
        ({"datatype": "double"}, ColumnType("double")),
        ({"datatype": "string"}, CHAR),
        ({"datatype": "char", "length": 8}, ColumnType("char", "8*")),
        ({"datatype": "text"}, UNICODE),
        ({"datatype": "text", "votable_datatype": "char"}, CHAR),
        ({"datatype": "timestamp"}, TIMESTAMP),
        ({"datatype": "char", "arraysize": "19*", "xtype": "timestamp"}, TIMESTAMP),
        ({"datatype": "float", "arraysize": "3"}, ColumnType("float", "3")),
        ({"datatype": "float", "arraysize": "2x3"}, ColumnType("float", "2x3")),
        ({"datatype": "double", "arraysize": "2", "xtype": "point"}, POINT),
        ({"datatype": "string", "xtype": "hms"}, ColumnType("char", "*", "hms")),
        ({"datatype": "string", "length": 36, "xtype": "uuid"}, ColumnType("char", "36*", "uuid")),
        ({"datatype": "unicode", "xtype": "json"}, ColumnType("unicodeChar", "*", "json")),
        ({"datatype": "text", "xtype": "shape"}, ColumnType("unicodeChar", "*", "shape")),
        ({"datatype": "long", "arraysize": "*", "xtype": "multiinterval"}, ColumnType("long", "*", "multiinterval")),
        ({"datatype": "float", "arraysize": "4", "xtype": "range"}, ColumnType("float", "4", "range")),
        ({"datatype": "int", "xtype": "geom:own"}, ColumnType("int", "", "geom:own")),
    ],
)
def test_type(column: dict[str, Any], expected: ColumnType) -> None:
    assert Column(name="x", **column).type == expected


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"datatype": "binary", "xtype": "uuid"}, "single texts"),
        ({"datatype": "decimal"}, "use one of boolean, byte"),
        ({"datatype": "int", "length": 4}, "length is for text"),
        ({"datatype": "int", "arraysize": "3x"}, "not an array size"),
        ({"datatype": "int", "arraysize": "*x3"}, "not an array size"),
        ({"datatype": "int", "arraysize": "0"}, "not an array size"),
        ({"datatype": "long", "votable_datatype": "int"}, "contradicts datatype 'long'"),
        ({"datatype": "double", "xtype": "point"}, "votable:arraysize '2'"),
        ({"datatype": "int", "arraysize": "3", "xtype": "circle"}, "datatype double"),
        ({"datatype": "long", "xtype": "timestamp"}, "datatype 'timestamp'"),
        ({"datatype": "double", "arraysize": "3", "xtype": "range"}, "votable:arraysize '4'"),
        ({"datatype": "int", "arraysize": "4", "xtype": "range"}, "datatype double"),
        ({"datatype": "double", "arraysize": "2x*", "xtype": "multiinterval"}, "arraysize '\\*'"),
        ({"datatype": "long", "xtype": "uuid"}, "single texts"),
        ({"datatype": "timestamp", "xtype": "hms"}, "single texts"),
        ({"datatype": "string", "arraysize": "8x3", "xtype": "dms"}, "single texts"),
        ({"datatype": "string", "arraysize": "2", "xtype": "point"}, "datatype double"),
        ({"datatype": "int", "description": "bell \a"}, "XML cannot contain"),
        ({"datatype": "int", "nullable": "no"}, "valid boolean"),
        ({"datatype": "int", "ucds": "meta.id"}, "Extra inputs"),
    ],
)
def test_wrong_columns_are_rejected(column: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Column(name="x", **column)


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "a\0", "a\u2028b", "n" * 65, "a\ud800"])
def test_wrong_names_are_rejected(name: str) -> None:
    with pytest.raises(ValidationError):
        Column(name=name, datatype="int")


@pytest.mark.parametrize("name", ["n" * 64, "Mixed Case", 'quo"te', "back`tick", "col.umn", "größe", "1st", "select"])
def test_valid_names_are_accepted(name: str) -> None:
    assert Column(name=name, datatype="int").name == name


def test_a_dot_in_a_table_name_is_rejected() -> None:
    with pytest.raises(ValidationError, match="separates schema from table"):
        Table(name="a.b", columns=(Column(name="x", datatype="int"),))


def test_a_table_has_columns() -> None:
    with pytest.raises(ValidationError):
        Table(name="t", columns=())


STARS = Table(
    name="stars",
    table_index=3,
    primary_key=("id", "part"),
    columns=(
        Column(name="id", datatype="long", nullable=False, ucd="meta.id;meta.main", principal=True),
        Column(name="part", datatype="string", length=2),
        Column(name="ra", datatype="double", unit="deg"),
        Column(name="dec", datatype="double", unit="deg", column_index=4),
    ),
    keys=(
        ForeignKey(
            name="k", columns=("id",), referenced_table="other.things", referenced_columns=("thing",), utype="a:b"
        ),
    ),
    layout=Layout(position=("ra", "dec"), id=("id", "part"), overlap_radius=1),
)
SKY = Schema(
    name="sky",
    citation="2000A&A...355L..27H",
    licence="CC0-1.0",
    examples=(Example(name="All", query="SELECT * FROM sky.stars"),),
    tables=(STARS,),
)


@pytest.mark.parametrize("by_alias", [True, False])
@pytest.mark.parametrize("exclude_defaults", [True, False])
@pytest.mark.parametrize("schema", [SKY, TAP_SCHEMA], ids=["sky", "TAP_SCHEMA"])
def test_json_round_trip(schema: Schema, by_alias: bool, exclude_defaults: bool) -> None:
    document = schema.model_dump_json(by_alias=by_alias, exclude_defaults=exclude_defaults)
    assert Schema.model_validate_json(document) == schema


def test_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        STARS.name = "other"


def test_look_up() -> None:
    assert STARS.get_column("ra").unit == "deg"
    with pytest.raises(KeyError):
        STARS.get_column("RA")


def test_positions_the_leading_id_and_the_first_column_of_an_index_are_indexed() -> None:
    assert [column.name for column in STARS.columns if STARS.is_indexed(column.name)] == ["id", "ra", "dec"]
    columns = tuple(Column(name=name, datatype="unicode") for name in ("a", "b", "c"))
    table = Table(name="t", columns=columns, layout=Layout(indexes=INDEXES[:2]))
    assert [column.name for column in columns if table.is_indexed(column.name)] == ["a"]
    assert (table.layout.sorted_columns, table.layout.text_columns) == ((("a", "b"),), ("c",))


INDEXES = (TableIndex(columns=("a", "b")), TableIndex(columns=("c",), kind="text"), TableIndex(columns=("columns",)))


def test_indexes_are_written_in_their_shortest_form() -> None:
    layout = Layout(indexes=INDEXES)
    assert layout.model_dump(mode="json")["indexes"] == [["a", "b"], {"c": "text"}, "columns"]
    assert Layout.model_validate_json(layout.model_dump_json()) == layout


@pytest.mark.parametrize(
    ("document", "indexes"),
    [
        ('["a", "b"]', (TableIndex(columns=("a",)), TableIndex(columns=("b",)))),  # from older catalogues
        ('{"c": "text", "columns": "text"}', (INDEXES[1], TableIndex(columns=("columns",), kind="text"))),
        ('[["a"], {"b": "values"}]', (TableIndex(columns=("a",)), TableIndex(columns=("b",)))),
    ],
)
def test_indexes_are_read_in_each_form(document: str, indexes: tuple[TableIndex, ...]) -> None:
    assert Layout.model_validate_json(f'{{"indexes": {document}}}').indexes == indexes
