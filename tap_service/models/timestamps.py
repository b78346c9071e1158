"""Instants in the format of UWS and DALI: in UTC, with milliseconds and the letter Z."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

#: the zone is optional; in a URL, its + may have become a space
_ZONE = r"\s*(Z|[ +-]\d\d(?::?\d\d)?)?"
#: ISO 8601's extended and basic forms of calendar dates; each may end after any part, but YYYYMM is not valid
_FORMS = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(\d{{4}})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{{1,9}}))?)?)?{_ZONE})?)?)?",
        rf"(\d{{4}})(\d\d)(\d\d)(?:T(\d\d)(?:(\d\d)(?:(\d\d)(?:[.,](\d{{1,9}}))?)?)?{_ZONE})?",
    )
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> datetime:
    """Return the present instant in UTC, cut to milliseconds."""
    return cut_to_milliseconds(datetime.now(UTC))


def cut_to_milliseconds(instant: datetime) -> datetime:
    """Return the instant in UTC, rounded down to a millisecond."""
    utc = instant.astimezone(UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def format_instant(instant: datetime) -> str:
    """Format an instant as UWS and DALI require, such as 2026-01-31T12:00:00.000Z.

    CADC's clients require the milliseconds and the Z.

    Parameters
    ----------
    instant : datetime
        An instant with a time zone. Microseconds are cut.
    """
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_instant(text: str) -> datetime:
    """Parse a client's ISO 8601 instant, in the extended or the basic form.

    Parameters
    ----------
    text : str
        The instant. Missing parts at its end take their first value (2015 is the start of that year); the default zone
        is UTC.

    Returns
    -------
    datetime
        The instant in UTC, cut to milliseconds.

    Raises
    ------
    ValueError
        The text is not an instant; the message is for the client.
    """
    match = next((match for form in _FORMS if (match := form.fullmatch(text.strip()))), None)
    if match is None:
        raise ValueError(
            "write an instant as in 2026-01-31T12:00:00.000Z or 20260131T120000Z, in UTC; "
            "it may end after any part, as in 2026-01-31, 20260131, 2026-01 or 2026"
        )
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    time = f"{hour or '00'}:{minute or '00'}:{second or '00'}.{(fraction or '').ljust(6, '0')[:6]}"
    offset = "+00:00" if zone in (None, "Z") else zone.replace(" ", "+")
    try:
        return cut_to_milliseconds(datetime.fromisoformat(f"{date}T{time}{offset}"))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"there is no such instant: {error}") from error


def add_seconds(instant: datetime, seconds: float) -> datetime:
    """Return a later instant, cut to milliseconds.

    Parameters
    ----------
    instant : datetime
        An instant with a time zone.
    seconds : float
        The seconds to add; negative for an earlier instant.

    Returns
    -------
    datetime
        The instant in UTC.
    """
    return cut_to_milliseconds(instant + timedelta(seconds=seconds))


def instant_to_milliseconds(instant: datetime) -> int:
    """Return the milliseconds since 1970-01-01."""
    return (instant - _EPOCH) // timedelta(milliseconds=1)


def milliseconds_to_instant(milliseconds: int) -> datetime:
    """Return the instant that is ``milliseconds`` after 1970-01-01."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


def format_second(unix_time: int) -> str:
    """Format whole seconds since 1970 as 2026-01-31T12:00:00Z."""
    return datetime.fromtimestamp(unix_time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
