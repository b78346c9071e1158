"""Indexes of a layout: by the values of columns, or by the words of a text. They are written in their shortest form."""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal

from pydantic import Field as Key
from pydantic import model_serializer, model_validator

from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.shape_cover import has_cover
from clickhouse_schema.strict_model import StrictModel, Text

_KINDS = ("values", "text")


class TableIndex(StrictModel):
    """An index of a table, in addition to the indexes of its position, id and shapes.

    In files ``name`` or ``[name, other]`` is an index by values, ``{name: text}`` a text index.

    Attributes
    ----------
    columns
        The columns by which rows are sorted, the first column first; the only column of a text index.
    kind
        'values' finds rows by values of the first columns and a range of the next column, 'text' by pieces of words.
    """

    columns: Annotated[tuple[Text, ...], Key(min_length=1)]
    kind: Literal["values", "text"] = "values"

    @model_validator(mode="before")
    @classmethod
    def _read_short_form(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {"columns": (given,)}
        if isinstance(given, (tuple, list)):
            if not all(isinstance(name, str) for name in given):
                raise ValueError("an index of several columns is a list of their names: [a, b]")
            return {"columns": tuple(given)}
        if not isinstance(given, dict) or isinstance(given.get("columns"), tuple):
            return given
        if len(given) != 1:
            raise ValueError("a text index has one column: write {column: text} for each")
        [(name, kind)] = given.items()
        if kind not in _KINDS:
            close = difflib.get_close_matches(str(kind).lower(), _KINDS, 1)
            hint = f"did you mean {close[0]}?" if close else f"kinds are {' and '.join(_KINDS)}"
            raise ValueError(f"the index of {name} has the unknown kind {kind!r}: {hint}")
        return {"columns": (name,), "kind": kind}

    @model_serializer
    def _write_short_form(self) -> str | list[str] | dict[str, str]:
        if self.kind == "text":
            return {self.columns[0]: "text"}
        return self.columns[0] if len(self.columns) == 1 else list(self.columns)

    @property
    def is_sorted(self) -> bool:
        """Whether it is by values."""
        return self.kind == "values"

    def __str__(self) -> str:
        return f"{self.columns[0]}: text" if self.kind == "text" else ", ".join(self.columns)


def read_indexes(given: Any) -> Any:
    """Return a list of indexes as a tuple; ``{a: text, b: text}`` are two indexes."""
    if isinstance(given, dict):
        return tuple({name: kind} for name, kind in given.items())
    return tuple(given) if isinstance(given, list) else given


def is_searchable(kind: ColumnType) -> bool:
    """Whether a column can have a text index.

    Parameters
    ----------
    kind : ColumnType
        Type of the column.

    Returns
    -------
    bool
        True for texts other than timestamps and shapes, which have covers.
    """
    return kind.is_text and not has_cover(kind)
