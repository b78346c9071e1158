"""The model of a table whose columns come from a file or a query."""

from __future__ import annotations

from typing import Any

from clickhouse_schema.datatypes import Field
from clickhouse_schema.schema_model import Column, Layout, Table
from tap_service.readers.file_columns import field_to_felis
from tap_service.readers.position_columns import find_position_columns


def build_table(name: str, fields: tuple[Field, ...], **about: Any) -> Table:
    """Build a table, with a position in its layout if there is one.

    Parameters
    ----------
    name : str
        The name of the table.
    fields : tuple[Field, ...]
        Its columns.
    about
        Further attributes of ``Table``.

    Raises
    ------
    ValidationError
        The columns are not valid in a table.
    """
    columns = tuple(Column.model_validate(field_to_felis(field)) for field in fields)
    return Table(name=name, columns=columns, layout=Layout(position=find_position_columns(fields)), **about)
