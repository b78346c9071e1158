"""Select columns and rows of a partition by the query string, as LSDB does: ``?columns=..&filters=..``.

The client gets only the named columns, and applies its filters again to the rows. So filters that this module does not
understand are ignored, which only costs bytes.
"""

from __future__ import annotations

import hashlib
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_COMPARISONS: dict[str, Callable[[Any, Any], pc.Expression]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_FILTER = re.compile(r"(.+?)(==|!=|<=|>=|=|<|>)([-+]?[0-9.]+(?:[eE][-+]?[0-9]{1,3})?)")

#: maximum number of filters of a request; LSDB sends up to a hundred ranges of cells
_MAX_FILTERS = 1000


@dataclass(frozen=True)
class PartitionSelection:
    """A selection of columns and rows.

    Attributes
    ----------
    columns : tuple of str
        The columns; () for all columns.
    filters : tuple
        A disjunction of conjunctions of (column, operator, number); () for all rows.
    """

    columns: tuple[str, ...] = ()
    filters: tuple[tuple[tuple[str, str, float | int], ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.columns or self.filters)

    @property
    def key(self) -> str:
        """A unique name of the selection."""
        return hashlib.sha256(repr((self.columns, self.filters)).encode()).hexdigest()[:32]


def parse_selection(columns: str, filters: str, schema: pa.Schema) -> PartitionSelection:
    """Parse the parameters of a request for a partition.

    Parameters
    ----------
    columns : str
        Names separated by commas; unknown names are ignored.
    filters : str
        ``a>=1,b<2;c==3``: a comma is AND, a semicolon OR. If any condition is not a comparison of a column with a
        number, all filters are ignored.
    schema : pyarrow.Schema
        The schema of the partition.
    """
    asked = {*filter(None, columns.split(","))}
    kept = tuple(name for name in schema.names if name in asked)
    return PartitionSelection(kept if asked else (), _parse_filters(filters, schema))


def _parse_filters(text: str, schema: pa.Schema) -> tuple[tuple[tuple[str, str, float | int], ...], ...]:
    if not text or text.count(",") + text.count(";") >= _MAX_FILTERS:
        return ()
    columns = {*schema.names}
    found = []
    for conjunction in text.split(";"):
        parts = []
        for text_of_part in conjunction.split(","):
            part = _parse_filter(text_of_part, schema, columns)
            if part is None:  # a text may contain commas and semicolons, so other parts may belong to it
                return ()
            parts.append(part)
        found.append(tuple(parts))
    return tuple(found)


def _parse_filter(text: str, schema: pa.Schema, columns: set[str]) -> tuple[str, str, float | int] | None:
    matched = _FILTER.fullmatch(text)
    if matched is None or matched[1] not in columns:
        return None
    column, comparison, number = matched.groups()
    kind = schema.field(column).type
    try:
        if pa.types.is_integer(kind):
            value: float | int = pa.scalar(int(number), kind).as_py()
        elif pa.types.is_floating(kind):
            value = float(number)
        else:
            return None
    except (ValueError, OverflowError, pa.ArrowException):
        return None
    return (column, comparison, value) if math.isfinite(value) else None


def write_selection(partition: Path, selection: PartitionSelection, schema: pa.Schema, target: Path) -> None:
    """Write selected columns and rows of a partition, in their order, as a Parquet file.

    Parameters
    ----------
    partition : Path
        The Parquet file of the partition.
    selection : PartitionSelection
        The selection.
    schema : pyarrow.Schema
        The schema of the new file, with the selected columns.
    target : Path
        The new file.
    """
    file = pq.ParquetFile(partition)
    names = schema.names
    condition = _build_condition(selection)
    needed = [name for name in file.schema_arrow.names if name in {*names, *_filter_columns(selection)}]
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, columns=needed)
            rows = (rows if condition is None else rows.filter(condition)).select(names)
            if rows.num_rows:
                writer.write_table(rows.cast(schema))


def _filter_columns(selection: PartitionSelection) -> set[str]:
    return {column for conjunction in selection.filters for column, _, _ in conjunction}


def _build_condition(selection: PartitionSelection) -> pc.Expression | None:
    if not selection.filters:
        return None
    alternatives = [
        reduce(operator.and_, [_COMPARISONS[how](pc.field(column), value) for column, how, value in conjunction])
        for conjunction in selection.filters
    ]
    return reduce(operator.or_, alternatives)
