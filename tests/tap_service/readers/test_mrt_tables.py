"""Machine-readable tables of the AAS journals: the header and the rows are one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tap_service.readers.file_formats import open_source, open_upload
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.text_rows import read_rows, read_with_astropy, read_with_stilts, to_words

RULE = "-" * 80
HEADER = f"""Title: Young stars
       in a cluster
Authors: Nobody A., Noone B.
Table: Positions
{"=" * 80}
Byte-by-byte Description of file: datafile3.txt
{RULE}
   Bytes Format Units  Label  Explanations
{RULE}
   1-  3 I3     ---    Index  Running number
   5-  6 I2     h      RAh    Hour of Right Ascension (J2000)
   8-  9 I2     min    RAm    Minute of Right Ascension (J2000)
  11- 14 F4.1   s      RAs    Second of Right Ascension (J2000)
      16 A1     ---    DE-    Sign of the Declination (J2000)
  17- 18 I2     deg    DEd    Degree of Declination (J2000)
  20- 21 I2     arcmin DEm    Arcminute of Declination (J2000)
  23- 26 F4.1   arcsec DEs    Arcsecond of Declination (J2000)
  28- 31 F4.2   mag    AK     ? Extinction (1)
  33- 40 A8     ---    Class  Class
{RULE}
Note (1): In the K band.
{RULE}
"""
ROWS = """\
  1 03 28 00.0 -00 06 00.0 1.35 YSO
 -2 23 59 57.6 +31 30 00.0      I*
"""


def write(folder: Path, rows: str = ROWS) -> Path:
    path = folder / "apj1t3_mrt.txt"
    path.write_text(HEADER + rows)
    return path


def test_rows_follow_the_last_line_of_dashes(tmp_path: Path) -> None:
    path = write(tmp_path)
    rows, rejects = read_rows(path)
    assert rejects == []
    assert [(row["Index"], row["AK"], row["Class"]) for row in rows] == [(1, 1.35, "YSO"), (-2, None, "I*")]
    assert [(row["ra"], row["dec"]) for row in rows] == [(52.0, -0.1), (359.99, 31.5)]


def test_title_units_and_notes_are_read(tmp_path: Path) -> None:
    source = open_source(write(tmp_path))
    assert source.description == "Young stars in a cluster. Positions"
    assert source.fields[8].description == "Extinction. In the K band."
    assert [field.unit for field in source.fields[:4]] == ["", "h", "min", "s"]


def test_astropy_and_stilts_read_the_same(tmp_path: Path) -> None:
    padded = "".join(
        f"{line.ljust(40)}\n" for line in ROWS.splitlines()
    )  # STILTS loses a last text that ends too early
    path = write(tmp_path, padded)
    rows = [{name: value for name, value in row.items() if name not in ("ra", "dec")} for row in read_rows(path)[0]]
    assert rows == read_with_astropy(path, format="ascii.mrt")
    assert to_words(rows) == read_with_stilts(path, "mrt")


def test_a_reject_has_the_line_of_the_file(tmp_path: Path) -> None:
    _, rejects = read_rows(write(tmp_path, ROWS + "  x 03 28 00.0 -00 06 00.0 1.35 YSO\n"))
    assert [(reject.where, reject.column, reject.value) for reject in rejects] == [
        (HEADER.count("\n") + 3, "Index", "x")
    ]


def test_a_header_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"describes tables and has no rows: load the files datafile3\.txt"):
        open_source(write(tmp_path, ""))


def test_an_upload_is_recognised_by_its_content(tmp_path: Path) -> None:
    for content_type in ("", "text/plain", "text/csv"):
        assert open_upload(write(tmp_path), content_type).fields[0].name == "Index"


def test_a_description_that_names_no_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mrt.txt"
    path.write_text((HEADER + ROWS).replace("of file: datafile3.txt", "of file"))
    with pytest.raises(ReadError, match="names no file"):
        open_source(path)
