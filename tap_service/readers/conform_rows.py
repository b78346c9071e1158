"""Vectorised conversion of the rows of a file to the columns of a table, and detection of rows that do not fit.

A row is rejected if a value does not fit the type of its column or is not among its ``values``, if text is not UTF-8
(in a ``char`` column, not ASCII), if a value of a non-nullable column is missing, if a shape is invalid
(``shape_columns``), if a value does not have the form of its xtype (``xtype_checks``), or if a position is out of
range: ra in [0, 360], dec in [-90, 90]. NULL and NaN are in range.

NaN becomes NULL in integer columns, and in nullable float columns of formats that mark missing numbers by NaN (FITS,
VOTable). An empty text becomes NULL in columns with ``values``, since these formats have no other mark.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import FLOATS, ColumnType
from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.shape_cover import cover_column, shape_column
from tap_service.readers import shape_columns
from tap_service.readers.column_casts import NULL_INSIDE, find_caster, replace_with_null
from tap_service.readers.null_tokens import replace_tokens
from tap_service.readers.number_casts import Misfit
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import RejectedRow, RowBlock, Source
from tap_service.readers.time_casts import count_cut_times
from tap_service.readers.xtype_checks import Check, list_interval_checks, list_text_checks

#: range of DateTime64(6) in ClickHouse
TIME_RANGE = (datetime(1900, 1, 1, tzinfo=UTC), datetime(2299, 12, 31, 23, 59, 59, 999999, tzinfo=UTC))
_MAX_SHOWN = 200

#: the way out for times that cannot be stored as times
_TEXT_HINT = ": the datatype string in a --schema file keeps it as text"

#: errors of a cast for values, or types, without an equivalent
_CAST_ERRORS = (pa.ArrowInvalid, pa.ArrowNotImplementedError, ArithmeticError, ValueError)


@dataclass(frozen=True, slots=True)
class _Fitting:
    """The conversion of a file column to a table column; without a ``source_name``, every row is NULL."""

    column: Column
    source_name: str
    nan_is_null: bool
    nulls: tuple[str, ...]
    checks: tuple[Check, ...]


class Conformer:
    """Converts row blocks of a file to the columns of a table.

    Parameters
    ----------
    table : Table
        The target table.
    source : Source
        The file.
    checks_texts : bool
        Whether texts with an xtype that is not a shape, such as hms, must have its form.

    Attributes
    ----------
    source_names : tuple of str
        The columns to read from the file, for ``Source.read_blocks``.
    schema : pyarrow.Schema
        The columns of the table, followed by the shapes and covers of its range, region and MOC columns.
    cut_times : Counter of str
        How many times in each column have been cut to microseconds so far.

    Raises
    ------
    ReadError
        The file lacks a column of the table, or has two columns of the same name.
    """

    def __init__(self, table: Table, source: Source, *, checks_texts: bool = True) -> None:
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
                source.options.add_nulls(column.nulls).nulls,
                _list_checks(column, table, checks_texts),
            )
            for column in table.columns
        ]
        self.cut_times: Counter[str] = Counter()
        self.source_names = tuple(fitting.source_name for fitting in self._fittings if fitting.source_name)
        hidden = []
        for column in table.columns:
            if column.type.has_stored_shapes:
                shapes = shape_columns.RANGES if column.type.xtype == "moc" else shape_columns.SHAPES
                hidden += [(shape_column(column.name), shapes), (cover_column(column.name), pa.uint64())]
        self.schema = pa.schema([*((column.name, column.type.arrow) for column in table.columns), *hidden])

    def conform_block(self, block: RowBlock) -> tuple[pa.RecordBatch, list[RejectedRow]]:
        """Convert a row block.

        Parameters
        ----------
        block : RowBlock
            Rows with at least the columns ``source_names``.

        Returns
        -------
        batch : pyarrow.RecordBatch
            The good rows, with ``schema``.
        rejects : list of RejectedRow
            One entry for each bad row, for its first bad column, in the order of the file.
        """
        rejects: dict[int, tuple[str, str, str]] = {}
        arrays = []
        hidden: list[pa.Array] = []
        for fitting in self._fittings:
            given = replace_tokens(_find_given_column(block.batch, fitting), fitting.nulls)
            if fitting.column.type.is_timestamp:
                self.cut_times[fitting.column.name] += count_cut_times(given)
            array, bad = _fit_column(given, fitting)
            if fitting.column.type.has_stored_shapes:
                shapes, covers, invalid = shape_columns.read_regions(fitting.column.type, array)
                hidden += [shapes, covers]
                bad = invalid | bad
            for row, reason in bad.items():
                rejects.setdefault(row, (fitting.column.name, _show_value(given[row]), reason))
            arrays.append(array)
        batch = pa.RecordBatch.from_arrays([*arrays, *hidden], schema=self.schema)
        if rejects:
            keep = np.ones(batch.num_rows, bool)
            keep[list(rejects)] = False
            batch = batch.filter(pa.array(keep))
        misfits = (RejectedRow(block.where(row), *reject) for row, reject in rejects.items())
        return batch, sorted([*block.rejects, *misfits], key=lambda reject: reject.where)


def _list_file_columns(source: Source) -> dict[str, None]:
    names: dict[str, None] = {}
    for field in source.fields:
        if field.name in names:
            raise ReadError(f"{source.path} has two columns named {field.name}; rename one of them in the file")
        names[field.name] = None
    return names


def find_matching_name(name: str, names: Collection[str]) -> str | None:
    """Find a column of a file for a column of a table.

    Parameters
    ----------
    name : str
        The column of the table.
    names : collection of str
        The columns of the file.

    Returns
    -------
    str or None
        The same name, else the only name that differs just in case; None if there is none, or several.
    """
    if name in names:
        return name
    similar = [other for other in names if other.lower() == name.lower()]
    return similar[0] if len(similar) == 1 else None


def _find_given_column(batch: pa.RecordBatch, fitting: _Fitting) -> pa.Array:
    if fitting.source_name:
        column = batch.column(fitting.source_name)
        return column.storage if isinstance(column, pa.ExtensionArray) else column
    return pa.nulls(batch.num_rows, fitting.column.type.arrow)


def _fit_column(given: pa.Array, fitting: _Fitting) -> tuple[pa.Array, dict[int, str]]:
    """Return the column in the type of the table, with NULL for misfits, and the reason for each misfit row."""
    type_ = fitting.column.type
    cast = find_caster(given.type, type_)
    array, misfits = _cast_column(cast, given, type_.arrow)
    if type_.is_numeric:  # the text -999.0 is not the token -999, but the number is
        array = replace_tokens(array, fitting.nulls)
    if fitting.column.wrap:
        array = _wrap_longitudes(array)
    if fitting.column.values and type_.is_text:
        array = replace_with_null(array, "")
    hint = _TEXT_HINT if type_.is_timestamp else ""
    bad = {row: reason or f"does not fit the type {type_.adql}{hint}" for row, reason in misfits.items()}
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
    """Cast all values, or if that fails, the rows that can be cast; return the reasons for the others."""
    try:
        return cast(given), {}
    except _CAST_ERRORS:
        misfits = _find_misfits(cast, given, 0)
    if len(misfits) == len(given):  # some types cannot be cast, not even NULL
        return pa.nulls(len(given), wanted), misfits
    good = np.ones(len(given), bool)
    good[list(misfits)] = False
    return cast(pc.if_else(pa.array(good), given, pa.scalar(None, given.type))), misfits


def _find_misfits(cast: Callable[[pa.Array], pa.Array], given: pa.Array, offset: int) -> dict[int, str]:
    """Find the rows that ``cast`` refuses by bisection: k bad rows of n cost about k log n casts of shrinking size."""
    try:
        cast(given)
    except _CAST_ERRORS as error:
        if len(given) < 2:
            return dict.fromkeys(range(offset, offset + len(given)), _shorten_reason(error))
        middle = len(given) // 2
        first = _find_misfits(cast, given.slice(0, middle), offset)
        return first | _find_misfits(cast, given.slice(middle), offset + middle)
    return {}


def _shorten_reason(error: Exception) -> str:
    """Return the reason in the error message of a cast; '' if it only says that the value does not fit."""
    message = str(error)
    if "UTF8" in message:
        return "not valid UTF-8"
    return message if message == NULL_INSIDE or isinstance(error, Misfit) else ""


def _list_checks(column: Column, table: Table, checks_texts: bool) -> tuple[Check, ...]:
    type_ = column.type
    checks: list[Check] = []
    if not column.nullable and not type_.is_array:
        checks.append(lambda _, array: (pc.is_null(array), "has no value, but the column is not nullable"))
    if type_.is_timestamp:
        checks.append(_find_times_out_of_range)
    elif type_.is_text and type_.datatype == "char":
        checks.append(
            lambda _, array: (
                pc.invert(pc.string_is_ascii(array)),
                "not ASCII: declare the column as unicode in the schema file",
            )
        )
    if checks_texts and type_.is_text:
        checks += list_text_checks(type_.xtype)
    if column.values:
        checks.append(_check_values(column.values, type_.arrow))
    checks += _list_length_checks(type_) + list_interval_checks(type_.xtype)
    position = table.layout.position
    if position and column.name in position:
        is_longitude = column.name == position[0]
        if is_longitude:
            checks.append(_check_sign)
        checks.append(_check_range(0.0, 360.0, "longitude") if is_longitude else _check_range(-90.0, 90.0, "latitude"))
    return tuple(checks)


def _list_length_checks(kind: ColumnType) -> list[Check]:
    """Return the checks that the arraysize implies: a maximum text length, an array length or a divisor of it."""
    *inner, last = kind.stored_type.arraysize.split("x")
    step = math.prod(map(int, inner))
    bound = last.rstrip("*")
    if kind.is_text:
        return [_check_max_length(step * int(bound), kind.datatype)] if bound else []
    if not kind.is_array:
        return []
    if bound == last:
        return [_check_length(step * int(bound))]
    return [_check_length_step(step)] if step > 1 else []


def _check_values(values: tuple[int | str, ...], arrow: pa.DataType) -> Check:
    known = pa.array(values, arrow)
    reason = f"not one of {', '.join(map(str, values))}"

    def check(_: pa.Array, array: pa.Array) -> tuple[pa.Array, str]:
        is_known = pc.is_in(array, known)
        return pc.and_(pc.is_valid(array), pc.invert(is_known)), reason

    return check


def _find_times_out_of_range(_: pa.Array, array: pa.Array) -> tuple[pa.Array, str]:
    low, high = (pa.scalar(bound, array.type) for bound in TIME_RANGE)
    return pc.or_(pc.less(array, low), pc.greater(array, high)), f"a time outside the years 1900 to 2299{_TEXT_HINT}"


def _check_max_length(length: int, datatype: str) -> Check:
    """Check the length of text; a ``unicodeChar`` counts UTF-16 units, two for a character beyond U+FFFF."""
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


def _check_sign(_: pa.Array, array: pa.Array) -> tuple[pa.Array, str]:
    """Find longitudes of a count from -180 to 180 degrees."""
    is_negative = pc.and_(pc.less(array, 0), pc.greater_equal(array, -180))
    return is_negative, "a longitude outside [0, 360]: skyhouse:wrap of its column in a --schema adds 360"


def _check_range(low: float, high: float, axis: str) -> Check:
    """Check the range of a coordinate; NULL and NaN pass, since comparisons with them are NULL or false."""
    return lambda _, array: (
        pc.or_(pc.less(array, low), pc.greater(array, high)),
        f"a {axis} outside [{low:g}, {high:g}]",
    )


def _wrap_longitudes(longitudes: pa.Array) -> pa.Array:
    """Return longitudes from -180 to 360 degrees as longitudes from 0 to 360."""
    turned = pc.add(longitudes, pa.scalar(360, longitudes.type))
    is_negative = pc.and_(pc.less(longitudes, 0), pc.greater_equal(longitudes, -180))
    return pc.if_else(is_negative, turned, longitudes)


def _replace_null_lists(lists: pa.Array) -> pa.Array:
    """Replace NULL by an empty list, since arrays in ClickHouse cannot be NULL."""
    if not lists.null_count:
        return lists
    return pc.if_else(pc.is_valid(lists), lists, pa.scalar([], lists.type))


def _show_value(value: pa.Scalar) -> str:
    try:
        shown = value.as_py()
    except (ArithmeticError, ValueError):  # a time out of range in Python
        shown = "a value"
    if isinstance(shown, bytes):
        shown = shown.decode("utf-8", "backslashreplace")
    text = "" if shown is None else str(shown)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."
