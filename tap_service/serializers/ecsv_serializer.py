"""ECSV 1.0, as astropy and TOPCAT read and write it: CSV after a YAML header in comment lines.

An empty field is NULL; an empty string is ``""``, which readers also treat as NULL. Arrays are JSON. In text, line ends
other than CR and LF become a space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from clickhouse_schema.datatypes import Field
from tap_service.serializers.cell_text import Spelling, axis_sizes, format_nested_lists, format_scalars
from tap_service.serializers.csv_serializer import Csv, to_one_line
from tap_service.serializers.field_arrays import split_text
from tap_service.serializers.json_serializer import describe_result
from tap_service.serializers.serializer import distinct_names

_LINE_ENDS = r"[\x0b\x0c\x1c-\x1e\x{85}\x{2028}\x{2029}]"
#: each of these line ends contains one of these UTF-8 bytes
_SUSPECT_BYTES = np.zeros(256, bool)
_SUSPECT_BYTES[[0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0xC2, 0xE2]] = True

_SCALARS = Spelling("inf", "-inf", "nan", "True", "False")
_ELEMENTS = Spelling(null_element="null")


class Ecsv(Csv):
    line_end = "\n"

    def write_header(self) -> bytes:
        columns = [
            _to_flow_yaml(_describe_column(field, name))
            for field, name in zip(self.fields, self.choose_names(self.fields), strict=True)
        ]
        lines = ["%ECSV 1.0", "---", "delimiter: ','", "datatype:", *(f"- {column}" for column in columns)]
        lines += [f"meta: {_to_flow_yaml(describe_result(self.info))}", "schema: astropy-2.0"]
        return "".join(f"# {line}\n" for line in lines).encode() + super().write_header()

    @classmethod
    def choose_names(cls, fields: Sequence[Field]) -> list[str]:
        return distinct_names([to_one_line(field.name) for field in fields])

    def _cells_of_column(self, column: pa.Array, field: Field) -> pa.Array:
        if field.type.is_array:
            return self.quote_cells(format_nested_lists(column, field, _ELEMENTS, _list_axes(field)[:-1]))
        words = format_scalars(column, field, _SCALARS)
        return self.quote_cells(_replace_line_ends(words)) if field.type.is_text else words


def _replace_line_ends(words: pa.Array) -> pa.Array:
    """Replace the line ends other than CR and LF, at which astropy splits lines, so that it can read the table."""
    data = split_text(words)[1]
    if not data.size or not _SUSPECT_BYTES[data].any():
        return words
    return pc.replace_substring_regex(words, _LINE_ENDS, " ")


def _list_axes(field: Field) -> list[int | None]:
    """Return the axis sizes, the fastest first. Arrays of variable size are flat, because ECSV has no others."""
    sizes = axis_sizes(field)
    return [None] if None in sizes else sizes


def _describe_column(field: Field, name: str) -> dict[str, Any]:
    scalar = "string" if field.type.is_timestamp else field.type.scalar.ecsv
    column: dict[str, Any] = {"name": name, "unit": field.unit, "datatype": scalar}
    if field.type.is_array:
        shape = ",".join("null" if size is None else str(size) for size in reversed(_list_axes(field)))
        column |= {"datatype": "string", "subtype": f"{scalar}[{shape}]"}
    meta = {"ucd": field.ucd, "utype": field.utype, "xtype": field.type.xtype}
    column |= {"description": field.description, "meta": {key: value for key, value in meta.items() if value}}
    return {key: value for key, value in column.items() if value}


def _to_flow_yaml(value: Any) -> str:
    """Write YAML on one line, with strings in double quotes so that none is read as another type."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_to_flow_yaml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_to_flow_yaml, value)) + "]"
    if isinstance(value, int):
        return str(value)
    return yaml.safe_dump(value, default_style='"', allow_unicode=True, width=2**31).rstrip()
