"""Two small tables that are difficult to match, with radii of all sizes, and the separations of all pairs of rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import positions, separation
from tests.adql.storing import store

_COLUMNS = (
    Column(name="id", datatype="int", nullable=False),
    Column(name="ra", datatype="double"),
    Column(name="dec", datatype="double"),
    Column(name="err", datatype="double"),
    Column(name="mag", datatype="float"),
)
_LAYOUT = Layout(position=("ra", "dec"), id=("id",))
_TABLES = tuple(Table(name=name, columns=_COLUMNS, layout=_LAYOUT) for name in ("ones", "others", "nothing"))
#: Indistinguishable rows: each three times
_TWINS = Table(name="twins", columns=_COLUMNS[1:], layout=_LAYOUT.model_copy(update={"id": ()}))
MATCHES = Schema(name="matches", tables=(*_TABLES, _TWINS))
_COUNT = 160

Pairs = set[tuple[int | None, int | None]]


class Sky:
    """The rows of the tables, and the separation ``apart[i, j]`` of each left row i and right row j."""

    def __init__(self) -> None:
        rng = np.random.default_rng(11)
        self.left = self._make_rows(*positions(_COUNT, seed=5), rng)
        lon, lat = self.left["ra"], self.left["dec"]
        size, angle = 10 ** rng.uniform(-7, 1, len(lon)), rng.uniform(0, 2 * np.pi, len(lon))
        moved = np.clip(np.nan_to_num(lat + size * np.sin(angle), nan=20.0), -90, 90)
        near = (np.nan_to_num(lon + size * np.cos(angle), nan=20.0)) % 360
        near[np.abs(moved) == 90] = 0  # one name for each pole: equal distances are then equal in float64
        # duplicates of positions, also of the left table's positions
        self.right = self._make_rows(
            np.concatenate([near, near[:20], np.nan_to_num(lon[:40])]),
            np.concatenate([moved, moved[:20], np.nan_to_num(lat[:40])]),
            rng,
        )
        known = [np.isfinite(side["ra"]) & np.isfinite(side["dec"]) for side in (self.left, self.right)]
        self.known = known[0][:, None] & known[1][None, :]
        a, b = ({k: np.nan_to_num(v) for k, v in side.items()} for side in (self.left, self.right))
        self.apart = separation(a["ra"][:, None], a["dec"][:, None], b["ra"][None, :], b["dec"][None, :])

    @staticmethod
    def _make_rows(
        lon: NDArray[np.float64], lat: NDArray[np.float64], rng: np.random.Generator
    ) -> dict[str, NDArray[np.float64]]:
        """Return the columns, with unknown and half known positions, and radii from 1e-6 to 180 degrees and odd radii."""
        lon = np.concatenate([lon, [np.nan, np.nan, 10.0]])
        lat = np.concatenate([lat, [np.nan, 10.0, np.nan]])
        err = 10 ** rng.uniform(-6, 0.5, len(lon))
        err[rng.integers(0, len(lon) - 3, 8)] = [180.0, 200.0, 90.0, 0.0, -1.0, np.nan, np.inf, 179.999]
        return {"ra": lon, "dec": lat, "err": err, "mag": np.arange(len(lon)) % 7.0}

    @property
    def within_left(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The separations of the left rows from each other, and whether both positions are known."""
        known = np.isfinite(self.left["ra"]) & np.isfinite(self.left["dec"])
        lon, lat = np.nan_to_num(self.left["ra"]), np.nan_to_num(self.left["dec"])
        return separation(lon[:, None], lat[:, None], lon[None, :], lat[None, :]), known[:, None] & known[None, :]

    def store(self, engine: Engine) -> None:
        """Store the tables in the database ``matches``."""
        engine.execute("CREATE DATABASE IF NOT EXISTS matches")
        for table, batch in self.make_batches():
            store(engine, "matches", table, [batch])

    def make_batches(self) -> Iterator[tuple[Table, pa.RecordBatch]]:
        """Yield ones, others, an empty table, and the rows of others three times without an id."""
        nothing = {k: v[:0] for k, v in self.left.items()}
        for table, rows in zip(_TABLES, (self.left, self.right, nothing), strict=True):
            schema = pa.schema([(c.name, c.type.arrow) for c in _COLUMNS])
            # every second unknown value is NULL, the others NaN
            null = {k: np.isnan(v) & (np.arange(len(v)) % 2 == 0) for k, v in rows.items()}
            arrays = [pa.array(np.arange(len(rows["ra"])), schema.field("id").type)]
            arrays += [pa.array(rows[n], schema.field(n).type, mask=null[n]) for n in schema.names[1:]]
            batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
            yield table, batch
            if table.name == "others":
                yield _TWINS, pa.concat_batches([batch.drop_columns(["id"])] * 3)
