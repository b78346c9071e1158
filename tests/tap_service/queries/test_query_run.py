"""Runs of prepared queries over the real engine: their states, and SQL that fails intentionally."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from adql.translation import Translation
from clickhouse_schema.datatypes import INT, LONG, Field
from tap_service.models.engine_share import EngineShare
from tap_service.models.query_report import QueryReport
from tap_service.scratch_files import NoRoom
from tap_service.serializers import ResultInfo, find_format
from tap_service.serializers.csv_serializer import Csv
from tap_service.service_errors import (
    InternalError,
    InvalidQueryError,
    QueryStopped,
    QueryTooHeavy,
    ServiceError,
    ServiceUnavailable,
)
from tap_service.services.queries.prepared_query import PreparedQuery
from tap_service.services.queries.query_run import QueryRun, QueryState
from tap_service.services.queries.row_limit import RowLimit
from tap_service.services.queries.spool import SpoolClosed
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

ONE_THREAD = {"max_threads": 1, "max_block_size": 1000}


class Collected:
    """A sink that keeps all bytes, and fails at its n-th write if asked to."""

    def __init__(self, failure: Exception | None = None, at: int = 0) -> None:
        self.data = b""
        self.writes = 0
        self._failure = failure
        self._at = at

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        self.writes += 1
        if self._failure is not None and self.writes > self._at and not anyway:
            raise self._failure
        self.data += data


class Outcome:
    """A run that has ended, with the error that it raised."""

    def __init__(self, run: QueryRun, failure: ServiceError | None) -> None:
        self.failure = failure
        self.is_whole = run.is_whole
        self.state = run.state
        self.report = run.report


def prepare(engine: EmbeddedEngine, sql: str, form: str = "votable/td", field: Any = LONG) -> PreparedQuery:
    fields = (Field("n", field),)
    translation = Translation(sql, dict(ONE_THREAD), fields, (), None)
    make_serializer = partial(find_format(form).serializer, fields, ResultInfo())
    return PreparedQuery("test-run", translation, RowLimit(1_000_000, 1_000_000), engine, make_serializer)


def run(engine: EmbeddedEngine, sql: str, sink: Collected, form: str = "votable/td", field: Any = LONG) -> Outcome:
    made = QueryRun(prepare(engine, sql, form, field), QueryReport())
    failure = None
    try:
        made.run(sink, EngineShare())
    except ServiceError as error:
        failure = error
    return Outcome(made, failure)


LATE_ERROR = "SELECT toInt64(intDiv(1, number - 500000)) FROM numbers(1000000)"


def test_all_is_well(engine: EmbeddedEngine) -> None:
    sink = Collected()
    outcome = run(engine, "SELECT toInt64(number) FROM numbers(5)", sink, "csv")
    assert (outcome.failure, outcome.is_whole, sink.data) == (None, True, b"n\r\n0\r\n1\r\n2\r\n3\r\n4\r\n")
    assert (outcome.report.status, outcome.report.rows, outcome.report.bytes) == ("OK", 5, len(sink.data))


def test_an_error_before_the_first_rows_writes_nothing(engine: EmbeddedEngine) -> None:
    sink = Collected()
    outcome = run(engine, "SELECT toInt64(intDiv(1, number)) FROM numbers(5)", sink)
    assert isinstance(outcome.failure, InvalidQueryError)
    assert "fails on a value: Division by zero" in str(outcome.failure)
    assert (sink.data, outcome.is_whole) == (b"", False)


def test_an_error_in_mid_stream(engine: EmbeddedEngine) -> None:
    sink = Collected()
    outcome = run(engine, LATE_ERROR, sink)
    assert isinstance(outcome.failure, InvalidQueryError)
    assert outcome.is_whole
    assert b'value="ERROR">the query fails on a value: Division by zero</INFO>' in sink.data
    assert sink.data.endswith(b"</VOTABLE>\n")
    assert outcome.report.rows > 0


def test_a_csv_is_not_complete_after_an_error(engine: EmbeddedEngine) -> None:
    sink = Collected()
    outcome = run(engine, LATE_ERROR, sink, "csv")
    assert sink.data.startswith(b"n\r\n0\r\n")
    assert not outcome.is_whole


def test_a_value_that_the_format_cannot_carry(engine: EmbeddedEngine) -> None:
    outcome = run(engine, "SELECT toInt64(number * 1000000) FROM numbers(100000)", Collected(), "votable", INT)
    assert isinstance(outcome.failure, InvalidQueryError)


@pytest.mark.parametrize(
    ("failure", "kind", "complete"),
    [
        (NoRoom("it is full"), QueryTooHeavy, True),
        (OSError(28, "No space left on device"), ServiceUnavailable, True),
        (OSError("the result store does not work"), ServiceUnavailable, True),
        (RuntimeError("a bug of the sink"), InternalError, True),
    ],
)
def test_a_sink_that_fails(
    engine: EmbeddedEngine, failure: Exception, kind: type, complete: bool, caplog: pytest.LogCaptureFixture
) -> None:
    sink = Collected(failure, at=1)
    outcome = run(engine, "SELECT toInt64(number) FROM numbers(100000)", sink)
    assert type(outcome.failure) is kind
    assert outcome.is_whole is complete
    assert b'value="ERROR"' in sink.data
    assert b"a bug of the sink" not in sink.data
    assert ("test-run" in caplog.text) is (kind is not QueryTooHeavy)


def test_a_reader_that_is_gone(engine: EmbeddedEngine) -> None:
    outcome = run(engine, "SELECT toInt64(number) FROM numbers(100000000)", Collected(SpoolClosed(), at=1))
    assert outcome.report.status == "GONE"
    assert not outcome.is_whole


def test_a_table_that_has_just_gone(engine: EmbeddedEngine) -> None:
    outcome = run(engine, "SELECT n FROM default.no_such_table", Collected())
    assert isinstance(outcome.failure, ServiceUnavailable)
    assert "replaced or dropped just now" in str(outcome.failure)


def test_an_internal_error_reports_its_number_and_no_sql(
    engine: EmbeddedEngine, caplog: pytest.LogCaptureFixture
) -> None:
    outcome = run(engine, "SELECT no_such_function(1)", Collected())
    assert isinstance(outcome.failure, InternalError)
    assert "test-run" in str(outcome.failure)
    assert "no_such_function" not in str(outcome.failure)
    assert "no_such_function" in caplog.text


class Interrupting(Collected):
    """Calls a function once, at its first write."""

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self._call = call

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        super().write(data, anyway=anyway)
        if self.writes == 1:
            self._call()


ENDLESS = "SELECT toInt64(number) FROM numbers(1000000000000)"
STOPPED = QueryStopped("the operator has stopped it")


def test_a_run_that_is_stopped_tells_the_reason(engine: EmbeddedEngine) -> None:
    made = QueryRun(prepare(engine, ENDLESS), QueryReport())
    sink = Interrupting(lambda: made.stop(STOPPED))
    with pytest.raises(QueryStopped, match="the operator has stopped it"):
        made.run(sink, EngineShare())
    assert (made.state, made.is_whole, made.report.status) == (QueryState.FAILED, True, "ERROR")
    assert b"the operator has stopped it" in sink.data


def test_a_run_that_was_stopped_before_its_start_writes_nothing_and_reports_the_reason(engine: EmbeddedEngine) -> None:
    made, sink = QueryRun(prepare(engine, ENDLESS), QueryReport()), Collected()
    made.stop(STOPPED)
    with pytest.raises(QueryStopped):
        made.run(sink, EngineShare())
    assert (made.state, sink.data) == (QueryState.FAILED, b"")
    assert (made.report.status, made.report.error) == ("ERROR", "the operator has stopped it")


def test_an_interrupted_run_starts_again(engine: EmbeddedEngine) -> None:
    """The second run has another name, the time and the report of a new run, and writes the complete document."""
    made = QueryRun(prepare(engine, "SELECT toInt64(number) FROM numbers(300000)", "csv"), QueryReport())
    first = Interrupting(lambda: made.interrupt("test-run"))
    made.run(first, EngineShare())
    assert (made.state, made.is_whole, made.query_id) == (QueryState.INTERRUPTED, False, "test-run-again")
    assert first.data.startswith(b"n\r\n0\r\n")
    assert first.data.count(b"\r\n") < 300_001
    assert (made.clock.seconds, made.report.rows, made.report.seconds) == (0, 0, {})
    second = Collected()
    made.run(second, EngineShare())
    assert (made.state, made.is_whole, made.query_id) == (QueryState.COMPLETED, True, "test-run-again")
    assert (made.report.rows, made.report.bytes) == (300_000, len(second.data))
    assert second.data.count(b"\r\n") == 300_001


def test_an_interruption_of_an_earlier_run_does_nothing(engine: EmbeddedEngine) -> None:
    made = QueryRun(prepare(engine, "SELECT toInt64(number) FROM numbers(300000)", "csv"), QueryReport())
    made.run(Interrupting(lambda: made.interrupt("test-run")), EngineShare())
    made.run(Interrupting(lambda: made.interrupt("test-run")), EngineShare())
    assert made.state is QueryState.COMPLETED


def test_a_failed_run_that_was_stopped_does_not_start_again(engine: EmbeddedEngine) -> None:
    made = QueryRun(prepare(engine, "SELECT throwIf(1)"), QueryReport())
    with pytest.raises(ServiceError):
        made.run(Collected(), EngineShare())
    made.stop(STOPPED)
    with pytest.raises(QueryStopped):
        made.run(Collected(), EngineShare())
    assert (made.state, made.report.error) == (QueryState.FAILED, "the operator has stopped it")


def test_a_serializer_that_fails_at_its_header_fails_the_run(engine: EmbeddedEngine) -> None:
    class Broken(Csv):
        def write_header(self) -> bytes:
            raise ZeroDivisionError

    query = replace(prepare(engine, "SELECT 1"), make_serializer=lambda: Broken((), ResultInfo()))
    made = QueryRun(query, QueryReport())
    with pytest.raises(InternalError):
        made.run(Collected(), EngineShare())
    assert (made.state, made.report.status) == (QueryState.FAILED, "ERROR")


def test_a_completed_run_does_not_start_again(engine: EmbeddedEngine) -> None:
    made = QueryRun(prepare(engine, "SELECT toInt64(1)"), QueryReport())
    made.run(Collected(), EngineShare())
    with pytest.raises(InternalError):
        made.run(Collected(), EngineShare())
    assert made.state is QueryState.COMPLETED


def test_a_completed_run_cannot_be_stopped(engine: EmbeddedEngine) -> None:
    made = QueryRun(prepare(engine, "SELECT toInt64(number) FROM numbers(5)", "csv"), QueryReport())
    made.run(Collected(), EngineShare())
    made.stop(STOPPED)
    made.check_stopped()
    assert (made.state, made.is_whole) == (QueryState.COMPLETED, True)


def test_observers_see_the_rows_and_fail_the_run(engine: EmbeddedEngine) -> None:
    class Counted:
        def __init__(self, limit: int) -> None:
            self.first, self.rows, self.limit = 0, 0, limit

        def note_first_rows(self, batch: pa.RecordBatch) -> None:
            self.first += 1

        def note_rows(self, batch: pa.RecordBatch) -> None:
            self.rows += batch.num_rows
            if self.rows > self.limit:
                raise OSError(28, "No space left on device")

    query = prepare(engine, "SELECT toInt64(number) FROM numbers(100000)", "csv")
    patient, failing = Counted(100_000), Counted(50_000)
    QueryRun(query, QueryReport(), [patient]).run(Collected(), EngineShare())
    assert (patient.first, patient.rows) == (1, 100_000)
    with pytest.raises(ServiceUnavailable, match="not have enough disk space for this query"):
        QueryRun(query, QueryReport(), [failing]).run(Collected(), EngineShare())
