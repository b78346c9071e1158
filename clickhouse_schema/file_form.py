"""The form of a table's files, where the files themselves do not show it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from clickhouse_schema.delimiters import read_character, read_delimiter
from clickhouse_schema.strict_model import StrictModel, Text


def _write_tokens(value: Any) -> Any:
    """Return a list of tokens with its numbers as texts; YAML reads tokens without quotes as numbers."""
    if not isinstance(value, tuple | list):
        return value
    return tuple(repr(item) if type(item) in (int, float) else item for item in value)


#: Texts that mark missing values
NullTokens = Annotated[tuple[Text, ...], BeforeValidator(_write_tokens)]


class FileForm(StrictModel):
    """How to read the files of a table: the options of ``load`` with the same names."""

    format: Text = ""
    hdu: Text = ""
    table: Text = ""
    delimiter: Annotated[Text, AfterValidator(read_delimiter)] = ""
    header: bool | None = None
    comment: Annotated[Text, AfterValidator(read_character)] = ""
    nulls: NullTokens = ()
