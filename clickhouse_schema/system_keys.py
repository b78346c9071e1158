"""Coordinate, time and photometric systems of columns: their keys in schema files, and reading COOSYS and TIMESYS.

The terms are from the IVOA vocabularies refframe, refposition and timescale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, ValidationError
from pydantic import Field as Key

from clickhouse_schema.datatypes import NUMBERS, ColumnType, CoordinateSystem, PhotometricSystem, TimeSystem
from clickhouse_schema.strict_model import StrictModel

RefPosition = Literal["TOPOCENTER", "GEOCENTER", "BARYCENTER", "HELIOCENTER", "EMBARYCENTER", "UNKNOWN"]

#: Units of times in years of a calendar, which need no origin (VOTable 1.5, section 3.2)
YEARS = ("yr", "a", "Ba")

#: A year with its calendar, as in COOSYS
_YEAR = re.compile(r"[JB][0-9]{1,4}(\.[0-9]{1,6})?")

#: Frames of COOSYS in the schema of VOTable up to 1.4, and the terms of the vocabulary that replaced them
FORMER_SYSTEMS = {
    "eq_FK4": "FK4",
    "eq_FK5": "FK5",
    "ecl_FK5": "ECLIPTIC",
    "galactic": "GALACTIC",
    "supergalactic": "SUPER_GALACTIC",
}


def _check_year(value: str) -> str:
    if value and not _YEAR.fullmatch(value):
        raise ValueError(f"{value!r} is not a year with its calendar: write J2016.0, or B1950.0 for a Besselian year")
    return value


Year = Annotated[str, AfterValidator(_check_year)]


class CoordinateKeys(StrictModel):
    """The coordinate system of a column, or of the position and the shapes of a table."""

    system: Literal[
        "ICRS",
        "FK5",
        "FK4",
        "EQUATORIAL",
        "ECLIPTIC",
        "ecl_FK4",
        "GALACTIC",
        "GALACTIC_I",
        "GENERIC_GALACTIC",
        "SUPER_GALACTIC",
        "AZ_EL",
        "BODY",
        "UNKNOWN",
    ]
    epoch: Year = ""
    equinox: Year = ""
    refposition: RefPosition | Literal[""] = ""

    @property
    def coordinate_system(self) -> CoordinateSystem:
        return CoordinateSystem(self.system, self.epoch, self.equinox, self.refposition)


class TimeKeys(StrictModel):
    """The time system of a column.

    ``timeorigin`` is a Julian date or the name of one; None for timestamps and years of a calendar.
    """

    timescale: Literal["TAI", "TT", "UT", "UTC", "GPS", "TCG", "TCB", "TDB", "LOCAL", "UNKNOWN"]
    refposition: RefPosition
    timeorigin: Annotated[float, Key(allow_inf_nan=False)] | Literal["MJD-origin", "JD-origin"] | None = None

    @property
    def time_system(self) -> TimeSystem:
        origin = "" if self.timeorigin is None else str(self.timeorigin)
        return TimeSystem(self.timescale, self.refposition, origin)


class PhotometryKeys(StrictModel):
    """The calibration of a magnitude or flux; see ``PhotometricSystem``."""

    filter: Annotated[str, Key(pattern=r"^[A-Za-z0-9_.+-]+/[A-Za-z0-9_.+-]+$")]
    system: Literal["Vega", "AB", "ST"]
    zero_point: Annotated[float, Key(gt=0, allow_inf_nan=False)] | None = None

    @property
    def photometric_system(self) -> PhotometricSystem:
        return PhotometricSystem(self.filter, self.system, self.zero_point)


def read_coosys(attributes: Mapping[str, str]) -> CoordinateSystem | None:
    """Read the attributes of a COOSYS of any version of VOTable.

    An invalid epoch, equinox or reference position is left out. A year without a calendar is Besselian in FK4 and
    Julian elsewhere.

    Parameters
    ----------
    attributes : mapping of str to str
        The attributes of the element, by name.

    Returns
    -------
    CoordinateSystem or None
        The system, with the frames of VOTable up to 1.4 translated to the vocabulary; None for a frame that is not in
        it.

    References
    ----------
    .. [1] IVOA vocabularies refframe and refposition; VOTable 1.5, section 3.1.
    """
    system = attributes.get("system", "")
    system = FORMER_SYSTEMS.get(system, system)
    keys = {"system": system}
    for name in ("epoch", "equinox"):
        year = attributes.get(name, "").strip()
        year = ("B" if system == "FK4" else "J") + year if year[:1].isdigit() else year
        keys[name] = year if _YEAR.fullmatch(year) else ""
    refposition = attributes.get("refposition", "")
    try:
        found = CoordinateKeys.model_validate(
            keys | {"refposition": refposition if refposition in get_args(RefPosition) else ""}
        )
    except ValidationError:
        return None
    return found.coordinate_system


def read_timesys(attributes: Mapping[str, str]) -> TimeSystem | None:
    """Read the attributes of a TIMESYS.

    Parameters
    ----------
    attributes : mapping of str to str
        The attributes of the element, by name. ``timeorigin`` is a Julian date in days, or a name of one.

    Returns
    -------
    TimeSystem or None
        None if the attributes do not conform to the standard.

    References
    ----------
    .. [1] IVOA vocabularies timescale and refposition; VOTable 1.5, section 3.2.
    """
    origin: str | float | None = attributes.get("timeorigin")
    try:
        origin = origin if origin in (None, "MJD-origin", "JD-origin") else float(origin or "")
        keys = {name: attributes.get(name, "") for name in ("timescale", "refposition")}
        found = TimeKeys.model_validate(keys | {"timeorigin": origin})
    except ValueError:  # also ValidationError, a subclass
        return None
    return found.time_system


def find_time_problem(kind: ColumnType, unit: str, times: TimeSystem) -> str:
    """Return why a column cannot have a time system.

    Parameters
    ----------
    kind : ColumnType
        Type of the column.
    unit : str
        Its VOUnit; '' for none.
    times : TimeSystem
        The time system.

    Returns
    -------
    str
        The predicate of a sentence about the time system; '' if the column can have it.

    References
    ----------
    .. [1] VOTable 1.5, section 3.2.
    """
    if not (kind.is_timestamp or kind.datatype in NUMBERS):
        return "is for timestamps and numbers"
    if kind.is_timestamp and times.timeorigin:
        return "has no timeorigin for timestamps"
    if not (kind.is_timestamp or unit in YEARS or times.timeorigin):
        return f"has a timeorigin for numbers, such as MJD-origin; only years ({', '.join(YEARS)}) need none"
    return ""
