"""The VOTable in the primary HDU of "fits-plus" files, which describes the columns of the tables that follow.

TOPCAT, STILTS and Skyhouse write it for metadata that the keywords of a table cannot express, such as coordinate
systems and xtypes. Its TABLE n describes HDU n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from clickhouse_schema.datatypes import ColumnType, Field
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.fits_hdus import Hdu
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_HEADER_BYTES
from tap_service.readers.votable_xml_reader import VotableParser, VotableTable

_NOTHING = VotableTable()


def read_described_table(path: Path, primary: Hdu, number: int) -> tuple[VotableTable, tuple[str, ...]]:
    """Return the description of an HDU, without columns if the file has none, and a note if it is broken."""
    if primary.header.read_text("VOTMETA") != "T":
        return _NOTHING, ()
    size = primary.header.read_integer("NAXIS1", 0)
    parser = VotableParser(f"{path} (HDU 0)", number=number)
    try:
        if size > MAX_HEADER_BYTES:
            raise ReadError(f"{path} (HDU 0) has a VOTable of more than {MAX_HEADER_BYTES} bytes")
        with ByteStream(path) as stream:
            stream.skip(primary.start)
            parser.feed(stream.read(size), last=True)
    except ReadError as error:
        return _NOTHING, (f"the description of the columns in HDU 0 is ignored: {error}",)
    return parser.table, ()


def describe_fields(fields: list[Field], table: VotableTable) -> Iterator[Field]:
    """Yield the fields with the metadata of the FIELDs of the same index, if their names are equal."""
    described = [None if column.unusable else column.field for column in table.columns]
    described += [None] * (len(fields) - len(described))
    for field, other in zip(fields, described, strict=False):
        yield _merge_metadata(field, other) if other and _is_ascii_form(field.name, other.name) else field


def _is_ascii_form(ascii_name: str, name: str) -> bool:
    """Return whether a keyword's text is the name, with any character for one that FITS cannot have."""
    pairs = zip(ascii_name, name, strict=False)
    return len(ascii_name) == len(name) and all(own == full or not full.isascii() for own, full in pairs)


def _merge_metadata(field: Field, described: Field) -> Field:
    own = {key: getattr(described, key) or getattr(field, key) for key in ("unit", "ucd", "utype", "description")}
    type_ = described.type if _is_finer(field.type, described.type) else field.type
    return replace(described, type=type_, nullable=field.nullable, **own)


def _is_finer(own: ColumnType, described: ColumnType) -> bool:
    """Return whether a described type says more about the same values: an xtype, or the NULL of arrays."""
    if own.is_text and not own.string_length:
        return described.datatype == "char" and bool(described.xtype)
    return (own.datatype, own.arraysize) == (described.datatype, described.arraysize)
