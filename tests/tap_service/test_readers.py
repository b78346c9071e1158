"""Every format returns what astropy or pyarrow wrote: values, NULLs, units, descriptions."""

from __future__ import annotations

import base64
import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits, votable
from astropy.table import MaskedColumn, Table

from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from clickhouse_schema.schema_model import Table as Model
from loaders.pipeline.describe_file import describe_source
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import RejectedRow


def read(path: Path) -> tuple[list[dict[str, Any]], list[RejectedRow]]:
    """Return the good rows as they go into a table made for the file, and the bad ones."""
    source = open_source(path)
    schema, _ = read_schema(document_to_yaml(describe_source(source, "tests", "t")), str(path))
    conformer = Conformer(schema.tables[0], source)
    rows: list[dict[str, Any]] = []
    errors: list[RejectedRow] = []
    fraction = 0.0
    for piece in source.read_blocks(conformer.source_names):
        assert fraction <= piece.fraction <= 1
        fraction = piece.fraction
        batch, bad = conformer.conform_block(piece)
        batch.validate(full=True)
        rows += batch.to_pylist()
        errors += bad
    return rows, errors


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_uuids_and_json_are_texts_of_their_xtypes(name: str, tmp_path: Path) -> None:
    """Arrow's canonical extension types, Parquet's logical types."""
    uuids = [bytes(range(16)), None, bytes(16)]
    documents = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": "β"}', None, "[]"]))
    written = pa.table({"u": pa.array(uuids, pa.uuid()), "j": documents})
    path = tmp_path / name
    if name == "t.parquet":
        pq.write_table(written, path)
    else:
        with pa.ipc.new_file(path, written.schema) as file:
            file.write(written)
    [table] = describe_source(open_source(path), "s", "t")["tables"]
    assert [column["votable:xtype"] for column in table["columns"]] == ["uuid", "json"]
    rows, errors = read(path)
    assert errors == []
    assert [row["u"] for row in rows] == [
        "00010203-0405-0607-0809-0a0b0c0d0e0f",
        None,
        "00000000-0000-0000-0000-000000000000",
    ]
    assert [row["j"] for row in rows] == ['{"a": "β"}', None, "[]"]


ROWS = [
    {"i": 1, "s": -5, "l": 2**62, "f": 1.5, "d": 0.1, "b": True, "t": "NGC 1", "u": 7},
    {"i": None, "s": 300, "l": -1, "f": -2.25, "d": 1e300, "b": False, "t": 'a "quoted", <x> & y', "u": 255},
    {"i": 3, "s": 0, "l": 0, "f": None, "d": None, "b": True, "t": "last", "u": 0},
]


def table() -> Table:
    """Return ``ROWS`` as an astropy table, with metadata."""

    def column(name: str, dtype: str, fill: Any) -> MaskedColumn:
        values = [fill if row[name] is None else row[name] for row in ROWS]
        return MaskedColumn(np.array(values, dtype), mask=[row[name] is None for row in ROWS], name=name)

    columns = [
        column("i", "i4", -99),
        column("s", "i2", 0),
        column("l", "i8", 0),
        column("f", "f4", np.nan),
        column("d", "f8", np.nan),
        column("b", "bool", False),
        column("t", "U20", ""),
        column("u", "u1", 0),
    ]
    made = Table(columns)
    made["d"].unit = "deg"
    made["d"].description = "a distance"
    made["d"].meta["ucd"] = "pos.angDistance"
    return made


def write_votable(path: Path, form: str) -> None:
    document = votable.from_table(table())
    made = document.get_first_table()
    made.format = form
    made.get_field_by_id("i").values.null = -99
    document.to_xml(str(path))


def write_fits(path: Path) -> None:
    made = table()
    made["i"].fill_value = -99
    hdu = fits.table_to_hdu(made)
    hdu.header["TUCD5"] = "pos.angDistance"
    hdu.header["TCOMM5"] = "a distance"
    fits.HDUList([fits.PrimaryHDU(np.zeros((3, 1000))), hdu]).writeto(path)


WRITERS = {
    "tabledata.vot": lambda path: write_votable(path, "tabledata"),
    "binary.vot": lambda path: write_votable(path, "binary"),
    "binary2.vot": lambda path: write_votable(path, "binary2"),
    "t.fits": write_fits,
    "t.fits.gz": write_fits,
    "t.ecsv": lambda path: table().write(path, format="ascii.ecsv"),
    "comma.ecsv": lambda path: table().write(path, format="ascii.ecsv", delimiter=","),
}


@pytest.mark.parametrize("name", WRITERS)
def test_values_and_metadata(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    rows, errors = read(path)
    assert errors == []
    assert rows == ROWS
    field = {field.name: field for field in open_source(path).fields}["d"]
    assert (field.unit, field.description, field.ucd) == ("deg", "a distance", "pos.angDistance")


@pytest.mark.parametrize("name", ["tabledata.vot", "binary2.vot", "t.ecsv"])
def test_gzip(name: str, tmp_path: Path) -> None:
    plain = tmp_path / name
    WRITERS[name](plain)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read(packed) == (ROWS, [])
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(ReadError, match=r"\.gz is broken"):
        read(packed)


def test_votable_with_fits_inside(tmp_path: Path) -> None:
    write_fits(tmp_path / "t.fits")
    fields = "".join(
        f'<FIELD name="{name}" datatype="{kind}"/>'
        for name, kind in zip("isefdb", ["int", "short", "long", "float", "double", "boolean"], strict=True)
    )
    inside = base64.encodebytes((tmp_path / "t.fits").read_bytes()).decode()
    document = (
        f'<VOTABLE version="1.4"><RESOURCE><TABLE>{fields}<FIELD name="t" datatype="char" arraysize="*"/>'
        f'<FIELD name="u" datatype="unsignedByte"/><DATA><FITS><STREAM encoding="base64">{inside}</STREAM></FITS></DATA>'
        "</TABLE></RESOURCE></VOTABLE>"
    )
    path = tmp_path / "t.vot"
    path.write_text(document)
    rows, errors = read(path)
    assert errors == []
    assert [list(row.values()) for row in rows] == [list(row.values()) for row in ROWS]


def test_fits_integers_without_a_type_of_their_own(tmp_path: Path) -> None:
    names = {"i1": [-128, 127], "u2": [0, 65535], "u4": [0, 2**32 - 1], "u8": [5, 2**63 + 1]}
    columns = [
        fits.Column("i1", "B", bzero=-128, array=np.array(names["i1"], "i1")),
        fits.Column("u2", "I", bzero=2**15, array=np.array(names["u2"], "u2")),
        fits.Column("u4", "J", bzero=2**31, array=np.array(names["u4"], "u4")),
        fits.Column("u8", "K", bzero=2**63, array=np.array(names["u8"], "u8")),
        fits.Column("scaled", "I", array=np.array([2, -1], "i2")),
    ]
    hdu = fits.BinTableHDU.from_columns(columns)
    hdu.header["TSCAL5"], hdu.header["TZERO5"] = 0.5, 10
    hdu.writeto(tmp_path / "t.fits")
    rows, errors = read(tmp_path / "t.fits")
    assert rows == [{"i1": -128, "u2": 0, "u4": 0, "u8": 5, "scaled": 11.0}]
    assert [(error.where, error.column, error.value) for error in errors] == [(2, "u8", str(2**63 + 1))]


@pytest.mark.parametrize("name", ["t.fits", "t.fits.gz"])
def test_fits_arrays_bits_and_strings(name: str, tmp_path: Path) -> None:
    columns = [
        fits.Column("fixed", "3E", array=np.arange(6, dtype="f4").reshape(2, 3)),
        fits.Column("bits", "10X", array=np.array([[True] + [False] * 9, [False] * 9 + [True]])),
        fits.Column("varying", "PD()", array=np.array([np.array([1.0]), np.array([2.0, 3.0])], dtype=object)),
        fits.Column("long_ones", "QJ()", array=np.array([np.array([], "i4"), np.array([7, -8], "i4")], dtype=object)),
        fits.Column("text", "6A", array=np.array(["a b", "  c"])),
        fits.Column("none", "0J"),
    ]
    fits.BinTableHDU.from_columns(columns).writeto(tmp_path / name)
    source = open_source(tmp_path / name)
    assert source.notes == ("column none is left out: it has no values",)
    wanted = tuple(field.name for field in source.fields)
    rows = [row for piece in source.read_blocks(wanted) for row in piece.batch.to_pylist()]
    assert rows == [
        {"fixed": [0, 1, 2], "bits": [True] + [False] * 9, "varying": [1.0], "long_ones": [], "text": b"a b"},
        {"fixed": [3, 4, 5], "bits": [False] * 9 + [True], "varying": [2.0, 3.0], "long_ones": [7, -8], "text": b"  c"},
    ]


def test_fits_that_breaks_off(tmp_path: Path) -> None:
    write_fits(tmp_path / "t.fits")
    whole = (tmp_path / "t.fits").read_bytes()
    (tmp_path / "t.fits").write_bytes(whole[: -2880 + 60])
    with pytest.raises(ReadError, match="ends in row 2 of 3"):
        read(tmp_path / "t.fits")


ARRAYS = """<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>
<DESCRIPTION>Some
arrays</DESCRIPTION>
<FIELD name="a" datatype="int" arraysize="2"/><FIELD name="v" datatype="double" arraysize="*"/>
<FIELD name="time" datatype="char" arraysize="*" xtype="timestamp"/><FIELD name="flag" datatype="boolean"/>
<FIELD name="n" datatype="short"><VALUES null="-1"/></FIELD><FIELD name="wide" datatype="unicodeChar" arraysize="*"/>
<DATA><TABLEDATA>
<TR><TD>1 2</TD><TD>1.5 NaN</TD><TD>2020-01-02T03:04:05Z</TD><TD>T</TD><TD>-1</TD><TD>é&lt;<![CDATA[&]]></TD></TR>
<TR><TD>3 4</TD><TD/><TD>2020-01-02</TD><TD>?</TD><TD>7</TD><TD></TD></TR>
<TR><TD>3 4 5</TD><TD/><TD/><TD/><TD/><TD/></TR>
<TR><TD>3 4</TD></TR>
<TR><TD>5 6</TD><TD/><TD/><TD>yes</TD><TD>x</TD><TD/></TR>
</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"""


def test_votable_arrays_times_and_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.xml"
    path.write_text(ARRAYS)
    rows, errors = read(path)
    assert repr(rows[0]["v"]) == "[1.5, nan]"
    del rows[0]["v"]
    moment = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert rows == [
        {"a": [1, 2], "time": moment, "flag": True, "n": None, "wide": "é<&"},
        {"a": [3, 4], "v": [], "time": datetime(2020, 1, 2, tzinfo=UTC), "flag": None, "n": 7, "wide": None},
    ]
    assert [(error.where, error.column) for error in errors] == [(3, "a"), (4, ""), (5, "flag")]
    assert open_source(path).description == "Some arrays"


@pytest.mark.parametrize("form", ["binary", "binary2"])
def test_votable_binary_arrays(form: str, tmp_path: Path) -> None:
    (tmp_path / "t.xml").write_text(ARRAYS[: ARRAYS.index("<TR><TD>3 4 5")] + ARRAYS[ARRAYS.index("</TABLEDATA>") :])
    expected, _ = read(tmp_path / "t.xml")
    document = votable.parse(str(tmp_path / "t.xml"))
    document.get_first_table().format = form
    document.to_xml(str(tmp_path / "b.xml"))
    rows, errors = read(tmp_path / "b.xml")
    assert errors == []
    if form == "binary2":  # which distinguishes an empty text from NULL
        assert rows[-1]["wide"] == ""
        rows[-1]["wide"] = None
    assert repr(rows) == repr(expected)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ('<!DOCTYPE x [<!ENTITY e "y">]><VOTABLE/>', "line 1: the VOTable has a DOCTYPE"),
        ("<VOTABLE><RESOURCE>", "not well-formed XML"),
        ("<VOTABLE>" + "<RESOURCE>" * 70, "deeper than 64"),
        ("<html/>", "an unknown format|starts with the element html"),
        ("<VOTABLE><RESOURCE/></VOTABLE>", "no TABLE with FIELDs"),
        (
            '<VOTABLE><RESOURCE><TABLE><FIELD name="a" datatype="int"/><DATA><BINARY><STREAM href="file:///etc/passwd"/>'
            "</BINARY></DATA></TABLE></RESOURCE></VOTABLE>",
            "another file",
        ),
        (
            '<VOTABLE><RESOURCE><TABLE><FIELD name="a" datatype="int"/><DATA><BINARY><STREAM encoding="base64">AAAAAQA='
            "</STREAM></BINARY></DATA></TABLE></RESOURCE></VOTABLE>",
            "ends inside row 2",
        ),
    ],
)
def test_votables_that_are_refused(document: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.vot"
    path.write_text(document)
    with pytest.raises(ReadError, match=said):
        read(path)


def test_parquet_with_a_votable_in_its_footer(tmp_path: Path) -> None:
    footer = (
        '<VOTABLE version="1.4"><RESOURCE><TABLE><DESCRIPTION>Stars</DESCRIPTION><FIELD name="ra" datatype="double" unit="deg"'
        ' ucd="pos.eq.ra;meta.main"><DESCRIPTION>right ascension</DESCRIPTION></FIELD><FIELD name="p" datatype="double"'
        ' arraysize="2" xtype="point"/></TABLE></RESOURCE></VOTABLE>'
    )
    made = pa.table(
        {
            "ra": [1.5, float("nan")],
            "p": [[1.0, 2.0], None],
            "t": pa.array(["x", None]),
            "n": pa.array([1, 2], pa.uint16()),
        }
    )
    made = made.replace_schema_metadata({"IVOA.VOTable-Parquet.version": "1.0", "IVOA.VOTable-Parquet.content": footer})
    pq.write_table(made, tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    assert source.description == "Stars"
    assert [(field.name, field.type.adql, field.unit, field.ucd, field.description) for field in source.fields] == [
        ("ra", "DOUBLE", "deg", "pos.eq.ra;meta.main", "right ascension"),
        ("p", "POINT", "", "", ""),
        ("t", "CHAR", "", "", ""),
        ("n", "INTEGER", "", "", ""),
    ]
    rows, _ = read(tmp_path / "t.parquet")
    assert repr(rows) == "[{'ra': 1.5, 'p': [1.0, 2.0], 't': 'x', 'n': 1}, {'ra': nan, 'p': [], 't': None, 'n': 2}]"


def test_parquet_types_without_counterpart(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "s": [{"x": 1}]}), tmp_path / "t.parquet")
    with pytest.raises(ReadError, match=r"columns that cannot be loaded \(s: the type struct"):
        read(tmp_path / "t.parquet")


CSV = b'''# made by hand

name,ra,n,"odd, name",when
"two
lines",1.5,1,x,2020-01-02T03:04:05
,nan,+2,"",2020-01-02

a,b,3,c,
too,few
"say ""hi""",1D2,4, padded ,
\xff,1,5,x,
z,1,6,7,8,9
end,,,,
'''


def test_csv_with_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(CSV)
    source = open_source(path)
    assert [field.name for field in source.fields] == ["name", "ra", "n", "odd, name", "when"]
    kinds = [("name", "unicode"), ("ra", "double"), ("n", "int"), ("odd, name", "unicode"), ("when", "timestamp")]
    model = Model(name="t", columns=tuple({"name": name, "datatype": kind} for name, kind in kinds))
    conformer = Conformer(model, source)
    rows, errors = [], []
    for piece in source.read_blocks(conformer.source_names):
        batch, bad = conformer.conform_block(piece)
        rows += [list(row.values()) for row in batch.to_pylist()]
        errors += bad
    assert repr(rows[1][1]) == "nan"
    rows[1][1] = None
    assert rows == [
        ["two\nlines", 1.5, 1, "x", datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)],
        [None, None, 2, "", datetime(2020, 1, 2, tzinfo=UTC)],
        ['say "hi"', 100.0, 4, " padded ", None],
        ["end", None, None, None, None],
    ]
    assert [(error.where, error.column, error.value) for error in errors] == [
        (8, "ra", "b"),
        (9, "", "too,few"),
        (11, "name", "\\xff"),
        (12, "", "z,1,6,7,8,9"),
    ]


def test_csv_types_are_guessed(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tb\tc\td\te\n1\t1.5\tx,y\ttrue\t2020-01-01\n\t\t\t\t\n")
    source = open_source(tmp_path / "t.tsv")
    assert [field.type.adql for field in source.fields] == ["BIGINT", "DOUBLE", "CHAR", "BOOLEAN", "TIMESTAMP"]


def test_csv_rows_keep_their_lines_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_service.readers.csv_reader._BLOCK_BYTES", 100)
    lines = [f'{number},"a\nb{number}"' if number % 3 == 0 else f"{number},b" for number in range(200)]
    lines[150] = "bad"
    (tmp_path / "t.csv").write_text("n,t\n" + "\n".join(lines))
    rows, errors = read(tmp_path / "t.csv")
    assert [row["n"] for row in rows] == [number for number in range(200) if number != 150]
    assert rows[9]["t"] == "a\nb9"
    assert [(error.where, error.value) for error in errors] == [(2 + 150 + 50, "bad")]


def test_csv_with_a_quote_that_never_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_service.readers.csv_reader._BLOCK_BYTES", 100)
    monkeypatch.setattr("tap_service.readers.csv_reader.MAX_ROW_BYTES", 1000)
    (tmp_path / "t.csv").write_text('n,t\n1,x\n2,"open\n' + "3,y\n" * 1000)
    with pytest.raises(ReadError, match="a quotation mark opened in or after line"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.dat", b"1 2 3", "an unknown format; supported formats are Parquet"),
        ("t.csv", b"", "is empty"),
        ("t.csv", b",,\n1,2,3\n", "there is no name in line 1"),
        ("t.csv", b"a,b\r1,2\r", "its lines end with carriage returns only"),
        ("t.csv", b"1,2.5\n3,4\n", "line 1 .* looks like a row"),
        ("t.parquet", b"PAR1 and no more", "cannot be read as Parquet"),
        ("t.ecsv", b"# %ECSV 1.0\n# ---\n# {a: [}\n", "the ECSV header is broken"),
        ("t.fits", b"SIMPLE  =                    T" + b" " * 50 + b"END" + b" " * 2797, "no binary table"),
    ],
)
def test_files_that_are_no_tables(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReadError, match=said):
        read(tmp_path / name)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"none\.fits cannot be read: No such file"):
        open_source(tmp_path / "none.fits")
