"""What a sender says of a table file beyond what the file itself shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The choices of a sender; each default leaves the choice to the reader.

    Attributes
    ----------
    format : str
        The name of a format (``file_formats.FORMATS``); '' to detect it.
    hdu : str
        The HDU of a FITS file: its number from 0, as in FITS and astropy, or its EXTNAME; '' for the first table.
    table : str
        The TABLE of a VOTable: its number from 1, its name or its ID; '' for the first with data.
    delimiter : str
        The character between the fields of delimited text; ' ' for any number of blanks; '' to detect it.
    header : bool or None
        Whether the first line of delimited text names the columns; None to detect it.
    columns : tuple of str
        The columns of text without a header, in the order of the file.
    comment : str
        The character that begins a comment line of delimited text; '' for ``#``, above the first row only.
    nulls : tuple of str
        The tokens that mark a missing value in any column.
    case_matters : bool
        Whether columns may have names that differ in case alone: in uploads they may, in stored tables not.
    """

    format: str = ""
    hdu: str = ""
    table: str = ""
    delimiter: str = ""
    header: bool | None = None
    columns: tuple[str, ...] = ()
    comment: str = ""
    nulls: tuple[str, ...] = ()
    case_matters: bool = False

    def replace_given(self, other: ReadOptions) -> ReadOptions:
        """Return the options with the choices of ``other`` in place of these, where it makes any."""
        return replace(self, **{name: getattr(other, name) for name in other.list_given()})

    def list_given(self) -> set[str]:
        """Return the names of the choices that are made."""
        return {field.name for field in fields(self) if getattr(self, field.name) != field.default}


def build_options(given: Mapping[str, Any]) -> ReadOptions:
    """Return the options of a JSON object with the names of the attributes."""
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return ReadOptions(**values)


#: Every choice left to the reader
AS_DETECTED = ReadOptions()
