"""All partitions of a catalogue, found and checked by their footers before the first row is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from clickhouse_schema.hats.hats_problem import HatsProblem
from tap_service.hats.reading.hats_catalogue import HatsCatalogue
from tap_service.hats.reading.partition_file import PartitionFile, check_partition

#: Footers that are read at a time: they are waited for, not computed
_FOOTER_THREADS = 16

_MAX_SHOWN = 5


def check_catalogue(
    catalogue: HatsCatalogue, report: Callable[[int, int], None] = lambda _done, _all: None
) -> list[PartitionFile]:
    """Read all footers; return the files of all partitions, in their order on the sky.

    ``report`` is called with the partitions that are checked and their number; what it raises ends the check.

    Raises
    ------
    HatsProblem
        Files are missing, have other columns, or have rows of other pixels; or there are not as many rows as the
        properties say. The message has all that is wrong with the first partitions, and how many there are.
    """
    files: list[PartitionFile] = []
    problems: list[HatsProblem] = []
    with ThreadPoolExecutor(_FOOTER_THREADS) as readers:
        checks = [readers.submit(check_partition, catalogue, pixel) for pixel in catalogue.pixels]
        try:
            for done, check in enumerate(checks, 1):
                try:
                    files += check.result()
                except HatsProblem as problem:
                    problems.append(problem)
                report(done, len(checks))
        except BaseException:
            readers.shutdown(cancel_futures=True)
            raise
    if problems:
        raise _join_problems(problems, len(catalogue.pixels))
    rows, declared = sum(file.rows for file in files), catalogue.properties.rows
    if declared is not None and rows != declared:
        raise HatsProblem(
            f"{catalogue.address}: hats_nrows says {declared:,} rows, the partitions have {rows:,}: partitions are"
            " missing from its list, or the properties are those of another catalogue"
        )
    return files


def _join_problems(problems: Sequence[HatsProblem], partitions: int) -> HatsProblem:
    if len(problems) == 1:
        return problems[0]
    shown = "; ".join(str(problem) for problem in problems[:_MAX_SHOWN])
    more = f"; and {len(problems) - _MAX_SHOWN:,} more" if len(problems) > _MAX_SHOWN else ""
    return HatsProblem(f"{len(problems):,} of {partitions:,} partitions cannot be used: {shown}{more}")
