"""The parameters of a request: their names in TAP 1.1, section 2.7, and UWS 1.1, and values of several resources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from tap_service.models.timestamps import parse_instant
from tap_service.service_errors import ParameterError

#: the name and value of one parameter
Pair = tuple[str, str]

#: parameters that take one value; FORMAT is TAP 1.0's name of RESPONSEFORMAT, ON_TIMEOUT and HISTORY are our own
SINGLE_VALUED = ("REQUEST", "LANG", "QUERY", "MAXREC", "RESPONSEFORMAT", "FORMAT", "RUNID", "ON_TIMEOUT", "HISTORY")

_OF_JOBS = ("PHASE", "EXECUTIONDURATION", "DESTRUCTION", "ACTION", "REUSE", "CHECKSUM")

#: control characters (category Cc) other than tab and line end
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_MAX_SHOWN = 60
_MAX_SEARCH = 500


def is_known(name: str) -> bool:
    """Return whether TAP or UWS define a parameter of this name, in any case."""
    return name.upper() in (*SINGLE_VALUED, "UPLOAD", *_OF_JOBS)


def shorten_value(value: str) -> str:
    """Cut a client's text for a message and replace what cannot be printed."""
    cut = value if len(value) <= _MAX_SHOWN else value[: _MAX_SHOWN - 3] + "..."
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cut)


def check_unicode(name: str, value: str) -> None:
    """Raise ParameterError for half of a surrogate pair: JSON can write one, and UTF-8 cannot."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(
            f"{name}: character {error.start + 1} is U+{ord(value[error.start]):04X}, half of a surrogate pair: write "
            "both halves, or leave it out"
        ) from error


def read_single_values(pairs: Iterable[Pair], names: Sequence[str]) -> dict[str, str]:
    """Return the values of the parameters with these names, in any case, that are not empty.

    Raises ParameterError if one has two values, or a value cannot be UTF-8 or a name.
    """
    given: dict[str, str] = {}
    for name, value in pairs:
        known = name.upper()
        if known not in names:
            continue
        if known in given:
            raise ParameterError(f"the parameter {known} is given more than once; give it one value")
        check_unicode(known, value)
        if known == "RUNID":
            refuse_controls(known, value)
        given[known] = value
    return {name: value for name, value in given.items() if value.strip()}


def parse_note(value: str, max_length: int) -> str:
    """Return a note of several lines, which end as in Unix. Raises ParameterError."""
    note = re.sub("\r\n?", "\n", value).strip()
    if len(note) > max_length:
        raise ParameterError(f"NOTE has {len(note)} characters, and up to {max_length} are kept: shorten it")
    refuse_controls("NOTE", note)
    return note


def refuse_controls(name: str, value: str) -> None:
    """Raise ParameterError for a control character other than tab and line end: it could steer a terminal."""
    found = _CONTROLS.search(value)
    if found:
        raise ParameterError(
            f"{name}: character {found.start() + 1} is U+{ord(found[0]):04X}, a control character: leave it out"
        )


def parse_time(name: str, value: str) -> datetime:
    """Return the instant that a parameter gives. Raises ParameterError."""
    try:
        return parse_instant(value)
    except ValueError as error:
        raise ParameterError(f"{name}: {error}") from error


def parse_search(value: str) -> tuple[str, ...]:
    """Return the words that SEARCH gives. Raises ParameterError."""
    if len(value) > _MAX_SEARCH:
        raise ParameterError(f"SEARCH has up to {_MAX_SEARCH} characters: the words to look for")
    return tuple(value.split())


def parse_count(name: str, value: str, what: str) -> int:
    """Return the number above 0 that a parameter gives; ``what`` is counted. Raises ParameterError."""
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", value.strip(), re.ASCII):
        raise ParameterError(f"{name} is a number of {what} above 0, such as 100")
    return int(value)
