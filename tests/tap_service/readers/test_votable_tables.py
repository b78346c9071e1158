"""Several TABLEs in a VOTable: the choice, the note on the others, and what belongs to each."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from astropy.io import votable

from loaders.pipeline.describe_file import describe_source
from tap_service.models.read_options import ReadOptions
from tap_service.readers.file_formats import describe_form
from tap_service.readers.read_error import ReadError
from tap_service.readers.votable_reader import VotableSource
from tests.tap_service.readers.reading import read_rows, read_source
from tests.tap_service.readers.votables import make_binary_table, make_table, write_votable

STAR = '<FIELD name="star" datatype="int"/>'
CODE = '<FIELD name="code" datatype="char" arraysize="*"/>'
EMPTY = '<TABLE name="about"><FIELD name="word" datatype="int"/></TABLE>'
STARS = make_table(STAR, ("1",), ("2",), attributes='name="I/1/stars" ID="t1"')
REFS = make_table(CODE, ("x",), attributes='name="I/1/refs" ID="t2"')


def open_votable(path: Path, table: str = "") -> VotableSource:
    return VotableSource(path, ReadOptions(table=table))


def test_the_first_table_with_data_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    source = open_votable(write_votable(tmp_path / "t.vot", EMPTY, STARS, REFS))
    assert source.form == "TABLE 2 (I/1/stars)"
    assert source.notes == ("the file has other TABLEs: 1 (about, without data), 3 (I/1/refs)",)
    assert describe_form(source.path, source) == "VOTable, TABLE 2 (I/1/stars)"
    assert read_source(source)[0] == [(1,), (2,)]


@pytest.mark.parametrize("choice", ["3", "I/1/refs", "t2"])
def test_a_table_is_chosen_by_number_name_or_id(tmp_path: Path, choice: str) -> None:
    source = open_votable(write_votable(tmp_path / "t.vot", EMPTY, STARS, REFS), choice)
    assert source.form == "TABLE 3 (I/1/refs)"
    assert read_source(source) == ([("x",)], [])


def test_the_first_table_is_described_if_none_has_data(tmp_path: Path) -> None:
    source = open_votable(write_votable(tmp_path / "t.vot", EMPTY, f"<TABLE>{STAR}</TABLE>"))
    assert [field.name for field in source.fields] == ["word"]
    assert read_source(source) == ([], [])


def test_a_single_table_needs_no_note(tmp_path: Path) -> None:
    source = open_votable(write_votable(tmp_path / "t.vot", STARS))
    assert (source.form, source.notes) == ("", ())


@pytest.mark.parametrize("choice", ["4", "0", "nothing", "²"])
def test_an_unknown_table_is_refused_with_a_list_of_tables(tmp_path: Path, choice: str) -> None:
    path = write_votable(tmp_path / "t.vot", EMPTY, STARS, REFS)
    with pytest.raises(ReadError) as refused:
        open_votable(path, choice)
    tables = "1 (about, without data), 2 (I/1/stars), 3 (I/1/refs)"
    assert str(refused.value) == f"{path} has no TABLE {choice!r}; its tables are {tables}"


def test_a_name_of_several_tables_is_refused(tmp_path: Path) -> None:
    path = write_votable(tmp_path / "t.vot", STARS, STARS)
    with pytest.raises(ReadError, match="has 2 TABLEs named 'I/1/stars'; its tables are 1"):
        open_votable(path, "I/1/stars")
    assert read_rows(path, ReadOptions(table="2")) == ([(1,), (2,)], [])


def test_a_table_of_another_serialization_is_skipped(tmp_path: Path) -> None:
    packed = make_binary_table(STAR, struct.pack(">4i", 7, 8, 9, 10))
    flagged = make_binary_table(STAR, b"\0" + struct.pack(">i", 11) + b"\x80\0\0\0\0", "BINARY2")
    path = write_votable(tmp_path / "t.vot", STARS, packed, flagged, REFS)
    for number, rows in enumerate([[(1,), (2,)], [(7,), (8,), (9,), (10,)], [(11,), (None,)], [("x",)]], 1):
        assert read_rows(path, ReadOptions(table=str(number))) == (rows, [])
        read = votable.parse(path).get_table_by_index(number - 1).array
        assert [tuple(None if cell is None else cell for cell in row) for row in read.tolist()] == rows


def test_a_description_belongs_to_the_tables_of_its_resource(tmp_path: Path) -> None:
    (tmp_path / "t.vot").write_text(
        "<VOTABLE><DESCRIPTION>all</DESCRIPTION>"
        f"<RESOURCE><DESCRIPTION>first</DESCRIPTION>{STARS}</RESOURCE>"
        f"<RESOURCE>{REFS}</RESOURCE><RESOURCE><TABLE><DESCRIPTION>own</DESCRIPTION>{STAR}</TABLE></RESOURCE></VOTABLE>"
    )
    found = [open_votable(tmp_path / "t.vot", str(number)).description for number in (1, 2, 3)]
    assert found == ["first", "all", "own"]


def test_links_belong_to_the_chosen_table(tmp_path: Path) -> None:
    linked = CODE.replace("/>", '><LINK href="https://a.example/${code}"/></FIELD>')
    path = write_votable(tmp_path / "t.vot", STARS, make_table(linked, ("x",)))
    [table] = describe_source(open_votable(path, "2"), "s", "t")["tables"]
    assert table["columns"][0]["skyhouse:links"] == [{"href": "https://a.example/${code}"}]
    assert table["skyhouse:files"] == {"table": "2"}
    [table] = describe_source(open_votable(path), "s", "t")["tables"]
    assert table["columns"] == [{"name": "star", "datatype": "int"}]


def test_an_error_after_the_table_is_reported_with_its_line(tmp_path: Path) -> None:
    path = write_votable(tmp_path / "t.vot", STARS, REFS)
    path.write_text(path.read_text().replace("</TABLEDATA></DATA></TABLE></RESOURCE>", "\n</TABLEDAT>"))
    with pytest.raises(ReadError, match="line 3: the VOTable is not well-formed XML: mismatched tag"):
        read_source(open_votable(path))


@pytest.mark.parametrize("before", [0, 1, 3, 6, 7, 40])
def test_a_table_is_found_wherever_a_block_of_the_file_ends(tmp_path: Path, before: int) -> None:
    path = write_votable(tmp_path / "t.vot", STARS, "<!-- -->", REFS)
    start = path.read_text().index("<TABLE", path.read_text().index("<!--"))
    path.write_text(path.read_text().replace("<!-- -->", f"<!-- {'x' * ((1 << 20) - start - before)} -->"))
    assert open_votable(path).notes == ("the file has other TABLEs: 2 (I/1/refs)",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_tables_with_a_prefix_or_in_utf_16_are_found(tmp_path: Path, encoding: str) -> None:
    tables = "".join(f'<v:TABLE><v:FIELD name="{name}" datatype="int"/></v:TABLE>' for name in "ab")
    document = (
        f'<v:VOTABLE xmlns:v="http://www.ivoa.net/xml/VOTable/v1.3"><v:RESOURCE>{tables}</v:RESOURCE></v:VOTABLE>'
    )
    (tmp_path / "t.vot").write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{document}'.encode(encoding))
    assert [field.name for field in open_votable(tmp_path / "t.vot", "2").fields] == ["b"]


def test_more_tables_than_the_limit_are_refused(tmp_path: Path) -> None:
    path = write_votable(tmp_path / "t.vot", "<TABLE/>" * 10_001)
    with pytest.raises(ReadError, match="has more than 10000 TABLEs"):
        open_votable(path)
