"""Tables of the CDS with their ReadMe: bytes, types, NULLs, notes; astropy reads the same values."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tap_service.models.read_options import ReadOptions
from tap_service.readers.cds_columns import parse_explanation
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.text_rows import list_reasons, list_types, read_rows, read_with_astropy

RULE = "-" * 80
README = f"""J/A+A/1/1           A small catalogue                        (Nobody+, 2001)
{"=" * 80}
A small catalogue of stars that
nobody has seen.
    Nobody A., Noone B.
   <Astron. Astrophys. 1, 1 (2001)>
{"=" * 80}
ADC_Keywords: Stars

File Summary:
{RULE}
 FileName   Lrecl  Records   Explanations
{RULE}
ReadMe         80        .   This file
table1.dat     46        3  *Positions and magnitudes
table2.dat     10        2   References
psc_*.dat      10        1   Points
{RULE}

Byte-by-byte Description of file: table1.dat
{RULE}
   Bytes Format Units   Label     Explanations
{RULE}
   1-  8  A8    ---     Name      Name of the star (1)
  10- 28  I19   ---     ID        ? Identifier in a survey
                                    of 1990 to 1999
  30- 34  F5.2  mag     Vmag      ?=99.99 Magnitude in V
  36- 38  I3    [-]     N         [0/360]?=-99 Number of observations (G1)
  40- 46  E7.1  10-3Jy  F        *?="" Flux
{RULE}
Note (1): As in the
     literature.
Note on F:
  Upper limits.
{RULE}

Byte-by-byte Description of file: table2.dat psc_*.dat
{RULE}
   Bytes Format Units   Label     Explanations
{RULE}
   1-  4  I4    yr      Year      + Year
   6- 10  A5    ---     Ref       ?=- Reference
{RULE}

Global notes:
Note (G1): Counted once.

{"=" * 80}
(End)                                   A. Nobody [CDS]    01-Jan-2001
"""

TABLE1 = """\
HD 1     1237648720693755918 12.34   7 1.5E-03
HD  22                       99.99 -99
é22             -9          -1.50 360 1.0D+02
"""

ROWS = [
    {"Name": "HD 1", "ID": 1237648720693755918, "Vmag": 12.34, "N": 7, "F": 1.5e-3},
    {"Name": "HD  22", "ID": None, "Vmag": None, "N": None, "F": None},
    {"Name": "é22", "ID": -9, "Vmag": -1.5, "N": 360, "F": 100.0},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ReadMe").write_text(README)
    (tmp_path / "table1.dat").write_text(TABLE1)
    (tmp_path / "table2.dat").write_text("1999 abcde\n2001 --\n")
    return tmp_path


def describe(folder: Path, *columns: str, rows: str = "") -> Path:
    """Write a ReadMe of some columns and a table."""
    head = "\n".join((RULE, "   Bytes Format Units   Label     Explanations", RULE))
    text = f"Byte-by-byte Description of file: t.dat\n{head}\n" + "\n".join(columns) + f"\n{RULE}\n"
    (folder / "ReadMe").write_text(text)
    path = folder / "t.dat"
    path.write_text(rows)
    return path


def test_values_and_nulls_follow_the_readme(folder: Path) -> None:
    assert read_rows(folder / "table1.dat") == (ROWS, [])


def test_types_units_and_descriptions_are_read(folder: Path) -> None:
    source = open_source(folder / "table1.dat")
    assert list_types(source) == {
        "Name": "unicodeChar",
        "ID": "long",
        "Vmag": "double",
        "N": "short",
        "F": "double",
    }
    assert [field.unit for field in source.fields] == ["", "", "mag", "[-]", "10-3Jy"]
    assert [field.description for field in source.fields] == [
        "Name of the star. As in the literature.",
        "Identifier in a survey of 1990 to 1999",
        "Magnitude in V",
        "[0/360] Number of observations. Counted once.",
        "Flux. Upper limits.",
    ]
    title = "A small catalogue of stars that nobody has seen. Positions and magnitudes"
    assert source.description == title
    assert source.notes == (f"the columns are as described by {folder / 'ReadMe'}",)


def test_a_readme_describes_several_files_also_by_wildcard_and_in_parts(folder: Path) -> None:
    rows = [{"Year": 1999, "Ref": "abcde"}, {"Year": 2001, "Ref": None}]
    for name in ("psc_aaa.dat", "table2.dat.00", "TABLE2.DAT"):
        (folder / name).write_bytes((folder / "table2.dat").read_bytes())
        assert read_rows(folder / name) == (rows, [])
    (folder / "psc_aab.dat.gz").write_bytes(gzip.compress((folder / "table2.dat").read_bytes()))
    assert read_rows(folder / "psc_aab.dat.gz") == (rows, [])


@pytest.mark.parametrize("lines", [2, 4])
def test_a_file_with_other_records_than_the_readme_lists_is_refused(folder: Path, lines: int) -> None:
    (folder / "table1.dat").write_text("".join((TABLE1 + TABLE1).splitlines(keepends=True)[:lines]))
    with pytest.raises(ReadError, match=rf"table1\.dat has {lines} rows, but .*ReadMe lists 3 records of it"):
        read_rows(folder / "table1.dat")


def test_astropy_reads_the_same(folder: Path) -> None:
    (folder / "table1.dat").write_text("".join(TABLE1.splitlines(keepends=True)[:2]))
    (folder / "ReadMe").write_text((folder / "ReadMe").read_text().replace("  3  *", "  2  *"))
    for name in ("table1.dat", "table2.dat"):
        path = folder / name
        assert read_rows(path)[0] == read_with_astropy(path, format="ascii.cds", readme=str(folder / "ReadMe"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0/24]?=-1 + Hours", ("[0/24] Hours", ("-1",), True)),
        ("]0/140[? Code", ("]0/140[ Code", (), True)),
        ("?Wave", ("Wave", (), True)),
        ("[]? Mean declination", ("Mean declination", (), True)),
        ("[Fe/H] metallicity", ("[Fe/H] metallicity", (), False)),
        ('?="" Flux', ("Flux", (), True)),
        ("?=0 - Stage", ("Stage", ("0",), True)),
        ("?=99.999; Flux", ("Flux", ("99.999",), True)),
        ("", ("", (), False)),
    ],
)
def test_marks_before_an_explanation_are_read(text: str, expected: tuple[str, tuple[str, ...], bool]) -> None:
    found = parse_explanation(text)
    assert (found.text, found.nulls, found.is_nullable) == expected


def test_the_readme_itself_is_refused_with_the_files_to_load(folder: Path) -> None:
    with pytest.raises(ReadError, match=r"load the files table1\.dat, table2\.dat, psc_\*\.dat next to it"):
        open_source(folder / "ReadMe")


def test_a_file_without_a_description_is_refused(folder: Path) -> None:
    (folder / "other.dat").write_text("1 2\n")
    with pytest.raises(ReadError, match=r"does not describe other\.dat; it describes table1\.dat, table2\.dat"):
        open_source(folder / "other.dat", ReadOptions(format="CDS"))
    (folder / "ReadMe").unlink()
    with pytest.raises(ReadError, match="there is no ReadMe next to it"):
        open_source(folder / "other.dat", ReadOptions(format="CDS"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            ["  1- 5  I5    ---     A   a", "  5- 6  I2    ---     B   b"],
            r"A \(line 5, bytes 1-5\) and B \(line 6, bytes 5-6",
        ),
        (["  5- 1  I5    ---     A   a"], "line 5 gives the bytes 5-1 to A"),
        (["  1-99999999 I5 ---  A   a"], "line 5 gives the bytes 1-99999999 to A"),
        (["  1- 5  I5"], "line 5 describes a column without its unit or its label"),
        (["  words"], "line 5 is not the description of a column: words"),
        (["  1- 5  Q5    ---     A   a"], "line 5 is not the description of a column"),
        ([], "has no columns"),
    ],
)
def test_a_readme_that_contradicts_itself_is_refused(columns: list[str], message: str, tmp_path: Path) -> None:
    path = describe(tmp_path, *columns, rows="  1  2\n")
    with pytest.raises(ReadError, match=message):
        open_source(path)


def test_a_description_that_does_not_end_is_refused(tmp_path: Path) -> None:
    path = describe(tmp_path, "  1- 5  I5    ---     A   a", rows="    1\n")
    text = (tmp_path / "ReadMe").read_text()
    (tmp_path / "ReadMe").write_text(text[: text.rindex("---")].rstrip("-\n"))
    with pytest.raises(ReadError, match="no line of dashes ends the columns"):
        open_source(path)


def test_rows_that_contradict_the_readme_are_rejected(tmp_path: Path) -> None:
    columns = ("  1- 3  I3    ---     A   a", "  6- 8  F3.1  ---     B   b", " 10-12  A3    ---     C   c")
    rows = "  1  2.5 abc\n  2  2.5 abcd\n  3\n 34567.5 abc\n 1.5 2.5\n\n  6  6.5\n"
    good, rejects = read_rows(describe(tmp_path, *columns, rows=rows))
    assert good == [{"A": 1, "B": 2.5, "C": "abc"}, {"A": 6, "B": 6.5, "C": None}]
    assert list_reasons(rejects) == [
        (2, "has text beyond byte 12, where the lines end according to the ReadMe"),
        (3, "has only 3 bytes; the column B starts at byte 6 according to the ReadMe"),
        (4, "has a number in A that extends beyond its column into byte 4"),
        (5, "does not fit the type SMALLINT"),
    ]


def test_equal_labels_get_numbers(tmp_path: Path) -> None:
    path = describe(tmp_path, "  1- 3  I3    ---     A   a", "  4- 6  I3    ---     A   b", rows="  1  2\n")
    assert read_rows(path) == ([{"A": 1, "A_2": 2}], [])
