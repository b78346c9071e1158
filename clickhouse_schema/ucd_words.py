"""Checks UCDs against the IVOA's controlled vocabulary of UCD1+."""

from __future__ import annotations

import re

_UCD1 = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9/?:-]+)*", re.ASCII)


def find_ucd_problem(ucd: str) -> str:
    """Return the problem with a UCD.

    Parameters
    ----------
    ucd : str
        One UCD of any version, without a namespace prefix.

    Returns
    -------
    str
        The predicate of a sentence about the UCD; '' for a valid UCD1+. A UCD1 (``POS_EQ_RA_MAIN``) is a problem.

    References
    ----------
    .. [1] IVOA, The UCD1+ controlled vocabulary, as shipped with astropy.
    """
    from astropy.io.votable.ucd import parse_ucd  # takes 0.4 s, so not when the package is imported

    if not ucd.isascii():
        return "is not a UCD: it has characters that are not ASCII"
    try:
        parse_ucd(ucd, check_controlled_vocabulary=True, has_colon=False)
    except ValueError as error:
        if _UCD1.fullmatch(ucd):
            return "is a UCD1 from before 2005 (the IVOA's list has its UCD1+)"
        return f"is not a valid UCD1+ ({str(error).removesuffix('.')})"
    return ""
