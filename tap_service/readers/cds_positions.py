"""Positions whose parts are several columns of a CDS table, such as RAh RAm RAs DE- DEd DEm DEs, in degrees.

Labels may have a prefix and a suffix (``RAh1950``). The equinox comes from labels or explanations: J2000 counts as
ICRS, from which FK5 differs by less than 0.03 arcsec; B1950 and other equinoxes are converted to ICRS by astropy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tap_service.readers.cds_readme import CdsColumn
from tap_service.readers.text_values import parse_numbers

J2000 = "J2000"

_SECONDS = {"s", "arcsec"}
_EPOCH = re.compile(r"\b(?:epoch|ep)\b\W{0,3}(?:of\s+)?[BJ]?\d{4}(?:\.\d+)?", re.IGNORECASE)
_EQUINOX = re.compile(r"(?<![\d.])(?P<calendar>[BJ]?)(?P<year>18\d\d|19\d\d|20\d\d)(?:\.\d+)?(?!\d)")
_DEGREE_LABEL = re.compile(r"_?RA_?(?:deg)?_?(?:ICRS|[BJ]?\d{4}(?:\.\d+)?)?(?:deg)?", re.IGNORECASE)

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Angle:
    """The labels of the parts of an angle; '' for a part without a column."""

    whole: str
    minutes: str = ""
    seconds: str = ""
    sign: str = ""

    def list_labels(self) -> list[str]:
        return [label for label in (self.sign, self.whole, self.minutes, self.seconds) if label]


@dataclass(frozen=True, slots=True)
class Position:
    """The columns of a position.

    Attributes
    ----------
    ra, dec : Angle
        The parts of right ascension and declination.
    is_in_hours : bool
        Whether right ascension is in hours.
    equinox : str
        Such as J2000 (also for ICRS) or B1950; '' if neither labels nor explanations have it.
    """

    ra: Angle
    dec: Angle
    is_in_hours: bool
    equinox: str

    @property
    def is_degrees(self) -> bool:
        """Whether the columns contain the position in degrees, in ICRS."""
        return not self.is_in_hours and not self.ra.minutes and self.equinox in ("", J2000)

    def list_labels(self) -> list[str]:
        return [*self.ra.list_labels(), *self.dec.list_labels()]


@dataclass(frozen=True, slots=True)
class Degrees:
    """Positions in ICRS in degrees, NaN where a part is missing, and rejected rows with their column and reason."""

    ra: Doubles
    dec: Doubles
    rejects: dict[int, tuple[str, str]]


def find_position(columns: list[CdsColumn]) -> Position | None:
    """Return the main position of a table: J2000 or ICRS is preferred, then degrees; None if there is none."""
    found = [*_list_degrees(columns), *_list_sexagesimal(columns)]
    found.sort(key=lambda position: position.equinox not in (J2000, ""))  # stable: then by the order of the table
    return found[0] if found else None


def _list_degrees(columns: list[CdsColumn]) -> Iterator[Position]:
    labels = {column.label for column in columns if column.unit == "deg"}
    for column in columns:
        if column.label in labels and _DEGREE_LABEL.fullmatch(column.label):
            declination = column.label.replace("RA", "DE", 1)
            if declination in labels and declination != column.label:
                equinox = _find_equinox(columns, [column.label, declination])
                yield Position(Angle(column.label), Angle(declination), False, equinox)


def _list_sexagesimal(columns: list[CdsColumn]) -> Iterator[Position]:
    units = {column.label: column.unit for column in columns}
    for column in columns:
        if column.unit != "h":
            continue
        for at in (match.start() for match in re.finditer("h", column.label)):
            before, after = column.label[:at], column.label[at + 1 :]
            if "RA" in before:
                position = _build_position(columns, units, before, after)
                if position:
                    yield position


def _build_position(columns: list[CdsColumn], units: dict[str, str], before: str, after: str) -> Position | None:
    def find(stem: str, part: str, allowed: set[str]) -> str:
        label = stem + part + after
        return label if units.get(label) in allowed else ""

    declination = before.replace("RA", "DE", 1)
    ra = Angle(f"{before}h{after}", find(before, "m", {"min"}), find(before, "s", {"s"}))
    dec = Angle(
        find(declination, "d", {"deg"}),
        find(declination, "m", {"arcmin"}),
        find(declination, "s", {"arcsec"}),
        find(declination, "-", {""}),
    )
    if not dec.whole:
        return None
    position = Position(ra, dec, True, "")
    return Position(ra, dec, True, _find_equinox(columns, position.list_labels()))


def _find_equinox(columns: list[CdsColumn], labels: list[str]) -> str:
    """Return the equinox in a label or an explanation, 'J2000' for ICRS; '' if there is none."""
    texts = [f"{column.label.lstrip('_')} {column.explanation}" for column in columns if column.label in labels]
    for text in texts:
        rest = _EPOCH.sub(" ", text)
        if found := _EQUINOX.search(rest):
            year = int(found["year"])
            return J2000 if year == 2000 else (found["calendar"] or ("B" if year < 1984 else "J")) + str(year)
        if re.search(r"ICRS|FK5", rest):
            return J2000
        if "FK4" in rest:
            return "B1950"
    return ""


def compute_degrees(position: Position, values: Mapping[str, pa.Array]) -> Degrees:
    """Compute positions.

    Parameters
    ----------
    position : Position
        The parts.
    values : mapping of str to pyarrow.BinaryArray
        The trimmed texts of the columns of all parts.

    Returns
    -------
    Degrees
        Positions in ICRS. Missing seconds, or minutes and seconds, count as 0; without hours or degrees there is no
        position.
    """
    rejects: dict[int, tuple[str, str]] = {}
    ra = _read_angle(position.ra, values, 24 if position.is_in_hours else 360, rejects)
    dec = _read_angle(position.dec, values, 90, rejects)
    ra = ra / (240 if position.is_in_hours else 3600)  # one division, so that it is rounded once
    dec = dec / 3600
    missing = np.isnan(ra) | np.isnan(dec)
    missing[list(rejects)] = True
    ra[missing] = dec[missing] = np.nan
    if position.equinox not in ("", J2000):
        ra, dec = _convert_to_icrs(ra, dec, position.equinox)
    return Degrees(ra, dec, rejects)


def _read_angle(
    angle: Angle, values: Mapping[str, pa.Array], limit: int, rejects: dict[int, tuple[str, str]]
) -> Doubles:
    """Return the angle in seconds."""
    whole = _read_part(angle.whole, values, limit + 1e-9, rejects)
    zeros = np.zeros_like(whole)
    minutes = _read_part(angle.minutes, values, 60, rejects) if angle.minutes else zeros
    seconds = _read_part(angle.seconds, values, 60 + 1e-9, rejects) if angle.seconds else zeros
    gap = np.isnan(minutes) & ~np.isnan(seconds) & bool(angle.seconds)
    total = np.abs(whole) * 3600 + np.nan_to_num(minutes) * 60 + np.nan_to_num(seconds)
    total[gap] = np.nan
    for row in np.flatnonzero(total > limit * 3600).tolist():
        rejects.setdefault(row, (angle.whole, f"part of an angle beyond {limit}"))
    return np.asarray(np.where(_find_negative(angle, values, rejects), -total, total))


def _read_part(
    label: str, values: Mapping[str, pa.Array], limit: float, rejects: dict[int, tuple[str, str]]
) -> Doubles:
    numbers, bad = parse_numbers(values[label])
    found: Doubles = np.array(numbers.fill_null(float("nan")), np.float64)
    for row in np.flatnonzero(bad.to_numpy(zero_copy_only=False)).tolist():
        rejects.setdefault(row, (label, "not a number"))
    for row in np.flatnonzero(np.abs(found) >= limit).tolist():
        rejects.setdefault(row, (label, f"not below {limit:g}"))
    return found


def _find_negative(
    angle: Angle, values: Mapping[str, pa.Array], rejects: dict[int, tuple[str, str]]
) -> npt.NDArray[np.bool_]:
    """Return which angles are negative, by their sign, also of -00."""
    signs = values[angle.sign or angle.whole].cast(pa.string())
    if angle.sign:
        known = pc.fill_null(pc.is_in(signs, pa.array(["+", "-"])), True)
        for row in np.flatnonzero(~known.to_numpy(zero_copy_only=False)).tolist():
            if signs[row].is_valid:
                rejects.setdefault(row, (angle.sign, "neither + nor -"))
        negative = pc.equal(signs, "-")
    else:
        negative = pc.starts_with(signs, "-")
    return np.asarray(pc.fill_null(negative, False).to_numpy(zero_copy_only=False))


def _convert_to_icrs(ra: Doubles, dec: Doubles, equinox: str) -> tuple[Doubles, Doubles]:
    from astropy import units  # deferred: a second
    from astropy.coordinates import FK4, FK5, ICRS

    frame = FK4 if equinox.startswith("B") else FK5
    known = np.flatnonzero(~np.isnan(ra))
    if len(known):
        given = frame(ra[known] * units.deg, dec[known] * units.deg, equinox=equinox)
        found = given.transform_to(ICRS())
        ra[known] = found.ra.wrap_at(360 * units.deg).deg
        dec[known] = found.dec.deg
    return ra, dec
