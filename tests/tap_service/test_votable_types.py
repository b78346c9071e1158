"""Every datatype and arraysize of VOTable in every serialization, uploaded or loaded, selected, compared bit by bit.

TAP 1.1, section 2.7.6: "Table upload must support all valid VOTable content ... and round-trip all values".
"""

from __future__ import annotations

import base64
import io
import re
import struct
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import numpy as np
import pyarrow as pa
import pytest
from astropy.io import votable
from astropy.table import Table

from clickhouse_schema.datatypes import CIRCLE, MOC, POLYGON, REGION, TIMESTAMP, ColumnType, Field
from clickhouse_schema.schema_model import Table as StoredTable
from loaders.pipeline.describe_file import describe_source
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from tap_service.readers.file_formats import open_source
from tap_service.readers.sandboxed_reader import Request, answer_request
from tap_service.serializers import FORMATS
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.support.running_service import RunningService
from tests.support.stilts import read_output
from tests.support.write_document import write_document
from tests.tap_service.uploads.test_hostile_files import LIMITS
from tests.tap_service.uploads.test_query_uploads import ask
from tests.tap_service.votable_cells import Column, read, written

NAN, INF = float("nan"), float("inf")
SERIALIZATIONS = ("TABLEDATA", "BINARY", "BINARY2")

#: values of each datatype; four of them and NULL make the rows
ITEMS: dict[str, list[Any]] = {
    "boolean": [True, False, False, True],
    "bit": [True, False, True, True],
    "unsignedByte": [255, 0, 128, 1],
    "short": [-(2**15), 2**15 - 1, -1, 0],
    "int": [-(2**31), 2**31 - 1, -1, 0],
    "long": [-(2**63), 2**63 - 1, 2**53 + 1, 0],
    "float": [-0.0, struct.unpack(">f", b"\x00\x00\x00\x01")[0], -INF, 3.4028234663852886e38],
    "double": [-0.0, 5e-324, INF, -1.7976931348623157e308],
    "floatComplex": [complex(-0.0, 1.5), complex(INF, -0.0), complex(1.401298464324817e-45, 0.0), complex(-1.0, 2.0)],
    "doubleComplex": [complex(0.1, -0.0), complex(-INF, 5e-324), complex(3.0, -4.0), complex(-0.0, 0.0)],
}
#: arraysize -> the items that a row has
SIZES: dict[str, list[list[int]]] = {
    "3": [[0, 1, 2], [3, 3, 1], [2, 0, 0], [1, 2, 3]],
    "*": [[0], [1, 2, 3, 0], [3], [2, 2]],
    "9*": [[0, 1, 2, 3, 0, 1, 2, 3, 0], [1], [2, 3], [3]],
    "2x2": [[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 2, 2], [0, 0, 0, 3]],
    "2x*": [[0, 1], [1, 2, 3, 0], [3, 3, 2, 2, 1, 1], [0, 0]],
    "2x3*": [[0, 1], [1, 2, 3, 0], [3, 3, 2, 2, 1, 1], [0, 0]],
}
TEXTS = {
    ("char", ""): ["a", "~", "<", "&"],
    ("char", "5"): ["abcde", "ab", "a b", "'\"<&"],
    ("char", "*"): ["behind  ", " before", "-99", "two\nlines"],
    ("char", "9*"): ["NULL", "x", "NaN", "9 letters"],
    ("char", "3x2"): ["ab c  ", "abcdef", "   xyz", "x  y  "],
    ("char", "3x*"): ["abc", "ab c  d  ", "      abc", "x  "],
    ("char", "3x4*"): ["ab cde", "x  y  z  w  ", "abc", "a  "],
    ("unicodeChar", "5"): ["äβ", "abcde", "𝒜x𝄞", "\ufffd"],
    ("unicodeChar", "*"): ["β𝒜 ", "é", "\u2028", "😀😀"],
    ("unicodeChar", "9*"): ["é", "β ", "\u2028", "x"],
    ("unicodeChar", "3x2"): ["é  β  ", "𝒜x𝒜 ", "abcdef", "   abc"],
    ("unicodeChar", "3x*"): ["é  ", "𝒜xβ  ", "abcdef", "xyz"],
}
XTYPES = [
    Column("at", "char", "*", ("2000-01-01T12:00:00", "1900-01-02T00:00:00.000001", "2015-10-26T00:00:00", "2262-04-12T01:02:03.45"), "timestamp"),
    Column("p", "double", "2", ([0.0, -90.0], [359.99999999999994, 1e-10], [10.5, 20.25], [0.1, 0.2]), "point"),
    Column("pf", "float", "2", ([0.0, -90.0], [359.5, 0.25], [10.5, 20.25], [0.5, 1.0]), "point"),
    Column("c", "double", "3", ([10.0, 20.0, 1.5], [0.0, 90.0, 0.0], [1.0, 2.0, 180.0], [5.0, -5.0, 1e-9]), "circle"),
    Column("v", "double", "*", ([1.0, 2.0, 3.0, 2.0, 3.0, 4.0], [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0], [10.0, 10.0, 11.0, 10.0, 10.5, 11.0], [350.0, 0.0, 10.0, 0.0, 0.0, 9.0]), "polygon"),
    Column("i", "double", "2", ([-1.5, 2.5], [-INF, INF], [0.0, 0.0], [1.0, 2.0]), "interval"),
    Column("il", "long", "2", ([-1, 2], [0, 2**53 + 1], [3, 4], [5, 6]), "interval"),
    Column("m", "char", "*", ("0/1-3 5 2/", "29/0-4", "4/30-33 5/8", "0/0-11"), "moc"),
    Column("r", "char", "*", ("CIRCLE ICRS 10 20 0.5", "circle 10 20 0.5", "Polygon ICRS 10 20 11 20 11 21", "Union ICRS (Circle 1 2 3 Circle 40 5 6)"), "adql:REGION"),
    Column("rg", "double", "4", ([10.0, 11.0, 20.0, 21.0], [359.0, 1.0, -1.0, 1.0], [0.0, 360.0, -90.0, 90.0], [5.0, 5.0, 6.0, 6.0]), "range"),
    Column("mi", "double", "*", ([1.0, 3.0, 4.0, 5.0], [-INF, 0.0], [0.0, INF], [1.0, 1.0, 2.0, 2.0]), "multiinterval"),
    Column("mil", "long", "*", ([1, 3, 4, 5], [0, 2**53 + 1], [0, 0], [1, 1]), "multiinterval"),
    Column("sh", "char", "*", ("circle 12.3 45.6 0.5", "range 10.0 11.0 20.0 21.0", "polygon 10.0 10.0 10.2 10.0 10.2 10.2", "circle 1 2 3"), "shape"),
    Column("ms", "char", "*", ("circle 1 2 3 circle 10 20 1", "range 10 11 20 21", "polygon 1 1 2 1 2 2 range 359 1 -1 1", "circle 0 0 1"), "multishape"),
    Column("hms", "char", "*", ("12:34:56.7", "00:00:00", "24:00:00", "1:2:3"), "hms"),
    Column("dms", "char", "*", ("-12:34:56.7", "+90:00:00", "0:0:0.", "-0:0:59.99"), "dms"),
    Column("uri", "char", "*", ("ivo://a.b/c?d", "https://x/", "urn:a", "http://[::1]/%C3"), "uri"),
    Column("uuid", "char", "*", ("e0b895ca-2ee4-4f0f-b595-cbd83be40b04", "E0B895CA-2EE4-4F0F-B595-CBD83BE40B04", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"), "uuid"),
    Column("js", "unicodeChar", "*", ('{"a": [1, "β"]}', "[]", "1e400", "null"), "json"),
    Column("o", "char", "*", ("anything", "a", "b", "c"), "other"),
    Column("lost", "float", "4", ([1.0, 2.0, 3.0, 4.0],) * 4, "polygon-like"),
]  # fmt: skip


def table(serialization: str) -> list[Column]:
    """All columns, each with a row of NULL where the serialization has one."""
    columns = [Column("id", "int", "", (0, 1, 2, 3, 4))]
    for datatype, items in ITEMS.items():
        columns.append(_column(f"{datatype}_", datatype, "", items, serialization))
        for size, rows in SIZES.items():
            values: list[list[Any]] = [[items[index] for index in row] for row in rows]
            columns.append(_column(f"{datatype}_{size}", datatype, size, values, serialization))
            if datatype == "boolean":
                inside = [[None, *row[1:]] for row in values]
                columns.append(_column(f"{datatype}_{size}_null", datatype, size, inside, serialization))
            if datatype in ("unsignedByte", "short", "int", "long"):
                null = items[0]
                inside = [[None if item == null else item for item in row] for row in values]
                columns.append(_column(f"{datatype}_{size}_null", datatype, size, inside, serialization, null))
        if datatype in ("unsignedByte", "short", "int", "long"):
            columns.append(_column(f"{datatype}_null", datatype, "", [None, *items[1:]], serialization, items[0]))
    columns += [_column(f"{d}_{size}", d, size, values, serialization) for (d, size), values in TEXTS.items()]
    columns += [_column(c.name, c.datatype, c.arraysize, c.values, serialization, xtype=c.xtype) for c in XTYPES]
    return [Column("id", "int", "", (0, 1, 2, 3, 4)), *(c for c in columns[1:])]


def _column(
    name: str,
    datatype: str,
    arraysize: str,
    values: Sequence[Any],
    serialization: str,
    null: int | None = None,
    xtype: str = "",
) -> Column:
    column = Column(name.replace("*", "v").replace("x", "by"), datatype, arraysize, (), xtype, null)
    has_null = serialization != "BINARY" or column.is_text or column.size is None
    has_null |= datatype in ("boolean", "float", "double") and not arraysize
    has_null |= xtype in ("point", "circle", "range") or (null is not None and not arraysize)
    if datatype == "long" and column.size is not None and null is None:
        has_null = False  # for 64 bits, no number is left to represent NULL in the result
    last = None if has_null else values[0]
    return Column(column.name, datatype, arraysize, (*values, last), xtype, null)


def bits(value: Any) -> Any:
    """Return a value that equals only itself: all NaN are one value, and -0.0 differs from 0.0."""
    if isinstance(value, list):
        return [bits(item) for item in value]
    if isinstance(value, complex):
        return bits(value.real), bits(value.imag)
    return "nan" if value != value else struct.pack(">d", value) if isinstance(value, float) else value


def _without_flag(column: Column, value: Any) -> Any:
    """Return BINARY's form of a value: its replacement for NULL, except integers declared by VALUES."""
    if value is not None:
        return value
    nothing = column.nothing()
    whole = column.datatype in ("unsignedByte", "short", "int", "long")
    if column.datatype == "bit" or whole:
        return [None] * len(nothing) if column.is_list else None
    return nothing


def assert_same(columns: Sequence[Column], found: tuple[list[Column], list[list[Any]]], form: str) -> None:
    fields, rows = found
    assert [field.name for field in fields] == [column.name for column in columns]
    wrong = []
    for field, column, values in zip(fields, columns, zip(*rows, strict=True), strict=True):
        said = (field.datatype, field.arraysize.rstrip("*"), field.xtype)
        column = replace(column, arraysize="" if column.arraysize == "1" else column.arraysize)
        # bits come back as booleans; lengths of Unicode texts are not kept, and only TABLEDATA keeps the bound of
        # others
        meant = ("boolean" if column.datatype == "bit" else column.datatype, column.arraysize.rstrip("*"), column.xtype)
        loses_bound = column.datatype == "char" and column.arraysize.endswith("*") and form != "votable/td"
        if "x" not in column.arraysize and (column.datatype == "unicodeChar" or loses_bound):
            meant = (meant[0], "", meant[2])
        widened = form == "votable/b" and field.datatype in ("short", "int", "long")
        if said != meant and not (widened and said[1:] == meant[1:]):
            wrong.append((column.name, said, meant))
        expected = [_without_flag(column, value) if form == "votable/b" else value for value in column.values]
        if bits(list(values)) != bits(expected):
            wrong.append((column.name, values, expected))
    assert wrong == []


@pytest.mark.parametrize("serialization", SERIALIZATIONS)
def test_every_value_of_an_upload_comes_back(service: RunningService, serialization: str) -> None:
    columns = table(serialization)
    content = written(columns, serialization)
    for form in ("votable/b2", "votable/b", "votable/td") if serialization == "BINARY2" else ("votable/b2",):
        response = ask(service, "SELECT * FROM TAP_UPLOAD.t ORDER BY id", {"t": content}, RESPONSEFORMAT=form)
        assert response.status_code == 200, response.text
        assert_same(columns, read(response.content), form)


def test_every_value_that_is_loaded_comes_back(
    service: RunningService, svc_engine: EmbeddedEngine, tmp_path: Path
) -> None:
    """Load all three serializations into one table, which all formats can write."""
    loaded: list[Column] = []
    for number, serialization in enumerate(SERIALIZATIONS):
        columns = table(serialization)
        identifiers = tuple(5 * number + index for index in range(5))
        columns[0] = Column("id", "int", "", identifiers)
        path = tmp_path / f"{serialization}.vot"
        path.write_bytes(written(columns, serialization))
        mode = "append" if number else "create"
        load_files(
            svc_engine,
            LoadRequest(files=(path,), table="lt.types", rejects=tmp_path / "rejects.csv", max_errors=0, mode=mode),
            Recorder(),
        )
        loaded = [
            Column(c.name, c.datatype, c.arraysize, (*before, *c.values), c.xtype, c.null)
            for c, before in zip(columns, [c.values for c in loaded] or [()] * len(columns), strict=True)
        ]
    try:
        service.refresh()
        response = service.ask("SELECT * FROM lt.types ORDER BY id")
        assert response.status_code == 200, response.text
        assert_same(loaded, read(response.content), "votable/b2")
        for form in {entry.serializer: entry.mime for entry in FORMATS}.values():  # test_values checks their contents
            response = service.ask("SELECT * FROM lt.types", RESPONSEFORMAT=form)
            assert response.status_code == 200, response.text
    finally:
        drop_table(svc_engine, "lt.types", Recorder())


# --- written by others


def written_by_astropy(column: Column, serialization: str) -> bool:
    """Return whether astropy 7 can read it in BINARY and writes it as the standard requires.

    astropy has no arrays of strings, and no NULL in variable arrays of booleans; it uses another bit for NULL of a
    single boolean; it counts variable arrays of bits and of two axes, and Unicode beyond U+FFFF, in another way; and
    it writes 64 bits for each item of variable arrays.
    """
    if column.is_text:
        return "x" not in column.arraysize and max("".join(filter(None, column.values))) <= "\uffff"
    if column.size is not None:
        return (column.datatype, column.arraysize) != ("bit", "")
    if "x" in column.arraysize or column.datatype == "bit":
        return False
    if column.datatype == "boolean":
        return None not in [item for value in column.values for item in value or []]
    return serialization == "TABLEDATA" or column.datatype in ("long", "double", "floatComplex", "doubleComplex")


@pytest.mark.parametrize("serialization", SERIALIZATIONS)
def test_what_astropy_writes_comes_back(service: RunningService, serialization: str) -> None:
    columns = [column for column in table("BINARY") if written_by_astropy(column, serialization)]
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = votable.parse(io.BytesIO(written(columns, "BINARY")))
        document.to_xml(out, tabledata_format=serialization.lower())
    response = ask(service, "SELECT * FROM TAP_UPLOAD.t ORDER BY id", {"t": out.getvalue()})
    assert response.status_code == 200, response.text
    if serialization == "BINARY2":  # it reads a text without a value as an empty text, and flags it
        texts = {column.name for column in columns if column.is_text and column.xtype != "timestamp"}
        columns = [replace(c, values=tuple(v or "" for v in c.values)) if c.name in texts else c for c in columns]
    assert_same(columns, read(response.content), "votable/b2")


def read_by_stilts(column: Column) -> bool:
    """Return whether STILTS 3.4 can read and write it.

    STILTS cannot read single bits, counts variable arrays of bits and of complex numbers differently from the
    standard, and reads a surrogate pair in TABLEDATA as two unknown characters.
    """
    if column.is_text:
        return max("".join(filter(None, column.values))) <= "\uffff"
    if "Complex" in column.datatype:
        return column.size is not None
    return column.datatype != "bit" or column.arraysize in ("3", "2x2")


def as_kept(column: Column, value: Any, serialization: str) -> Any:
    """Return what an upload must make of a value in a file written by another program."""
    if not column.is_text:
        alone = value if isinstance(value, list) else [value]
        missing = all(item != item for item in alone) and (
            not column.arraysize or column.xtype in ("point", "circle", "range")
        )
        return None if missing or value == [] else value
    text = value or ""
    if "x" in column.arraysize:
        size, length = 2 if column.datatype == "unicodeChar" else 1, int(column.arraysize.split("x")[0])
        data = text.encode("utf-16-be" if size == 2 else "ascii")
        data = data.ljust((column.size or -(-len(data) // size // length) * length) * size, b"\0")
        pieces = [data[at : at + length * size] for at in range(0, len(data), length * size)]
        words = [piece.decode("utf-16-be" if size == 2 else "ascii").split("\0")[0] for piece in pieces]
        text = "".join(word.ljust(length) for word in words)
        return None if value is None or not (text.strip() or serialization == "BINARY2") else text
    return value if serialization == "BINARY2" else value or None


@pytest.mark.parametrize("serialization", SERIALIZATIONS)
def test_what_stilts_writes_comes_back(service: RunningService, serialization: str, tmp_path: Path) -> None:
    """It converts bits to booleans, complex numbers to pairs, and NULLs within arrays to values, as its files show."""
    given, copied = tmp_path / "given.vot", tmp_path / "copied.vot"
    given.write_bytes(written([column for column in table("BINARY2") if read_by_stilts(column)], "BINARY2"))
    form = f"votable(format={serialization},version=V14)"
    read_output("tcopy", f"in={given}", f"out={copied}", f"ofmt={form}")
    fields, rows = read(copied.read_bytes())
    columns = []
    for field, values in zip(fields, zip(*rows, strict=True), strict=True):
        kept = tuple(as_kept(field, value, serialization) for value in values)
        columns.append(replace(field, values=kept))
    assert len(columns) > 100
    response = ask(service, "SELECT * FROM TAP_UPLOAD.t ORDER BY id", {"t": copied.read_bytes()})
    assert response.status_code == 200, response.text
    assert_same(columns, read(response.content), "votable/b2")


# --- what queries may do with them


def told(response: httpx.Response) -> Any:
    """Return the rows, or the message."""
    if response.status_code != 200:
        return ElementTree.fromstring(response.content).findtext(".//{*}INFO")
    return read(response.content)[1]


def answer(service: RunningService, query: str, *columns: Column) -> Any:
    return told(ask(service, query, {"t": written(columns, "BINARY2")}))


def test_an_upload_keeps_texts_that_miss_the_form_of_their_xtype(service: RunningService) -> None:
    """DALI 1.2, section 3.3.19: services write the values that they read, without interpreting the xtype."""
    columns = [Column(xtype, "char", "*", ("not one", None), xtype) for xtype in ("hms", "dms", "uri", "uuid", "json")]
    response = ask(service, "SELECT * FROM TAP_UPLOAD.t", {"t": written(columns, "BINARY2")})
    assert_same(columns, read(response.content), "votable/b2")


def test_an_uploaded_footprint_is_a_region(service: RunningService) -> None:
    """The same holds for a value that comes from a result of ObsCore and goes into another upload."""
    texts = ("Polygon ICRS 10 20 11 20 11 21", "circle 40 5 1", None)
    footprints = Column("s_region", "char", "80", texts, "adql:REGION")
    identifiers = Column("id", "int", "", (1, 2, 3))
    query = "SELECT id FROM TAP_UPLOAD.t WHERE 1 = CONTAINS(POINT(40.5, 5), s_region)"
    assert answer(service, query, identifiers, footprints) == [[2]]
    response = ask(service, "SELECT * FROM TAP_UPLOAD.t", {"t": written([identifiers, footprints], "BINARY2")})
    again = ask(service, query, {"t": response.content})
    assert read(again.content)[1] == [[2]]
    broken = Column("s_region", "char", "*", (*texts[:2], "Circle ICRS 1 2"), "ADQL:Region")
    assert answer(service, query, identifiers, broken) == (
        "table t: row 3, column s_region: 'Circle ICRS 1 2' is not a valid REGION: 2 numbers instead of 3, in the Circle at "
        "character 1 of the region"
    )


def test_a_described_footprint_is_a_region(tmp_path: Path) -> None:
    (tmp_path / "t.vot").write_bytes(
        written(
            [Column("r", "char", "*", ("circle 1 2 3",), "adql:REGION"), Column("c", "floatComplex", "2", ([1j, 2j],))],
            "BINARY2",
        )
    )
    [table_] = describe_source(open_source(tmp_path / "t.vot"), "s", "t")["tables"]
    assert table_["columns"] == [
        {"name": "r", "datatype": "string", "votable:xtype": "adql:REGION"},
        {"name": "c", "datatype": "float", "votable:datatype": "floatComplex", "votable:arraysize": "2"},
    ]


COMPLEX = (
    Column("id", "int", "", (1, 2)),
    Column("c", "floatComplex", "", (complex(1.5, -2.0), None)),
    Column("v", "doubleComplex", "*", ([1 + 2j, 3 + 4j], None)),
    Column("flags", "boolean", "2", ([True, None], None)),
    Column("n", "short", "*", ([-99, None, 7], None), "", 5),
    Column("words", "char", "3x*", ("ab cde", None)),
)


@pytest.fixture(scope="module")
def complex_table(
    svc_engine: EmbeddedEngine, service: RunningService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    path = tmp_path_factory.mktemp("complex")
    (path / "t.vot").write_bytes(written(COMPLEX, "BINARY2"))
    load_files(
        svc_engine,
        LoadRequest(files=(path / "t.vot",), table="lt.complex", rejects=path / "rejects.csv", max_errors=0),
        Recorder(),
    )
    service.refresh()
    yield "lt.complex"
    drop_table(svc_engine, "lt.complex", Recorder())


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("c, v FROM lt.complex WHERE c IS NULL AND v IS NULL", [[None, None]]),
        ("c[1], c[2], v[4] FROM lt.complex WHERE c IS NOT NULL", [[1.5, -2.0, 4.0]]),
        ("n[1], n[2], n[3] + 1 FROM lt.complex WHERE id = 1", [[-99, None, 8]]),
        ("id FROM lt.complex WHERE flags[1] OR flags[2]", [[1]]),
        ("id FROM lt.complex WHERE words LIKE 'ab %'", [[1]]),
        (
            "u.c FROM lt.complex AS t LEFT JOIN lt.complex AS u ON t.id = u.id + 1 ORDER BY t.id",
            [[None], [1.5 - 2j]],
        ),
        ("c + 1 FROM lt.complex", "'+' takes a number; this is COMPLEX"),
        ("-c FROM lt.complex", "this is COMPLEX"),
        ("v * 2 FROM lt.complex", "this is COMPLEX[]"),
        ("SUM(c) FROM lt.complex", "takes a number; this is COMPLEX"),
        ("c FROM lt.complex WHERE c = 1", "COMPLEX"),
        ("DISTINCT c FROM lt.complex WHERE id = 1", [[1.5 - 2j]]),
    ],
)
@pytest.mark.usefixtures("complex_table")
def test_queries_of_complex_numbers_and_arrays(service: RunningService, select: str, expected: Any) -> None:
    found = told(service.ask(f"SELECT {select}"))
    if isinstance(expected, str):
        assert expected in found
        assert "c[1] is the real part" in found or "+" not in select
    else:
        assert found == expected


def test_char_beyond_ascii_is_read_as_it_was_meant(service: RunningService) -> None:
    """``char`` is ASCII by the standard: STILTS writes the low byte of a character, others write UTF-8."""
    document = written([Column("t", "char", "*", ("ab", "ae"))], "BINARY2")
    [stream] = re.findall(rb">([^<]+)</STREAM>", document)
    for text in ("é".encode(), "é".encode("latin-1")):
        rows = b"\0" + struct.pack(">I", len(text)) + text
        changed = document.replace(stream, base64.b64encode(rows))
        assert read(ask(service, "SELECT t FROM TAP_UPLOAD.t", {"t": changed}).content)[1] == [["é"]]


def test_timestamps_that_the_engine_has_not_stay_texts(service: RunningService) -> None:
    times = ("1654-05-04T12:00:00", "2000-01-01T00:00:00.1234567", "2015-10-26")
    column = Column("seen", "char", "*", times, "timestamp")
    assert answer(service, "SELECT seen FROM TAP_UPLOAD.t ORDER BY seen", column) == [[time] for time in times]


def test_nulls_within_whole_numbers_of_other_formats(service: RunningService) -> None:
    out = io.BytesIO()
    rows = pa.table({"v": [[1, None, 3], [2]]}, pa.schema([("v", pa.list_(pa.int16()))]))
    with pa.ipc.new_stream(out, rows.schema) as writer:
        writer.write_table(rows)
    response = ask(service, "SELECT v FROM TAP_UPLOAD.t ORDER BY v[1]", {"t": out.getvalue()})
    assert read(response.content)[1] == [[[1, None, 3]], [[2]]]


def test_complex_numbers_and_strings_in_fits(service: RunningService) -> None:
    """Integers of FITS, and of FITS within a VOTable."""
    table_ = Table(
        {
            "id": np.array([1, 2], np.int32),
            "c": np.array([1.5 - 2j, 0.1j], np.complex64),
            "m": np.array([[1 + 2j, 3 + 4j], [5j, 6]], np.complex128),
            "s": np.array([[b"ab", b"cde"], [b"x", b""]]),
        }
    )
    out = io.BytesIO()
    table_.write(out, format="fits")
    fields = "".join(
        f'<FIELD name="{name}" datatype="{datatype}" arraysize="{size}"/>'
        for name, datatype, size in (
            ("id", "int", "1"),
            ("c", "floatComplex", "1"),
            ("m", "doubleComplex", "2"),
            ("s", "char", "3x2"),
        )
    )
    stream = base64.b64encode(out.getvalue()).decode()
    document = (
        f'<VOTABLE version="1.4"><RESOURCE><TABLE>{fields}<DATA><FITS><STREAM encoding="base64">{stream}</STREAM></FITS>'
        "</DATA></TABLE></RESOURCE></VOTABLE>"
    )
    for content in (out.getvalue(), document.encode()):
        response = ask(service, "SELECT * FROM TAP_UPLOAD.t ORDER BY id", {"t": content})
        assert response.status_code == 200, response.text
        columns, rows = read(response.content)
        assert [(c.datatype, c.arraysize) for c in columns[1:]] == [
            ("floatComplex", ""),
            ("doubleComplex", "2"),
            ("char", "3x2"),
        ]
        assert rows == [[1, 1.5 - 2j, [1 + 2j, 3 + 4j], "ab cde"], [2, complex(0, np.float32(0.1)), [5j, 6], "x     "]]


@pytest.mark.parametrize("form", ["parquet", "arrow", "ecsv"])
def test_results_of_other_formats_can_be_uploaded(tmp_path: Path, form: str) -> None:
    """The types come from the descriptions that accompany the data: a footprint keeps its type."""
    kinds = [REGION, MOC, POLYGON, CIRCLE, TIMESTAMP, ColumnType("double", "2x3"), ColumnType("int", "2x*")]
    values: list[Any] = ["circle 1 2 3", "0/1", [1.0, 2.0, 3.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0]]
    values += [datetime(2015, 10, 26, tzinfo=UTC), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [1, 2, 3, 4]]
    if form != "ecsv":
        kinds += [ColumnType("floatComplex"), ColumnType("doubleComplex", "2"), ColumnType("char", "3x2")]
        values += [[1.5, -2.0], [1.0, 2.0, 3.0, 4.0], "ab c  "]
    fields = [Field(f"c{number}", kind) for number, kind in enumerate(kinds)]
    path = tmp_path / "result"
    path.write_bytes(write_document(form, fields, [[value, None] for value in values]))
    answer_ = answer_request(Request(str(path), str(tmp_path / "rows"), "t", "", LIMITS))
    assert answer_.error == ""
    found = StoredTable.model_validate_json(answer_.table).columns
    # arrays of variable axes are flat in ECSV
    expected = [replace(kind, arraysize="*") if form == "ecsv" and "2x*" in kind.arraysize else kind for kind in kinds]
    same = [(c.type.datatype.replace("unicodeChar", "char"), c.type.arraysize, c.type.xtype) for c in found]
    assert same == [(kind.datatype, kind.arraysize, kind.xtype) for kind in expected]
    rows = pa.ipc.open_stream((tmp_path / "rows").read_bytes()).read_all()
    assert [rows[field.name].to_pylist()[0] for field in fields] == values
