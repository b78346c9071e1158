"""The document around the rows, batch boundaries, and values read back by astropy."""

from __future__ import annotations

import io
import re
import string
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from astropy.io.votable import parse
from hypothesis import given, settings
from hypothesis import strategies as st

from clickhouse_schema.datatypes import (
    CHAR,
    DOUBLE,
    ICRS,
    INT,
    POINT,
    TIMESTAMP,
    UNICODE,
    ColumnType,
    CoordinateSystem,
    Field,
    TimeSystem,
)
from tap_service.serializers import FORMATS, ResultInfo, Status, overflow_status
from tap_service.serializers.votable_columns import field_ids

VOTABLES = ("votable/b2", "votable/b", "votable/td")
GAIA = CoordinateSystem("ICRS", "J2016.0", refposition="BARYCENTER")


def test_whole_document(write):
    field = Field("ra", DOUBLE, "deg", "pos.eq.ra;meta.main", "obscore:x", 'RA <ICRS> & "more"', coordinate_system=ICRS)
    info = ResultInfo(
        "SELECT ra\nFROM t -- <&>\x00",
        "Skyhouse",
        2000,
        ("Rounded.",),
        ("2000A&A...355L..27H", "Høg"),
        ("CC BY 4.0",),
        "skyhouse/1.0",
        "2026-01-31T12:00:00.000Z",
    )
    status = replace(overflow_status(1, "Raise MAXREC."), seconds=0.25)
    document = write("votable/td", [field], [[1.5]], info=info, status=status)
    assert document.decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">\n'
        '<RESOURCE type="results">\n'
        '<INFO name="QUERY_STATUS" value="OK"/>\n'
        '<INFO name="standardID" value="ivo://ivoa.net/std/TAP"/>\n'
        '<INFO name="service" value="Skyhouse"/>\n'
        '<INFO name="server_software" value="skyhouse/1.0"/>\n'
        '<INFO name="request_date" value="2026-01-31T12:00:00.000Z"/>\n'
        '<INFO name="QUERY" value="SELECT ra&#10;FROM t -- &lt;&amp;&gt;\ufffd"/>\n'
        '<INFO name="MAXREC" value="2000"/>\n'
        '<INFO name="citation" value="2000A&amp;A...355L..27H" ucd="meta.bib.bibcode"/>\n'
        '<INFO name="citation" value="Høg" ucd="meta.bib"/>\n'
        '<INFO name="rights" value="CC BY 4.0"/>\n'
        '<INFO name="note" value="Rounded."/>\n'
        '<COOSYS ID="coosys_1" system="ICRS"/>\n'
        "<TABLE>\n"
        '<FIELD ID="ra" name="ra" datatype="double" unit="deg" ucd="pos.eq.ra;meta.main" utype="obscore:x"'
        ' ref="coosys_1">'
        '<DESCRIPTION>RA &lt;ICRS&gt; &amp; "more"</DESCRIPTION></FIELD>\n'
        "<DATA><TABLEDATA>\n"
        "<TR><TD>1.5</TD></TR>\n"
        "</TABLEDATA></DATA>\n"
        "</TABLE>\n"
        '<INFO name="QUERY_STATUS" value="OVERFLOW">'
        "The result was cut at 1 row, the row limit of this request (MAXREC). Raise MAXREC.</INFO>\n"
        '<INFO name="execution_seconds" value="0.250" unit="s"/>\n'
        "</RESOURCE>\n"
        "</VOTABLE>\n"
    )


def test_frames_and_time_systems(write):
    gaia, mjd = TimeSystem("TCB", "BARYCENTER"), TimeSystem("UTC", "TOPOCENTER", "MJD-origin")
    fields = [
        Field("ra", DOUBLE, coordinate_system=GAIA),
        Field("coosys_2", DOUBLE, coordinate_system=GAIA),
        Field("l", DOUBLE, coordinate_system=CoordinateSystem("GALACTIC")),
        Field("timesys_1", TIMESTAMP, time_system=gaia),
        Field("mjd", DOUBLE, "d", time_system=mjd),
        Field("x", DOUBLE),
    ]
    votable = parse(io.BytesIO(write("votable;version=1.5", fields, [[]] * 6)))
    [resource] = votable.resources
    systems = [(s.ID, s.system, s.epoch, s.refposition) for s in resource.coordinate_systems]
    assert systems == [("coosys_1", "GALACTIC", None, None), ("coosys_2", "ICRS", "J2016.0", "BARYCENTER")]
    systems = [(s.ID, s.timescale, s.refposition, s.timeorigin) for s in resource.time_systems]
    assert systems == [
        ("timesys_1", "TCB", "BARYCENTER", None),
        ("timesys_2", "UTC", "TOPOCENTER", "MJD-origin"),
    ]
    refs = [field.ref for field in resource.tables[0].fields]
    assert refs == ["coosys_2", "coosys_2", "coosys_1", "timesys_1", "timesys_2", None]


def test_equal_columns_of_two_systems(write):
    """The cache of columns distinguishes columns that differ only in their systems."""
    documents = [
        write("votable", [Field("ra", DOUBLE, coordinate_system=system)], [[]]) for system in (GAIA, ICRS, None)
    ]
    assert [document.count(b'epoch="J2016.0"') for document in documents] == [1, 0, 0]
    assert [document.count(b"<COOSYS") for document in documents] == [1, 1, 0]


@pytest.mark.parametrize("responseformat", VOTABLES)
def test_result_without_rows_keeps_its_fields(write, responseformat):
    document = write(responseformat, [Field("a", INT), Field("p", POINT)], [[], []], status=overflow_status(0, ""))
    table = parse(io.BytesIO(document)).get_first_table()
    assert len(table.array) == 0
    assert [field.name for field in table.fields] == ["a", "p"]
    assert document.count(b'<INFO name="QUERY_STATUS" value="OK"/>') == 1
    assert document.index(b"</TABLE>") < document.index(b'<INFO name="QUERY_STATUS" value="OVERFLOW">')


@pytest.mark.parametrize("responseformat", VOTABLES)
def test_failure_in_mid_stream_is_reported_after_the_table(write, responseformat):
    document = write(responseformat, [Field("a", INT)], [[1]], status=Status("ERROR", "engine <gone>\x00"))
    votable = parse(io.BytesIO(document))
    infos = [(info.name, info.value, info.content) for info in votable.resources[0].infos]
    assert infos[0] == ("QUERY_STATUS", "OK", None)
    assert infos[-1] == ("QUERY_STATUS", "ERROR", "engine <gone>\ufffd")


def test_field_ids_are_unique_xml_names_and_no_other_columns_name():
    names = ["ra", "ra", "ra_2", "2mass", "b c", "b_c", "é", "-x", ""]
    assert field_ids(names) == ["ra", "ra_3", "ra_2", "_2mass", "b_c_2", "b_c", "_", "_-x", "__2"]


KINDS = [
    *(ColumnType(name) for name in ("boolean", "unsignedByte", "short", "int", "long", "float", "double")),
    *(CHAR, ColumnType("char", "6"), UNICODE, ColumnType("unicodeChar", "6"), TIMESTAMP, POINT),
    *(ColumnType(name, "*") for name in ("boolean", "short", "long", "float", "double")),
    *(ColumnType(name, "3") for name in ("boolean", "int", "float")),
]
RANGES = {"unsignedByte": (0, 254), "short": (-(2**15) + 1, 2**15 - 1), "int": (-(2**31) + 1, 2**31 - 1)}


def scalars(datatype: str) -> st.SearchStrategy[Any]:
    if datatype == "boolean":
        return st.booleans()
    if datatype in ("float", "double"):
        return st.floats(width=32 if datatype == "float" else 64, allow_nan=False)
    return st.integers(*RANGES.get(datatype, (-(2**63) + 1, 2**63 - 1)))


def _is_stripped(text: str) -> bool:
    return text == text.strip()


def values(kind: ColumnType) -> st.SearchStrategy[Any]:
    if kind.is_timestamp:
        return st.datetimes(datetime(1900, 1, 1), datetime(2299, 12, 31)).map(lambda moment: moment.replace(tzinfo=UTC))
    if kind.is_text:
        wide = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
        alphabet = wide if kind.datatype == "unicodeChar" else st.sampled_from(string.printable[:-5])
        # astropy strips TABLEDATA cells
        return st.text(alphabet, min_size=1, max_size=3 if kind.arraysize != "*" else 12).filter(_is_stripped)
    if kind.is_array:
        size = {"min_size": 1, "max_size": 4} if kind.arraysize == "*" else {"min_size": int(kind.arraysize)}
        return st.lists(scalars(kind.datatype), **{"max_size": size["min_size"], **size})
    return scalars(kind.datatype)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Field], list[list[Any]], list[int]]:
    """Fields, columns, and sizes of the batches into which the rows are cut."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=10))
    rows = draw(st.integers(0, 7))
    fields = [Field(f"c{number}", kind) for number, kind in enumerate(kinds)]
    columns = [draw(st.lists(st.none() | values(kind), min_size=rows, max_size=rows)) for kind in kinds]
    cuts, left = [], rows
    for _ in range(draw(st.integers(0, 3))):
        cuts.append(draw(st.integers(0, left)))
        left -= cuts[-1]
    return fields, columns, cuts


@given(table=tables())
@settings(max_examples=60, deadline=None)
def test_the_bytes_do_not_depend_on_the_batches(write, table):
    fields, columns, cuts = table
    for entry in FORMATS:
        if not re.search("apache|fits", entry.mime):  # Arrow keeps batches; pages of Parquet and FITS' heap follow them
            assert write(entry.mime, fields, columns, cuts) == write(entry.mime, fields, columns)


@given(table=tables())
@settings(max_examples=60, deadline=None)
def test_astropy_reads_the_values_back(write, table):
    fields, columns, _ = table
    for responseformat in VOTABLES:
        read = parse(io.BytesIO(write(responseformat, fields, columns))).get_first_table().array
        for field, column in zip(fields, columns, strict=True):
            got = [read[field.name][row] for row in range(len(column))]
            masks = [bool(np.all(read.mask[field.name][row])) for row in range(len(column))]
            for value, back, masked in zip(column, got, masks, strict=True):
                _assert_same(field.type, value, back, masked)


def _assert_same(kind: ColumnType, value: Any, back: Any, masked: bool) -> None:
    if value is None:
        assert masked or (isinstance(back, str) and not back) or np.size(back) == 0
    elif kind.is_timestamp:
        written = datetime.fromisoformat(str(back)).replace(tzinfo=UTC)
        assert written == value
    elif kind.is_text:
        assert str(back) == value
    elif kind.is_array:
        # astropy makes doubles of float arrays that vary in length
        assert np.asarray(back, kind.scalar.arrow.to_pandas_dtype()).tolist() == value
    else:
        assert not masked
        assert back == value
