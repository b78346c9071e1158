"""The file of a partition, checked against its catalogue before and while its rows are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.healpix import ORDER
from tap_service.hats.reading.folder_backend import FileVersion
from tap_service.hats.reading.hats_catalogue import HatsCatalogue
from tap_service.hats.reading.parquet_file import FolderFile, open_parquet
from tap_service.hats.reading.stray_positions import find_misindexed, find_strays

#: number of rows of a file whose positions are compared with its pixel: if pixels are numbered in another way (another
#: nside, RING instead of NESTED), nearly all positions are outside
_SAMPLE_ROWS = 1000
_SAMPLE_BYTES = 64 << 20

#: assumed bytes of a text or a list, whose length is not in the files
_LEAST_TEXT_BYTES = 16

#: Larger footers are read one at a time, by one thread: each takes ten times its size in memory, and a thread keeps its
#: memory.
_LARGE_FOOTER = 2 << 20
_large_footers = ThreadPoolExecutor(1, "large footers")

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class PartitionFile:
    """A file whose footer has been checked.

    Attributes
    ----------
    catalogue, pixel
        The catalogue and the pixel to which it belongs.
    path : str
        Its path below the catalogue's folder.
    version : FileVersion
        Its version.
    groups : tuple[tuple[int, float], ...]
        For each row group, its rows and the approximate bytes of a row in memory.
    footer_bytes : int
        The size of its footer.
    cell_ranges : tuple[tuple[int, int], ...]
        For each row group, the half-open range of indexes of order 29 of its rows, inside the pixel; () if the footer
        does not have it for all groups.
    """

    catalogue: HatsCatalogue
    pixel: HatsPixel
    path: str
    version: FileVersion
    groups: tuple[tuple[int, float], ...]
    footer_bytes: int
    cell_ranges: tuple[tuple[int, int], ...]

    @property
    def rows(self) -> int:
        return sum(rows for rows, _ in self.groups)

    @property
    def name(self) -> str:
        """The address of the file, for messages."""
        return self.catalogue.folder.name(self.path)

    def list_batches(self, block_bytes: int, block_rows: int) -> Iterator[tuple[int, float]]:
        """Yield, for each batch of ``read_batches``, its rows and its approximate bytes."""
        for rows, row_bytes in self.groups:
            size = _count_batch_rows(row_bytes, block_bytes, block_rows)
            for first in range(0, rows, size):
                batch_rows = min(size, rows - first)
                yield batch_rows, batch_rows * row_bytes

    def read_batches(self, columns: tuple[str, ...], block_bytes: int, block_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all rows, in the same batches each time.

        Parameters
        ----------
        columns : tuple of str
            The columns of the batches, which have the types of the catalogue's schema.
        block_bytes, block_rows : int
            The approximate maximum size of a batch.

        Raises
        ------
        HatsError
            The file has changed, is broken, or has rows that do not belong to its pixel.
        FileMissing, StorageUnavailable
            The file can no longer be read.
        """
        file = open_parquet(self.catalogue.folder, self.path, self.version)
        spatial = self.catalogue.spatial_index
        types = pa.schema([(name, self.catalogue.schema.field(name).type) for name in columns])
        needed = list(dict.fromkeys([*columns, *([spatial[0]] if spatial else [])]))
        done = 0
        try:
            for group, (_, row_bytes) in enumerate(self.groups):
                size = _count_batch_rows(row_bytes, block_bytes, block_rows)
                for batch in file.iter_batches(size, [group], needed):
                    self._refuse_strangers(batch, done)
                    done += batch.num_rows
                    yield batch.select(list(columns)).cast(types)
        except pa.ArrowMemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise HatsError(f"{self.name} is broken in or after row {done + 1}: {error}") from error
        if done != self.rows:
            raise HatsError(f"{self.name} has {done:,} rows, but its footer declares {self.rows:,}")

    def check_positions(self) -> None:
        """Compare the first rows with the pixel, and their index of order 29 with their positions.

        Raises
        ------
        HatsError
            The positions are outside the pixel, or the index belongs to other positions.
        FileMissing, StorageUnavailable
            The file cannot be read.
        """
        columns = self.list_position_columns()
        batches = self.read_batches(columns, _SAMPLE_BYTES, _SAMPLE_ROWS)
        batch = _read_footer(self.footer_bytes, lambda: next(batches, None))
        found = None if batch is None else _find_points(batch.column(columns[0]), batch.column(columns[1]))
        if batch is None or found is None:
            return
        known, points = found
        for column in columns[2:]:
            strange = len(find_misindexed(points, _read_cells(batch.column(column))[known]))
            if _are_many(strange, len(points)):
                raise HatsError(
                    f"{self.name}: the index {column} of {strange:,} of the first {len(points):,} rows does not belong"
                    f" to {', '.join(columns[:2])}: write it again, or load the catalogue, which computes its own"
                    " index"
                )

    def list_position_columns(self) -> tuple[str, ...]:
        """Return the columns that ``refuse_strays`` reads: the position, and the index of order 29 if there is one."""
        properties = self.catalogue.properties
        if properties.ra_column is None or properties.dec_column is None:
            return ()
        column, order = self.catalogue.spatial_index or ("", 0)
        position = properties.ra_column, properties.dec_column
        return (*position, column) if order == ORDER else position

    def refuse_strays(self, batch: pa.RecordBatch, first: int) -> None:
        """Compare all positions of rows with the pixel and with their index, to 1 arcsec.

        Parameters
        ----------
        batch : pa.RecordBatch
            Rows with ``list_position_columns``, which are not ().
        first : int
            The number of its first row in the file.

        Raises
        ------
        HatsError
            Cones would miss rows of the batch, or find wrong ones. Positions less than 1 arcsec outside the pixel are
            accepted.
        """
        columns = self.list_position_columns()
        found = _find_points(batch.column(columns[0]), batch.column(columns[1]))
        if found is None:
            return  # not numeric: the reader of positions reports this
        known, points = found
        rows = first + 1 + np.flatnonzero(known)
        self._refuse_rows(rows[find_strays(points, self.pixel)], batch, "are not in the partition's pixel")
        for column in columns[2:]:
            others = find_misindexed(points, _read_cells(batch.column(column))[known])
            self._refuse_rows(rows[others], batch, f"are not where the index {column} says")

    def _refuse_rows(self, strays: NDArray[np.int64], batch: pa.RecordBatch, problem: str) -> None:
        """Raise HatsError if some rows of a batch are ``strays``."""
        if len(strays):
            raise HatsError(
                f"{self.name}, row {strays[0]:,}: the positions of this row and of {len(strays) - 1:,} more of"
                f" {batch.num_rows:,} {problem} ({_show_pixel(self.pixel)}), so regions miss these rows"
            )

    def _refuse_strangers(self, batch: pa.RecordBatch, first: int) -> None:
        """Raise HatsError if rows are outside the pixel; only a sample of the positions is compared."""
        spatial = self.catalogue.spatial_index
        if spatial and spatial[1] >= self.pixel.order:
            self._refuse_cells(batch.column(spatial[0]), spatial[1], first)
        properties = self.catalogue.properties
        position = properties.ra_column, properties.dec_column
        if first == 0 and set(position) <= set(batch.schema.names):
            ra, dec = (batch.column(str(name)).slice(0, _SAMPLE_ROWS) for name in position)
            self._refuse_positions(ra, dec)

    def _refuse_cells(self, cells: pa.Array, order: int, first: int) -> None:
        start, end = (cell >> 2 * (ORDER - order) for cell in (self.pixel.first_cell, self.pixel.end_cell))
        try:
            strange = pc.invert(pc.and_kleene(pc.greater_equal(cells, start), pc.less(cells, end)))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise HatsError(f"{self.name}: the spatial index has the type {cells.type}, not an integer") from None
        strange = pc.fill_null(strange, True)
        if pc.any(strange).as_py():
            row = pc.index(strange, True).as_py()
            raise HatsError(
                f"{self.name}, row {first + row + 1}: cell {cells[row]} of order {order} is not in the partition's"
                f" pixel ({_show_pixel(self.pixel)}): the row is in the wrong partition, or the pixels are numbered"
                " differently"
            )

    def _refuse_positions(self, ra: pa.Array, dec: pa.Array) -> None:
        found = _find_points(ra, dec)
        if found is None:
            return  # not numeric: the reader of positions reports this
        _, points = found
        strange = len(find_strays(points, self.pixel))
        if _are_many(strange, len(points)):
            raise HatsError(
                f"{self.name}: {strange:,} of the first {len(points):,} positions are not in the partition's pixel"
                f" ({_show_pixel(self.pixel)}): its pixels are not numbered as HATS requires (NESTED, in ICRS), or"
                " the properties do not name the columns by which it was partitioned"
            )


def _find_points(ra: pa.Array, dec: pa.Array) -> tuple[NDArray[np.bool_], NDArray[np.float64]] | None:
    """Return a mask of rows that have a position, and their unit vectors; None if the columns are not numeric."""
    try:
        lon, lat = (np.radians(axis.cast(pa.float64()).to_numpy(zero_copy_only=False)) for axis in (ra, dec))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    known = np.isfinite(lon) & (np.abs(lat) <= np.pi / 2)
    lon, lat = lon[known], lat[known]
    return known, np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def _read_cells(column: pa.Array) -> NDArray[np.int64]:
    cells: NDArray[np.int64] = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return cells


def _are_many(strange: int, rows: int) -> bool:
    """Return whether the number is too large for rounding, which may move a position over a border."""
    return strange > max(1, rows // 100)


def check_partition(catalogue: HatsCatalogue, pixel: HatsPixel) -> list[PartitionFile]:
    """Read the footers of a partition's files, and check them.

    Raises
    ------
    HatsError
        A file has other columns than the catalogue, or its statistics show rows outside the pixel.
    FileMissing, StorageUnavailable
        A file cannot be read.
    """
    return [_check_file(catalogue, pixel, path) for path in catalogue.find_files(pixel)]


def _check_file(catalogue: HatsCatalogue, pixel: HatsPixel, path: str) -> PartitionFile:
    version = catalogue.folder.stat(path)
    file = FolderFile(catalogue.folder, path, version)
    return _read_footer(file.footer_bytes, lambda: _check_footer(catalogue, pixel, path, version, file))


def _check_footer(
    catalogue: HatsCatalogue, pixel: HatsPixel, path: str, version: FileVersion, file: FolderFile
) -> PartitionFile:
    parquet, name = file.parse_footer(), catalogue.folder.name(path)
    catalogue.check_columns(parquet.schema_arrow, name)
    cell_ranges = _read_cell_ranges(catalogue, pixel, parquet.metadata, name)
    groups = (parquet.metadata.row_group(group) for group in range(parquet.num_row_groups))
    sizes = tuple((group.num_rows, _estimate_row_bytes(group, catalogue.schema)) for group in groups)
    return PartitionFile(catalogue, pixel, path, version, sizes, file.footer_bytes, cell_ranges)


def _read_footer(footer_bytes: int, read: Callable[[], _Read]) -> _Read:
    """Return what ``read`` returns, which reads a footer of this size."""
    return read() if footer_bytes <= _LARGE_FOOTER else _large_footers.submit(read).result()


def _estimate_row_bytes(group: pq.RowGroupMetaData, schema: pa.Schema) -> float:
    """Return the approximate bytes of a row in memory: dictionaries can make a file much smaller than its values."""
    widths = sum(kind.bit_width / 8 if pa.types.is_primitive(kind) else _LEAST_TEXT_BYTES for kind in schema.types)
    return float(max(group.total_byte_size / max(group.num_rows, 1), widths))


def _count_batch_rows(row_bytes: float, block_bytes: int, block_rows: int) -> int:
    return max(1, min(block_rows, int(block_bytes / max(row_bytes, 1))))


def _read_cell_ranges(
    catalogue: HatsCatalogue, pixel: HatsPixel, metadata: pq.FileMetaData, name: str
) -> tuple[tuple[int, int], ...]:
    """Return ``PartitionFile.cell_ranges``. Raise HatsError if a range is not inside the pixel."""
    spatial = catalogue.spatial_index
    if spatial is None or spatial[1] < pixel.order:
        return ()
    column, order = spatial
    shift = 2 * (ORDER - order)
    index = -1
    found: list[tuple[int, int]] = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if index < 0:  # not by metadata.schema, which would keep the footer in a reference cycle
            index = next(each for each in range(group.num_columns) if group.column(each).path_in_schema == column)
        statistics = group.column(index).statistics
        if not group.num_rows:
            found.append((pixel.first_cell, pixel.first_cell))
            continue
        if statistics is None or not statistics.has_min_max or not isinstance(statistics.min, int):
            continue
        cells = statistics.min << shift, statistics.max + 1 << shift
        if not pixel.first_cell <= cells[0] <= cells[1] <= pixel.end_cell:
            raise HatsError(
                f"{name}: its cells of order {order} are {statistics.min} to {statistics.max}, which are not in the"
                f" partition's pixel ({_show_pixel(pixel)}): rows are in the wrong partition, or the pixels are"
                " numbered differently"
            )
        found.append(cells)
    return tuple(found) if len(found) == metadata.num_row_groups else ()


def _show_pixel(pixel: HatsPixel) -> str:
    return f"order {pixel.order}, number {pixel.number}"
