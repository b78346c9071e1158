"""A HATS catalogue with columns of all kinds, as hats-import makes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.tap_service.hats.import_catalogue import import_catalogue

ROWS = 3000


def make_survey() -> pa.Table:
    """Return rows over the sky, half of them in a field around (12, 20), with NULLs of all kinds."""
    random = np.random.default_rng(20)
    ra = np.where(np.arange(ROWS) % 2, random.uniform(0, 360, ROWS), random.uniform(0, 25, ROWS))
    dec = np.where(
        np.arange(ROWS) % 2, np.degrees(np.arcsin(random.uniform(-1, 1, ROWS))), random.uniform(10, 30, ROWS)
    )
    times = np.datetime64("2020-01-01T00:00:00", "ns") + random.uniform(0, 1e14, ROWS).astype("timedelta64[us]")
    bright = random.normal(18, 2, ROWS)
    bright[::7] = np.nan
    columns = {
        "id": pa.array(np.arange(ROWS, dtype=np.int64)),
        "ra": pa.array(ra),
        "dec": pa.array(dec),
        "mag": pa.array(bright.astype(np.float32)),
        "error": pa.array([None if n % 5 == 0 else n / 100 for n in range(ROWS)], pa.float64()),
        "name": pa.array([None if n % 11 == 0 else "" if n % 13 == 0 else f"Stérn {n}" for n in range(ROWS)]),
        "flag": pa.array([None if n % 3 == 0 else n % 2 == 0 for n in range(ROWS)]),
        "band": pa.array([None if n % 17 == 0 else n % 100 for n in range(ROWS)], pa.int8()),
        "big": pa.array([n << 40 for n in range(ROWS)], pa.uint64()),
        "observed": pa.array([None if n % 19 == 0 else time for n, time in enumerate(times)], pa.timestamp("ns")),
        "curve": pa.array(
            [None if n % 23 == 0 else [] if n % 29 == 0 else [n / 2, None, 1.5] for n in range(ROWS)],
            pa.list_(pa.float64()),
        ),
        "counts": pa.array([None if n % 31 == 0 else [n, n + 1] for n in range(ROWS)], pa.list_(pa.int32())),
    }
    return pa.table(columns)


def write_survey(folder: Path) -> Path:
    """Write the rows as Parquet, and let hats-import make a collection of them in ``folder``; return its folder."""
    pq.write_table(make_survey(), folder / "survey.parquet")
    return import_catalogue(folder / "survey.parquet", folder, "survey")
