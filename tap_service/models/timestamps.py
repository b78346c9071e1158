"""Instants as UWS and DALI write them: UTC, milliseconds, the letter Z."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

#: the zone may be missing, and in an address its + may have become a space
_ZONE = r"\s*(Z|[ +-]\d\d(?::?\d\d)?)?"
#: ISO 8601's extended and basic forms of calendar dates; each may end after any part but the century. YYYYMM is none
_FORMS = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(\d{{4}})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{{1,9}}))?)?)?{_ZONE})?)?)?",
        rf"(\d{{4}})(\d\d)(\d\d)(?:T(\d\d)(?:(\d\d)(?:(\d\d)(?:[.,](\d{{1,9}}))?)?)?{_ZONE})?",
    )
)


def now() -> datetime:
    """The present instant in UTC, cut to milliseconds as it will be written."""
    return cut_to_milliseconds(datetime.now(UTC))


def cut_to_milliseconds(instant: datetime) -> datetime:
    """``instant`` in UTC without what is finer than a millisecond."""
    utc = instant.astimezone(UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def format_instant(instant: datetime) -> str:
    """Such as 2026-01-31T12:00:00.000Z. CADC's clients insist on the milliseconds and the Z."""
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_instant(text: str) -> datetime:
    """An instant as a client writes it in ISO 8601, in the extended or the basic form.

    Parts that are left out at its end are the first ones (2015 is the beginning of that year), and no zone is UTC.
    Raises ValueError with words for the client.
    """
    match = next((match for form in _FORMS if (match := form.fullmatch(text.strip()))), None)
    if match is None:
        raise ValueError(
            "an instant is written as in 2026-01-31T12:00:00.000Z or 20260131T120000Z, in UTC; "
            "it may end after any of its parts, as in 2026-01-31, 20260131, 2026-01 or 2026"
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
    """``seconds`` after ``instant``."""
    return cut_to_milliseconds(instant + timedelta(seconds=seconds))
