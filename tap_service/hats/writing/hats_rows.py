"""The rows of a table as HATS files hold them: their columns, and the SQL of a pixel, a margin and an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import pyarrow as pa

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import LONG, ColumnType, Field
from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import SPATIAL_INDEX, HatsPixel
from clickhouse_schema.healpix import NO_POSITION, ORDER
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.table_ddl import HPX29
from tap_service.constants import PRODUCT
from tap_service.serializers.arrow_serializer import arrow_schema, rename_duplicate_fields, result_metadata
from tap_service.serializers.serializer import ResultInfo

_SPATIAL_FIELD = Field(
    SPATIAL_INDEX, LONG, ucd="pos.healpix", description="HEALPix cell of order 29, NESTED", nullable=False
)

#: columns of an index in addition to the id and the cell
_PIXEL_FIELDS = (
    Field("Norder", ColumnType("unsignedByte"), description="Order of the partition's pixel", nullable=False),
    Field("Npix", LONG, description="Number of the partition's pixel", nullable=False),
)


class HatsRows:
    """The rows of a table that have a position.

    Parameters
    ----------
    entry : TableEntry
        The table.
    columns : sequence of str
        Names of the columns to write; all by default. The position is always written.

    Raises
    ------
    HatsError
        The table has no position, or no column of such a name.
    """

    def __init__(self, entry: TableEntry, columns: Sequence[str] = ()) -> None:
        if entry.table.layout.position is None:
            raise HatsError(
                f"{entry.qualified_name} has no position: HATS files are divided by the sky. Give two columns the UCDs "
                "pos.eq.ra;meta.main and pos.eq.dec;meta.main, in degrees"
            )
        self.entry = entry
        #: stored columns of the table, and their names in files
        self._stored = tuple(_choose_columns(entry, columns))
        self.fields = rename_duplicate_fields((_SPATIAL_FIELD, *self._stored))

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema of partitions: fields with their units, UCDs and descriptions, and VOParquet's VOTable."""
        return self.select_schema([field.name for field in self.fields])

    def select_schema(self, names: Iterable[str]) -> pa.Schema:
        """Return the Arrow schema of some columns of partitions, with VOParquet's VOTable for these columns.

        Parameters
        ----------
        names : iterable of str
            Names of columns in the files; other names are ignored.

        Returns
        -------
        pyarrow.Schema
            The columns in the order of the table.
        """
        wanted = {*names}
        fields = [field for field in self.fields if field.name in wanted]
        schema = self.entry.schema
        info = ResultInfo(
            citations=(schema.citation,) if schema.citation else (),
            rights=(schema.licence,) if schema.licence else (),
            software=PRODUCT,
        )
        return arrow_schema(fields).with_metadata(result_metadata(fields, info, None))

    @property
    def position_columns(self) -> tuple[str, str]:
        """The columns of longitude and latitude in the files."""
        lon, lat = self.entry.table.layout.position or ("", "")
        return self._find_name(lon), self._find_name(lat)

    @property
    def id_column(self) -> str:
        """The column in the files that identifies a row; '' if no single column does, or it is not written."""
        key = self.entry.table.layout.id
        return self._find_name(key[0]) if len(key) == 1 else ""

    @property
    def index_fields(self) -> tuple[Field, ...]:
        """The columns of the index by ``id_column``: id, cell, and the pixel of the partition."""
        described = next(field for field in self.fields if field.name == self.id_column)
        return (described, _SPATIAL_FIELD, *_PIXEL_FIELDS)

    @property
    def index_schema(self) -> pa.Schema:
        """The Arrow schema of the index."""
        return arrow_schema(self.index_fields)

    def _find_name(self, stored: str) -> str:
        names = [field.name for field in self._stored]
        return self.fields[1 + names.index(stored)].name if stored in names else ""

    # --- SQL

    def count_sql(self, order: int, within: tuple[int, Iterable[int]] | None = None) -> str:
        """Return the SQL that counts rows by cell: columns cell and rows, ordered by cell.

        Parameters
        ----------
        order : int
            The order of the cells. Rows without a position are in the cell 12 * 4^order.
        within : tuple[int, Iterable[int]] | None
            Another order and cells of it, in which alone rows are counted.
        """
        cell = _cell_sql(order)
        where = f" WHERE {_is_in_cells_sql(*within)}" if within else ""
        counted = f"SELECT {cell} AS cell, count() AS rows FROM {self.entry.storage_sql}{where}"
        return f"{counted} GROUP BY cell ORDER BY cell"

    def partition_sql(self, pixel: HatsPixel) -> str:
        """Return the SQL of the rows of a pixel, in the order of files."""
        where = f"{HPX29} >= {pixel.first_cell} AND {HPX29} < {pixel.end_cell}"
        return self._rows_sql(where, [(pixel.first_cell, pixel.end_cell)])

    def margin_sql(self, pixel: HatsPixel, order: int, cells: Iterable[int]) -> str:
        """Return the SQL of the rows outside ``pixel`` in ``cells`` of ``order``, in the order of files."""
        outside = f"NOT ({HPX29} >= {pixel.first_cell} AND {HPX29} < {pixel.end_cell})"
        wanted = sorted(cells)
        read = [(HatsPixel(order, cell).first_cell, HatsPixel(order, cell).end_cell) for cell in wanted]
        return self._rows_sql(f"{_is_in_cells_sql(order, wanted)} AND {outside}", read)

    def index_sql(self) -> str:
        """Return the SQL of the id and the cell of order 29 of each row with a position, ordered by both."""
        key = quote_identifier(self.entry.table.layout.id[0])
        rows = f"SELECT {key} AS key, toInt64({HPX29}) AS cell FROM {self.entry.storage_sql}"
        return f"{rows} WHERE {HPX29} < {NO_POSITION} ORDER BY key, cell"

    def _rows_sql(self, where: str, cells: Iterable[tuple[int, int]]) -> str:
        """Return the SQL of rows in a fixed order, in which only equal rows may be swapped.

        ``cells``: ranges of order 29 that contain these rows.
        """
        names = [quote_identifier(field.name) for field in self._stored]
        layout = self.entry.table.layout
        keys = [layout.time] if layout.time else []
        keys += layout.id or [field.name for field in self.entry.fields if not field.type.is_array]
        order = ", ".join([HPX29, *dict.fromkeys(map(quote_identifier, keys))])
        columns = ", ".join([f"toInt64({HPX29})", *names])
        return f"SELECT {columns} FROM {self.entry.storage_sql_of(cells)} WHERE {where} ORDER BY {order}"


def _choose_columns(entry: TableEntry, columns: Sequence[str]) -> Iterable[Field]:
    """Return the chosen columns in the order of the table. A stored copy of the spatial index is computed again."""
    known = {field.name for field in entry.fields}
    if unknown := [name for name in columns if name not in known]:
        raise HatsError(f"{entry.qualified_name} has no column {unknown[0]!r}; it has {', '.join(sorted(known))}")
    chosen = {*(columns or known), *(entry.table.layout.position or ())} - {SPATIAL_INDEX}
    return (field for field in entry.fields if field.name in chosen)


def _cell_sql(order: int) -> str:
    # not bitShiftRight: ClickHouse finds granules by a division
    return f"intDiv({HPX29}, {4 ** (ORDER - order)})"


def _is_in_cells_sql(order: int, cells: Iterable[int]) -> str:
    # as one text: ClickHouse takes a second to parse 100,000 numbers
    return f"{_cell_sql(order)} IN CAST('[{','.join(map(str, cells))}]', 'Array(UInt64)')"
