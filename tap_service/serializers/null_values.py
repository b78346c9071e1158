"""Chooses the integer that represents NULL in formats that have no NULL (VOTable BINARY, FITS)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import INTEGERS, SCALARS, Field
from tap_service.serializers.field_arrays import list_lengths
from tap_service.serializers.serializer import SerializationError


class NullMark:
    """The number that represents NULL in a column: the declared one, or one that the column does not contain.

    Call ``observe_values`` for each batch, then ``choose_value``.

    Parameters
    ----------
    field : Field
        The column.
    fills_arrays : bool
        Whether the format writes a NULL array as NULL items.

    Attributes
    ----------
    datatype
        The datatype of the column, or a wider one if no number is left.
    number
        The number; None if the column has no NULLs or is not an integer column.
    """

    def __init__(self, field: Field, *, fills_arrays: bool) -> None:
        self.datatype = field.type.datatype
        self.number: int | None = None
        self._field = field
        self._fills_arrays = fills_arrays
        self._has_null = False
        self._min = self._max = 0

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
            self._min = min(self._min, bounds["min"].as_py())
            self._max = max(self._max, bounds["max"].as_py())

    def apply_to_field(self, field: Field) -> Field:
        """Return the field with the chosen type and NULL."""
        null = self.number if field.type.null is None else field.type.null
        return replace(field, type=replace(field.type, datatype=self.datatype, null=null))

    def choose_value(self) -> None:
        """Choose ``datatype`` and ``number``. Raise ``SerializationError`` if no integer type has a number left."""
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
                if not self._min <= end <= self._max:
                    self.datatype, self.number = datatype, int(end)
                    return
        raise SerializationError(
            f"column {self._field.name!r} contains NULL and both the least and the greatest 64-bit integer, so this "
            "format has no number left for NULL: use another format, such as RESPONSEFORMAT=votable"
        )
