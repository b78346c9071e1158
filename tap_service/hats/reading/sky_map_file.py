"""``skymap.fits`` of a catalogue: rows by HEALPix cell, if the map agrees with the partitions."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import HatsPixel
from tap_service.hats.reading.folder_backend import FileMissing
from tap_service.hats.reading.hats_catalogue import HatsCatalogue, join_path
from tap_service.hats.reading.partition_file import PartitionFile

#: maximum size in bytes; a map of order 10 has 100 MB
_MAX_BYTES = 256 << 20
_MAX_ORDER = 12


def read_sky_map(catalogue: HatsCatalogue, files: Sequence[PartitionFile], order: int) -> NDArray[np.int64] | None:
    """Read the map of a catalogue.

    Parameters
    ----------
    catalogue, files
        The catalogue and its files.
    order : int
        The order of the cells.

    Returns
    -------
    NDArray[np.int64] or None
        The rows of each NESTED cell, shape (12 * 4**order,); None if the catalogue has no such map.

    Raises
    ------
    HatsError
        The map cannot be read, or has other rows than the files.
    StorageUnavailable
        The storage does not answer.
    """
    for name in _list_names(catalogue, order):
        path = join_path(catalogue.path, name)
        try:
            version = catalogue.folder.stat(path)
        except FileMissing:
            continue
        name = catalogue.folder.name(path)
        if version.size > _MAX_BYTES:
            raise HatsError(f"{name} has {version.size:,} bytes; the limit is {_MAX_BYTES:,}")
        rows = _parse_map(catalogue.folder.read(path, 0, version.size, version), name)
        _refuse_other_rows(rows, files, name)
        if len(rows) >= 12 << 2 * order:
            coarse: NDArray[np.int64] = rows.reshape(12 << 2 * order, -1).sum(axis=1)
            return coarse
    return None


def _list_names(catalogue: HatsCatalogue, order: int) -> Iterator[str]:
    """Yield the names of maps, the map with the fewest cells first."""
    finer = sorted(int(each) for each in catalogue.properties.skymap_orders if each.isdecimal() and int(each) >= order)
    yield from (f"skymap.{each}.fits" for each in finer)
    yield from ("skymap.fits", "point_map.fits")


def _parse_map(data: bytes, name: str) -> NDArray[np.int64]:
    """Return the rows of all cells of a map in the convention of HEALPix maps in FITS."""
    from astropy.io import fits  # deferred: a third of the start time of a reader

    try:
        with warnings.catch_warnings(action="ignore"), fits.open(io.BytesIO(data)) as opened:
            header, table = opened[1].header, opened[1].data
            order = int(header["NSIDE"]).bit_length() - 1
            if header["ORDERING"] != "NESTED" or header["NSIDE"] != 1 << order or not 0 <= order <= _MAX_ORDER:
                raise HatsError(f"{name} is not a map of NESTED cells up to order {_MAX_ORDER}")
            size = 12 << 2 * order
            if header.get("INDXSCHM", "IMPLICIT") == "IMPLICIT":
                values = np.asarray(table.field(0)).reshape(-1)
                cells = np.arange(size)
            else:
                cells, values = (np.asarray(table.field(index)).astype(np.int64) for index in (0, 1))
            found = np.zeros(size, np.int64)
            found[cells] = values
    except HatsError:
        raise
    except Exception as error:
        raise HatsError(f"{name} cannot be read as a map: {error}") from None
    return found


def _refuse_other_rows(rows: NDArray[np.int64], files: Sequence[PartitionFile], name: str) -> None:
    """Raise HatsError unless a map has the rows of each partition in its pixel, and no others."""
    order = (len(rows) // 12).bit_length() // 2
    counts: dict[HatsPixel, int] = {}
    for file in files:
        steps = max(file.pixel.order - order, 0)
        pixel = HatsPixel(file.pixel.order - steps, file.pixel.number >> 2 * steps)
        counts[pixel] = counts.get(pixel, 0) + file.rows
    for pixel, wanted in counts.items():
        width = 1 << 2 * (order - pixel.order)
        found = rows[pixel.number * width : (pixel.number + 1) * width]
        if (found < 0).any() or found.sum() != wanted:
            raise HatsError(
                f"{name} has {found.sum():,} rows in the pixel of order {pixel.order}, number {pixel.number}, and its"
                f" files have {wanted:,}"
            )
    if rows.sum() != sum(counts.values()):
        raise HatsError(f"{name} has rows where there are no files")
