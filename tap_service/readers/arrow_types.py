"""The types of the columns of Arrow and Parquet files: no integer becomes a double, and no value that fits is lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pyarrow as pa

from clickhouse_schema.datatypes import CHAR, DOUBLE, LONG, TIMESTAMP, UNICODE, ColumnType, arrow_to_column_type
from tap_service.readers.time_casts import CUT_NANOSECONDS

#: Returns bounds of the integers of a column, or of its times in the unit of its type; None if they are unknown.
#: ``may_scan``: whether the column may be read to find them.
FindRange = Callable[[str, bool], tuple[int, int] | None]

_LONG_RANGE = (-(2**63), 2**63 - 1)

#: number of digits of integers that are always in the range of BIGINT
_LONG_DIGITS = 18

#: TIMESTAMP ends with 2299, in seconds since 1970; see ``conform_rows.TIME_RANGE``
_TIME_RANGE = tuple(int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (1900, 2300))
_UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS_PER_DAY = 86400

#: canonical extension types of Arrow, which are also the logical types UUID and JSON of Parquet
_EXTENSIONS = {
    "arrow.uuid": ColumnType("char", "*", "uuid"),
    "arrow.json": ColumnType("unicodeChar", "*", "json"),
}


def find_column_type(name: str, kind: pa.DataType, find_range: FindRange) -> tuple[ColumnType, str]:
    """Return the type in which a column is stored.

    Parameters
    ----------
    name : str
        The name of the column in the file.
    kind : pyarrow.DataType
        Its type there.
    find_range : FindRange
        Finds the range of its values.

    Returns
    -------
    type : ColumnType
        The type.
    reason : str
        What a sender should know about it, as the end of a sentence; '' for nothing.

    Raises
    ------
    KeyError
        VOTable has no equivalent.
    """
    if pa.types.is_dictionary(kind):
        return find_column_type(name, kind.value_type, find_range)
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name in _EXTENSIONS:
        return _EXTENSIONS[kind.extension_name], ""
    if pa.types.is_decimal(kind):
        return _find_decimal_type(name, kind, find_range)
    if pa.types.is_uint64(kind):
        return _find_integer_type(find_range(name, False), "")
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _find_time_type(kind, find_range(name, False))
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return UNICODE, ""
    if pa.types.is_null(kind):
        return CHAR, "has no values"
    if is_list(kind) and pa.types.is_decimal(kind.value_type):
        return _find_decimal_list_type(kind)
    return arrow_to_column_type(kind), ""


def is_list(kind: pa.DataType) -> bool:
    """Return whether the type is any of Arrow's list types."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _find_decimal_list_type(kind: pa.DataType) -> tuple[ColumnType, str]:
    item, reason = _find_decimal_type("", kind.value_type, lambda *_: None)
    if item.is_text:
        raise KeyError(kind)
    size = str(kind.list_size) if pa.types.is_fixed_size_list(kind) else "*"
    return ColumnType(item.datatype, size), reason.partition(":")[0]


def _find_decimal_type(name: str, kind: pa.DataType, find_range: FindRange) -> tuple[ColumnType, str]:
    if kind.scale > 0:
        return DOUBLE, f"is {_name_decimal(kind)}, which DOUBLE rounds: the datatype string keeps all digits"
    if kind.precision - kind.scale <= _LONG_DIGITS:
        return LONG, ""
    return _find_integer_type(find_range(name, True), f"{_name_decimal(kind)} may be beyond BIGINT")


def _find_integer_type(found: tuple[int, int] | None, doubt: str) -> tuple[ColumnType, str]:
    """Return BIGINT if all integers fit. ``doubt``: why a column of unknown range becomes text; '' if it does not."""
    if found is None:
        return (CHAR, f"stays text: {doubt}; where it is not, give it the datatype long") if doubt else (LONG, "")
    low, high = found
    if _LONG_RANGE[0] <= low and high <= _LONG_RANGE[1]:
        return LONG, ""
    return CHAR, f"stays text: {high if high > _LONG_RANGE[1] else low} is beyond BIGINT"


def _find_time_type(kind: pa.DataType, found: tuple[int, int] | None) -> tuple[ColumnType, str]:
    low, high = (_seconds_to_unit(seconds, kind) for seconds in _TIME_RANGE)
    if found is not None and (found[0] < low or found[1] >= high):
        return CHAR, "stays text: it has times outside the years 1900 to 2299"
    return TIMESTAMP, CUT_NANOSECONDS if pa.types.is_timestamp(kind) and kind.unit == "ns" else ""


def _seconds_to_unit(seconds: int, kind: pa.DataType) -> int:
    if pa.types.is_date(kind):
        return seconds // _SECONDS_PER_DAY
    return seconds * _UNITS_PER_SECOND[kind.unit]


def _name_decimal(kind: pa.DataType) -> str:
    return f"DECIMAL({kind.precision}, {kind.scale})"
