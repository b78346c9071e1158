"""Rows of a file made to fit a table's columns, and the rows that do not fit found, by whole vectors.

A row is bad if a value does not fit its column's type, text is not UTF-8 (or, in a ``char`` column, not ASCII), a
column that is not nullable has no value, a value is none of its column's ``values``, a shape is none (``shapes``), or
a position is out of range: ra in [0, 360], dec in [-90, 90]. Rows whose position is NULL or NaN are good.

NaN in an integer column is NULL, and so it is in a nullable column of a format (FITS, VOTable) whose mark of a missing
number it is. An empty text in a column with ``values`` is NULL: those formats have no other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import FLOATS, ColumnType
from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.shape_cover import cover_column, has_shape_texts, shape_column
from tap_service.readers import shape_columns
from tap_service.readers.column_casts import NULL_INSIDE, find_caster
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import Fault, RowBlock, Source

#: What DateTime64(6) of ClickHouse holds.
_TIME_RANGE = (datetime(1900, 1, 1, tzinfo=UTC), datetime(2299, 12, 31, 23, 59, 59, 999999, tzinfo=UTC))
_MAX_SHOWN = 200

#: Of a cast: values without a counterpart, also for their types have none at all
_CAST_ERRORS = (pa.ArrowInvalid, pa.ArrowNotImplementedError, ArithmeticError, ValueError)

Check = Callable[[pa.Array, pa.Array], "tuple[pa.Array | None, str]"]


@dataclass(frozen=True, slots=True)
class _Fitting:
    """How one column of the file becomes one of the table; ``source_name`` '' = NULL in every row."""

    column: Column
    source_name: str
    nan_is_null: bool
    checks: tuple[Check, ...]


class Conformer:
    """Fits pieces of ``source`` to ``table``. Raises ``ReadError`` if the file lacks a column of the table."""

    def __init__(self, table: Table, source: Source) -> None:
        names = _list_file_columns(source)
        found = {column.name: find_matching_name(column.name, names) for column in table.columns}
        missing = [column.name for column in table.columns if not (found[column.name] or column.if_missing)]
        if missing:
            raise ReadError(
                f"{source.path} has no column {', '.join(missing)} of table {table.name} (it has "
                f"{', '.join(names)}); correct the names in the schema file or remove the columns from it"
            )
        self._fittings = [
            _Fitting(
                column,
                found[column.name] or "",
                source.nan_is_null and column.nullable and column.type.datatype in FLOATS and not column.type.is_array,
                _list_checks(column, table),
            )
            for column in table.columns
        ]
        self.source_names = tuple(fitting.source_name for fitting in self._fittings if fitting.source_name)
        read = [column for column in table.columns if has_shape_texts(column.type)]
        hidden = [
            field
            for column in read
            for field in (
                (
                    shape_column(column.name),
                    shape_columns.RANGES if column.type.xtype == "moc" else shape_columns.SHAPES,
                ),
                (cover_column(column.name), pa.uint64()),
            )
        ]
        self.schema = pa.schema([*((column.name, column.type.arrow) for column in table.columns), *hidden])

    def conform_block(self, piece: RowBlock) -> tuple[pa.RecordBatch, list[Fault]]:
        """The good rows, and a fault for each bad one (its first bad column)."""
        faults: dict[int, tuple[str, str, str]] = {}
        arrays = []
        hidden: list[pa.Array] = []
        for fitting in self._fittings:
            given = _find_given_column(piece.batch, fitting)
            array, bad = _fit_column(given, fitting)
            if has_shape_texts(fitting.column.type):
                *beside, unread = shape_columns.read_regions(fitting.column.type, array)
                hidden += beside
                bad |= unread
            for row, reason in bad.items():
                faults.setdefault(row, (fitting.column.name, _show_value(given[row]), reason))
            arrays.append(array)
        batch = pa.RecordBatch.from_arrays([*arrays, *hidden], schema=self.schema)
        if faults:
            keep = np.ones(batch.num_rows, bool)
            keep[list(faults)] = False
            batch = batch.filter(pa.array(keep))
        found = [*piece.faults, *(Fault(piece.where(row), *fault) for row, fault in faults.items())]
        return batch, sorted(found, key=lambda fault: fault.where)


def _list_file_columns(source: Source) -> dict[str, None]:
    names: dict[str, None] = {}
    for field in source.fields:
        if field.name in names:
            raise ReadError(f"{source.path} has two columns named {field.name}; rename one of them in the file")
        names[field.name] = None
    return names


def find_matching_name(name: str, names: Collection[str]) -> str | None:
    """The file's column for a table's: of the same name, else the only one that differs in case alone."""
    if name in names:
        return name
    alike = [other for other in names if other.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def _find_given_column(batch: pa.RecordBatch, fitting: _Fitting) -> pa.Array:
    if fitting.source_name:
        return batch.column(fitting.source_name)
    return pa.nulls(batch.num_rows, fitting.column.type.arrow)


def _fit_column(given: pa.Array, fitting: _Fitting) -> tuple[pa.Array, dict[int, str]]:
    """The column in the table's type with NULL where it does not fit, and why it does not."""
    type_ = fitting.column.type
    cast = find_caster(given.type, type_)
    array, misfits = _cast_column(cast, given, type_.arrow)
    if fitting.column.values and type_.is_text:
        array = pc.if_else(pc.equal(array, ""), pa.scalar(None, array.type), array)
    bad = {row: reason or f"does not fit the type {type_.adql}" for row, reason in misfits.items()}
    for check in fitting.checks:
        mask, reason = check(given, array)
        if mask is None or not pc.any(mask).as_py():
            continue
        for row in np.flatnonzero(pc.fill_null(mask, False).to_numpy(zero_copy_only=False)).tolist():
            bad.setdefault(row, reason)
    if type_.is_array:
        array = _replace_null_lists(shape_columns.replace_nan_shapes(type_, array))
        return array, shape_columns.find_bad_shapes(type_, array) | bad
    if fitting.nan_is_null:
        return pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array), bad
    return array, bad


def _cast_column(
    cast: Callable[[pa.Array], pa.Array], given: pa.Array, wanted: pa.DataType
) -> tuple[pa.Array, dict[int, str]]:
    """``cast`` of the whole vector; where it fails, of the rows that it does not fail for."""
    try:
        return cast(given), {}
    except _CAST_ERRORS:
        misfits = _find_misfits(cast, given, 0)
    if len(misfits) == len(given):  # perhaps no value of this type has a counterpart, not even NULL
        return pa.nulls(len(given), wanted), misfits
    good = np.ones(len(given), bool)
    good[list(misfits)] = False
    return cast(pc.if_else(pa.array(good), given, pa.scalar(None, given.type))), misfits


def _find_misfits(cast: Callable[[pa.Array], pa.Array], given: pa.Array, offset: int) -> dict[int, str]:
    """Rows that ``cast`` refuses, by halving: k bad rows of n cost about k log n casts of shrinking size."""
    try:
        cast(given)
    except _CAST_ERRORS as error:
        if len(given) < 2:
            return dict.fromkeys(range(offset, offset + len(given)), _shorten_reason(str(error)))
        middle = len(given) // 2
        first = _find_misfits(cast, given.slice(0, middle), offset)
        return first | _find_misfits(cast, given.slice(middle), offset + middle)
    return {}


def _shorten_reason(said: str) -> str:
    """What a cast says of a value, in the words of a fault; '' if it has no more to say than that it does not fit."""
    return "not valid UTF-8" if "UTF8" in said else said if said == NULL_INSIDE else ""


def _list_checks(column: Column, table: Table) -> tuple[Check, ...]:
    type_ = column.type
    checks: list[Check] = []
    if not column.nullable and not type_.is_array:
        checks.append(lambda _, array: (pc.is_null(array), "has no value, but the column is not nullable"))
    if type_.datatype == "float" and not type_.is_array:
        checks.append(_find_overflow)
    if type_.is_timestamp:
        checks.append(_find_times_out_of_range)
    elif type_.is_text and type_.datatype == "char":
        checks.append(
            lambda _, array: (
                pc.invert(pc.string_is_ascii(array)),
                "not ASCII: declare the column as unicode in the schema file",
            )
        )
    if column.values:
        checks.append(_check_values(column.values, type_.arrow))
    checks += _list_length_checks(type_)
    position = table.layout.position
    if position and column.name in position:
        low, high, what = (0.0, 360.0, "longitude") if column.name == position[0] else (-90.0, 90.0, "latitude")
        checks.append(_check_range(low, high, what))
    return tuple(checks)


def _list_length_checks(kind: ColumnType) -> list[Check]:
    """By arraysize: '8' and '8*' bound a text; arrays are of a size, or of whole steps along the last axis."""
    *inner, last = kind.stored_type.arraysize.split("x")
    step = math.prod(map(int, inner))
    bound = last.rstrip("*")
    if kind.is_text:
        return [_check_max_length(step * int(bound), kind.datatype)] if bound else []
    if not kind.is_array:
        return []
    return [_check_length(step * int(bound))] if bound == last else [_check_length_step(step)] if step > 1 else []


def _check_values(values: tuple[int | str, ...], arrow: pa.DataType) -> Check:
    known = pa.array(values, arrow)
    reason = f"not one of {', '.join(map(str, values))}"
    return lambda _, array: (pc.and_(pc.is_valid(array), pc.invert(pc.is_in(array, known))), reason)


def _find_overflow(given: pa.Array, array: pa.Array) -> tuple[pa.Array | None, str]:
    if not pa.types.is_float64(given.type):
        return None, ""
    return pc.and_(pc.is_inf(array), pc.is_finite(given)), "does not fit the type REAL"


def _find_times_out_of_range(_: pa.Array, array: pa.Array) -> tuple[pa.Array, str]:
    low, high = (pa.scalar(bound, array.type) for bound in _TIME_RANGE)
    return pc.or_(pc.less(array, low), pc.greater(array, high)), "a time outside the years 1900 to 2299"


def _check_max_length(length: int, datatype: str) -> Check:
    """VOTable counts the units of UTF-16 in a ``unicodeChar``: a character beyond the first 65,536 takes two."""
    if datatype == "char":
        return lambda _, array: (pc.greater(pc.utf8_length(array), length), f"longer than {length} characters")

    def check(_: pa.Array, array: pa.Array) -> tuple[pa.Array, str]:
        pairs = pc.count_substring_regex(array, r"[\x{10000}-\x{10ffff}]")
        return pc.greater(pc.add(pc.utf8_length(array), pairs), length), f"longer than {length} UTF-16 units"

    return check


def _check_length(length: int) -> Check:
    return lambda _, array: (pc.not_equal(pc.list_value_length(array), length), f"not an array of {length} values")


def _check_length_step(step: int) -> Check:
    def check(_: pa.Array, array: pa.Array) -> tuple[pa.Array, str]:
        counts = pc.list_value_length(array)
        rest = pc.subtract(counts, pc.multiply(pc.divide(counts, step), step))
        return pc.not_equal(rest, 0), f"not an array whose length is a multiple of {step}"

    return check


def _check_range(low: float, high: float, what: str) -> Check:
    """NULL and NaN are not out of range: a comparison with them is NULL or false."""
    return lambda _, array: (
        pc.or_(pc.less(array, low), pc.greater(array, high)),
        f"a {what} outside [{low:g}, {high:g}]",
    )


def _replace_null_lists(lists: pa.Array) -> pa.Array:
    """The engine's arrays are never NULL: an empty one stands for it."""
    return pc.if_else(pc.is_valid(lists), lists, pa.scalar([], lists.type)) if lists.null_count else lists


def _show_value(value: pa.Scalar) -> str:
    try:
        shown = value.as_py()
    except (ArithmeticError, ValueError):  # a time that Python has not
        shown = "a value"
    if isinstance(shown, bytes):
        shown = shown.decode("utf-8", "backslashreplace")
    text = "" if shown is None else str(shown)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."
