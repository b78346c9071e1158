"""The whole number that stands for NULL in formats that have no other mark of it (VOTable's BINARY, FITS)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import INTEGERS, SCALARS, Field
from tap_service.serializers.field_arrays import list_lengths
from tap_service.serializers.serializer import SerializationError


class NullMark:
    """``see`` all values of a column; then ``settle`` chooses a number that none of them is.

    ``datatype`` is the column's, or a wider one if that has no number left. ``number`` is None where nothing is NULL,
    and where the column is not of whole numbers. ``fills_arrays``: an array that is NULL is written as NULLs.
    """

    def __init__(self, field: Field, *, fills_arrays: bool) -> None:
        self.datatype = field.type.datatype
        self.number: int | None = None
        self._field = field
        self._fills_arrays = fills_arrays
        self._has_null = False
        self._least = self._most = 0

    def observe_values(self, array: pa.Array) -> None:
        if self._field.type.datatype not in INTEGERS:
            return
        items = array
        if self._field.type.is_array:
            items = array.flatten()
            self._has_null |= self._fills_arrays and not list_lengths(array).all()
        self._has_null |= items.null_count > 0
        if len(items) > items.null_count:
            bounds = pc.min_max(items)
            self._least = min(self._least, bounds["min"].as_py())
            self._most = max(self._most, bounds["max"].as_py())

    def apply_to_field(self, field: Field) -> Field:
        """The column as it is written, when all is settled."""
        null = self.number if field.type.null is None else field.type.null
        return replace(field, type=replace(field.type, datatype=self.datatype, null=null))

    def choose_value(self) -> None:
        """Raises ``SerializationError`` if no integer type has a number left."""
        if not self._has_null:
            return
        declared = self._field.type.null
        if declared is not None:
            self.number = declared
            return
        for datatype in INTEGERS[INTEGERS.index(self.datatype) :]:
            info = np.iinfo(SCALARS[datatype].arrow.to_pandas_dtype())
            ends = (info.max, info.min) if datatype == "unsignedByte" else (info.min, info.max)
            for end in ends:
                if not self._least <= end <= self._most:
                    self.datatype, self.number = datatype, int(end)
                    return
        raise SerializationError(
            f"column {self._field.name!r} has NULL, the least and the greatest number of 64 bits, which this format "
            "cannot tell apart: ask for another one, such as RESPONSEFORMAT=votable"
        )
