"""Converts units in the spellings of FITS, CDS and everyday use to VOUnit 1.1."""

from __future__ import annotations

import re
import threading
import warnings
from functools import lru_cache
from itertools import product

#: Spellings in files that are in no standard
_WORDS = {
    "degree": "deg", "degrees": "deg", "arcmins": "arcmin", "arcminutes": "arcmin", "arcminute": "arcmin",
    "arcseconds": "arcsec", "arcsecond": "arcsec", "arcsecs": "arcsec", "sec": "s", "secs": "s", "second": "s",
    "seconds": "s", "minutes": "min", "minute": "min", "hour": "h", "hours": "h", "hr": "h", "hrs": "h", "day": "d",
    "days": "d", "year": "yr", "years": "yr", "ergs": "erg", "angstrom": "Angstrom", "angstroms": "Angstrom",
    "Angstroms": "Angstrom", "ANGSTROM": "Angstrom", "micron": "um", "microns": "um",
    "magnitude": "mag", "magnitudes": "mag", "mags": "mag", "MAG": "mag", "DEG": "deg", "counts": "count",
    "cts": "count", "photons": "photon", "pixels": "pixel", "gauss": "G", "jansky": "Jy", "kelvin": "K",
    "Kelvin": "K", "ADU": "adu", "radians": "rad", "radian": "rad", "Msun": "solMass", "Lsun": "solLum",
    "Rsun": "solRad", "uas": "uarcsec",
    "yrs": "yr", "YR": "yr", "MAS": "mas", "Ang": "Angstrom", "cnt": "count", "cnts": "count",
    "asec": "arcsec", "amin": "arcmin",  # from IRSA: parsers take them for attoseconds and attominutes
}  # fmt: skip
_SIGNS = {"°": "deg", "'": "arcmin", "′": "arcmin", '"': "arcsec", "″": "arcsec", "''": "arcsec", "Å": "Angstrom"}
_INSIDE = str.maketrans({"Å": "Angstrom", "µ": "u", "μ": "u", "²": "2", "³": "3", "⁻": "-", "¹": "1", "·": "."})
_AS_WRITTEN = frozenset({"%", "unknown"})
_NONE = frozenset({"", "-", "--", "---", "[-]", "none", "None", "null", "N/A", "unitless", "dimensionless", "1"})
_WORD = re.compile(r"[A-Za-z]+")
_LOGARITHM = re.compile(r"(?:\[(?P<cds>[^\[\]]+)\]|(?:log|log10)\((?P<called>[^()]+)\))")
_FORMATS = ("vounit", "fits", "cds", "generic")
_MAX_UNIT_LENGTH = 100
_warnings_are_global = threading.Lock()


@lru_cache(maxsize=1024)
def normalise_unit(text: str) -> str | None:
    """Return a unit as a VOUnit.

    ``km/s`` becomes ``km.s**-1``, ``[cm/s2]`` (a logarithm in CDS spelling) ``log(cm.s**-2)``.

    Parameters
    ----------
    text : str
        A unit in the spelling of VOUnit, FITS, CDS or of everyday use.

    Returns
    -------
    str or None
        '' for no unit; None if it cannot be written as a VOUnit, or has more than 100 characters.

    References
    ----------
    .. [1] IVOA, Units in the VO 1.1.
    """
    text = text.strip()
    if text in _AS_WRITTEN:
        return text
    if text in _NONE:
        return ""
    if len(text) > _MAX_UNIT_LENGTH:
        return None
    if logarithm := _LOGARITHM.fullmatch(text):
        inner = normalise_unit(logarithm["cds"] or logarithm["called"])
        return f"log({inner})" if inner else None
    text = _SIGNS.get(text, text).translate(_INSIDE)
    spelt = _WORD.sub(_spell_word, text)
    for spellings in (dict.fromkeys((spelt, text)), (_WORD.sub(_lower_word, spelt),)):
        for format_, spelling in product(_FORMATS, spellings):
            if unit := _rewrite_unit(spelling, format_):
                return unit
    return None


def _spell_word(word: re.Match[str]) -> str:
    return _WORDS.get(word[0], word[0])


def _lower_word(word: re.Match[str]) -> str:
    """Return a word with capitals (``ARCSEC``, ``Days``) in the spelling of units; short words are symbols."""
    lower = word[0].lower()
    return _WORDS.get(lower, lower) if len(lower) > 2 else word[0]


def _rewrite_unit(text: str, format_: str) -> str | None:
    """Convert ``text`` from one of astropy's formats to VOUnit; return None if that fails."""
    from astropy import units  # takes 0.3 s, so not when the package is imported

    with _warnings_are_global, warnings.catch_warnings():
        warnings.simplefilter("ignore", units.UnitsWarning)  # deprecated units, such as erg, are accepted
        try:
            unit = str(units.Unit(text, format=format_).to_string("vounit"))
            units.Unit(unit, format="vounit")
        except (ValueError, TypeError, ArithmeticError):  # the last if a power is too high
            return None
    return unit
