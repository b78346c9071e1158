"""The kinds of match, and what each finds."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from astropy.table import Table
from numpy.typing import NDArray

ARCSEC = 5
RADIUS = ARCSEC / 3600

#: the ids of a pair in all results; a row of a left join without a partner has NO_PARTNER or NULL
LEFT_ID, RIGHT_ID = "left_id", "right_id"
NO_PARTNER = -1

_WITHIN = f"DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) <= {ARCSEC} / 3600."
_NEAREST = f"1 = skyhouse_nearest(1, POINT(a.ra, a.dec), POINT(b.ra, b.dec), {ARCSEC} / 3600.)"
_IDS = f"SELECT a.id AS {LEFT_ID}, b.id AS {RIGHT_ID}"


@dataclass(frozen=True)
class MatchKind:
    """A match of two tables: its ADQL, and whether it lists pairs or returns a number."""

    query: str
    is_list: bool = False
    left: str = "a"
    right: str = "b"


KINDS = {
    "counted": MatchKind(f"SELECT COUNT(*) AS matches FROM bench.a AS a JOIN bench.b AS b ON {_WITHIN}"),
    "summed": MatchKind(f"SELECT SUM(a.id + b.id) AS matches FROM bench.a AS a JOIN bench.b AS b ON {_WITHIN}"),
    "listed": MatchKind(f"{_IDS} FROM bench.a AS a JOIN bench.b AS b ON {_WITHIN}", is_list=True),
    "without": MatchKind(
        f"SELECT COUNT(*) AS matches FROM bench.a AS a WHERE NOT EXISTS (SELECT 1 FROM bench.b AS b WHERE {_WITHIN})"
    ),
    "left": MatchKind(f"{_IDS} FROM bench.a AS a LEFT JOIN bench.b AS b ON {_WITHIN}", is_list=True),
    "nearest": MatchKind(f"{_IDS} FROM bench.a AS a JOIN bench.b AS b ON {_NEAREST}", is_list=True),
    "small": MatchKind(
        f"{_IDS} FROM TAP_UPLOAD.few AS a JOIN bench.sample AS b ON {_WITHIN}", is_list=True, left="few", right="sample"
    ),
}


@dataclass(frozen=True)
class Found:
    """The result of a match: its number, or the rows and a checksum of the pairs in any order."""

    number: int
    checksum: int = 0


def read_pairs(source: Path | BytesIO) -> Found:
    """Read a list of pairs, Parquet or FITS."""
    if isinstance(source, Path) and source.suffix == ".fits":
        table = Table.read(source)
        left, right = (np.asarray(table[name]).astype(np.int64) for name in (LEFT_ID, RIGHT_ID))
    else:
        left, right = (_fill_nulls(column) for column in pq.read_table(source, columns=[LEFT_ID, RIGHT_ID]).columns)
    mixed = _scramble(_scramble(left.view(np.uint64)) ^ right.view(np.uint64))
    return Found(len(left), int(mixed.sum(dtype=np.uint64)))


def _fill_nulls(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(pc.fill_null(column.cast(pa.int64()), NO_PARTNER), np.int64)


def _scramble(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of each number (the finalizer of MurmurHash3), so that no two wrong pairs cancel out."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        values = (values ^ (values >> np.uint64(33))) * np.uint64(factor)
    return values ^ (values >> np.uint64(33))
