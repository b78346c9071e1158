"""Instants in the forms that clients and the service write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tap_service.models.timestamps import cut_to_milliseconds, format_instant, now, parse_instant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-01-31T12:00:00.123Z", "2026-01-31T12:00:00.123Z"),
        ("2026-01-31T12:00:00.123456789Z", "2026-01-31T12:00:00.123Z"),
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"),
        ("2026-01-31T12:00:00", "2026-01-31T12:00:00.000Z"),
        ("2026-01-31T12:00", "2026-01-31T12:00:00.000Z"),
        (" 2026-01-31 ", "2026-01-31T00:00:00.000Z"),
        ("2026-01-31 12:00:00,5", "2026-01-31T12:00:00.500Z"),
        ("2026-01-31T12:00:00+05:30", "2026-01-31T06:30:00.000Z"),
        ("2026-01-31T00:30:00.999-0200", "2026-01-31T02:30:00.999Z"),
        ("2026-01-31T12:00:00.5 05:30", "2026-01-31T06:30:00.500Z"),  # from a URL with a bare +
        ("0001-01-01", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_reading(text: str, meant: str) -> None:
    assert format_instant(parse_instant(text)) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "202",
        "202601",
        "2026-1",
        "2026-0131",
        "202601-31",
        "2026-02-30",
        "20260230",
        "2026-00",
        "2026-13-01T00:00:00Z",
        "2026-01-31T25:00",
        "2026-01-31T12:00:60Z",
        "2026-01-31T",
        "2026-01-31Z",
        "2026Z",
        "20260131 120000",
        "20260131T12:00",
        "2026-01-31T1200",
        "20260131T120",
        "20260131T120060Z",
        "20260131T12.5",
        "2026-W05-6",
        "2026-031",
        "2026031",
        "٢026-01-31",
        "0001-01-01T00:00+10:00",
        "9999-12-31T23:00-10:00",
        "2026-01-31T12:00:00+99:00",
        "12026-01-31",
    ],
)
def test_invalid_instants(text: str) -> None:
    with pytest.raises(ValueError, match=r"write an instant as|there is no such instant"):
        parse_instant(text)


@pytest.mark.parametrize("zone", ["", "Z", "+00", "-00:00"])
def test_reduced_and_basic_forms(zone: str) -> None:
    """Each part may be the last one; missing parts take their first value."""
    parts = ["2015", "10", "26", "07", "08", "09", "987"]
    first = ["", "01", "01", "00", "00", "00", "000"]
    separators = {"extended": ["", "-", "-", "T", ":", ":", "."], "basic": ["", "", "", "T", "", "", "."]}
    for count in range(1, len(parts) + 1):
        meant = "{}-{}-{}T{}:{}:{}.{}Z".format(*parts[:count], *first[count:])
        for form, between in separators.items():
            text = "".join(map(str.__add__, between, parts[:count])) + (zone if count > 3 else "")
            if (form, count) != ("basic", 2):  # ISO 8601 has no YYYYMM
                assert format_instant(parse_instant(text)) == meant


def test_writing() -> None:
    elsewhere = datetime(2026, 1, 31, 12, 0, 0, 999_999, timezone(timedelta(hours=-5)))
    assert format_instant(elsewhere) == "2026-01-31T17:00:00.999Z"
    assert cut_to_milliseconds(elsewhere) == datetime(2026, 1, 31, 17, 0, 0, 999_000, UTC)
    assert format_instant(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000Z"
    assert parse_instant(format_instant(now())) <= now()
