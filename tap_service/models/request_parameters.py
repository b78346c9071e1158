"""Parameters of requests: their names in TAP 1.1, section 2.7, and UWS 1.1, and checks that several resources share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from tap_service.models.timestamps import parse_instant
from tap_service.service_errors import ParameterError

#: the name and value of one parameter
Pair = tuple[str, str]

#: parameters with one value; FORMAT is RESPONSEFORMAT in TAP 1.0, and this service adds ON_TIMEOUT and HISTORY
SINGLE_VALUED = ("REQUEST", "LANG", "QUERY", "MAXREC", "RESPONSEFORMAT", "FORMAT", "RUNID", "ON_TIMEOUT", "HISTORY")

_OF_JOBS = ("PHASE", "EXECUTIONDURATION", "DESTRUCTION", "ACTION", "REUSE", "CHECKSUM")

#: control characters (category Cc) other than tab and line end
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_MAX_SHOWN = 60
_MAX_SEARCH = 500


def is_known(name: str) -> bool:
    """Return whether a request may have a parameter.

    Parameters
    ----------
    name : str
        The name of the parameter, in any case.
    """
    return name.upper() in (*SINGLE_VALUED, "UPLOAD", *_OF_JOBS)


def shorten_value(value: str) -> str:
    """Return a client's text for a message.

    Parameters
    ----------
    value : str
        Any text.

    Returns
    -------
    str
        Up to 60 characters, of which the last are "..." if the text is longer; unprintable characters become U+FFFD.
    """
    cut = value if len(value) <= _MAX_SHOWN else value[: _MAX_SHOWN - 3] + "..."
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cut)


def check_unicode(name: str, value: str) -> None:
    """Check that a text can be encoded in UTF-8.

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    value : str
        Its value, which may come from JSON.

    Raises
    ------
    ParameterError
        The value contains half of a surrogate pair, which JSON can encode but UTF-8 cannot.
    """
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(
            f"{name}: character {error.start + 1} is U+{ord(value[error.start]):04X}, half of a surrogate pair: write "
            "both halves, or leave it out"
        ) from error


def read_single_values(pairs: Iterable[Pair], names: Sequence[str]) -> dict[str, str]:
    """Return the values of parameters that may occur once.

    Parameters
    ----------
    pairs : Iterable[Pair]
        The parameters of the request; their names are case-insensitive.
    names : Sequence[str]
        The names of the parameters to read, in upper case.

    Returns
    -------
    dict of str to str
        The values that are not blank, by name.

    Raises
    ------
    ParameterError
        A parameter occurs twice, its value is not valid Unicode, or RUNID contains control characters.
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
    """Return a note with Unix line ends.

    Parameters
    ----------
    value : str
        The value of NOTE.
    max_length : int
        The maximum number of characters.

    Raises
    ------
    ParameterError
        The note is too long, or contains control characters.
    """
    note = re.sub("\r\n?", "\n", value).strip()
    if len(note) > max_length:
        raise ParameterError(f"NOTE has {len(note)} characters, more than the maximum of {max_length}: shorten it")
    refuse_controls("NOTE", note)
    return note


def refuse_controls(name: str, value: str) -> None:
    """Check that a text cannot control a terminal.

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    value : str
        Its value.

    Raises
    ------
    ParameterError
        The value contains a control character other than tab and newline.
    """
    found = _CONTROLS.search(value)
    if found:
        raise ParameterError(
            f"{name}: character {found.start() + 1} is U+{ord(found[0]):04X}, a control character: leave it out"
        )


def parse_time(name: str, value: str) -> datetime:
    """Parse the value of a parameter as an instant.

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    value : str
        An instant, as ``parse_instant`` reads it.

    Returns
    -------
    datetime
        The instant in UTC.

    Raises
    ------
    ParameterError
        The value is not an instant.
    """
    try:
        return parse_instant(value)
    except ValueError as error:
        raise ParameterError(f"{name}: {error}") from error


def parse_search(value: str) -> tuple[str, ...]:
    """Split the value of SEARCH into words.

    Parameters
    ----------
    value : str
        Words separated by white space.

    Returns
    -------
    tuple[str, ...]
        The words as the client wrote them; empty for a blank value.

    Raises
    ------
    ParameterError
        The value is too long.
    """
    if len(value) > _MAX_SEARCH:
        raise ParameterError(f"SEARCH, the words to search for, has more than {_MAX_SEARCH} characters")
    return tuple(value.split())


def parse_count(name: str, value: str, what: str) -> int:
    """Return a number above 0, the value of a parameter. Raises ParameterError.

    Parameters
    ----------
    name, value : str
        The parameter.
    what : str
        The plural of the counted things, for the message of the error.
    """
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", value.strip(), re.ASCII):
        raise ParameterError(f"{name} must be a number of {what} above 0, such as 100")
    return int(value)
