"""The table of a FITS file that is read: the HDU that the sender names, else the first table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.fits_hdus import MAX_HDUS, Hdu, iterate_hdus, read_text
from tap_service.readers.read_error import ReadError

#: The table of FITS_LDAC files that holds the header of an image; the catalogue follows it
_LDAC_HEADER = "LDAC_IMHEAD"

_MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The chosen table; ``notes``: which others there are, and whether the file was searched to its end."""

    hdu: Hdu
    notes: tuple[str, ...]


def choose_table(path: Path, wanted: str) -> TableChoice:
    """Find the table of a file.

    Of a compressed file nothing is unpacked behind the chosen table: other tables there are not listed.

    Parameters
    ----------
    path : Path
        The file.
    wanted : str
        The number of an HDU from 0, or its EXTNAME in any case; '' for the first table, in FITS_LDAC files the
        catalogue.

    Returns
    -------
    TableChoice
        The table.

    Raises
    ------
    ReadError
        There is no such table.
    """
    chosen: Hdu | None = None
    tables: list[Hdu] = []
    last = 0
    with ByteStream(path) as stream:
        for hdu in iterate_hdus(stream):
            last = hdu.number
            if hdu.is_table:
                tables.append(hdu)
            if chosen is None and _is_wanted(hdu, wanted):
                chosen = hdu
            if chosen is not None and (stream.compression is not None or len(tables) > _MAX_LISTED):
                break
    if chosen is None and not wanted and tables:
        chosen = tables[0]
    if chosen is None or not chosen.is_table:
        limit = f" among its first {MAX_HDUS} HDUs" if last == MAX_HDUS - 1 else ""
        raise ReadError(f"{path} has no {_describe_wanted(wanted)}{limit}{_list_tables(tables)}")
    if "T" in (read_text(chosen.header, "ZIMAGE"), read_text(chosen.header, "ZTABLE")):
        raise ReadError(f"{path} holds a compressed image or table: unpack it with funpack first")
    others = [hdu for hdu in tables if hdu.number != chosen.number]
    if not others:
        return TableChoice(chosen, ())
    listed = ", ".join(hdu.describe() for hdu in others[:_MAX_LISTED])
    return TableChoice(chosen, (f"HDU {chosen.describe()} is read; --hdu reads another table: {listed}",))


def _is_wanted(hdu: Hdu, wanted: str) -> bool:
    if not wanted:
        return hdu.is_table and hdu.name != _LDAC_HEADER
    return hdu.number == int(wanted) if wanted.isdecimal() else hdu.name.lower() == wanted.lower()


def _describe_wanted(wanted: str) -> str:
    return f"table in HDU {wanted}" if wanted else "binary table"


def _list_tables(tables: list[Hdu]) -> str:
    listed = ", ".join(hdu.describe() for hdu in tables[:_MAX_LISTED])
    return f"; its tables are in the HDUs {listed}" if tables else ""
