"""Two tables of random positions, and the pairs that a match of them should keep, computed with numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from loaders.pipeline.correct_rows import correct_rows
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.engine import Engine
from tests.loaders.recorder import Recorder

#: Arcseconds
RADIUS = 5.0

SCHEMA = """
name: kept
tables:
- name: optical
  columns:
  - {name: source_id, datatype: long, nullable: false, "ivoa:ucd": "meta.id;meta.main"}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: pmra, datatype: double, "ivoa:unit": mas.yr**-1, "ivoa:ucd": "pos.pm;pos.eq.ra"}
  - {name: pmdec, datatype: double, "ivoa:unit": mas.yr**-1, "ivoa:ucd": "pos.pm;pos.eq.dec"}
  - {name: mag, datatype: float}
  skyhouse:layout: {position: [ra, dec], id: [source_id]}
- name: infrared
  columns:
  - {name: designation, datatype: string, nullable: false, "ivoa:ucd": "meta.id;meta.main"}
  - {name: raj2000, datatype: double}
  - {name: dej2000, datatype: double}
  - {name: k, datatype: float}
  skyhouse:layout: {position: [raj2000, dej2000], id: [designation]}
"""

#: Where the rows are: at both poles, on both sides of 0/360, at a corner of HEALPix base cells, elsewhere
CENTRES = ((10.0, 90.0), (200.0, -90.0), (0.0, 20.0), (45.0, 41.8103148957786), (123.4, -56.7))

Row = dict[str, Any]
Pair = tuple[int, str]
Kept = dict[Pair, tuple[float, int, int, int]]


def scatter(random: np.random.Generator, spread: float = 20.0) -> tuple[float, float]:
    """Return a position within about ``spread`` arcsec of one of the centres."""
    lon, lat = np.radians(CENTRES[random.integers(len(CENTRES))])
    east, north = np.radians(random.normal(0, spread / 3600, 2))
    axes = to_vectors(np.array([lon]), np.array([lat]))[0]
    eastward = np.array([-np.sin(lon), np.cos(lon), 0.0])
    northward = np.cross(axes, eastward)
    x, y, z = axes + np.tan(east) * eastward + np.tan(north) * northward
    return float(np.degrees(np.arctan2(y, x)) % 360.0), float(np.degrees(np.arctan2(z, np.hypot(x, y))))


def to_vectors(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    return np.stack((np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)), axis=1)


def find_separations(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return arcseconds between positions in degrees, of shape (n, 2) and (m, 2), as (n, m)."""
    one, other = (to_vectors(*np.radians(positions).T)[axis] for positions, axis in
                  ((left, np.s_[:, None, :]), (right, np.s_[None, :, :])))  # fmt: skip
    chords = np.linalg.norm(one - other, axis=2)
    found: np.ndarray = np.degrees(2 * np.arcsin(np.minimum(chords / 2, 1))) * 3600
    return found


@dataclass
class MatchedTables:
    """The tables ``kept.optical`` and ``kept.infrared``, and the rows that they should have."""

    engine: Engine
    folder: Path
    random: np.random.Generator
    left: dict[int, Row] = field(default_factory=dict)
    right: dict[str, Row] = field(default_factory=dict)
    _files: int = 0
    _ids: int = 0

    def make_left(self, count: int) -> list[Row]:
        rows = []
        for _ in range(count):
            self._ids += 1
            ra, dec = scatter(self.random)
            pmra, pmdec = self.random.normal(0, 300, 2)
            rows.append({"source_id": self._ids, "ra": ra, "dec": dec, "pmra": float(pmra), "pmdec": float(pmdec),
                         "mag": 1.0})  # fmt: skip
        return rows

    def make_right(self, count: int) -> list[Row]:
        rows = []
        for _ in range(count):
            self._ids += 1
            ra, dec = scatter(self.random)
            rows.append({"designation": f"J{self._ids}", "raj2000": ra, "dej2000": dec, "k": 2.0})
        return rows

    def write(self, rows: list[Row]) -> Path:
        self._files += 1
        file = self.folder / f"{self._files}.parquet"
        columns = {name: pa.array([row[name] for row in rows], _TYPES.get(name)) for name in rows[0]}
        pq.write_table(pa.table(columns), file)
        return file

    def load(self, rows: list[Row], mode: Mode = "append") -> Recorder:
        return self.prepare_load(rows, mode)(self.engine)

    def prepare_load(self, rows: list[Row], mode: Mode) -> Callable[[Any], Recorder]:
        """Return a load; calling it again continues the load."""
        is_left = "source_id" in rows[0]
        name = "kept.optical" if is_left else "kept.infrared"
        schema = None if mode == "append" else self.folder / "kept.yaml"
        if mode == "replace":
            (self.left if is_left else self.right).clear()
        for row in rows:
            (self.left if is_left else self.right)[row["source_id" if is_left else "designation"]] = row  # type: ignore[index]
        request = LoadRequest(
            files=(self.write(rows),), table=name, rejects=self.folder / "rejects.csv", schema_file=schema, mode=mode
        )
        return lambda engine: _run(load_files, engine, request)

    def correct(self, kind: Any, rows: list[Row]) -> Recorder:
        return self.prepare_correction(kind, rows)(self.engine)

    def prepare_correction(self, kind: Any, rows: list[Row]) -> Callable[[Any], Recorder]:
        """Return a correction; calling it again continues the correction."""
        is_left = "source_id" in rows[0]
        table: dict[Any, Row] = self.left if is_left else self.right  # type: ignore[assignment]
        key = "source_id" if is_left else "designation"
        for row in rows:
            if kind == "delete":
                table.pop(row[key], None)
            else:
                table[row[key]] = {**table[row[key]], **row}
        name = "kept.optical" if is_left else "kept.infrared"
        request = CorrectionRequest(
            command=kind, files=(self.write(rows),), table=name, rejects=self.folder / "rejects.csv"
        )
        return lambda engine: _run(correct_rows, engine, request)

    def find_pairs(self, kind: str = "all", radius: float = RADIUS) -> Kept:
        """Return what a match should keep: separation, rank, neighbours and mates, by pair."""
        return self._find_pairs([*self.left.values()], [*self.right.values()], kind, radius)

    def find_visible_pairs(self, engine: Engine) -> Kept:
        """Return what a match of the rows that queries see now should keep."""
        left, right = (engine.fetch_table(f"SELECT * FROM kept.{t}").to_pylist() for t in ("optical", "infrared"))
        return self._find_pairs(left, right, "all", RADIUS)

    def _find_pairs(self, left: list[Row], right: list[Row], kind: str, radius: float) -> Kept:
        if not left or not right:
            return {}
        apart = find_separations(
            np.array([(row["ra"], row["dec"]) for row in left]),
            np.array([(row["raj2000"], row["dej2000"]) for row in right]),
        )
        near = [(float(apart[i, j]), left[i]["source_id"], right[j]["designation"])
                for i, j in zip(*np.nonzero(apart <= radius), strict=True)]  # fmt: skip
        return rank_pairs(near, kind)


def _run(command: Callable[[Any, Any, Recorder], None], engine: Any, request: Any) -> Recorder:
    reporter = Recorder()
    command(engine, request, reporter)
    return reporter


def rank_pairs(near: list[tuple[float, int, str]], kind: str) -> Kept:
    """Return the pairs of one kind of match within the radius, with rank, neighbours and mates."""
    of_left: dict[int, list[tuple[float, str]]] = {}
    of_right: dict[str, list[tuple[float, int]]] = {}
    for separation, one, other in near:
        of_left.setdefault(one, []).append((separation, other))
        of_right.setdefault(other, []).append((separation, one))
    chosen: dict[Pair, tuple[float, int, int]] = {}
    for one, partners in of_left.items():
        for rank, (separation, other) in enumerate(sorted(partners), 1):
            is_mutual = rank == 1 and min(of_right[other])[1] == one
            if kind == "all" or (kind == "best" and rank == 1) or (kind == "mutual" and is_mutual):
                chosen[one, other] = (separation, rank, len(partners))
    mates: dict[str, int] = {}
    for _, other in chosen:
        mates[other] = mates.get(other, 0) + 1
    return {pair: (*values, mates[pair[1]] - 1) for pair, values in chosen.items()}


def fetch_pairs(engine: Engine, table: str) -> Kept:
    """Return the pairs of a kept match of the two tables; fails if it has a pair twice."""
    entry = read_catalogue(engine).find_entry("kept", table)
    assert entry is not None
    rows = engine.fetch_table(f"SELECT * FROM {entry.storage_sql}").to_pylist()
    found = {
        (row["source_id"], row["designation"]): (
            row["separation"], row["rank"], row["number_of_neighbours"], row["number_of_mates"],
        )
        for row in rows
    }  # fmt: skip
    assert len(found) == len(rows)
    left = read_catalogue(engine).find_entry("kept", "optical")
    assert left is not None
    rows_by_id = {row["source_id"]: row for row in engine.fetch_table(f"SELECT * FROM {left.storage_sql}").to_pylist()}
    assert all(
        (row["ra"], row["dec"]) == (rows_by_id[i]["ra"], rows_by_id[i]["dec"])
        for row in rows
        for i in [row["source_id"]]
    )
    return found


def compare(found: Mapping[Pair, tuple[float, int, int, int]], wanted: Kept) -> None:
    assert found.keys() == wanted.keys()
    for pair, (separation, *numbers) in found.items():
        assert abs(separation - wanted[pair][0]) < 1e-6
        assert tuple(numbers) == wanted[pair][1:], pair


_TYPES = {"source_id": pa.int64(), "designation": pa.string(), "mag": pa.float32(), "k": pa.float32()}
