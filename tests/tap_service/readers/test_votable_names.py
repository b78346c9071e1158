"""Columns of a VOTable whose names are equal, empty, or not valid in a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from clickhouse_schema.datatypes import INT, Field
from loaders.pipeline.describe_file import describe_source
from tap_service.models.read_options import ReadOptions
from tap_service.readers.sandboxed_reader import Limits, Request, answer_request
from tap_service.readers.votable_reader import VotableSource
from tests.support.write_document import write_document
from tests.tap_service.readers.reading import read_source
from tests.tap_service.readers.votables import make_table, write_votable


def write_columns(path: Path, *attributes: str) -> Path:
    fields = "".join(f'<FIELD {each} datatype="int"/>' for each in attributes)
    return write_votable(path, make_table(fields, tuple(str(number) for number in range(len(attributes)))))


def list_names(path: Path, *, case_matters: bool = False) -> list[str]:
    return [field.name for field in VotableSource(path, ReadOptions(case_matters=case_matters)).fields]


def test_equal_names_are_numbered_and_each_column_keeps_its_values(tmp_path: Path) -> None:
    source = VotableSource(write_columns(tmp_path / "t.vot", 'name="mag"', 'name="mag"', 'name="mag_2"'))
    assert [field.name for field in source.fields] == ["mag", "mag_3", "mag_2"]
    assert source.notes == ("another column mag is called mag_3",)
    assert read_source(source) == ([(0, 1, 2)], [])


def test_names_equal_but_for_case_are_numbered_if_a_table_is_stored(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "t.vot", 'name="Mag"', 'name="mag"')
    assert list_names(path) == ["Mag", "mag_2"]
    assert list_names(path, case_matters=True) == ["Mag", "mag"]


def test_an_empty_name_is_the_id_or_a_number(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "t.vot", 'ID="a"', 'ID="b" name=""', 'name=""', "", 'ID="e" name=" "')
    assert list_names(path) == ["a", "b", "col3", "col4", "e"]


def test_names_of_the_storage_are_changed_if_a_table_is_stored(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "t.vot", 'name="hpx29"', 'name="__x"', 'name="_part"', 'name="part"')
    assert list_names(path) == ["hpx29_2", "x", "part_2", "part"]
    assert list_names(path, case_matters=True) == ["hpx29", "__x", "_part", "part"]


def test_links_follow_the_names(tmp_path: Path) -> None:
    field = '<FIELD ID="{}" name="a" datatype="int"><LINK href="https://x.example/${{{}}}"/></FIELD>'
    path = write_votable(tmp_path / "t.vot", make_table(field.format("i", "j") + field.format("j", "a"), ("1", "2")))
    [table] = describe_source(VotableSource(path), "s", "t")["tables"]
    links = {column["name"]: column["skyhouse:links"][0]["href"] for column in table["columns"]}
    assert links == {"a": "https://x.example/${a_2}", "a_2": "https://x.example/${a}"}


@pytest.mark.parametrize("form", ["votable/td", "votable/b", "votable/b2"])
def test_a_result_with_two_columns_of_one_name_can_be_uploaded(tmp_path: Path, form: str) -> None:
    content = write_document(form, [Field("mag", INT), Field("mag", INT)], [[1, 2], [3, 4]])
    (tmp_path / "result.vot").write_bytes(content)
    limits = Limits(rows=10, columns=10, cell_bytes=100, unpacked_bytes=1 << 20, memory=1 << 30, seconds=10)
    answer = answer_request(Request(str(tmp_path / "result.vot"), str(tmp_path / "rows"), "t", "", limits))
    assert (answer.error, answer.rows) == ("", 2)
    assert answer.notes == ("another column mag is called mag_2",)
    assert read_source(VotableSource(tmp_path / "result.vot"))[0] == [(1, 3), (2, 4)]
