"""Rows of the tables of a chaos run, and queries whose correct answers follow from the rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.spatial import cKDTree

STARS = 100_000

#: the modulus of the column ``code``, which makes an answer more than the requested ids
CODES = 10_007

SCHEMA = """
name: chaos
tables:
- name: {table}
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: ra, datatype: double}}
  - {{name: dec, datatype: double}}
  - {{name: code, datatype: long, nullable: false}}
  skyhouse:layout: {{position: [ra, dec], id: [id], overlap_radius: 0.2}}
"""

Rows = list[tuple[int, ...]]

#: the largest radius of the tests, in degrees, less than the overlap
_PAIR_RADIUS = 0.1
_UPLOAD_RADIUS = 0.01
_UPLOADED = 100
_DOWNLOADED = 60_000
_SLOW_ROWS = 200


@dataclass(frozen=True)
class Question:
    """``is_right`` takes the sorted rows of the answer. ``upload`` is the CSV of the table TAP_UPLOAD.mine."""

    kind: str
    query: str
    is_right: Callable[[Rows], bool]
    upload: str = ""


def read_rows(csv: str) -> Rows:
    """Return the rows of a CSV of integers with a header, sorted."""
    return sorted(tuple(int(cell) for cell in line.split(",")) for line in csv.split()[1:])


def write_rows(path: Path, first_id: int, count: int) -> None:
    """Write rows whose ids begin with ``first_id`` into a Parquet file."""
    chance = np.random.default_rng(first_id)
    ids = np.arange(first_id, first_id + count)
    columns = {
        "id": ids,
        "ra": chance.uniform(0, 360, count),
        "dec": np.degrees(np.arcsin(chance.uniform(-1, 1, count))),
        "code": ids * 7919 % CODES,
    }
    pq.write_table(pa.table(columns), path, row_group_size=50_000)


class Stars:
    """The table chaos.stars, which does not change, read from its file."""

    def __init__(self, file: Path) -> None:
        table = pq.read_table(file)
        self._ids, self._ra, self._dec, self._codes = (table[name].to_numpy() for name in ("id", "ra", "dec", "code"))

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(_vectors(self._ra, self._dec))

    @cached_property
    def _pairs(self) -> np.ndarray:
        return self._tree.query_pairs(_chord(_PAIR_RADIUS), output_type="ndarray")

    def choose_question(self, dice: random.Random, *, is_job: bool) -> Question:
        """Return a query; only jobs are slow."""
        short = [self.cone, self.ids, self.bins, self.download, self.pairs, self.upload]
        return dice.choice([*short, self.slow] if is_job else short)(dice)

    def cone(self, dice: random.Random) -> Question:
        ra, dec, radius = dice.uniform(0, 360), dice.uniform(-90, 90), dice.uniform(0.5, 10)
        found = self._tree.query_ball_point(_vectors(np.array([ra]), np.array([dec]))[0], _chord(radius))
        query = f"SELECT id, code FROM chaos.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({ra}, {dec}, {radius}))"
        return _expect("cone", query, [(self._ids[row], self._codes[row]) for row in found])

    def ids(self, dice: random.Random) -> Question:
        wanted = dice.sample(range(STARS), 5)
        query = f"SELECT id, code FROM chaos.stars WHERE id IN ({', '.join(map(str, wanted))})"
        return _expect("look-up by id", query, [(row, self._codes[row]) for row in wanted])

    def bins(self, dice: random.Random) -> Question:
        bins = dice.randint(5, 50)
        query = f"SELECT MOD(code, {bins}) AS bin, COUNT(*) AS n FROM chaos.stars GROUP BY MOD(code, {bins})"
        return _expect("groups", query, list(enumerate(np.bincount(self._codes % bins).tolist())))

    def download(self, dice: random.Random) -> Question:
        first = dice.randrange(STARS - _DOWNLOADED)
        last = first + _DOWNLOADED - 1
        query = f"SELECT id, code FROM chaos.stars WHERE id BETWEEN {first} AND {last}"
        rows = slice(first, last + 1)
        return _expect("download", query, list(zip(self._ids[rows], self._codes[rows], strict=True)))

    def pairs(self, dice: random.Random) -> Question:
        share = dice.randrange(8)
        first = self._pairs.min(axis=1)
        count = int((self._codes[first] % 8 == share).sum())
        near = f"DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < {_PAIR_RADIUS}"
        query = f"SELECT COUNT(*) AS n FROM chaos.stars AS a JOIN chaos.stars AS b ON {near}"
        return _expect("cross-match", f"{query} WHERE a.id < b.id AND MOD(a.code, 8) = {share}", [(count,)])

    def slow(self, dice: random.Random) -> Question:
        rows = dice.randint(_SLOW_ROWS // 2, _SLOW_ROWS)
        product = f"FROM chaos.stars AS a, chaos.stars AS b WHERE a.id < {rows} AND SIN(a.code + b.code) > -2"
        return _expect("slow", f"SELECT COUNT(*) AS n {product}", [(rows * STARS,)])

    def upload(self, dice: random.Random) -> Question:
        rows = np.array(dice.sample(range(STARS), _UPLOADED))
        near = self._tree.query_ball_point(_vectors(self._ra[rows], self._dec[rows]), _chord(_UPLOAD_RADIUS))
        expected = [(number, self._ids[row]) for number, found in enumerate(near) for row in found]
        lines = [
            f"{n},{ra!r},{dec!r}"
            for n, (ra, dec) in enumerate(zip(self._ra[rows].tolist(), self._dec[rows].tolist(), strict=True))
        ]
        query = (
            "SELECT m.number, s.id FROM TAP_UPLOAD.mine AS m JOIN chaos.stars AS s"
            f" ON DISTANCE(POINT(s.ra, s.dec), POINT(m.ra, m.dec)) < {_UPLOAD_RADIUS}"
        )
        return _expect("upload", query, expected, "\n".join(["number,ra,dec", *lines, ""]))


def count_table(table: str, is_right: Callable[[Rows], bool]) -> Question:
    """Return the query for the number of rows and the sum of the ids of a table that loads change."""
    return Question("table that loads", f"SELECT COUNT(*) AS n, SUM(id) AS s FROM {table}", is_right)


def _expect(kind: str, query: str, rows: Sequence[Sequence[int]], upload: str = "") -> Question:
    expected = sorted(tuple(map(int, row)) for row in rows)
    return Question(kind, query, expected.__eq__, upload)


def _vectors(ra: np.ndarray, dec: np.ndarray) -> np.ndarray:
    longitude, latitude = np.radians(ra), np.radians(dec)
    return np.column_stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    )


def _chord(degrees: float) -> float:
    return float(2 * np.sin(np.radians(degrees) / 2))
