"""The columns of a table that hold names of objects."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field as Key
from pydantic import model_serializer, model_validator

from clickhouse_schema.strict_model import StrictModel, Text


class NameColumn(StrictModel):
    """A column with names of objects; files may give just its name.

    Attributes
    ----------
    prefix
        Text before each value in a name: 'HIP' if the number 70890 stands for HIP 70890.
    separator
        Text between several names in a value; '' if a value is one name.
    """

    column: Text
    prefix: Text = ""
    separator: Annotated[Text, Key(max_length=3)] = ""

    @model_validator(mode="before")
    @classmethod
    def _read_short_form(cls, given: Any) -> Any:
        return {"column": given} if isinstance(given, str) else given

    @model_serializer
    def _write_short_form(self) -> str | dict[str, str]:
        more = {key: value for key in ("prefix", "separator") if (value := getattr(self, key))}
        return {"column": self.column, **more} if more else self.column
