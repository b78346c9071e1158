"""Files of catalogues as on their origins, with synthetic rows: names, compression, columns and sums."""

from __future__ import annotations

import gzip
import hashlib
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]

#: HEALPix cells of level 8, by which Gaia's files are divided and named
GAIA_CELLS = (0, 3112, 5233, 6530, 786432)

_GAIA_HEADER = """\
# %ECSV 1.0
# ---
# delimiter: ','
# datatype:
# -
#   name: solution_id
#   datatype: int64
#   description: Identifies the version
# -
#   name: source_id
#   datatype: int64
#   description: Identifies the source
# -
#   name: ra
#   unit: deg
#   datatype: float64
# -
#   name: dec
#   unit: deg
#   datatype: float64
# -
#   name: parallax
#   unit: mas
#   datatype: float64
# -
#   name: phot_g_mean_mag
#   unit: mag
#   datatype: float32
# -
#   name: phot_variable_flag
#   datatype: string
# -
#   name: has_rvs
#   datatype: bool
# meta: !!omap
# - {title: Synthetic rows}
"""


def make_gaia_rows(rows_per_file: int) -> list[list[Row]]:
    """Return the rows of each file, in the order of their names."""
    random = np.random.default_rng(4)
    return [
        [
            {
                "solution_id": 1636148068921376768,
                "source_id": (first + number % (last - first) << 43) + number,
                "ra": float(random.uniform(0, 360)),
                "dec": float(random.uniform(-90, 90)),
                "parallax": None if number % 5 == 0 else float(random.normal(1, 0.5)),
                "phot_g_mean_mag": round(float(random.uniform(8, 21)), 4),
                "phot_variable_flag": None if number % 7 == 0 else "NOT_AVAILABLE",
                "has_rvs": number % 2 == 0,
            }
            for number in range(rows_per_file)
        ]
        for first, last in itertools.pairwise(GAIA_CELLS)
    ]


def write_gaia(folder: Path, files: Sequence[Sequence[Row]]) -> list[Path]:
    """Write ``GaiaSource_NNNNNN-NNNNNN.csv.gz`` and ``_MD5SUM.txt``; return the files in order."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, rows in enumerate(files):
        path = folder / f"GaiaSource_{GAIA_CELLS[number]:06d}-{GAIA_CELLS[number + 1] - 1:06d}.csv.gz"
        write_gaia_file(path, rows)
        paths.append(path)
    write_sums(folder)
    return paths


def write_gaia_file(path: Path, rows: Sequence[Row]) -> None:
    names = [line.split()[-1] for line in _GAIA_HEADER.splitlines() if line.startswith("#   name:")]
    lines = [",".join(names), *(",".join(_show(row[name]) for name in names) for row in rows)]
    path.write_bytes(gzip.compress((_GAIA_HEADER + "\n".join(lines) + "\n").encode(), mtime=0))


def _show(value: Any) -> str:
    if value is None:
        return "null"
    return f'"{value}"' if isinstance(value, bool | str) else repr(value)


def write_sums(folder: Path, name: str = "_MD5SUM.txt") -> None:
    """Write the MD5 sums of all files, as ``md5sum`` does."""
    files = sorted(path for path in folder.iterdir() if path.name != name)
    lines = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / name).write_text("".join(lines))


def sort_sources(files: Sequence[Sequence[Row]]) -> list[str]:
    """Return the ids of all rows in their order, as in CSV."""
    return [str(number) for number in sorted(row["source_id"] for rows in files for row in rows)]
