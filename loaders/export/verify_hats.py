"""Verifies an exported collection: compares the rows of each file with the engine's, and finds damage."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow.parquet as pq

from clickhouse_schema.hats.hats_pixel import DATASET, SPATIAL_INDEX, HatsPixel, parse_path
from clickhouse_schema.healpix import ORDER
from loaders.export.export_target import ExportTarget
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.hats.writing.catalogue_files import METADATA, Collection, write_collection_files

#: Number of files whose footers are read at a time
_READERS = 8

#: Maximum number of problems that are reported one by one
_MAX_SHOWN = 10


def list_partition_files(collection: Collection) -> dict[str, int]:
    """Return the number of rows of all files of the catalogue and its margin cache, by name; largest first."""
    found = {
        f"{catalogue}/{pixel.build_path()}": rows
        for catalogue in filter(None, (collection.name, collection.margin_name))
        for pixel, rows in collection.list_pixels(catalogue).items()
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def list_index_files(collection: Collection, names: Mapping[str, int]) -> list[str]:
    """Return the files of the index among ``names``."""
    folder = f"{collection.index_name}/{DATASET}/index/"
    return sorted(name for name in names if collection.index_name and name.startswith(folder))


def read_footers(
    target: ExportTarget, collection: Collection, names: Mapping[str, int]
) -> tuple[dict[str, pq.FileMetaData], dict[str, pq.FileMetaData]]:
    """Return the footers of the complete files: of the partitions and margins, and of the index."""
    wanted = list_partition_files(collection)
    partitions = _read_footers(target, [name for name in wanted if name in names])
    index = _read_footers(target, list_index_files(collection, names))
    kept = {name: footer for name, footer in partitions.items() if footer.num_rows == wanted[name]}
    return kept, index if sum(footer.num_rows for footer in index.values()) == collection.plan.rows else {}


def _read_footers(target: ExportTarget, names: list[str]) -> dict[str, pq.FileMetaData]:
    def read(name: str) -> pq.FileMetaData | None:
        try:
            with target.open_parquet(name) as file:
                return file.metadata
        except LoadError:
            return None  # it is written again

    with ThreadPoolExecutor(_READERS) as pool:
        footers = pool.map(read, names)
        return {name: footer for name, footer in zip(names, footers, strict=True) if footer is not None}


def verify_collection(
    target: ExportTarget, collection: Collection, reporter: Reporter, *, reads_pages: bool = False
) -> None:
    """Check the files of an exported collection, and report what was checked.

    Parameters
    ----------
    target : ExportTarget
        Has the files.
    collection : Collection
        What they should contain.
    reporter : Reporter
        Receives the report.
    reads_pages : bool, optional
        Whether to read all rows, which finds damage inside files and rows in wrong pixels.

    Raises
    ------
    LoadError
        Lists the problems.
    """
    names = target.list_files()
    wanted = list_partition_files(collection)
    check = _FileCheck(target, collection, reporter, reads_pages)
    with ThreadPoolExecutor(_READERS) as pool:
        present = [name for name in wanted if name in names]
        errors = [problem for found in pool.map(check.check_partition, present) for problem in found]
        index = list_index_files(collection, names)
        errors += [problem for found in pool.map(check.check_file, index) for problem in found]
    errors += [f"{name} is missing" for name in (*wanted, *write_collection_files(collection)) if name not in names]
    errors += [f"{name} does not belong there" for name in names if parse_path(name) and name not in wanted]
    errors += check.find_total_problems(wanted, index)
    if errors:
        more = f"; and {len(errors) - _MAX_SHOWN:,} more" if len(errors) > _MAX_SHOWN else ""
        raise LoadError(
            f"{target.address} differs from the table: {'; '.join(errors[:_MAX_SHOWN])}{more}. Delete these files, "
            "and export again: it writes what is missing"
        )
    for catalogue in filter(None, (collection.name, collection.margin_name)):
        pixels = collection.list_pixels(catalogue)
        reporter.output(f"{catalogue}: {sum(pixels.values()):,} rows in {len(pixels):,} pixels")
    if collection.index_name:
        reporter.output(f"{collection.index_name}: {check.rows_of(index):,} ids")


class _FileCheck:
    def __init__(self, target: ExportTarget, collection: Collection, reporter: Reporter, reads_pages: bool) -> None:
        self._target = target
        self._collection = collection
        self._reporter = reporter
        self._reads_pages = reads_pages
        self._wanted = list_partition_files(collection)
        self._rows: dict[str, int] = {}

    def rows_of(self, names: list[str]) -> int:
        """Return the rows of files that were checked."""
        return sum(self._rows.get(name, 0) for name in names)

    def check_partition(self, name: str) -> list[str]:
        """Return the problems of a partition or a margin."""
        errors = self.check_file(name)
        if not errors and self._rows[name] != self._wanted[name]:
            errors.append(f"{name} has {self._rows[name]:,} rows, the engine {self._wanted[name]:,}")
        return errors

    def check_file(self, name: str) -> list[str]:
        """Return the problems of a file's pages and of its rows' pixels."""
        self._reporter.check()
        try:
            with self._target.open_parquet(name) as file:
                self._rows[name] = file.metadata.num_rows
                if not self._reads_pages:
                    return []
                cells = [self._read_group(file, number) for number in range(file.num_row_groups)]
        except LoadError as error:
            return [str(error)]
        pixel = parse_path(name)
        if pixel is None:
            return []
        return self._find_misplaced(name, pixel, np.concatenate(cells))

    def _read_group(self, file: pq.ParquetFile, number: int) -> np.ndarray:
        cells: np.ndarray = file.read_row_group(number).column(SPATIAL_INDEX).to_numpy()
        return cells

    def _find_misplaced(self, name: str, pixel: HatsPixel, cells: np.ndarray) -> list[str]:
        is_inside = (cells >= pixel.first_cell) & (cells < pixel.end_cell)
        if name.startswith(f"{self._collection.margin_name}/") and self._collection.margin_name:
            plan = self._collection.plan
            around = cells >> 2 * (ORDER - plan.margin_order)
            is_inside = ~is_inside & np.isin(around, plan.margin_cells[pixel])
        wrong = int((~is_inside).sum())
        errors = [f"{name} has {wrong:,} rows of other pixels"] if wrong else []
        return errors + ([f"the rows of {name} are not in order"] if (np.diff(cells) < 0).any() else [])

    def find_total_problems(self, partitions: Mapping[str, int], index: list[str]) -> list[str]:
        """Compare the sums with the plan and with the files that list all footers."""
        errors = []
        collection = self._collection
        if collection.index_name and self.rows_of(index) != collection.plan.rows:
            errors.append(f"{collection.index_name} has {self.rows_of(index):,} ids of {collection.plan.rows:,} rows")
        for catalogue in collection.folders:
            files = (
                index
                if catalogue == collection.index_name
                else [n for n in partitions if n.startswith(f"{catalogue}/")]
            )
            try:
                with self._target.open_parquet(f"{catalogue}/{METADATA}") as file:
                    if file.metadata.num_rows != self.rows_of(files):
                        errors.append(f"{catalogue}/{METADATA} counts {file.metadata.num_rows:,} rows")
            except LoadError as error:
                errors.append(str(error))
        return errors
