"""Options for reading a table file, given by its sender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl

from clickhouse_schema.delimiters import read_character, read_delimiter


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading a table file. By default the reader chooses each option.

    Attributes
    ----------
    format : str
        The name of a format (``readers.file_formats.FORMATS``); '' to detect it.
    hdu : str
        The HDU of a FITS file: its number from 0, as in FITS and astropy, or its EXTNAME; '' for the first table.
    table : str
        The TABLE of a VOTable: its number from 1, its name or its ID; '' for the first with data.
    delimiter : str
        The character between the fields of delimited text, ' ' for any number of blanks; '' to detect it.
    header : bool or None
        Whether the first line of delimited text names the columns; None to detect it.
    columns : tuple of str
        The columns of text without a header, in the order of the file.
    comment : str
        The character at the start of a comment line of delimited text; '' for ``#``, above the first row only.
    nulls : tuple of str
        The tokens that mark a missing value in any column.
    case_matters : bool
        Whether names of columns may differ only in case: in uploads they may, in stored tables they may not.
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
        """Return these options, overridden by other options.

        Parameters
        ----------
        other : ReadOptions
            Options that differ from their defaults win; their defaults change nothing.
        """
        return replace(self, **{name: getattr(other, name) for name in other.list_given()})

    def add_nulls(self, nulls: Iterable[str]) -> ReadOptions:
        """Return the options with additional tokens of missing values.

        Parameters
        ----------
        nulls : iterable of str
            Texts that stand for NULL in the file; duplicates are ignored.
        """
        return replace(self, nulls=tuple(dict.fromkeys((*self.nulls, *nulls))))

    def list_given(self) -> set[str]:
        """Return the names of the options that differ from their defaults."""
        return {field.name for field in fields(self) if getattr(self, field.name) != field.default}


def build_options(given: Mapping[str, Any]) -> ReadOptions:
    """Build options from a JSON object.

    Parameters
    ----------
    given : mapping of str to Any
        The options by the names of the attributes; arrays become tuples.

    Raises
    ------
    TypeError
        A name is not the name of an attribute.
    """
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return ReadOptions(**values)


#: the keys of options in texts
_TEXT_KEYS = ("format", "hdu", "table", "delimiter", "header", "comment", "null")


def parse_options(text: str) -> ReadOptions:
    """Parse options such as ``hdu=2&null=-999&null=NaN``, with characters escaped as in URLs.

    Raises
    ------
    ValueError
        The text is malformed; the message is for its sender.
    """
    given: dict[str, Any] = {"nulls": ()}
    for key, value in parse_qsl(text, keep_blank_values=True, strict_parsing=True):
        if key not in _TEXT_KEYS:
            raise ValueError(f"there is no option {key[:40]!r}; the options are {', '.join(_TEXT_KEYS)}")
        if key == "null":
            given["nulls"] += (value,)
        else:
            given[key] = _READERS.get(key, str)(value)
    return ReadOptions(**given)


def _read_header(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ValueError(f"header must be true or false, not {value[:40]!r}")
    return value.lower() == "true"


_READERS: dict[str, Callable[[str], Any]] = {
    "delimiter": read_delimiter,
    "comment": read_character,
    "header": _read_header,
}


#: the reader chooses all options
AS_DETECTED = ReadOptions()
