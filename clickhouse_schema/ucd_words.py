"""UCD1+ words: what is one, and what is wrong with what is none (UCD1+ controlled vocabulary, IVOA)."""

from __future__ import annotations

import re

_UCD1 = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9/?:-]+)*", re.ASCII)


def find_ucd_fault(ucd: str) -> str:
    """What is wrong with a UCD, '' if it is a UCD1+ of the IVOA's list of words.

    A UCD1 (``POS_EQ_RA_MAIN``, before 2005) is none.
    """
    from astropy.io.votable.ucd import parse_ucd  # 0.4 s: not at the import of the package

    if not ucd.isascii():
        return "is no UCD: it has characters that are not ASCII"
    try:
        parse_ucd(ucd, check_controlled_vocabulary=True, has_colon=False)
    except ValueError as error:
        if _UCD1.fullmatch(ucd):
            return "is a UCD1 of before 2005 (the IVOA's list has its UCD1+)"
        return f"is no valid UCD1+ ({str(error).removesuffix('.')})"
    return ""
