"""Checks all partitions of a catalogue: their footers, before the first row is read, and their first positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.reading.hats_catalogue import HatsCatalogue
from tap_service.hats.reading.partition_file import PartitionFile, check_partition

#: number of files that are read at once; reading them is mostly waiting
_THREADS = 16

#: number of files, spread over the sky, whose first positions are compared: wrong numbering is wrong in all of them
_MAX_SAMPLED = 200

_MAX_SHOWN = 5

_Checked = TypeVar("_Checked")
_Found = TypeVar("_Found")


def check_catalogue(
    catalogue: HatsCatalogue, report: Callable[[int, int], None] = lambda _done, _all: None
) -> list[PartitionFile]:
    """Read the footers of all partitions.

    Parameters
    ----------
    catalogue : HatsCatalogue
        The catalogue.
    report : Callable[[int, int], None]
        Called with the number of checked partitions and of all partitions; what it raises ends the check.

    Returns
    -------
    list[PartitionFile]
        The files of all partitions, in their order on the sky.

    Raises
    ------
    HatsError
        Files are missing, have other columns, or have rows of other pixels; or the number of rows differs from
        the properties. The message has all problems of the first partitions, and the number of partitions with
        problems.
    """
    found = _check_all(partial(check_partition, catalogue), catalogue.pixels, report)
    files = [file for files in found for file in files]
    rows, declared = sum(file.rows for file in files), catalogue.properties.rows
    if declared is not None and rows != declared:
        raise HatsError(
            f"{catalogue.address}: hats_nrows says {declared:,} rows, but the partitions have {rows:,}: partitions are"
            " missing from its list, or the properties belong to another catalogue"
        )
    return files


def check_positions(
    files: Sequence[PartitionFile], report: Callable[[int, int], None] = lambda _done, _all: None
) -> None:
    """Compare the first positions of files, of a sample if there are many, with their pixels and with the index.

    Raises
    ------
    HatsError
        As for ``PartitionFile.check_positions``, for all files of the sample.
    """
    _check_all(PartitionFile.check_positions, files[:: -(-len(files) // _MAX_SAMPLED)], report)


def _check_all(
    check: Callable[[_Checked], _Found], items: Sequence[_Checked], report: Callable[[int, int], None]
) -> list[_Found]:
    """Return the results of ``check``, in order. Raise HatsError with the first of all problems."""

    def try_check(item: _Checked) -> _Found | HatsError:
        try:
            return check(item)
        except HatsError as error:
            return type(error)(*error.args)  # the original has a traceback, which holds the file

    found: list[_Found] = []
    problems: list[HatsError] = []
    with ThreadPoolExecutor(_THREADS) as readers:
        checks = [readers.submit(try_check, item) for item in items]
        try:
            for done, running in enumerate(checks, 1):
                result = running.result()
                if isinstance(result, HatsError):
                    problems.append(result)
                else:
                    found.append(result)
                report(done, len(checks))
        except BaseException:
            readers.shutdown(cancel_futures=True)
            raise
    if problems:
        raise _join_problems(problems, len(items))
    return found


def _join_problems(problems: Sequence[HatsError], partitions: int) -> HatsError:
    if len(problems) == 1:
        return problems[0]
    shown = "; ".join(str(problem) for problem in problems[:_MAX_SHOWN])
    more = f"; and {len(problems) - _MAX_SHOWN:,} more" if len(problems) > _MAX_SHOWN else ""
    return HatsError(f"{len(problems):,} of {partitions:,} partitions cannot be used: {shown}{more}")
