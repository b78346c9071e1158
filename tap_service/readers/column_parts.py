"""Maps the columns of a table to columns of an Arrow or Parquet file: lists in structs, masked values, other names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from tap_service.readers.arrow_types import is_list
from tap_service.readers.column_casts import replace_elements


@dataclass(frozen=True, slots=True)
class Part:
    """The location of a column.

    Attributes
    ----------
    column : str
        The column of the file.
    nth : int
        Its index among the columns of the same name.
    child : int or None
        The index of the list in a struct; None for the column itself.
    mask : str or None
        The column that is true where the value is missing; None if there is none.
    """

    column: str
    nth: int = 0
    child: int | None = None
    mask: str | None = None

    def take(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the column of a batch of the file."""
        values = batch.column(batch.schema.get_all_field_indices(self.column)[self.nth])
        if self.child is not None:
            values = pc.struct_field(values, self.child)
        return _mask_values(values, batch.column(self.mask)) if self.mask is not None else values


@dataclass(frozen=True, slots=True)
class ColumnParts:
    """The location of each column of a table, by its name."""

    parts: dict[str, Part] = field(default_factory=dict)

    def list_file_columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of the file that contain columns of the table.

        Parameters
        ----------
        names : sequence of str
            Columns of the table; an unknown name raises KeyError.

        Returns
        -------
        tuple of str
            The columns of values and of masks, each once.
        """
        found = (self.parts[name] for name in names)
        return tuple(
            dict.fromkeys(column for part in found for column in (part.column, part.mask) if column is not None)
        )

    def take_columns(self, batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
        """Return columns of the table from a batch of the file.

        Parameters
        ----------
        batch : pa.RecordBatch
            A batch with at least ``list_file_columns(names)``.
        names : Sequence[str]
            The columns.
        """
        return pa.RecordBatch.from_arrays([self.parts[name].take(batch) for name in names], list(names))


def flatten_structs(fields: Sequence[pa.Field]) -> Iterator[tuple[pa.Field, Part]]:
    """Yield the fields, with each struct of lists (nested-pandas' form of light curves) as one field for each list.

    Parameters
    ----------
    fields : sequence of pyarrow.Field
        The fields of a file.

    Yields
    ------
    tuple of pyarrow.Field and Part
        A field, named ``column_list`` in a struct, and its location.
    """
    names = {field.name for field in fields}
    seen: Counter[str] = Counter()
    for column in fields:
        nth = seen[column.name]
        seen[column.name] += 1
        inner = list(column.type) if pa.types.is_struct(column.type) else []
        flat = [f"{column.name}_{part.name}" for part in inner]
        if not inner or names & {*flat} or not all(is_list(part.type) for part in inner):
            yield column, Part(column.name, nth)
        else:
            for child, (part, name) in enumerate(zip(inner, flat, strict=True)):
                yield part.with_name(name), Part(column.name, nth, child)


def fold_masks(columns: Sequence[tuple[pa.Field, Part]]) -> Iterator[tuple[pa.Field, Part]]:
    """Yield the columns without astropy's masks (``mag.mask`` of ``mag``), which make values of their columns NULL."""
    kinds = {column.name: column.type for column, _ in columns}
    masks = {name for name, kind in kinds.items() if _is_mask(name, kind) and name.removesuffix(".mask") in kinds}
    for column, part in columns:
        mask = f"{column.name}.mask"
        if mask in masks:
            yield column.with_nullable(True), Part(part.column, part.nth, part.child, mask)
        elif column.name not in masks:
            yield column, part


def _is_mask(name: str, kind: pa.DataType) -> bool:
    return name.endswith(".mask") and pa.types.is_boolean(kind.value_type if is_list(kind) else kind)


def _mask_values(values: pa.Array, mask: pa.Array) -> pa.Array:
    if not is_list(mask.type):
        return pc.if_else(pc.fill_null(mask, False), pa.scalar(None, values.type), values)
    lists = values.cast(pa.list_(values.type.value_type))
    return replace_elements(lists, _mask_values(lists.flatten(), mask.flatten()))
