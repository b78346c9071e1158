"""JSON (RFC 8259, UTF-8): an object with ``metadata``, ``columns``, ``data`` and ``status``, in this order.

Each row is a list on its own line, in the order of ``columns``. NULL is ``null``; 64-bit integers are numbers; NaN and
infinities, which JSON lacks, are the strings "NaN", "Infinity" and "-Infinity". Multi-dimensional arrays are nested
lists, with the last axis of ``arraysize`` outermost; timestamps have DALI's format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import Field
from tap_service.serializers.cell_text import (
    Spelling,
    axis_sizes,
    control_characters,
    format_nested_lists,
    format_scalars,
    replace_characters,
)
from tap_service.serializers.field_arrays import conform_batch, join_text
from tap_service.serializers.parallel_rows import map_slices
from tap_service.serializers.serializer import ResultInfo, Serializer, Status

_SPELLING = Spelling('"Infinity"', '"-Infinity"', '"NaN"', null_element="null")
_ATTRIBUTES = ("unit", "ucd", "utype", "frame", "epoch", "description")


class Json(Serializer):
    _has_rows = False

    def write_header(self) -> bytes:
        metadata = _to_json(describe_result(self.info))
        columns = ",\n".join(map(_to_json, describe_columns(self.fields)))
        return f'{{"metadata": {metadata},\n"columns": [\n{columns}\n],\n"data": [\n'.encode()

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        if not batch.num_rows:
            return b""
        rows = map_slices(self._encode_rows, batch)
        if not rows:
            return b""
        before, self._has_rows = ([b""] if self._has_rows else []), True
        return b",\n".join(before + rows)

    def _encode_rows(self, batch: pa.RecordBatch) -> bytes:
        cells = list(map(_format_json_cells, conform_batch(batch, self.fields), self.fields))
        return join_text(cells, "[", ",", "],\n", null="null")[:-2]

    def write_footer(self, status: Status) -> Iterable[bytes]:
        if status.value == "ERROR":
            return
        entry: dict[str, Any] = {"value": status.value, "text": status.text}
        if status.seconds is not None:
            entry["execution_seconds"] = round(status.seconds, 3)
        yield f'\n],\n"status": {_to_json(entry)}}}\n'.encode()


def describe_result(info: ResultInfo) -> dict[str, Any]:
    """Return the description of a result, under the names in JSON and ECSV, without empty values."""
    metadata = {
        "service": info.service,
        "query": info.query,
        "maxrec": info.limit,
        "server_software": info.software,
        "request_date": info.request_date,
        "citations": list(info.citations),
        "rights": list(info.rights),
        "notes": list(info.notes),
    }
    return {key: value for key, value in metadata.items() if value not in ("", None, [])}


def describe_columns(fields: Sequence[Field]) -> list[dict[str, str]]:
    """Return the VOTable attributes of columns.

    Parameters
    ----------
    fields : Sequence[Field]
        The columns.

    Returns
    -------
    list[dict[str, str]]
        Name, datatype, and the other attributes that are not empty, for each column.
    """
    return [
        {"name": field.name, "datatype": field.type.datatype}
        | {key: getattr(field.type, key) for key in ("arraysize", "xtype") if getattr(field.type, key)}
        | {key: getattr(field, key) for key in _ATTRIBUTES if getattr(field, key)}
        for field in fields
    ]


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _format_json_cells(column: pa.Array, field: Field) -> pa.Array:
    if field.type.is_array:
        words = format_nested_lists(column, field, _SPELLING, axis_sizes(field)[:-1])
    else:
        words = format_scalars(column, field, _SPELLING)
        words = _quote_strings(words) if field.type.is_text or field.type.is_timestamp else words
    return words


def _quote_strings(words: pa.Array) -> pa.Array:
    controls = [(chr(code), json.dumps(chr(code))[1:-1]) for code in control_characters(words)]
    words = replace_characters(words, [("\\", "\\\\"), ('"', '\\"'), *controls])
    mark, nothing = pa.scalar('"', pa.large_string()), pa.scalar("", pa.large_string())
    return pc.binary_join_element_wise(mark, words, mark, nothing)
