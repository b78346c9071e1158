"""What a sender says of a table file beyond what the file itself shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl

from clickhouse_schema.delimiters import read_character, read_delimiter


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The choices of a sender; each default leaves the choice to the reader.

    Attributes
    ----------
    format : str
        The name of a format (``readers.file_formats.FORMATS``); '' to detect it.
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

    def add_nulls(self, nulls: Iterable[str]) -> ReadOptions:
        """Return the options with further NULL tokens."""
        return replace(self, nulls=tuple(dict.fromkeys((*self.nulls, *nulls))))

    def list_given(self) -> set[str]:
        """Return the names of the choices that are made."""
        return {field.name for field in fields(self) if getattr(self, field.name) != field.default}


def build_options(given: Mapping[str, Any]) -> ReadOptions:
    """Return the options of a JSON object with the names of the attributes."""
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return ReadOptions(**values)


#: The keys of choices in texts
_TEXT_KEYS = ("format", "hdu", "table", "delimiter", "header", "comment", "null")


def parse_options(text: str) -> ReadOptions:
    """Return the options of a text such as ``hdu=2&null=-999&null=NaN``, with characters escaped as in URLs.

    Raises ``ValueError`` with a message for the sender.
    """
    given: dict[str, Any] = {"nulls": ()}
    for key, value in parse_qsl(text, keep_blank_values=True, strict_parsing=True):
        if key not in _TEXT_KEYS:
            raise ValueError(f"there is no choice {key[:40]!r}; the choices are {', '.join(_TEXT_KEYS)}")
        if key == "null":
            given["nulls"] += (value,)
        else:
            given[key] = _READERS.get(key, str)(value)
    return ReadOptions(**given)


def _read_header(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ValueError(f"header is true or false, not {value[:40]!r}")
    return value.lower() == "true"


_READERS: dict[str, Callable[[str], Any]] = {
    "delimiter": read_delimiter,
    "comment": read_character,
    "header": _read_header,
}


#: Every choice left to the reader
AS_DETECTED = ReadOptions()
