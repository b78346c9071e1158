"""The status of a query in formats other than VOTable; a failed result never looks complete."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from astropy.io.votable import parse

from clickhouse_schema.datatypes import DOUBLE, INT, POINT, UNICODE, Field
from tap_service.serializers import OK, ResultInfo, Status, find_format, overflow_status
from tests.tap_service.serializers.readers import read
from tests.tap_service.serializers.values import ALL, OTHERS

FIELDS = [
    Field("a", INT),
    Field("ra", DOUBLE, "deg", "pos.eq.ra", "x:y", "Where ω is"),
    Field("p", POINT),
    Field("A", UNICODE),
]
COLUMNS: list[list[Any]] = [[1, None], [0.5, 2.5], [[1.0, 2.0], None], ["é", ""]]
CUT = overflow_status(2, "Ask for more with MAXREC.")
INFO = ResultInfo("SELECT a FROM t -- 'é' <&>", "Skyhouse", 2)
CONTENT = b"IVOA.VOTable-Parquet.content"


def in_votable(document: bytes) -> tuple[str, list[tuple[Any, ...]]]:
    """QUERY_STATUS and the columns of a VOTable without data."""
    votable = parse(io.BytesIO(document))
    [table] = votable.iter_tables()
    infos = {info.name: info.value for info in votable.resources[0].infos}
    assert infos["QUERY"] == INFO.query
    return infos.get("QUERY_STATUS", ""), [
        (f.name, str(f.unit or ""), f.ucd, f.utype, f.description) for f in table.fields
    ]


@pytest.mark.parametrize("status", [OK, CUT], ids=lambda status: status.value)
class TestStatus:
    def test_parquet_has_it_in_the_votable_in_its_footer(self, write: Any, status: Status) -> None:
        metadata = pq.read_metadata(io.BytesIO(write("parquet", FIELDS, COLUMNS, status=status, info=INFO))).metadata
        assert metadata[b"IVOA.VOTable-Parquet.version"] == b"1.0"
        said, columns = in_votable(metadata[CONTENT])
        assert said == status.value
        assert [column[0] for column in columns] == ["a", "ra", "p", "A_2"]
        assert columns[1][1:] == ("deg", "pos.eq.ra", "x:y", "Where ω is")
        assert metadata[b"QUERY_STATUS"] == status.value.encode()
        assert metadata[b"QUERY_STATUS.text"] == status.text.encode()

    def test_arrow_has_it_in_its_last_batch(self, write: Any, status: Status) -> None:
        stream = pa.ipc.open_stream(write("arrow", FIELDS, COLUMNS, status=status, info=INFO))
        *_, (last, metadata) = stream.iter_batches_with_custom_metadata()
        assert (last.num_rows, metadata[b"QUERY_STATUS"]) == (0, status.value.encode())
        assert metadata[b"QUERY_STATUS.text"] == status.text.encode()
        assert stream.schema.field("ra").metadata[b"unit"] == b"deg"
        description = stream.schema.metadata[CONTENT]
        assert b"QUERY_STATUS" not in description  # nobody knows it yet
        assert len(in_votable(description)[1]) == 4
        file = pa.ipc.open_file(write("arrow-file", FIELDS, COLUMNS, status=status, info=INFO))
        last, metadata = file.get_batch_with_custom_metadata(file.num_record_batches - 1)
        assert (last.num_rows, metadata[b"QUERY_STATUS"]) == (0, status.value.encode())

    def test_fits_has_it_in_its_headers(self, write: Any, status: Status) -> None:
        with fits.open(io.BytesIO(write("fits", FIELDS, COLUMNS, status=status, info=INFO))) as hdus:
            assert (hdus[1].header["QSTATUS"], hdus[1].header["MAXREC"]) == (status.value, 2)
            assert hdus[1].header.get("QMESSAGE", "") == status.text
            assert in_votable(hdus[0].data.tobytes())[0] == status.value
            assert hdus[1].columns["ra"].unit == "deg"
            assert hdus[1].header["TCOMM2"] == "Where ? is"

    def test_json_ends_with_it(self, write: Any, status: Status) -> None:
        whole = json.loads(write("json", FIELDS, COLUMNS, status=status, info=INFO))
        assert list(whole) == ["metadata", "columns", "data", "status"]
        assert whole["status"] == {"value": status.value, "text": status.text}
        assert whole["metadata"] == {"service": "Skyhouse", "query": INFO.query, "maxrec": 2}
        assert whole["columns"][1] == {
            **{"name": "ra", "datatype": "double", "unit": "deg", "ucd": "pos.eq.ra", "utype": "x:y"},
            "description": "Where ω is",
        }

    def test_html_says_it_in_words(self, write: Any, status: Status) -> None:
        page = write("html", FIELDS, COLUMNS, status=status, info=INFO).decode()
        assert (status.text or "The result is complete.") in page
        assert "&lt;&amp;&gt;" in page


@pytest.mark.parametrize("form", ALL)
def test_a_cut_result_does_not_look_complete(write: Any, form: str) -> None:
    """Before the rows if it is foreseen, and at the end: in the bytes of all formats that can contain it."""
    note = "4 rows, and the limit is 2"
    info = replace(INFO, notes=(note,))
    document = write(form, FIELDS, COLUMNS, status=Status("OVERFLOW", "The rest is missing"), info=info)
    kind = find_format(form).mime.partition(";")[0]
    has_no_status = kind in ("text/csv", "text/tab-separated-values")
    assert (note.encode() in document) is not (has_no_status or kind == "text/plain")
    assert (b"The rest is missing" in document) is not (has_no_status or kind == "text/ecsv")
    whole = write(form, FIELDS, COLUMNS, info=INFO)
    assert b"OVERFLOW" not in whole
    assert len(read(find_format(form).mime, document)) == len(read(find_format(form).mime, whole))


@pytest.mark.parametrize("form", OTHERS)
def test_a_failed_result_is_not_finished(write: Any, form: str) -> None:
    failed = find_format(form).serializer(FIELDS, INFO)
    said = b"".join(failed.write_footer(Status("ERROR", "the <engine> is gone")))
    assert (b"the &lt;engine&gt; is gone" in said) if form == "html" else said == b""


@pytest.mark.parametrize("form", ["parquet", "arrow-file", "json"])
def test_a_failed_result_cannot_be_read(write: Any, form: str) -> None:
    cut = write(form, FIELDS, COLUMNS, cuts=(1,), status=Status("ERROR", "gone"))
    with pytest.raises((OSError, ValueError, duckdb.Error)):
        read(find_format(form).mime, cut)


@pytest.mark.parametrize("form", ALL)
def test_no_rows(write: Any, form: str) -> None:
    fields = [field for field in FIELDS if form != "ecsv" or field.type != POINT]  # astropy reads no such table
    columns = read(
        find_format(form).mime, write(form, fields, [[]] * len(fields), status=overflow_status(0, ""), info=INFO)
    )
    assert all(not column for column in columns)
    assert len(columns) == (0 if form == "html" else len(fields))
