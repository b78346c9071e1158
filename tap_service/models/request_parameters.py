"""The names that parameters of a request have in TAP 1.1, section 2.7, and UWS 1.1."""

from __future__ import annotations

#: the name and value of one parameter
Pair = tuple[str, str]

#: parameters that take one value; FORMAT is TAP 1.0's name of RESPONSEFORMAT, ON_TIMEOUT is our own
SINGLE_VALUED = ("REQUEST", "LANG", "QUERY", "MAXREC", "RESPONSEFORMAT", "FORMAT", "RUNID", "ON_TIMEOUT")

_OF_JOBS = ("PHASE", "EXECUTIONDURATION", "DESTRUCTION", "ACTION", "REUSE", "CHECKSUM")

_MAX_SHOWN = 60


def is_known(name: str) -> bool:
    """Return whether TAP or UWS define a parameter of this name, in any case."""
    return name.upper() in (*SINGLE_VALUED, "UPLOAD", *_OF_JOBS)


def shorten_value(value: str) -> str:
    """Cut a client's text for a message and replace what cannot be printed."""
    cut = value if len(value) <= _MAX_SHOWN else value[: _MAX_SHOWN - 3] + "..."
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cut)
