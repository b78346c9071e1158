"""A HATS catalogue with columns of all kinds, written by LSDB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

ROWS = 3000


def make_survey() -> pd.DataFrame:
    """Return rows over the sky, many of them in a field of five degrees around (10, 20), with NULLs of all kinds."""
    random = np.random.default_rng(20)
    ra = np.where(np.arange(ROWS) % 2, random.uniform(0, 360, ROWS), random.uniform(7.5, 12.5, ROWS))
    dec = np.where(np.arange(ROWS) % 2, np.degrees(np.arcsin(random.uniform(-1, 1, ROWS))), random.uniform(18, 22, ROWS))
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
    return pd.DataFrame({name: pd.Series(values, dtype=pd.ArrowDtype(values.type)) for name, values in columns.items()})


def write_survey(folder: Path) -> Path:
    """Write the catalogue as LSDB does, in a process of its own, for its packages warn; return its folder."""
    subprocess.run([sys.executable, "-W", "ignore", "-m", __name__, str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder


def _write_with_lsdb(folder: str) -> None:
    import lsdb

    position = {"ra_column": "ra", "dec_column": "dec"}
    rows = make_survey()
    catalogue = lsdb.from_dataframe(rows, catalog_name="survey", partition_rows=300, margin_threshold=None, **position)
    catalogue.write_catalog(folder, catalog_name="survey", progress_bar=False)


if __name__ == "__main__":
    _write_with_lsdb(sys.argv[1])
