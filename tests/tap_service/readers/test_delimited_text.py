"""Delimited text in the forms of archives: every row is read, and none is taken for a header."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tap_service.models.read_options import ReadOptions
from tap_service.readers.file_formats import describe_form, open_source
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.reading import list_types, read_rows

TWO_MASS = "10.5|-5.25|00420000-0515000|12.345|\\N|2000-09-18\n11.5|-6.25|00460000-0615000|\\N|14.1|2000-09-18\n"
TWO_MASS_NAMES = ("ra", "dec", "designation", "j_m", "h_m", "date")


def write(tmp_path: Path, text: str, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_first_row_is_not_taken_for_names(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"line 1 \(10\.5\|.* looks like a row.*--no-header.*--header"):
        open_source(write(tmp_path, TWO_MASS))


def test_a_first_row_of_texts_that_are_repeated_is_not_taken_for_names(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"line 1 .* looks like a row"):
        open_source(write(tmp_path, "NGC 224,galaxy\nNGC 598,galaxy\n"))


@pytest.mark.parametrize("text", ["1,2.5\n,\n", '1,a,1.0\n"","",""\n', "1,2.5\n,x\n\n,y\n"])
def test_a_first_row_above_rows_without_numbers_is_not_taken_for_names(tmp_path: Path, text: str) -> None:
    with pytest.raises(ReadError, match=r"line 1 .* looks like a row"):
        open_source(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "count"),
    [("  1  12.34 abcd\n  2      - x\n", 3), ("id ra dec\n1 10.5 5\n", 3), ("1 0.5\n2 0.7\n3\n", 2)],
)
def test_rows_of_fields_between_blanks_are_not_one_column(tmp_path: Path, text: str, count: int) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ReadError, match=rf"line 1 .* {count} fields between blanks. Say --delimiter blanks"):
        open_source(path)
    options = ReadOptions(delimiter=" ", header=text.startswith("id"))
    assert len(list_types(open_source(path, options))) == count
    assert len(list_types(open_source(path, ReadOptions(delimiter=",", header=True)))) == 1


@pytest.mark.parametrize("text", ["name\nHD 142 B\nHD 749 A\n", "the name\nHD 142\nBD+12 1\n", '"a b c"\nx y z\n'])
def test_names_with_blanks_are_one_column(tmp_path: Path, text: str) -> None:
    assert len(list_types(open_source(write(tmp_path, text)))) == 1


def test_numbers_are_names_if_the_sender_says_so(tmp_path: Path) -> None:
    path = write(tmp_path, "id,2020,2021\n1,5,6\n")
    with pytest.raises(ReadError, match="--header"):
        open_source(path)
    assert list_types(open_source(path, ReadOptions(header=True))) == {
        "id": "BIGINT",
        "2020": "BIGINT",
        "2021": "BIGINT",
    }


def test_the_columns_of_a_file_without_a_header_are_named_by_the_sender(tmp_path: Path) -> None:
    path = write(tmp_path, TWO_MASS, "psc_aaa.psv")
    rows, rejects = read_rows(path, ReadOptions(header=False, columns=TWO_MASS_NAMES))
    assert rejects == []
    assert [row[:5] for row in rows] == [
        (10.5, -5.25, "00420000-0515000", 12.345, None),
        (11.5, -6.25, "00460000-0615000", None, 14.1),
    ]


def test_columns_without_names_are_numbered(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, "1 a\n2 b\n", "t.dat"), ReadOptions(header=False, delimiter=" "))
    assert list_types(source) == {"col1": "BIGINT", "col2": "CHAR"}


def test_fewer_columns_than_fields_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="line 1 has 6 fields, but the schema file has 2 columns"):
        open_source(write(tmp_path, TWO_MASS), ReadOptions(header=False, columns=("a", "b")))


def test_names_in_a_comment_line_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, "# made by hand\n#id,ra,dec\n1,10,20\n2,11,21\n")
    rows, rejects = read_rows(path)
    assert (rows, rejects) == ([(1, 10, 20), (2, 11, 21)], [])
    assert list_types(open_source(path)) == {"id": "BIGINT", "ra": "BIGINT", "dec": "BIGINT"}


def test_texts_below_names_in_a_comment_are_not_taken_for_names(tmp_path: Path) -> None:
    path = write(tmp_path, "#id,name\nA,foo\nB,bar\n")
    with pytest.raises(ReadError, match=r"line 2 \(A,foo\) may be a row below the names in a comment.*--no-header"):
        open_source(path)
    assert read_rows(path, ReadOptions(header=False, columns=("id", "name")))[0] == [("A", "foo"), ("B", "bar")]
    assert list_types(open_source(path, ReadOptions(header=True))) == {"A": "CHAR", "foo": "CHAR"}


def test_a_comment_above_the_names_is_a_comment(tmp_path: Path) -> None:
    rows, _ = read_rows(write(tmp_path, "#Table1\nobjid,z\n1237648720693755918,0.1\n"))
    assert rows == [(1237648720693755918, 0.1)]


def test_comments_among_rows_are_left_out_if_the_sender_names_their_character(tmp_path: Path) -> None:
    path = write(tmp_path, "id,ra\n1,10\n! a comment\n2,x\n")
    rows, rejects = read_rows(path, ReadOptions(comment="!"))
    assert rows == [(1, "10"), (2, "x")]
    assert rejects == []


def test_lines_are_numbered_past_comments_and_blank_lines(tmp_path: Path) -> None:
    _, rejects = read_rows(write(tmp_path, "id,ra\n1,10\n# a comment\n\n2,11,3\n"), ReadOptions(comment="#"))
    assert [(reject.where, reject.reason) for reject in rejects] == [(5, "has 3 fields for 2 columns")]


def test_several_blanks_are_one_delimiter(tmp_path: Path) -> None:
    text = '  id   name      mag\n   1  "M  31"   3.4  \n  22  "M  33"\t5.7\n'
    rows, rejects = read_rows(write(tmp_path, text, "t.txt"), ReadOptions(delimiter=" "))
    assert (rows, rejects) == ([(1, "M  31", 3.4), (22, "M  33", 5.7)], [])


def test_inch_marks_between_blanks_do_not_quote(tmp_path: Path) -> None:
    text = '  id   size  note\n   1   5"   "a  b"\n  22   6"   c\n   3   7   5"\n   4   8   d\n'
    rows, rejects = read_rows(write(tmp_path, text, "t.txt"), ReadOptions(delimiter=" "))
    assert (rows, rejects) == ([(1, '5"', "a  b"), (22, '6"', "c"), (3, "7", '5"'), (4, "8", "d")], [])


def test_blanks_are_joined_where_nothing_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(b"  id \t mag\r\n   1      3.4  \r\n  22  \t  5.7\r\n")
    assert read_rows(path, ReadOptions(delimiter=" ")) == ([(1, 3.4), (22, 5.7)], [])


def test_the_delimiter_divides_all_lines_equally(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, "id|name, unit|v\n1|a|2.5\n2|b, c, d|3.5\n"))
    assert list_types(source) == {"id": "BIGINT", "name, unit": "CHAR", "v": "DOUBLE"}


def test_quotation_marks_after_backslashes_are_read(tmp_path: Path) -> None:
    """As MySQL exports them, with its mark of NULL."""
    text = 'id,t,v\n1,"a \\"q\\" b",2\n2,"two\n\\"lines\\"",\\N\n3,"c, \\"d, e\\" f",4\n'
    rows, rejects = read_rows(write(tmp_path, text))
    assert rejects == []
    assert rows == [(1, 'a "q" b', 2), (2, 'two\n"lines"', None), (3, 'c, "d, e" f', 4)]
    assert (
        open_source(tmp_path / "t.csv").form == r"delimiter comma, names in line 1, quotation marks inside fields as \""
    )


def test_a_backslash_at_the_end_of_a_field_escapes_nothing(tmp_path: Path) -> None:
    rows, _ = read_rows(write(tmp_path, 'id,path\n1,"C:\\"\n2,"D:\\"\n'))
    assert rows == [(1, "C:\\"), (2, "D:\\")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("id,ra\n1,10\n".encode("utf-16"), "is UTF-16: convert it to UTF-8"),
        (
            "id,ra\n1,10\n".encode("utf-16-le"),
            "line 1 has NUL bytes: the file is not text, or is UTF-16 without its mark",
        ),
        (b"\x00\x01", "line 1 has NUL bytes"),
        (b"id,ra\r1,10\r2,11\r", "its lines end with carriage returns only"),
        (b"id,ra\xe9\n1,10\n", "line 1 is not UTF-8"),
    ],
)
def test_an_unsupported_encoding_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=reason):
        open_source(path)


def test_an_index_without_a_name_and_equal_names_are_read(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, ",mag,mag,\n0,10,20,\n"))
    assert [field.name for field in source.fields] == ["col1", "mag", "mag_2", "col4"]
    assert source.notes == (
        "column 1, which has no name, is called col1",
        "another column mag is called mag_2",
        "column 4, which has no name, is called col4",
    )


def test_the_words_for_null_are_recognised_where_numbers_are(tmp_path: Path) -> None:
    text = "id,mag,n,name\n1,12.1,5,a\n2,NULL,NULL,b\n3,nan,,NULL\n4,N/A,7,null\n5,\\N,8,n/a\n"
    source = open_source(write(tmp_path, text))
    rows, rejects = read_rows(source.path)
    assert rejects == []
    assert [(row[0], row[2], row[3]) for row in rows] == [
        (1, 5, "a"),
        (2, None, "b"),
        (3, None, None),
        (4, 7, None),
        (5, 8, "n/a"),
    ]
    assert [row[1] for row in rows if row[0] != 3] == [12.1, None, None, None]
    assert math.isnan(rows[2][1])
    assert source.options.nulls == ("N/A", "NULL", "\\N", "null")
    assert (
        describe_form(source.path, source)
        == "CSV, delimiter comma, names in line 1, NULL is N/A or NULL or \\N or null"
    )


def test_a_quoted_empty_field_is_null_among_numbers(tmp_path: Path) -> None:
    path = write(
        tmp_path, '"id","mag","code","big","name"\n"1","2.5","01","99999999999999999999","a"\n"","","","",""\n'
    )
    source = open_source(path)
    assert list_types(source) == {"id": "BIGINT", "mag": "DOUBLE", "code": "CHAR", "big": "CHAR", "name": "CHAR"}
    assert read_rows(path) == ([(1, 2.5, "01", "99999999999999999999", "a"), (None, None, "", "", "")], [])
    assert 'column id has numbers and "", which is NULL' in source.notes
    assert "column code stays text: it has leading zeros, as in '01'" in source.notes


def test_a_value_that_makes_numbers_text_is_named(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, "v\n1\ninf\nNaN\n2.5\n0x10\n"))
    assert [doubt.split(";")[0] for doubt in source.list_doubts()] == [
        "column v is read as text because of values such as '0x10' in line 6"
    ]


def test_a_text_that_says_null_stays_where_no_number_is_missing(tmp_path: Path) -> None:
    assert read_rows(write(tmp_path, "id,name\n1,null\n2,b\n"))[0] == [(1, "null"), (2, "b")]


def test_a_token_of_the_sender_is_null_in_every_column(tmp_path: Path) -> None:
    path = write(tmp_path, 'id,mag,n,name\n1,-999,-999,x\n2,-999.0,3,"-999"\n')
    rows, _ = read_rows(path, ReadOptions(nulls=("-999", "-999.0")))
    assert rows == [(1, None, None, "x"), (2, None, 3, None)]


def test_a_token_is_null_in_each_spelling_of_a_number(tmp_path: Path) -> None:
    path = write(tmp_path, "id,mag,name\n-0999,-9.99E2,x\n+1, -999.0,-999.0\n2,1.5,-999\n")
    rows, _ = read_rows(path, ReadOptions(nulls=("-999",)))
    assert rows == [("-0999", None, "x"), ("+1", None, "-999.0"), ("2", 1.5, None)]


def test_the_extension_does_not_matter_to_a_sender_who_names_the_format(tmp_path: Path) -> None:
    path = write(tmp_path, "id;v\n1;2\n", "t.dat")
    with pytest.raises(ReadError, match=r"unknown format.*--format"):
        open_source(path)
    assert read_rows(path, ReadOptions(format="csv")) == ([(1, 2)], [])
    assert read_rows(path, ReadOptions(delimiter=";")) == ([(1, 2)], [])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (ReadOptions(hdu="2"), "is a CSV file: --hdu is for files of FITS"),
        (ReadOptions(table="2"), "is a CSV file: --table-index is for files of VOTable"),
        (ReadOptions(format="exe"), "there is no format exe; the formats are Parquet"),
    ],
)
def test_a_choice_for_another_format_is_refused(tmp_path: Path, options: ReadOptions, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        open_source(write(tmp_path, "id\n1\n2\n"), options)


def test_a_broken_line_in_another_encoding_costs_one_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,name\n1,\xc3\xa9\n2,b\xe9,c\n3,d\xe9\n4,\xc3\xa9,\xc3\xa9\n5,\n6,\xc3\xb1\n")
    rows, rejects = read_rows(path, ReadOptions(nulls=("\N{LATIN SMALL LETTER N WITH TILDE}",)))
    assert rows == [(1, "\N{LATIN SMALL LETTER E WITH ACUTE}"), (5, None), (6, None)]
    assert [(reject.where, reject.value, reject.reason) for reject in rejects] == [
        (3, "2,b\N{REPLACEMENT CHARACTER},c", "has 3 fields for 2 columns"),
        (4, "d\\xe9", "not valid UTF-8"),
        (5, "4,\N{LATIN SMALL LETTER E WITH ACUTE},\N{LATIN SMALL LETTER E WITH ACUTE}", "has 3 fields for 2 columns"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('id,t\n1,"a\n2,b\n3,c\n', 2),
        ('id,t\n1,"a\nb"\n2,"c ""\n3,d\n', 4),
        ('id,t\n1,"a \\"b\\" c"\n2,"d \\"\n', 3),
        ('id,name\n1,"a"\n2,"b\n3,c\n', 3),
        ('id,name\n1,5" disc\n2,"b""\n3,c\n', 3),
        ('id,name\n1,"a\n\nb"\n2,"', 5),
        ('id,name\n1,"a\\"b"\n2,"c\\"\n', 3),
    ],
)
def test_a_quotation_mark_that_is_not_closed_is_named(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(ReadError, match=f"t.csv, line {line}: the quotation mark that starts a field is not closed"):
        read_rows(write(tmp_path, text))


def test_a_quotation_mark_within_a_field_does_not_quote(tmp_path: Path) -> None:
    text = 'id,name,n\n1,5" disc,2\n2,"line\nend",3\n3,bad\n4,\'30"\',5\n\n5,c,x\n'
    rows, rejects = read_rows(write(tmp_path, text))
    assert rows == [(1, '5" disc', "2"), (2, "line\nend", "3"), (4, "'30\"'", "5"), (5, "c", "x")]
    assert [reject.where for reject in rejects] == [5]


def test_a_quotation_mark_within_a_field_stops_no_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_service.readers.csv_reader._BLOCK_BYTES", 40)
    lines = [f'{n},{n}" disc,"a\nb"' if n == 1 else f"{n},x{n},c" for n in range(50)]
    source = open_source(write(tmp_path, "id,name,text\n" + "\n".join(lines) + "\n"))
    assert [block.batch.num_rows for block in source.read_blocks(("id",))].count(0) == 0
    assert len(list(source.read_blocks(("id",)))) > 5


def test_a_line_end_in_a_field_after_another_mark_ends_no_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.readers.csv_reader._BLOCK_BYTES", 33)
    path = write(tmp_path, 'id,name\n1,5" disc\n2,"several\nlines\nof text"\n3,12",\n'.replace('",\n', '"\n'))
    rows = [(1, '5" disc'), (2, "several\nlines\nof text"), (3, '12"')]
    assert read_rows(path) == (rows, [])


def test_escaped_quotation_marks_do_not_move_the_end_of_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.readers.csv_reader._BLOCK_BYTES", 64)
    values = [(n, 'a"b\nc' if n % 3 else "back\\slash\\") for n in range(60)]
    quoted = [(n, text.replace("\\", "\\\\").replace('"', '\\"')) for n, text in values]
    path = write(tmp_path, "id,name\n" + "".join(f'{n},"{text}"\n' for n, text in quoted))
    assert read_rows(path) == (values, [])


def test_a_quotation_mark_inside_a_field_is_a_character(tmp_path: Path) -> None:
    rows, rejects = read_rows(write(tmp_path, 'id\tt\n1\t5" mirror\n2\tb\n3\tc\td\n4\t"e\nf"\n5\tg\th\n', "t.tsv"))
    assert rows == [(1, '5" mirror'), (2, "b"), (4, "e\nf")]
    assert [reject.where for reject in rejects] == [4, 7]


@pytest.mark.parametrize(("name", "text"), [("t.csv", '1,"5\\" mirror"\n'), ("t.tsv", '1\t5" mirror\n')])
def test_long_texts_are_cut_at_row_ends_whatever_quotation_marks_they_have(
    tmp_path: Path, name: str, text: str
) -> None:
    mark = text[1]
    rest = f"2{mark}{'a' * 1000}\n" * 70_000 + f'3{mark}"b\nc"\n'
    rows, rejects = read_rows(write(tmp_path, f"id{mark}t\n{text}{rest}", name))
    assert (len(rows), rows[0], rows[-1], rejects) == (70_002, (1, '5" mirror'), (3, "b\nc"), [])
