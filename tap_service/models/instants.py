"""Instants as UWS and DALI write them: UTC, milliseconds, the letter Z."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

#: ISO 8601 as clients write it: the time, its seconds, their fraction and the zone may be missing, and in an address
#: the + of the zone may have become a space
_WRITTEN = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[ +-]\d\d(?::?\d\d)?)?)?", re.ASCII
)


def now() -> datetime:
    """The present instant in UTC, cut to milliseconds as it will be written."""
    return cut(datetime.now(UTC))


def cut(instant: datetime) -> datetime:
    """``instant`` in UTC without what is finer than a millisecond."""
    utc = instant.astimezone(UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def written(instant: datetime) -> str:
    """Such as 2026-01-31T12:00:00.000Z. CADC's clients insist on the milliseconds and the Z."""
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def read(text: str) -> datetime:
    """An instant as a client writes it, in UTC if it names no zone. Raises ValueError with words for the client."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ValueError("an instant is written as in 2026-01-31T12:00:00.000Z, in UTC")
    date, minutes, seconds, fraction, zone = match.groups()
    micro = (fraction or "").ljust(6, "0")[:6]
    offset = "+00:00" if zone in (None, "Z") else zone.replace(" ", "+")
    try:
        instant = datetime.fromisoformat(f"{date}T{minutes or '00:00'}:{seconds or '00'}.{micro}{offset}")
        return cut(instant)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"there is no such instant: {error}") from error


def later(instant: datetime, seconds: float) -> datetime:
    """``seconds`` after ``instant``."""
    return cut(instant + timedelta(seconds=seconds))
