"""The form of a table's files, where the files themselves do not show it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from clickhouse_schema.strict_model import StrictModel, Text

#: Words for delimiters; blanks are any number of them
_DELIMITERS = {"tab": "\t", "\\t": "\t", "blanks": " "}


def read_delimiter(value: str) -> str:
    """Return the delimiter of a character or a word. Raises ``ValueError``."""
    return read_character(_DELIMITERS.get(value, value))


def read_character(value: str) -> str:
    """Return a delimiter or a comment character, '' for none. Raises ``ValueError`` for what no text can have."""
    if len(value) > 1 or (value and (not value.isascii() or value in '"\r\n\0')):
        raise ValueError(f"{value[:40]!r} is not one ASCII character, 'tab' or 'blanks'")
    return value


def _write_tokens(value: Any) -> Any:
    """Return a list of tokens with the numbers in it as texts, as YAML has them without quotes."""
    if not isinstance(value, tuple | list):
        return value
    return tuple(repr(item) if type(item) in (int, float) else item for item in value)


#: Texts that mark missing values
NullTokens = Annotated[tuple[Text, ...], BeforeValidator(_write_tokens)]


class FileForm(StrictModel):
    """How to read the files of a table: the options of ``load`` of the same names."""

    format: Text = ""
    hdu: Text = ""
    table: Text = ""
    delimiter: Annotated[Text, AfterValidator(read_delimiter)] = ""
    header: bool | None = None
    comment: Annotated[Text, AfterValidator(read_character)] = ""
    nulls: NullTokens = ()
