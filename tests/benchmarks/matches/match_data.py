"""Two tables of equal size, in the form that each program reads.

Parquet, columns in FITS, HATS, and a service's data.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from astropy.table import Table
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tests.benchmarks.matches.match_kinds import KINDS
from tests.benchmarks.matches.unit_vectors import CHORD, make_vectors
from tests.benchmarks.service_process import ServiceProcess
from tests.support.environment import ROOT

SKIES = ("random", "tycho")
#: rows of the tables of a small match
FEW, SAMPLE = 10_000, 2_000_000
#: degrees by which a partner is moved
_MOVED = 1 / 3600
_SKY = 41_253  # square degrees
_BLOCK = 1_000_000

Degrees = NDArray[np.float64]
Positions = tuple[Degrees, Degrees]


@dataclass(frozen=True)
class MatchData:
    """The tables a and b, and the small ones, in a folder."""

    folder: Path

    @property
    def service(self) -> Path:
        return self.folder / "data"

    def parquet(self, table: str) -> Path:
        return self.folder / f"{table}.parquet"

    def fits(self, table: str) -> Path:
        return self.folder / f"{table}.fits"

    def hats(self, table: str) -> Path:
        return self.folder / "hats" / table

    def list_inputs(self, program: str, kind: str) -> list[Path]:
        """Return the files and folders that a program reads for a match."""
        locate = {"skyhouse": lambda _: self.service, "stilts": self.fits, "lsdb": self.hats}.get(program, self.parquet)
        return [locate(table) for table in (KINDS[kind].left, KINDS[kind].right)]

    def count_rows(self, kind: str) -> int:
        """Return the rows of both tables of a match."""
        sides = (KINDS[kind].left, KINDS[kind].right)
        return sum(pq.read_metadata(self.parquet(table)).num_rows for table in sides)

    @property
    def most_partners(self) -> int:
        """Return the largest number of partners of a row, which LSDB needs as the number of neighbours."""
        return int(json.loads((self.folder / "made.json").read_text())["most_partners"])


def make_data(folder: Path, sky: str, rows: int) -> MatchData:
    """Make the tables, unless they exist."""
    data = MatchData(folder / f"{sky}-{rows}")
    if not (data.folder / "made.json").exists():
        shutil.rmtree(data.folder, ignore_errors=True)
        data.folder.mkdir(parents=True)
        _write_tables(data, sky, rows)
        _load_tables(data)
        made = data.folder / "made.json.part"
        made.write_text(json.dumps({"most_partners": _count_most_partners(data)}))
        made.rename(data.folder / "made.json")
    return data


def _write_tables(data: MatchData, sky: str, rows: int) -> None:
    """Half of b is a, and half of few is in sample, each moved by an arcsecond in any direction."""
    random = np.random.default_rng(1)
    draw = draw_anywhere if sky == "random" else _draw_stars

    def move_half(stars: Positions, rows: int) -> Positions:
        half = rows // 2
        moved, others = _move(random, stars[0][:half], stars[1][:half]), draw(random, rows - half)
        order = random.permutation(rows)
        ra, dec = (np.concatenate(column)[order] for column in zip(moved, others, strict=True))
        return ra, dec

    stars, sample = draw(random, rows), draw(random, SAMPLE)
    tables = {"a": stars, "b": move_half(stars, rows), "sample": sample, "few": move_half(sample, FEW)}
    for number, (name, positions) in enumerate(tables.items()):
        table = make_table(number * rows, *positions)
        pq.write_table(table, data.parquet(name))
        if shutil.which("stilts"):
            _write_fits(table, data.fits(name))


def make_table(first: int, ra: Degrees, dec: Degrees) -> pa.Table:
    """Number positions."""
    return pa.table({"id": np.arange(first, first + len(ra)), "ra": ra, "dec": dec})


def draw_anywhere(random: np.random.Generator, rows: int) -> Positions:
    """Spread positions over the whole sky."""
    return random.uniform(0, 360, rows), np.degrees(np.arcsin(random.uniform(-1, 1, rows)))


def _draw_stars(random: np.random.Generator, rows: int) -> Positions:
    """Return stars of Tycho-2, repeated as needed; each copy is moved by about the distance to the next star."""
    ra, dec = read_tycho()
    chosen = random.permutation(np.resize(np.arange(len(ra)), rows))
    sigma = math.sqrt(_SKY / len(ra))
    dec = dec[chosen] + random.normal(0, sigma, rows)
    ra = ra[chosen] + random.normal(0, sigma, rows) / np.maximum(np.cos(np.radians(dec)), 0.01)
    return ra % 360, np.clip(dec, -90, 90)


def read_tycho() -> Positions:
    """Return all of Tycho-2 from BENCH_DATA, or the bright stars of the demo."""
    folder = os.environ.get("BENCH_DATA")
    if folder:
        stars = pq.read_table(Path(folder) / "tycho2.parquet", columns=["ra_mean", "dec_mean", "ra_obs", "dec_obs"])
        stars = pa.table({name: pc.coalesce(stars[f"{name}_mean"], stars[f"{name}_obs"]) for name in ("ra", "dec")})
    else:
        stars = pq.read_table(ROOT / "loaders" / "demo" / "tycho2_bright.parquet", columns=["ra", "dec"])
    stars = stars.drop_null()
    return stars["ra"].to_numpy(), stars["dec"].to_numpy()


def _move(random: np.random.Generator, ra: Degrees, dec: Degrees) -> Positions:
    angle = random.uniform(0, 2 * math.pi, len(ra))
    cosine = np.maximum(np.cos(np.radians(dec)), 1e-4)
    return (ra + _MOVED * np.sin(angle) / cosine) % 360, np.clip(dec + _MOVED * np.cos(angle), -90, 90)


def _write_fits(table: pa.Table, path: Path) -> None:
    """Write columns one after the other, which STILTS reads fastest."""
    rows = path.with_suffix(".rows.fits")
    Table({name: table[name].to_numpy() for name in table.column_names}).write(rows, overwrite=True)
    subprocess.run(["stilts", "tcopy", f"in={rows}", "ifmt=fits", f"out={path}", "ofmt=colfits-basic"], check=True)
    rows.unlink()


def _load_tables(data: MatchData) -> None:
    service = ServiceProcess(data.service)
    for table in ("a", "b", "sample"):
        service.run_command(["load", str(data.parquet(table)), "--table", f"bench.{table}"])
        service.run_command(["rebuild", f"bench.{table}"])
        service.run_command(["export", f"bench.{table}", str(data.hats(table)), "--no-index"])


def _count_most_partners(data: MatchData) -> int:
    left, right = (make_vectors(pq.read_table(data.parquet(table))) for table in ("a", "b"))
    tree = cKDTree(right, balanced_tree=False)
    blocks = (left[first : first + _BLOCK] for first in range(0, len(left), _BLOCK))
    return max(int(tree.query_ball_point(block, CHORD, workers=-1, return_length=True).max()) for block in blocks)
