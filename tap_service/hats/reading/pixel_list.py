"""Finds the partitions of a catalogue: in ``partition_info.csv``, in ``dataset/_metadata``, or by a list of files."""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import DATASET, HatsPixel, parse_path
from clickhouse_schema.hats.partition_info import FILE_NAME, read_partition_info, write_partition_info
from tap_service.hats.reading.catalogue_folder import CatalogueFolder
from tap_service.hats.reading.folder_backend import FileMissing
from tap_service.hats.reading.parquet_file import open_parquet

#: bytes of a list of 3 million partitions
MAX_LIST_BYTES = 64 << 20

_METADATA = f"{DATASET}/_metadata"


def find_pixels(folder: CatalogueFolder, path: str, suffix: str) -> list[HatsPixel]:
    """Return the pixels of a catalogue.

    Parameters
    ----------
    folder : CatalogueFolder
        The folder.
    path : str
        The catalogue in it.
    suffix : str
        The suffix of the partitions' files.

    Returns
    -------
    list[HatsPixel]
        At least one pixel, in their order on the sky. They do not overlap.

    Raises
    ------
    HatsError, FileMissing, StorageUnavailable
        There are no partitions, or no list of them can be read.
    """
    prefix = f"{path}/" if path else ""
    try:
        text = folder.read_text(prefix + FILE_NAME, MAX_LIST_BYTES)
    except FileMissing:
        text = write_partition_info(_find_in_files(folder, prefix, suffix))
    try:
        pixels = read_partition_info(text)
    except HatsError as error:
        raise HatsError(f"{folder.name(path).rstrip('/')}: {error}") from None
    if not pixels:
        raise HatsError(f"{folder.name(path).rstrip('/')} has no partitions")
    return pixels


def _find_in_files(folder: CatalogueFolder, prefix: str, suffix: str) -> Iterable[HatsPixel]:
    """Return the pixels in the names of files."""
    try:
        metadata = open_parquet(folder, prefix + _METADATA).metadata
    except FileMissing:
        names = folder.list_files(prefix + DATASET)
    else:
        groups = range(metadata.num_row_groups if metadata.num_columns else 0)
        names = [metadata.row_group(group).column(0).file_path for group in groups]
    end = suffix if suffix != "/" else ".parquet"
    return {pixel for name in names if name.endswith(end) and (pixel := parse_path(name))}
