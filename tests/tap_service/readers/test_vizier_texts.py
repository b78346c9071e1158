"""VizieR's texts: comments with formats and UCDs, then names, units, dashes, rows; several tables in an output."""

from __future__ import annotations

from pathlib import Path

import pytest

from tap_service.models.read_options import ReadOptions
from tap_service.readers.file_formats import open_source, open_upload
from tap_service.readers.read_error import ReadError
from tap_service.readers.vizier_header import is_vizier_start
from tests.tap_service.readers.text_rows import list_reasons, list_types, read_rows

OUTPUT = """#
#   VizieR Astronomical Server vizier.example.org
#INFO	-out.max=50

#RESOURCE=yCat_1239
#Name: I/239
#Title: Two catalogues
#Table	I_239_none:
#Name: I/239/none
#Column	HIP	(I6)	Identifier	[ucd=meta.id;meta.main]

#Table	I_239_main:
#Name: I/239/main
#Title: The main catalogue\\vizContent{timeSerie}
#Column	_RAJ2000	(F10.6)	Right ascension (FK5)	[ucd=pos.eq.ra;meta.main]
#Column	_DEJ2000	(F10.6)	Declination (FK5)	[ucd=pos.eq.dec;meta.main]
#Column	HIP	(I6)	Identifier (H1)	[ucd=meta.id;meta.main]
#Column	ID	(I19)	? Identifier of a survey
#Column	Vmag	(F5.2)	?=99.99 Magnitude (H5)	[ucd=phot.mag;em.opt.V]
#Column	Name	(A16)	? Name
_RAJ2000	_DEJ2000	HIP	ID	Vmag	Name
deg	deg	 	 	mag	"h:m:s"
----------	----------	------	-------------------	-----	----------------
  0.000899	  1.089009	     1	1237648720693755918	 9.10	"quoted
  0.004265	-19.498840	     2	                   	99.990	 
  0.005000	 38.859279	     3
  0.008629	-51.893546	     4	 -1	 8.06	x y

#Table	I_239_tyc:
#Name: I/239/tyc
#Column	TYC	(A12)	TYC1-3
TYC
 
------------
   1    13 1
 
  99     2 1

#END#
"""

ROWS = [
    {"_RAJ2000": 0.000899, "_DEJ2000": 1.089009, "HIP": 1, "ID": 1237648720693755918, "Vmag": 9.1, "Name": '"quoted'},
    {"_RAJ2000": 0.004265, "_DEJ2000": -19.49884, "HIP": 2, "ID": None, "Vmag": None, "Name": None},
    {"_RAJ2000": 0.008629, "_DEJ2000": -51.893546, "HIP": 4, "ID": -1, "Vmag": 8.06, "Name": "x y"},
]

BARE = "a\tb\tc\tn\nkm/s\t\tmag\t\n-----\t---\t---\t---\n  1\t 007\t2.5\t \n+2\t8\t-1e2\t \n"


def write(folder: Path, text: str = OUTPUT, name: str = "asu.tsv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_first_table_with_rows_is_read(tmp_path: Path) -> None:
    path = write(tmp_path)
    rows, rejects = read_rows(path)
    assert rows == ROWS
    assert list_reasons(rejects) == [(26, "has 3 fields for 6 columns")]
    note = "the table I/239/main is read; the file also has 1 (I/239/none), 3 (I/239/tyc)"
    assert open_source(path).notes == (note,)


def test_types_units_descriptions_and_ucds_are_read(tmp_path: Path) -> None:
    source = open_source(write(tmp_path))
    assert list(list_types(source).values()) == ["double", "double", "int", "long", "double", "unicodeChar"]
    assert [field.unit for field in source.fields] == ["deg", "deg", "", "", "mag", ""]
    assert [field.ucd for field in source.fields][3:] == ["", "phot.mag;em.opt.V", ""]
    assert [field.description for field in source.fields][3:] == [
        "Identifier of a survey",
        "Magnitude (H5)",
        "Name (h:m:s)",
    ]
    assert source.description == "The main catalogue"


@pytest.mark.parametrize("choice", ["3", "I/239/tyc", "I_239_tyc"])
def test_another_table_is_chosen_by_number_name_or_identifier(choice: str, tmp_path: Path) -> None:
    rows, _ = read_rows(write(tmp_path), ReadOptions(table=choice))
    assert rows == [{"TYC": "1    13 1"}, {"TYC": None}, {"TYC": "99     2 1"}]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("I/239/none", "the table I/239/none has no rows"),
        ("4", r"has no table '4'; it has 1 \(I/239/none\), 2 \(I/239/main\), 3 \(I/239/tyc\)"),
    ],
)
def test_a_missing_table_is_refused(choice: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=message):
        open_source(write(tmp_path), ReadOptions(table=choice))


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_units_and_dashes_are_recognised_without_comments(delimiter: str, tmp_path: Path) -> None:
    path = write(tmp_path, BARE.replace("\t", delimiter))
    source = open_source(path)
    assert [(field.name, field.unit) for field in source.fields] == [("a", "km/s"), ("b", ""), ("c", "mag"), ("n", "")]
    assert list_types(source) == {"a": "long", "b": "unicodeChar", "c": "double", "n": "unicodeChar"}
    assert read_rows(path) == (
        [{"a": 1, "b": "007", "c": 2.5, "n": None}, {"a": 2, "b": "8", "c": -100.0, "n": None}],
        [],
    )
    assert source.notes == ("no #Column lines describe a, b, c, n: their types are guessed from the first rows",)


@pytest.mark.parametrize(
    "text", ["a\tb\n1\t2\n3\t4\n", "a,b\nx,y\n-,-1\n", "# %ECSV 1.0\n", "#id\tra\n1\t2\n-\t3\n", "a\n\n---\n"]
)
def test_other_texts_are_not_taken_for_vizier(text: str) -> None:
    assert not is_vizier_start(text.encode())


def test_lines_after_an_empty_line_are_not_lost_silently(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="line 7 starts neither a table"):
        open_source(write(tmp_path, BARE + "\n5\t6\t7\t\n"))


def test_an_output_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="has no rows"):
        open_source(write(tmp_path, OUTPUT[: OUTPUT.index("#Table\tI_239_main")]))


def test_an_upload_as_tab_separated_values_is_recognised(tmp_path: Path) -> None:
    for content_type in ("", "text/plain", "text/tab-separated-values"):
        assert open_upload(write(tmp_path), content_type).fields[0].ucd == "pos.eq.ra;meta.main"


def test_a_line_with_other_fields_that_is_not_utf8_costs_one_row(tmp_path: Path) -> None:
    path = tmp_path / "bare.tsv"
    path.write_bytes(BARE.encode() + b"\xe9\t1\n4\t5\t6\t\n")
    rows, rejects = read_rows(path)
    assert [row["a"] for row in rows] == [1, 2, 4]
    assert list_reasons(rejects) == [(6, "has 2 fields for 4 columns")]


def test_lines_that_end_with_returns_are_read(tmp_path: Path) -> None:
    plain, returned = tmp_path / "plain.tsv", tmp_path / "returned.tsv"
    text = "a\tb\n \t \n-\t-\nx\ty\n\n#Table\tnext\na\tb\n \t \n-\t-\nz\t1\nw\t2\n"
    for table in ("1", "2"):
        plain.write_text(text)
        returned.write_bytes(text.replace("\n", "\r\n").encode())
        assert read_rows(returned, ReadOptions(table=table)) == read_rows(plain, ReadOptions(table=table))
    assert is_vizier_start(returned.read_bytes())
