"""Gaia's bright stars matched with Tycho-2 within 1 arcsec, through ADQL, against a k-d tree and DuckDB.

    BENCH_DATA=folder python -m tests.benchmarks.bench_match

The folder has ``gaia_bright.parquet`` (ra, dec) and ``tycho2.parquet`` (ra_mean, dec_mean, ra_obs, dec_obs), which are
not shipped; without it, as many stars as there are in them are spread over the sky at random, half of them partners.
The k-d tree is SciPy's, where it is installed: its time is that of unit vectors, building and asking, on all cores.
DuckDB joins by zones of declination and tests vectors. Each gives its pairs as arrays. Told are medians of the time on
the clock and of processor time, which says more on a busy machine.
"""

from __future__ import annotations

import importlib.util
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from adql.translation import translate
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.engine import Engine

ROUNDS = 5
RADIUS = 1 / 3600
NEIGHBOURS = 4  # none has as many
CHORD = 2 * math.sin(math.radians(RADIUS) / 2)

QUERY = """
    SELECT g.id, t.id FROM bench.gaia AS g JOIN bench.tycho AS t
    ON DISTANCE(POINT(g.ra, g.dec), POINT(t.ra, t.dec)) <= 1 / 3600."""

ZONES = f"""
    WITH a AS (SELECT id, dec, cos(radians(dec)) * cos(radians(ra)) AS x, cos(radians(dec)) * sin(radians(ra)) AS y,
                      sin(radians(dec)) AS z FROM gaia),
         b AS (SELECT id, dec, cos(radians(dec)) * cos(radians(ra)) AS x, cos(radians(dec)) * sin(radians(ra)) AS y,
                      sin(radians(dec)) AS z FROM tycho),
         zoned AS (SELECT *, unnest([-1, 0, 1]) + floor(dec / {RADIUS!r}) AS zone FROM a)
    SELECT zoned.id AS g, b.id AS t FROM zoned JOIN b ON zoned.zone = floor(b.dec / {RADIUS!r})
    WHERE pow(zoned.x - b.x, 2) + pow(zoned.y - b.y, 2) + pow(zoned.z - b.z, 2) <= {CHORD**2!r}"""


def stars() -> tuple[pa.Table, pa.Table]:
    """Gaia's and Tycho's: id, ra, dec."""
    folder = os.environ.get("BENCH_DATA")
    if folder:
        gaia = pq.read_table(Path(folder) / "gaia_bright.parquet", columns=["ra", "dec"])
        tycho = pq.read_table(Path(folder) / "tycho2.parquet", columns=["ra_mean", "dec_mean", "ra_obs", "dec_obs"])
        ra, dec = (pc.coalesce(tycho[f"{name}_mean"], tycho[f"{name}_obs"]) for name in ("ra", "dec"))
        return _table(gaia["ra"], gaia["dec"]), _table(ra, dec)
    random = np.random.default_rng(1)
    ra, dec = random.uniform(0, 360, 2_539_913), np.degrees(np.arcsin(random.uniform(-1, 1, 2_539_913)))
    chosen = random.choice(len(ra), 586_525, replace=False)
    moved = np.where(np.arange(len(chosen)) % 2, random.normal(0, 0.3 / 3600, len(chosen)), 0.01)
    return _table(ra[chosen], np.clip(dec[chosen] + moved, -90, 90)), _table(ra, dec)


def _table(ra: object, dec: object) -> pa.Table:
    table = pa.table({"ra": ra, "dec": dec}).drop_null()
    return table.append_column("id", pa.array(np.arange(table.num_rows)))


def k_d_tree(gaia: pa.Table, tycho: pa.Table) -> int:
    """The fastest of SciPy's ways: a tree of the smaller table without balance, the nearest few of each other row."""
    from scipy.spatial import cKDTree

    tree = cKDTree(_vectors(gaia), balanced_tree=False)
    apart, _ = tree.query(_vectors(tycho), k=NEIGHBOURS, distance_upper_bound=CHORD * (1 + 1e-9), workers=-1)
    matched = apart <= CHORD
    if matched[:, -1].any():
        raise AssertionError(f"a star has {NEIGHBOURS} partners or more: ask the tree for more")
    return int(matched.sum())


def _vectors(table: pa.Table) -> NDArray[np.float64]:
    ra, dec = (np.radians(table[name].to_numpy()) for name in ("ra", "dec"))
    return np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], axis=1)


def zones(gaia: pa.Table, tycho: pa.Table) -> Callable[[], int]:
    connection = duckdb.connect()
    for name, content in (("gaia", gaia), ("tycho", tycho)):
        connection.register("content", content)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM content")
        connection.unregister("content")
    return lambda: int(connection.sql(ZONES).to_arrow_table().num_rows)


def through_adql(engine: Engine) -> int:
    translation = translate(QUERY, read_catalogue(engine))
    return engine.fetch_table(translation.sql, translation.settings | {"use_query_condition_cache": 0}).num_rows


def main() -> None:
    gaia, tycho = stars()
    with (
        tempfile.TemporaryDirectory() as folder,
        ConsoleReporter() as reporter,
        open_engine(Path(folder) / "data") as engine,
    ):
        for name, content in (("gaia", gaia), ("tycho", tycho)):
            path = Path(folder) / f"{name}.parquet"
            pq.write_table(content, path)
            load_files(engine, LoadRequest((path,), f"bench.{name}", Path(folder) / "rejects.csv"), reporter)
        ways: dict[str, Callable[[], int]] = {
            "ADQL": lambda: through_adql(engine),
            "DuckDB, zones": zones(gaia, tycho),
        }
        if importlib.util.find_spec("scipy"):
            ways["k-d tree, built and asked"] = lambda: k_d_tree(gaia, tycho)
        else:
            reporter.output("no k-d tree to compare with: SciPy is not installed")
        compared(ways, reporter)


def compared(ways: dict[str, Callable[[], int]], reporter: ConsoleReporter) -> None:
    """Medians of rounds in turns, so that all meet the same state of the machine."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        found = set()
        for name, way in ways.items():
            began, worked = time.perf_counter(), time.process_time()
            found.add(way())
            seconds[name].append((time.perf_counter() - began, time.process_time() - worked))
        if len(found) != 1:
            raise AssertionError(f"the ways have different pairs: {found}")
    reporter.output(f"{found.pop():,} pairs")
    medians = {
        name: [statistics.median(column) for column in zip(*taken, strict=True)] for name, taken in seconds.items()
    }
    ours = medians["ADQL"]
    for name, (clock, work) in medians.items():
        reporter.output(
            f"{name}: {clock:.2f} s ({work:.2f} s of processors), ADQL is {clock / ours[0]:.1f} times as fast"
            f" ({work / ours[1]:.1f})"
        )


if __name__ == "__main__":
    main()
