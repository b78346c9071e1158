"""Chooses the table of a FITS file: the HDU that the sender names, else the first table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.fits_hdus import Hdu, iterate_hdus
from tap_service.readers.read_error import ReadError

#: the table of FITS_LDAC files that holds the header of an image; the catalogue follows it
_LDAC_HEADER = "LDAC_IMHEAD"

#: refusal of STIL's column-oriented files, whose only row has complete columns
STORED_BY_COLUMNS = "stores its table by columns (colfits): stilts tcopy with ofmt=fits writes it by rows"

_MAX_LISTED = 20

#: bytes after the table of a compressed file that are unpacked to find other tables
_MAX_UNPACKED = 64 << 20


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The chosen table.

    Attributes
    ----------
    hdu, primary : Hdu
        The HDU of the table, and the primary HDU.
    notes : tuple[str, ...]
        The other tables of the file, and whether it was searched to its end.
    """

    hdu: Hdu
    primary: Hdu
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Search:
    """The HDUs found. ``gap``: why the file was not searched to its end; '' if it was."""

    primary: Hdu | None = None
    chosen: Hdu | None = None
    tables: list[Hdu] = field(default_factory=list)
    has_packed_image: bool = False
    gap: str = ""


def choose_table(path: Path, wanted: str) -> TableChoice:
    """Find the table of a file.

    Parameters
    ----------
    path : Path
        The file.
    wanted : str
        The number of an HDU from 0, or its EXTNAME in any case, optionally with its EXTVER (``SCI,2``); '' for the
        first table, in FITS_LDAC files the catalogue.

    Returns
    -------
    TableChoice
        The table.

    Raises
    ------
    ReadError
        There is no such table.
    """
    search = _search_file(path, wanted)
    chosen = search.chosen
    if chosen is None and not wanted and search.tables:
        chosen = search.tables[0]
    if _is_packed(chosen) if chosen else search.has_packed_image and not wanted:
        raise ReadError(f"{path} holds a compressed image or table: unpack it with funpack first")
    if chosen is None or search.primary is None or not chosen.is_table:
        raise ReadError(f"{path} has no {_describe_wanted(wanted)}{_list_tables(search.tables)}")
    others = [hdu for hdu in search.tables if hdu.number != chosen.number]
    notes = []
    if others:
        listed = ", ".join(hdu.describe() for hdu in others[:_MAX_LISTED])
        notes.append(f"HDU {chosen.describe()} is read; --hdu reads another table: {listed}")
    if search.gap:
        notes.append(f"HDU {chosen.describe()} is read; the tables after it are not all listed: {search.gap}")
    return TableChoice(chosen, search.primary, tuple(notes))


def _search_file(path: Path, wanted: str) -> _Search:
    """Find the table, and list the others as far as that costs little."""
    search = _Search()
    with ByteStream(path) as stream:
        try:
            for hdu in iterate_hdus(stream):
                if hdu.header.read_text("COLFITS") == "T":
                    raise ReadError(f"{path} {STORED_BY_COLUMNS}")
                search.primary = search.primary or hdu
                search.has_packed_image |= hdu.is_packed_image
                if hdu.is_table:
                    search.tables.append(hdu)
                if search.chosen is None and _is_wanted(hdu, wanted):
                    search.chosen = hdu
                if search.chosen is not None and (gap := _find_gap(search, hdu, stream)):
                    search.gap = gap
                    break
        except ReadError as error:
            if search.chosen is None:
                raise
            search.gap = str(error)
    return search


def _find_gap(search: _Search, hdu: Hdu, stream: ByteStream) -> str:
    """Return why the file is not searched after an HDU, '' if it is."""
    if len(search.tables) > _MAX_LISTED:
        return f"there are more than {_MAX_LISTED}"
    start = search.chosen.start if search.chosen else 0
    if stream.compression is not None and hdu.start + hdu.size - start > _MAX_UNPACKED:
        return f"only {_MAX_UNPACKED >> 20} MiB of a compressed file are searched"
    return ""


def _is_packed(hdu: Hdu) -> bool:
    return hdu.is_packed_image or hdu.header.read_text("ZTABLE") == "T"


def _is_wanted(hdu: Hdu, wanted: str) -> bool:
    if not wanted:
        return hdu.is_table and hdu.name != _LDAC_HEADER
    if wanted.isdecimal():
        return str(hdu.number) == (wanted.lstrip("0") or "0")
    numbered = f"{hdu.name},{hdu.header.get('EXTVER', 1)}"
    return hdu.is_table and wanted.lower() in (hdu.name.lower(), numbered.lower())


def _describe_wanted(wanted: str) -> str:
    return f"table in HDU {wanted}" if wanted else "binary table"


def _list_tables(tables: list[Hdu]) -> str:
    listed = ", ".join(hdu.describe() for hdu in tables[:_MAX_LISTED])
    return f"; its tables are in the HDUs {listed}" if tables else ""
