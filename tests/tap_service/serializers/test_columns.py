"""Batches as engines send them: other Arrow types that cast safely, and values that do not."""

from __future__ import annotations

from datetime import date, datetime

import pyarrow as pa
import pytest

from clickhouse_schema.datatypes import BOOLEAN, CHAR, DOUBLE, FLOAT, INT, LONG, POINT, TIMESTAMP, UNICODE, Field
from tap_service.serializers import OK, ResultInfo, SerializationError, find_format
from tests.support.write_document import SCRATCH


def csv_cells(kind, array):
    serializer = find_format("text/csv;header=absent").serializer([Field("x", kind), Field("n", INT)], ResultInfo())
    numbers = pa.array([0] * len(array), pa.int32())
    lines = serializer.write_rows(pa.record_batch([array, numbers], names=["a", "b"])).decode().splitlines()
    return [line.removesuffix(",0") for line in lines]


@pytest.mark.parametrize(
    ("kind", "array", "cells"),
    [
        (LONG, pa.array([2**63 - 1, None], pa.uint64()), ["9223372036854775807", ""]),
        (INT, pa.array([7], pa.int64()), ["7"]),
        (DOUBLE, pa.array([7], pa.int32()), ["7"]),
        (FLOAT, pa.array([0.1, float("inf"), None]), ["0.1", "Infinity", ""]),
        (BOOLEAN, pa.array([0, 1, None], pa.uint8()), ["false", "true", ""]),
        (CHAR, pa.array(["a", None], pa.large_string()), ["a", ""]),
        (CHAR, pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (CHAR, pa.array(["a", None], pa.string_view()), ["a", ""]),
        (CHAR, pa.array([b"a", None, b""], pa.binary()), ["a", "", '""']),
        (CHAR, pa.array([b"abc"], pa.binary(3)), ["abc"]),
        (UNICODE, pa.array([b"x\xff\xed\xa0\x80", b"\xc3\xa9"], pa.large_binary()), ["x\ufffd\ufffd\ufffd\ufffd", "é"]),
        (INT, pa.nulls(2), ["", ""]),
        (CHAR, pa.nulls(1), [""]),
        (POINT, pa.nulls(1), [""]),
        (POINT, pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)), ["1 2"]),
        (POINT, pa.array([[1.5, 2.0], None], pa.large_list(pa.float64())), ["1.5 2", ""]),
        (TIMESTAMP, pa.array([date(2000, 1, 2)]), ["2000-01-02T00:00:00"]),
        (TIMESTAMP, pa.array([datetime(2000, 1, 2, 3)], pa.timestamp("s")), ["2000-01-02T03:00:00"]),
        (TIMESTAMP, pa.array([10**9], pa.timestamp("ms", tz="UTC")), ["1970-01-12T13:46:40"]),
    ],
)
def test_engine_types_are_cast(kind, array, cells):
    assert csv_cells(kind, array) == cells


@pytest.mark.parametrize(
    ("kind", "array", "message"),
    [
        (LONG, pa.array([2**63], pa.uint64()), "'x' is declared BIGINT, but Integer value 9223372036854775808 not in"),
        (INT, pa.array([0.5]), "'x' is declared INTEGER"),
        (FLOAT, pa.array([1e39]), "'x' is declared REAL, but contains a value above 3.4e38"),
        (TIMESTAMP, pa.array([1], pa.timestamp("ns")), "'x' is declared TIMESTAMP"),
        (DOUBLE, pa.array([[1.0]]), "'x' is declared DOUBLE"),
        (CHAR, pa.array([["a"]]), "'x' is declared CHAR"),
    ],
)
def test_values_that_do_not_fit_are_refused(kind, array, message):
    with pytest.raises(SerializationError, match=message):
        csv_cells(kind, array)


@pytest.mark.parametrize("responseformat", ["votable", "votable/b", "votable/td", "csv", "tsv"])
def test_number_of_columns_must_agree(responseformat):
    serializer = find_format(responseformat).serializer([Field("x", INT)], ResultInfo())
    with pytest.raises(SerializationError, match="sent 2 columns instead of 1"):
        serializer.write_rows(pa.record_batch([pa.array([1]), pa.array([2])], names=["a", "b"]))


@pytest.mark.parametrize("responseformat", ["votable", "votable/b", "votable/td", "csv", "tsv"])
def test_slices_are_written_from_their_own_offset(write, responseformat):
    """A slice of a batch shares its buffers: text, lists, booleans and NULLs must start at the offset of the slice."""
    fields = [Field("t", UNICODE), Field("p", POINT), Field("b", BOOLEAN), Field("i", INT)]
    points = [[1.0, 2.0], [3.0, 4.0], None, [5.0, 6.0]]
    columns = [["é", None, "b<", ""], points, [True, None, False, True], [1, None, 3, 4]]
    tail = [column[2:] for column in columns]
    arrays = [pa.array(values, field.type.arrow) for values, field in zip(columns, fields, strict=True)]
    again = [pa.array(values, field.type.arrow) for values, field in zip(tail, fields, strict=True)]
    written = []
    for rows in (
        pa.record_batch(arrays, names=["a", "b", "c", "d"]).slice(2),
        pa.record_batch(again, names=list("abcd")),
    ):
        serializer = find_format(responseformat).serializer(fields, ResultInfo(), SCRATCH)
        written.append(serializer.write_header() + serializer.write_rows(rows) + b"".join(serializer.write_footer(OK)))
    assert written[0] == written[1]


@pytest.mark.parametrize("responseformat", ["votable", "votable/b", "votable/td", "csv", "tsv", "ecsv", "json", "html"])
def test_the_bytes_do_not_depend_on_the_size_of_batches(write, responseformat):
    fields = [Field("t", UNICODE), Field("x", DOUBLE), Field("b", BOOLEAN), Field("i", INT)]
    rows = range(900)
    columns = [
        [None if row % 11 == 0 else f"é<,{row}" for row in rows],
        [None if row % 7 == 0 else row / 3 for row in rows],
        [None if row % 13 == 0 else row % 2 == 0 for row in rows],
        [None if row % 5 == 0 else row for row in rows],
    ]
    whole = write(responseformat, fields, columns)
    assert write(responseformat, fields, columns, [37] * 20) == whole
    assert write(responseformat, fields, columns, [1, 500]) == whole
