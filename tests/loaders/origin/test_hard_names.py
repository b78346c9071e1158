"""Names and values of an origin that a schema file cannot contain unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_model import Schema
from loaders.load_error import LoadError
from loaders.pipeline.storable_names import make_column_names, make_schema_name, make_table_name
from loaders.pipeline.yaml_comments import add_comments
from tests.loaders.origin.origin_server import Origin

Read = Callable[..., Schema]


def document(*columns: str, schema: str = "s", table: str = "s.t", about: str = "") -> str:
    written = "".join(f"<column>{column}</column>" for column in columns)
    return f"<tableset><schema><name>{schema}</name><table><name>{table}</name>{about}{written}</table></schema></tableset>"


def column(name: str, more: str = "<dataType>int</dataType>") -> str:
    return f"<name>{name}</name>{more}"


def test_columns_that_differ_only_in_case_are_distinguished(
    origin: Origin, schema: Read, describe: Callable[..., str]
) -> None:
    origin.publish(document(column("g"), column("G"), column("G_2"), column("_part"), column("__a")))
    assert [c.name for c in schema("s.t").tables[0].columns] == ["g", "G_3", "G_2", "part", "a"]
    assert "# 'G' at the origin: reserved, or not unique" in describe("s.t")


def test_reserved_schemas_and_tables_get_other_names(
    origin: Origin, schema: Read, describe: Callable[..., str]
) -> None:
    origin.publish(document(column("a"), schema="default", table="default.x__2"))
    found = schema("default.x__2")
    assert (found.name, found.tables[0].name) == ("origin_default", "x_2")
    assert "# origin_default.x_2 here" in describe("default.x__2")


def test_names() -> None:
    assert make_column_names(["", "x" * 80, "a\nb", "hpx29"]) == ("col1", "x" * 64, "a_b", "hpx29_2")
    assert make_schema_name("a.b") == "a_b"
    assert make_table_name("I/239/hip__main") == "I/239/hip__main"


def test_texts_of_the_origin_cannot_leave_their_comment(origin: Origin, describe: Callable[..., str]) -> None:
    hostile = "a\u2028b&#13;c: [\x85"
    origin.publish(
        document(column("c", f"<unit>{hostile}</unit><dataType>int</dataType>"), about="<nrows>1\n#</nrows>")
    )
    text = describe("s.t")
    assert read_schema(text, "described")[0].tables[0].columns[0].name == "c"


def test_a_comment_is_one_line() -> None:
    text = add_comments("a:\n- b: 1\n", {("a", 0): ["x\ny: 2\x1b[0m"]})
    assert text == "a:\n# x y: 2 [0m\n- b: 1\n"


def test_a_table_without_columns_that_can_be_stored(origin: Origin, describe: Callable[..., str]) -> None:
    origin.publish(document(column("c", "<dataType>BLOB</dataType>")))
    with pytest.raises(LoadError, match=r"no column of s\.t can be stored: c: its datatype 'BLOB'"):
        describe("s.t")


def test_a_column_without_a_datatype_is_left_out(origin: Origin, describe: Callable[..., str]) -> None:
    origin.publish(document(column("a"), column("b", "")))
    assert "# left out: b: it has no datatype" in describe("s.t")


def test_a_column_with_an_invalid_arraysize_is_left_out(origin: Origin, describe: Callable[..., str]) -> None:
    wrong = '<dataType arraysize="0x3">double</dataType>'
    origin.publish(document(column("a"), column("c", wrong), column("d", '<dataType arraysize="-1">double</dataType>')))
    text = describe("s.t")
    assert "# left out: c: '0x3' is not an array size: write '*', '8', '8*' or '2x3'" in text
    assert read_schema(text, "described")[0].tables[0].columns[1].type.arraysize == ""


def test_a_text_without_arraysize_may_have_any_length(
    origin: Origin, schema: Read, describe: Callable[..., str]
) -> None:
    origin.publish(
        '<tableset xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        + document(column("a", '<dataType xsi:type="vs:VOTableType">char</dataType>')).removeprefix("<tableset>")
    )
    assert schema("s.t").tables[0].columns[0].type.arraysize == "*"
    assert "# the origin has no arraysize, which means one character in VOTable" in describe("s.t")


def test_the_file_is_a_valid_schema_file(origin: Origin, describe: Callable[..., str], tmp_path: Path) -> None:
    origin.publish(document(column("select"), column("a b"), column("x.y")))
    (tmp_path / "s.yaml").write_text(describe("s.t"))
    assert [c.name for c in read_schema(tmp_path / "s.yaml")[0].tables[0].columns] == ["select", "a b", "x.y"]
