"""Detection of the position columns of a table file."""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.datatypes import Field

#: common names of equatorial coordinates in degrees, the most reliable first
_POSITION_NAMES = (
    ("ra", "dec"), ("ra", "decl"), ("ra_icrs", "de_icrs"), ("raj2000", "dej2000"), ("_raj2000", "_dej2000"),
    ("radeg", "dedeg"), ("right_ascension", "declination"), ("target_ra", "target_dec"), ("ramean", "decmean"),
    ("alphawin_j2000", "deltawin_j2000"), ("alpha_j2000", "delta_j2000"),
)  # fmt: skip

_DEGREES = frozenset({"", "deg", "degree", "degrees"})
_HOURS = frozenset({"h", "hr", "hour", "hours", "hourangle", "ha"})


def find_position_columns(fields: tuple[Field, ...]) -> tuple[str, str] | None:
    """Find the columns of the position.

    Parameters
    ----------
    fields : tuple of Field
        The columns of the file.

    Returns
    -------
    tuple of str or None
        The names of longitude and latitude (degrees), found by UCD (``pos.eq.ra;meta.main``), else by name; None if
        there are no such numeric columns.
    """
    usable = [field for field in fields if field.type.is_numeric and field.unit.strip().lower() in _DEGREES]
    longitude = _find_only(field.name for field in usable if split_ucd(field.ucd) >= {"pos.eq.ra", "meta.main"})
    latitude = _find_only(field.name for field in usable if split_ucd(field.ucd) >= {"pos.eq.dec", "meta.main"})
    if longitude and latitude:
        return longitude, latitude
    names = {field.name.lower(): field.name for field in usable}
    for ra, dec in _POSITION_NAMES:
        if ra in names and dec in names:
            return names[ra], names[dec]
    return None


def find_hour_angles(fields: tuple[Field, ...]) -> list[str]:
    """Find right ascensions in hours, which must be converted to degrees before they are loaded as positions.

    Parameters
    ----------
    fields : tuple of Field
        The columns of the file.

    Returns
    -------
    list of str
        The columns that are right ascensions by UCD or name, and whose unit is hours.
    """
    names = {ra for ra, _ in _POSITION_NAMES}
    return [
        field.name
        for field in fields
        if field.unit.strip().lower() in _HOURS and ("pos.eq.ra" in split_ucd(field.ucd) or field.name.lower() in names)
    ]


def split_ucd(ucd: str) -> set[str]:
    return set(ucd.lower().split(";"))


def _find_only(names: Iterable[str]) -> str:
    found = list(names)
    return found[0] if len(found) == 1 else ""
