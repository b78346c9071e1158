"""``skyhouse verify`` of a HATS catalogue, without a table or an engine."""

from __future__ import annotations

from clickhouse_schema.hats.hats_error import HatsError
from loaders.progress_reporter import Reporter
from tap_service.hats.reading.catalogue_check import check_catalogue
from tap_service.hats.reading.catalogue_columns import describe_columns
from tap_service.hats.reading.catalogue_folder import open_folder
from tap_service.hats.reading.hats_catalogue import HatsCatalogue, open_catalogue
from tap_service.hats.reading.partition_file import PartitionFile
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_BLOCK_BYTES, MAX_BLOCK_ROWS


def verify_catalogue(address: str, reporter: Reporter, *, with_rows: bool = False) -> None:
    """Check the files, columns, counts and pixels of a HATS catalogue, and report what was checked.

    Parameters
    ----------
    address : str
        A folder or a URL.
    reporter : Reporter
        Receives the report; may stop the check.
    with_rows : bool, optional
        Whether to read the positions and the spatial index of all rows, instead of only the footers.

    Raises
    ------
    ReadError
        The catalogue has a problem.
    LoadCancelled
        The user stopped the check.
    """

    def report(done: int, partitions: int) -> None:
        reporter.check()
        reporter.progress(0, done / partitions)

    try:
        catalogue = open_catalogue(open_folder(address))
        columns = describe_columns(catalogue)
        files = check_catalogue(catalogue, report)
        _report_files(catalogue, files, reporter)
        for name, reason in columns.unusable.items():
            reporter.message(f"warning: {name} cannot be loaded: {reason}")
        if with_rows:
            _read_rows(files, reporter)
    except HatsError as error:
        raise ReadError(str(error)) from error


def _report_files(catalogue: HatsCatalogue, files: list[PartitionFile], reporter: Reporter) -> None:
    rows, size = sum(file.rows for file in files), sum(file.version.size for file in files)
    orders = sorted({pixel.order for pixel in catalogue.pixels})
    reporter.output(
        f"{catalogue.address}: {rows:,} rows in {len(catalogue.pixels):,} partitions of the order"
        f"{'s' if orders[1:] else ''} {', '.join(map(str, orders))}, {size:,} bytes"
    )
    declared = "as in hats_nrows" if catalogue.properties.rows is not None else "the properties have no number of rows"
    reporter.output(f"rows: {declared}")
    reporter.output(f"columns: {len(catalogue.schema)}, the same in all partitions")
    index = "none" if catalogue.spatial_index is None else "{} of order {}".format(*catalogue.spatial_index)
    reporter.output(f"spatial index: {index}")
    if catalogue.collection is not None:
        reporter.output(f"margin caches: {', '.join(catalogue.collection.margins) or 'none'}")


def _read_rows(files: list[PartitionFile], reporter: Reporter) -> None:
    done, rows = 0, max(1, sum(file.rows for file in files))
    for file in files:
        begin, columns = done, file.list_position_columns()
        for batch in file.read_batches(columns, MAX_BLOCK_BYTES, MAX_BLOCK_ROWS):
            reporter.check()
            if columns:
                file.refuse_strays(batch, done - begin)
            done += batch.num_rows
            reporter.progress(done, done / rows)
    reporter.output(f"read: {done:,} rows, each in the pixel of its partition")
