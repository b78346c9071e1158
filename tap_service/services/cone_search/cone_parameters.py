"""Read the parameters of a cone search (Simple Cone Search 1.03, section 2, and the working draft of 1.1)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tap_service.models.request_parameters import Pair, read_single_values, shorten_value
from tap_service.serializers import Format
from tap_service.service_errors import ParameterError
from tap_service.services.queries.tap_parameters import read_format, read_maxrec

#: the parameters; others are ignored, as the standard requires
_NAMES = ("RA", "DEC", "SR", "VERB", "MAXREC", "RESPONSEFORMAT", "RUNID")

#: a format that old clients read too: the standard is from 2008, BINARY2 from 2013, VOTable 1.5 from 2025
_DEFAULT_FORMAT = "text/xml;serialization=TABLEDATA;version=1.4"

#: which columns to return: the fewest, the typically useful columns, or all
Verbosity = Literal[1, 2, 3]
_VERBOSITIES: dict[str, Verbosity] = {"1": 1, "2": 2, "3": 3}

MAX_RADIUS = 180.0


@dataclass(frozen=True, slots=True)
class ConeParameters:
    """The validated parameters of a cone search.

    Attributes
    ----------
    ra, dec : float
        The centre (ICRS), in degrees.
    radius : float
        The radius in degrees; 0 requests the columns without rows.
    verbosity : Verbosity
        Which columns to return.
    format : Format
        The output format.
    maxrec : int or None
        The row limit; None for the default.
    runid : str
        The name of the request, '' for none.
    """

    ra: float
    dec: float
    radius: float
    verbosity: Verbosity
    format: Format
    maxrec: int | None = None
    runid: str = ""


def read_cone_parameters(pairs: Iterable[Pair]) -> ConeParameters:
    """Read the parameters of a request.

    Parameters
    ----------
    pairs : Iterable[Pair]
        The parameters of the request. Names are case-insensitive; unknown parameters and empty values are ignored.

    Raises
    ------
    ParameterError
        A parameter is missing, repeated or invalid.
    """
    given = read_single_values(pairs, _NAMES)
    if missing := [name for name in ("RA", "DEC", "SR") if name not in given]:
        raise ParameterError(
            f"give {', '.join(missing)}: a cone search takes RA, DEC and SR in degrees, such as "
            "RA=180.5&DEC=-30.2&SR=0.1"
        )
    return ConeParameters(
        _read_degrees(given, "RA", 0.0, 360.0),
        _read_degrees(given, "DEC", -90.0, 90.0),
        _read_degrees(given, "SR", 0.0, MAX_RADIUS),
        _read_verbosity(given.get("VERB", "2")),
        read_format({"RESPONSEFORMAT": _DEFAULT_FORMAT, **given}),
        read_maxrec(given.get("MAXREC", "")),
        given.get("RUNID", ""),
    )


def _read_degrees(given: dict[str, str], name: str, least: float, most: float) -> float:
    text = given[name]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise ParameterError(f"{name}={shorten_value(text)} is not a number: give decimal degrees, such as {name}=12.5")
    if not least <= value <= most:
        raise ParameterError(
            f"{name}={shorten_value(text)} is out of range: give decimal degrees from {least:g} to {most:g}"
        )
    return value


def _read_verbosity(text: str) -> Verbosity:
    if (found := _VERBOSITIES.get(text.strip())) is None:
        raise ParameterError(
            f"unknown value VERB={shorten_value(text)}; give 1 for the fewest columns, 2 for the main columns, "
            "or 3 for all"
        )
    return found
