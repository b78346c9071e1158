"""Execution on a thread over the real engine, with SQL that fails on purpose."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from adql.translation import Translation
from clickhouse_schema.datatypes import INT, LONG, Field
from tap_service.scratch_files import NoRoom
from tap_service.serializers import ResultInfo, find_format
from tap_service.service_errors import InternalError, InvalidQueryError, QueryTooHeavy, ServiceUnavailable
from tap_service.services.queries.query_execution import QueryExecution
from tap_service.services.queries.result_spool import SpoolClosed
from tap_service.services.queries.row_limit import RowLimit
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

ONE_THREAD = {"max_threads": 1, "max_block_size": 1000}


class Collected:
    """A sink that keeps all bytes, and can fail at its n-th write."""

    def __init__(self, failure: Exception | None = None, at: int = 0) -> None:
        self.data = b""
        self.ended = False
        self.writes = 0
        self._failure = failure
        self._at = at

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        self.writes += 1
        if self._failure is not None and self.writes > self._at and not anyway:
            raise self._failure
        self.data += data

    def end(self) -> None:
        self.ended = True


def run(
    engine: EmbeddedEngine, sql: str, sink: Collected, form: str = "votable/td", field: Any = LONG
) -> QueryExecution:
    fields = (Field("n", field),)
    translation = Translation(sql, dict(ONE_THREAD), fields, (), None)
    make_serializer = partial(find_format(form).serializer, fields, ResultInfo())
    execution = QueryExecution(engine, translation, make_serializer, "test-execution", RowLimit(1_000_000, 1_000_000))
    execution.run(sink)
    assert sink.ended
    return execution


LATE_FAULT = "SELECT toInt64(intDiv(1, number - 500000)) FROM numbers(1000000)"


def test_all_is_well(engine: EmbeddedEngine) -> None:
    sink = Collected()
    execution = run(engine, "SELECT toInt64(number) FROM numbers(5)", sink, "csv")
    assert (execution.failure, execution.complete, sink.data) == (None, True, b"n\r\n0\r\n1\r\n2\r\n3\r\n4\r\n")
    assert (execution.report.status, execution.report.rows, execution.report.bytes) == ("OK", 5, len(sink.data))


def test_a_fault_before_the_first_rows_writes_nothing(engine: EmbeddedEngine) -> None:
    sink = Collected()
    execution = run(engine, "SELECT toInt64(intDiv(1, number)) FROM numbers(5)", sink)
    assert isinstance(execution.failure, InvalidQueryError)
    assert "fails on a value: Division by zero" in str(execution.failure)
    assert (sink.data, execution.complete) == (b"", False)


def test_a_fault_in_mid_stream(engine: EmbeddedEngine) -> None:
    sink = Collected()
    execution = run(engine, LATE_FAULT, sink)
    assert isinstance(execution.failure, InvalidQueryError)
    assert execution.complete
    assert b'value="ERROR">the query fails on a value: Division by zero</INFO>' in sink.data
    assert sink.data.endswith(b"</VOTABLE>\n")
    assert execution.report.rows > 0


def test_a_csv_is_not_complete_after_a_fault(engine: EmbeddedEngine) -> None:
    sink = Collected()
    execution = run(engine, LATE_FAULT, sink, "csv")
    assert sink.data.startswith(b"n\r\n0\r\n")
    assert not execution.complete


def test_a_value_that_the_format_cannot_carry(engine: EmbeddedEngine) -> None:
    execution = run(engine, "SELECT toInt64(number * 1000000) FROM numbers(100000)", Collected(), "votable", INT)
    assert isinstance(execution.failure, InvalidQueryError)


@pytest.mark.parametrize(
    ("failure", "kind", "complete"),
    [
        (NoRoom("it is full"), QueryTooHeavy, True),
        (OSError(28, "No space left on device"), ServiceUnavailable, True),
        (OSError("the result store does not work"), ServiceUnavailable, True),
        (RuntimeError("a fault of ours"), InternalError, True),
    ],
)
def test_a_sink_that_fails(
    engine: EmbeddedEngine, failure: Exception, kind: type, complete: bool, caplog: pytest.LogCaptureFixture
) -> None:
    sink = Collected(failure, at=1)
    execution = run(engine, "SELECT toInt64(number) FROM numbers(100000)", sink)
    assert type(execution.failure) is kind
    assert execution.complete is complete
    assert b'value="ERROR"' in sink.data
    assert b"a fault of ours" not in sink.data
    assert ("test-execution" in caplog.text) is (kind is not QueryTooHeavy)


def test_a_reader_that_is_gone(engine: EmbeddedEngine) -> None:
    execution = run(engine, "SELECT toInt64(number) FROM numbers(100000000)", Collected(SpoolClosed(), at=1))
    assert execution.report.status == "GONE"
    assert not execution.complete


def test_a_table_that_has_just_gone(engine: EmbeddedEngine) -> None:
    execution = run(engine, "SELECT n FROM default.no_such_table", Collected())
    assert isinstance(execution.failure, ServiceUnavailable)
    assert "replaced or dropped just now" in str(execution.failure)


def test_a_fault_of_ours_tells_its_number_and_no_sql(engine: EmbeddedEngine, caplog: pytest.LogCaptureFixture) -> None:
    execution = run(engine, "SELECT no_such_function(1)", Collected())
    assert isinstance(execution.failure, InternalError)
    assert "test-execution" in str(execution.failure)
    assert "no_such_function" not in str(execution.failure)
    assert "no_such_function" in caplog.text
