"""Cross-matches have exactly the pairs of a brute force over all positions: every kind of join, at hard places."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adql.translate import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.ddl import create_table
from clickhouse_schema.model import Column, Layout, Schema, Table
from tap_service.storage.engine import Engine
from tests.adql.conftest import Rows, asked
from tests.adql.sky import positions, separation

_COLUMNS = (
    Column(name="id", datatype="int", nullable=False),
    Column(name="ra", datatype="double"),
    Column(name="dec", datatype="double"),
    Column(name="err", datatype="double"),
    Column(name="mag", datatype="float"),
)
_LAYOUT = Layout(position=("ra", "dec"), id=("id",))
_MATCHES = Schema(
    name="matches",
    tables=tuple(Table(name=name, columns=_COLUMNS, layout=_LAYOUT) for name in ("ones", "others", "nothing")),
)
_COUNT = 160

#: Separations nearer than this to a radius may be on either side, relative to it and in degrees
_BORDER = 1e-12


class Sky:
    """What is in the tables, and the separations of all pairs: ``apart[i, j]`` of left row i and right row j."""

    def __init__(self) -> None:
        rng = np.random.default_rng(11)
        self.left = self._rows(*positions(_COUNT, seed=5), rng)
        lon, lat = self.left["ra"], self.left["dec"]
        size, angle = 10 ** rng.uniform(-7, 1, len(lon)), rng.uniform(0, 2 * np.pi, len(lon))
        moved = np.clip(np.nan_to_num(lat + size * np.sin(angle), nan=20.0), -90, 90)
        near = (np.nan_to_num(lon + size * np.cos(angle), nan=20.0)) % 360
        # duplicates of positions, and the left table's own ones
        self.right = self._rows(
            np.concatenate([near, near[:20], np.nan_to_num(lon[:40])]),
            np.concatenate([moved, moved[:20], np.nan_to_num(lat[:40])]),
            rng,
        )
        known = [np.isfinite(side["ra"]) & np.isfinite(side["dec"]) for side in (self.left, self.right)]
        self.known = known[0][:, None] & known[1][None, :]
        a, b = ({k: np.nan_to_num(v) for k, v in side.items()} for side in (self.left, self.right))
        self.apart = separation(a["ra"][:, None], a["dec"][:, None], b["ra"][None, :], b["dec"][None, :])

    @staticmethod
    def _rows(
        lon: NDArray[np.float64], lat: NDArray[np.float64], rng: np.random.Generator
    ) -> dict[str, NDArray[np.float64]]:
        """With rows of NULL (as NaN here), half a position, and radii from 1e-6 to 180 degrees, odd ones among them."""
        lon = np.concatenate([lon, [np.nan, np.nan, 10.0]])
        lat = np.concatenate([lat, [np.nan, 10.0, np.nan]])
        err = 10 ** rng.uniform(-6, 0.5, len(lon))
        err[rng.integers(0, len(lon) - 3, 8)] = [180.0, 200.0, 90.0, 0.0, -1.0, np.nan, np.inf, 179.999]
        return {"ra": lon, "dec": lat, "err": err, "mag": np.arange(len(lon)) % 7.0}


@pytest.fixture(scope="module")
def matches() -> Sky:
    return Sky()


@pytest.fixture(scope="module")
def catalogue(engine: Engine, matches: Sky) -> Iterator[Catalogue]:
    engine.execute("CREATE DATABASE IF NOT EXISTS matches")
    nothing = {k: v[:0] for k, v in matches.left.items()}
    for table, rows in zip(_MATCHES.tables, (matches.left, matches.right, nothing), strict=True):
        schema = pa.schema([(c.name, c.type.arrow) for c in _COLUMNS])
        # every second unknown value is NULL, the others NaN
        null = {k: np.isnan(v) & (np.arange(len(v)) % 2 == 0) for k, v in rows.items()}
        arrays = [pa.array(np.arange(len(rows["ra"])), schema.field("id").type)]
        arrays += [pa.array(rows[n], schema.field(n).type, mask=null[n]) for n in schema.names[1:]]
        engine.execute(create_table(table, f"matches.{table.name}"))
        engine.insert(f"matches.{table.name}", [pa.RecordBatch.from_arrays(arrays, schema=schema)])
    yield Catalogue((_MATCHES,))
    engine.execute("DROP DATABASE matches")


@pytest.fixture(scope="module")
def ask(engine: Engine, catalogue: Catalogue) -> Callable[[str], Rows]:
    return lambda query: asked(engine, catalogue, query)


Pairs = set[tuple[int | None, int | None]]


def _pairs(matched: NDArray[np.bool_]) -> Pairs:
    return {(int(i), int(j)) for i, j in np.argwhere(matched)}


def _joined(kind: str, matched: NDArray[np.bool_]) -> Pairs:
    """What a join of this kind gives as pairs of ids, None for a missing side."""
    pairs = _pairs(matched)
    if kind in ("LEFT", "FULL"):
        pairs |= {(int(i), None) for i in np.flatnonzero(~matched.any(axis=1))}
    if kind in ("RIGHT", "FULL"):
        pairs |= {(None, int(j)) for j in np.flatnonzero(~matched.any(axis=0))}
    return pairs


def _check(
    found: Rows, sky: Sky, radius: NDArray[np.float64], kind: str, also: NDArray[np.bool_] | bool = True
) -> None:
    """``radius``: of each pair, NaN for unknown. Pairs at the border may be there or not."""
    assert len(found) == len(set(found))
    limit = np.minimum(radius, 200.0)
    slack = _BORDER * (1 + limit)
    known = sky.known & ~np.isnan(radius) & also
    with np.errstate(invalid="ignore"):
        sure = known & (sky.apart <= limit - slack)
        possible = known & (sky.apart <= limit + slack)
    if (sure == possible).all():
        assert set(found) == _joined(kind, sure)
        return
    pairs = {(i, j) for i, j in found if i is not None and j is not None}
    assert _pairs(sure) <= pairs <= _pairs(possible)
    kept = np.zeros_like(sure)
    for i, j in pairs:
        kept[i, j] = True
    assert set(found) == _joined(kind, kept)


_KINDS = ["INNER", "LEFT", "RIGHT", "FULL"]


def _is_cell_join(query: str, catalogue: Catalogue) -> bool:
    return "bitShiftLeft" in translate(query, catalogue).sql


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(radius=st.floats(-6, 2).map(lambda e: 10**e) | st.sampled_from([0.0, 90.0, 179.9999, 180.0]))
@pytest.mark.parametrize("kind", _KINDS)
def test_a_constant_radius(
    kind: str, radius: float, matches: Sky, ask: Callable[[str], Rows], catalogue: Catalogue
) -> None:
    query = f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) <= {radius!r}"
    assert _is_cell_join(query, catalogue)
    _check(ask(query), matches, np.full(matches.apart.shape, radius), kind)


_RADII: dict[str, Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]] = {
    "a.err": lambda a, b: np.broadcast_arrays(a, b)[0],
    "b.err": lambda a, b: np.broadcast_arrays(a, b)[1],
    "0.5 * b.err + 0.001": lambda a, b: np.broadcast_arrays(a, b)[1] / 2 + 0.001,
    "a.err + b.err": lambda a, b: a + b,
    "SQRT(a.err * a.err + POWER(b.err, 2))": lambda a, b: np.sqrt(a * a + b * b),
    "3 * SQRT(a.err * a.err + b.err * b.err) / 2": lambda a, b: 1.5 * np.sqrt(a * a + b * b),
    "b.err - a.err / 2": lambda a, b: b - a / 2,
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("radius", _RADII)
def test_a_radius_of_the_rows(
    kind: str, radius: str, matches: Sky, ask: Callable[[str], Rows], catalogue: Catalogue
) -> None:
    query = (
        f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b"
        f" ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) <= {radius}"
    )
    assert _is_cell_join(query, catalogue)
    with np.errstate(invalid="ignore"):
        values = _RADII[radius](matches.left["err"][:, None], matches.right["err"][None, :])
    _check(ask(query), matches, values, kind)
