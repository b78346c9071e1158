"""The parameters of a request: their names in TAP 1.1, section 2.7, and UWS 1.1, and values of several resources."""

from __future__ import annotations

import re
from datetime import datetime

from tap_service.models.timestamps import parse_instant
from tap_service.service_errors import ParameterFault

#: the name and value of one parameter
Pair = tuple[str, str]

#: parameters that take one value; FORMAT is TAP 1.0's name of RESPONSEFORMAT, ON_TIMEOUT and HISTORY are our own
SINGLE_VALUED = ("REQUEST", "LANG", "QUERY", "MAXREC", "RESPONSEFORMAT", "FORMAT", "RUNID", "ON_TIMEOUT", "HISTORY")

_OF_JOBS = ("PHASE", "EXECUTIONDURATION", "DESTRUCTION", "ACTION", "REUSE", "CHECKSUM")

_MAX_SHOWN = 60


def is_known(name: str) -> bool:
    """Return whether TAP or UWS define a parameter of this name, in any case."""
    return name.upper() in (*SINGLE_VALUED, "UPLOAD", *_OF_JOBS)


def shorten_value(value: str) -> str:
    """Cut a client's text for a message and replace what cannot be printed."""
    cut = value if len(value) <= _MAX_SHOWN else value[: _MAX_SHOWN - 3] + "..."
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cut)


def check_unicode(name: str, value: str) -> None:
    """Raise ParameterFault for half of a surrogate pair: JSON can write one, and UTF-8 cannot."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ParameterFault(
            f"{name}: character {error.start + 1} is U+{ord(value[error.start]):04X}, half of a surrogate pair: write "
            "both halves, or leave it out"
        ) from error


def parse_time(name: str, value: str) -> datetime:
    """Return the instant that a parameter gives. Raises ParameterFault."""
    try:
        return parse_instant(value)
    except ValueError as error:
        raise ParameterFault(f"{name}: {error}") from error


def parse_count(name: str, value: str, what: str) -> int:
    """Return the number above 0 that a parameter gives; ``what`` is counted. Raises ParameterFault."""
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", value.strip(), re.ASCII):
        raise ParameterFault(f"{name} is a number of {what} above 0, such as 100")
    return int(value)
