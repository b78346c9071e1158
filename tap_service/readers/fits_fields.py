"""The metadata of a column in the keywords of a FITS table: the standard's and TOPCAT's."""

from __future__ import annotations

import re

from clickhouse_schema.datatypes import ColumnType, Field
from tap_service.readers.fits_header import Header

#: comments that libraries write after every name, such as "label for field   1"
_LABEL = re.compile(
    r"(the )?((label|name|title)( (for|of))?( the)?( (field|column|data))?|(field|column)( (name|label|title))?)"
    r"[ #0-9:.]*",
    re.IGNORECASE,
)


def describe_field(header: Header, prefix: str, number: int, type_: ColumnType) -> Field:
    """Return a column with the metadata of its keywords.

    Parameters
    ----------
    header : Header
        The header of the table.
    prefix : str
        The prefix of the keywords; not '' only in STIL's wide tables.
    number : int
        The number of the column.
    type_ : ColumnType
        Its type.
    """
    name = header.read_text(f"{prefix}TTYPE{number}")
    return Field(
        name,
        type_,
        unit=header.read_text(f"{prefix}TUNIT{number}"),
        ucd=header.read_text(f"{prefix}TUCD{number}"),
        utype=header.read_text(f"{prefix}TUTYP{number}"),
        description=header.read_text(f"{prefix}TCOMM{number}") or _read_comment(header, f"{prefix}TTYPE{number}", name),
    )


def _read_comment(header: Header, keyword: str, name: str) -> str:
    """Return the comment of a name, which describes the column in the files of surveys; '' if it says nothing."""
    comment = header.read_comment(keyword)
    says_nothing = _LABEL.fullmatch(comment) or comment.lower() == name.lower()
    return "" if says_nothing else comment
