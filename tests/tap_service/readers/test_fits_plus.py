"""The VOTable in front of the table of "fits-plus" files, and STIL's files that are stored by columns."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from clickhouse_schema.datatypes import ColumnType, CoordinateSystem, Field
from loaders.pipeline.describe_file import find_doubts
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tap_service.scratch_files import Budget, ScratchSpace
from tap_service.serializers import OK, ResultInfo
from tap_service.serializers.fits_serializer import Fits
from tests.tap_service.readers.raw_fits import Value, write_card, write_file, write_header, write_table
from tests.tap_service.readers.reading import read_rows

ICRS = CoordinateSystem("ICRS", "J2016.0")
SECOND = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)

DOCUMENT = """<VOTABLE version="1.4"><RESOURCE><COOSYS ID="s" system="ICRS" epoch="J2016.0"/>
<TABLE><DESCRIPTION>Stars</DESCRIPTION>
<FIELD name="ra" datatype="double" unit="deg" ucd="pos.eq.ra" ref="s"/>
<FIELD name="t" datatype="char" arraysize="*" xtype="timestamp"/>
<FIELD name="p" datatype="double" arraysize="2" xtype="point"/>
<DATA><TABLEDATA><TR><TD>10.5</TD><TD>2020-01-02T03:04:05</TD><TD>1 2</TD></TR>
<TR><TD/><TD/><TD>3 4</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"""


def write_with_stilts(folder: Path, form: str) -> Path:
    (folder / "t.vot").write_text(DOCUMENT)
    command = ["stilts", "tcopy", f"in={folder}/t.vot", f"out={folder}/t.fits", f"ofmt={form}"]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    return folder / "t.fits"


def write_after(path: Path, document: bytes, table: bytes) -> Path:
    """Write a table after a VOTable."""
    cards = [b"SIMPLE  =                    T", write_card("BITPIX", 8), write_card("NAXIS", 1)]
    cards += [write_card("NAXIS1", len(document)), b"VOTMETA =                    T"]
    path.write_bytes(write_header(cards) + document + b"\0" * (-len(document) % 2880) + table)
    return path


def write_described(path: Path, document: bytes) -> Path:
    """Write a table of an integer column ``n`` after a VOTable."""
    return write_after(path, document, write_table([{"TTYPE": "n", "TFORM": "J", "TUNIT": "m"}], b"\0\0\0\5"))


def describe(field: str) -> bytes:
    return f"<VOTABLE><RESOURCE><TABLE><FIELD {field}/></TABLE></RESOURCE></VOTABLE>".encode()


def test_the_votable_of_stilts_describes_the_columns(tmp_path: Path) -> None:
    path = write_with_stilts(tmp_path, "fits-plus")
    source = open_source(path)
    ra, time, point = source.fields
    assert (source.description, source.notes) == ("Stars", ())
    assert (ra.unit, ra.ucd, ra.coordinate_system) == ("deg", "pos.eq.ra", ICRS)
    assert (time.type.adql, point.type.adql) == ("TIMESTAMP", "POINT")
    assert read_rows(path) == ([(10.5, SECOND, [1.0, 2.0]), (None, None, [3.0, 4.0])], [])


def test_a_result_of_the_service_keeps_its_metadata(tmp_path: Path) -> None:
    fields = [
        Field("größe", ColumnType("double"), "m", "phys.size", "a:b", "how large"),
        Field("ra", ColumnType("double"), "deg", "pos.eq.ra", coordinate_system=ICRS),
        Field("t", ColumnType("char", "*", "timestamp")),
        Field("polygon", ColumnType("double", "*", "polygon")),
        Field("n", ColumnType("int", "*", null=-1)),
    ]
    arrays = [[1.5], [2.5], [SECOND], [[1.0, 1.0, 2.0, 1.0, 2.0, 2.0]], [[1, None, 3]]]
    columns = [pa.array(values, field.type.arrow) for field, values in zip(fields, arrays, strict=True)]
    serializer = Fits(fields, ResultInfo("SELECT 1"), ScratchSpace(tmp_path, Budget(1 << 20)))
    parts = [serializer.write_rows(pa.RecordBatch.from_arrays(columns, [field.name for field in fields]))]
    (tmp_path / "t.fits").write_bytes(b"".join([*parts, *serializer.write_footer(OK)]))
    found = open_source(tmp_path / "t.fits").fields
    assert [field.name for field in found] == ["größe", "ra", "t", "polygon", "n"]
    assert [field.type.adql for field in found] == [field.type.adql for field in fields]
    assert (found[0].unit, found[0].ucd, found[0].utype, found[0].description) == ("m", "phys.size", "a:b", "how large")
    assert found[1].coordinate_system == ICRS
    assert read_rows(tmp_path / "t.fits") == ([tuple(values[0] for values in arrays)], [])


@pytest.mark.parametrize(
    ("field", "unit", "type_"),
    [
        ('name="n" datatype="int" unit="km"', "km", "INTEGER"),
        ('name="n" datatype="int"', "m", "INTEGER"),
        ('name="n" datatype="double" unit="km"', "km", "INTEGER"),
        ('name="x" datatype="int" unit="km"', "m", "INTEGER"),
        ('name="n" datatype="strange" unit="km"', "m", "INTEGER"),
        ('name="n" datatype="int" arraysize="2" xtype="point" unit="km"', "km", "INTEGER"),
    ],
)
def test_the_data_have_priority_over_the_votable(tmp_path: Path, field: str, unit: str, type_: str) -> None:
    path = write_described(tmp_path / "t.fits", describe(field))
    [found] = open_source(path).fields
    assert (found.name, found.unit, found.type.adql) == ("n", unit, type_)
    assert read_rows(path) == ([(5,)], [])


@pytest.mark.parametrize("document", [b"<VOTABLE", b"<!DOCTYPE x><VOTABLE/>", b"\xff" * 50, b"<html/>"])
def test_a_broken_votable_is_reported_and_ignored(tmp_path: Path, document: bytes) -> None:
    path = write_described(tmp_path / "t.fits", document)
    [note] = open_source(path).notes
    assert note.startswith(f"the description of the columns in HDU 0 is ignored: {path} (HDU 0), line 1: the VOTable ")
    assert read_rows(path) == ([(5,)], [])


@pytest.mark.parametrize("document", [b"<VOTABLE/>", describe("name='n' datatype='int'").replace(b"FIELD", b"PARAM")])
def test_a_votable_without_columns_describes_nothing(tmp_path: Path, document: bytes) -> None:
    source = open_source(write_described(tmp_path / "t.fits", document))
    assert (source.fields[0].unit, source.notes) == ("m", ())


@pytest.mark.parametrize("form", ["colfits-plus", "colfits-basic"])
def test_a_file_that_is_stored_by_columns_is_refused(tmp_path: Path, form: str) -> None:
    path = write_with_stilts(tmp_path, form)
    with pytest.raises(ReadError, match=r"stores its table by columns \(colfits\): stilts tcopy with ofmt=fits"):
        open_source(path)


def test_a_row_of_arrays_is_not_a_whole_table(tmp_path: Path) -> None:
    table = write_table([{"TTYPE": "v", "TFORM": "4B", "TDIM": "(2,2)"}], b"\1\2\3\4")
    assert read_rows(write_file(tmp_path / "t.fits", table)) == ([([1, 2, 3, 4],)], [])


def test_a_time_that_is_not_a_text_is_a_reject(tmp_path: Path) -> None:
    path = write_with_stilts(tmp_path, "fits-plus")
    path.write_bytes(path.read_bytes().replace(b"2020-01-02T03", b"2020-01-02\xff03"))
    rows, rejects = read_rows(path)
    assert rows == [(None, None, [3.0, 4.0])]
    assert [(reject.where, reject.column) for reject in rejects] == [(1, "t")]


def test_an_array_of_ids_is_no_id(tmp_path: Path) -> None:
    columns: list[dict[str, Value]] = [{"TTYPE": "n", "TFORM": "2B", "TUCD": "meta.id;meta.main"}]
    assert read_rows(write_file(tmp_path / "t.fits", write_table(columns, b"\1\2"))) == ([([1, 2],)], [])


def test_times_that_are_cut_are_reported(tmp_path: Path) -> None:
    document = describe('name="t" datatype="char" arraysize="*" xtype="timestamp"')
    table = write_table([{"TTYPE": "t", "TFORM": "27A"}], b"2020-01-02T03:04:05.1234567")
    path = write_after(tmp_path / "t.fits", document, table)
    assert "column t has times that are cut to microseconds" in next(find_doubts(open_source(path)))
    assert read_rows(path) == ([(SECOND.replace(microsecond=123456),)], [])
