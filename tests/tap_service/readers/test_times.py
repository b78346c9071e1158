"""Times finer than microseconds, with time zones, leap seconds, and before 1900, in texts and in Parquet."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from loaders.pipeline.describe_file import find_doubts
from tap_service.readers.arrow_reader import ArrowSource
from tap_service.readers.parquet_reader import ParquetSource
from tap_service.readers.time_casts import (
    arrow_to_text,
    arrow_to_timestamp,
    count_cut_times,
    describe_cut_times,
    text_to_timestamp,
)
from tap_service.readers.votable_reader import VotableSource
from tests.tap_service.readers.reading import list_types, read_source
from tests.tap_service.readers.votables import make_table, write_votable

NOON = datetime(2024, 2, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-02-29", NOON.replace(hour=0)),
        ("2024-02-29T12:00:00", NOON),
        (" 2024-02-29 12:00:00Z", NOON),
        ("2024-02-29T12:00:00.1234567", NOON.replace(microsecond=123456)),
        ("2024-02-29T12:00:00.123456999Z", NOON.replace(microsecond=123456)),
        ("2024-02-29T14:00:00+02:00", NOON),
        ("2024-02-29T06:30:00.123456789-0530", NOON.replace(microsecond=123456)),
        ("", None),
    ],
)
def test_iso_8601_is_utc_in_microseconds(text: str, time: datetime | None) -> None:
    mixed = pa.array([text, "2024-02-29T12:00:00+00:00"])
    assert text_to_timestamp(mixed).to_pylist() == [time, NOON]
    assert text_to_timestamp(pa.array([text])).to_pylist() == [time]


@pytest.mark.parametrize("text", ["2016-12-31T23:59:60", "2024-02-29T12:00:00.1234567x", "x", "2024-02-30"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(pa.ArrowInvalid):
        text_to_timestamp(pa.array([text]))


def test_nanoseconds_are_cut_towards_the_past() -> None:
    for zone in (None, "Europe/Paris"):
        times = arrow_to_timestamp(pa.array([1_999, -1, None], pa.timestamp("ns", zone))).cast(pa.int64())
        assert times.to_pylist() == [1, -1, None]


def test_times_as_texts_have_the_decimals_they_need() -> None:
    given = [(1, "ns", "1970-01-01T00:00:00.000000001"), (1_500_000, "us", "1970-01-01T00:00:01.5")]
    for value, unit, text in [*given, (10, "s", "1970-01-01T00:00:10")]:
        assert arrow_to_text(pa.array([value], pa.timestamp(unit, "Europe/Paris"))).to_pylist() == [text]
    assert arrow_to_text(pa.array([date(1885, 1, 2), None])).to_pylist() == ["1885-01-02", None]


def test_times_beyond_the_calendar_have_no_text() -> None:
    with pytest.raises(ValueError, match="beyond the years"):
        arrow_to_text(pa.array([2**45], pa.timestamp("s")))


TIME = '<FIELD name="t" datatype="char" arraysize="*" xtype="timestamp"/>'


def test_a_votable_with_finer_times_is_cut_with_a_warning(tmp_path: Path) -> None:
    rows = [("2024-02-29T12:00:00.1234567",), ("2016-12-31T23:59:60",), ("1885-01-01T00:00:00",)]
    source = VotableSource(write_votable(tmp_path / "t.vot", make_table(TIME, *rows)))
    assert list(find_doubts(source)) == [
        f"{source.path}: column t has times that are cut to microseconds: "
        "the datatype string in a --schema file keeps all digits"
    ]
    good, rejects = read_source(source)
    assert good == [(NOON.replace(microsecond=123456),)]
    hint = "the datatype string in a --schema file keeps it as text"
    assert [(reject.where, reject.reason) for reject in rejects] == [
        (2, f"does not fit the type TIMESTAMP: {hint}"),
        (3, f"a time outside the years 1900 to 2299: {hint}"),
    ]


def test_a_votable_without_finer_times_causes_no_warning(tmp_path: Path) -> None:
    table = make_table(TIME, ("2024-02-29T12:00:00.5",), ("2024-02-29T12:00:00.1234560",))
    assert list(find_doubts(VotableSource(write_votable(tmp_path / "t.vot", table)))) == []


@pytest.mark.parametrize(
    ("times", "cut"),
    [
        (pa.array(["2024-02-29T12:00:00.1234567", "2024-02-29T12:00:00.123456000Z", None]), 1),
        (pa.array([b"2024-02-29T12:00:00.123456789+02:00", b"2024-02-29", b"x" * 40]), 1),
        (pa.array(["2024-02-29T12:00:00.123456"]), 0),
        (pa.array([1_000, 1_001, -1, None], pa.timestamp("ns", "UTC")), 2),
        (pa.array([1, 2], pa.timestamp("us")), 0),
        (pa.array([], pa.string()), 0),
    ],
)
def test_times_that_lose_decimals_are_counted(times: pa.Array, cut: int) -> None:
    assert count_cut_times(times) == cut


def test_a_note_has_the_number_of_cut_times() -> None:
    assert describe_cut_times({"t": 1234, "u": 0, "v": 1}) == [
        "column t: 1,234 times were cut to microseconds",
        "column v: 1 time was cut to microseconds",
    ]


OLD = [datetime(1885, 1, 1), datetime(2024, 2, 29, 12, 0, 0, 500_000), None]
IN_RANGE = [datetime(1900, 1, 1), datetime(2299, 12, 31, 23, 59, 59), None]


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_times_that_are_old_by_their_statistics_are_text(tmp_path: Path, unit: str) -> None:
    whole = [time and time.replace(microsecond=0) for time in OLD]
    pq.write_table(pa.table({"t": pa.array(whole, pa.timestamp(unit))}), tmp_path / "t.parquet")
    source = ParquetSource(tmp_path / "t.parquet")
    assert source.notes == ("column t stays text: it has times outside the years 1900 to 2299",)
    assert read_source(source) == ([("1885-01-01T00:00:00",), ("2024-02-29T12:00:00",), (None,)], [])
    pq.write_table(pa.table({"t": pa.array(IN_RANGE, pa.timestamp(unit))}), tmp_path / "t.parquet")
    assert list_types(ParquetSource(tmp_path / "t.parquet")) == {"t": "TIMESTAMP"}


@pytest.mark.parametrize("day", [date(1899, 12, 31), date(2300, 1, 1), date(1, 1, 1)])
def test_old_dates_are_text(tmp_path: Path, day: date) -> None:
    pq.write_table(pa.table({"t": [day, date(2024, 1, 1)]}), tmp_path / "t.parquet")
    assert read_source(ParquetSource(tmp_path / "t.parquet")) == ([(day.isoformat(),), ("2024-01-01",)], [])


def test_old_times_without_statistics_are_rejects_with_a_way_out(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array(OLD, pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "t.parquet", write_statistics=False)
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    for source in (ParquetSource(tmp_path / "t.parquet"), ArrowSource(tmp_path / "t.arrow")):
        rows, [reject] = read_source(source)
        assert rows == [(OLD[1].replace(tzinfo=UTC),), (None,)]  # type: ignore[union-attr]
        assert reject.reason.endswith("the datatype string in a --schema file keeps it as text")


def test_nanoseconds_of_parquet_are_cut_with_a_note(tmp_path: Path) -> None:
    times = pa.array([1_709_208_000_123_456_789, -1, None], pa.timestamp("ns"))
    pq.write_table(pa.table({"t": times}), tmp_path / "t.parquet")
    source = ParquetSource(tmp_path / "t.parquet")
    assert source.notes == (
        "column t is in nanoseconds, which are cut to microseconds: the datatype string keeps all digits",
    )
    before = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert read_source(source) == ([(NOON.replace(microsecond=123456),), (before,), (None,)], [])
