"""Objects, their children and grandchildren, and other tables, with many rows at borders of shards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

_PLACED = """
- name: {}
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: ra, datatype: double}}
  - {{name: dec, datatype: double}}
  - {{name: mag, datatype: float}}
  skyhouse:layout: {{position: [ra, dec], id: [id]{}}}"""

_SCHEMA = """
name: night
tables:{}
- name: sources
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: object, datatype: long}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: mjd, datatype: double}
  - {name: mag, datatype: float}
  constraints:
  - {name: of, "@type": ForeignKey, columns: ["#sources.object"], referencedColumns: ["#objects.id"]}
  skyhouse:layout: {position: [ra, dec], id: [id], time: mjd, years: true, overlap_radius: 1.0, parent: of}
- name: forced
  columns:
  - {name: object, datatype: int, nullable: false}
  - {name: id, datatype: long, nullable: false}
  - {name: mjd, datatype: double}
  - {name: mag, datatype: float}
  constraints:
  - {name: of, "@type": ForeignKey, columns: ["#forced.object"], referencedColumns: ["#objects.id"]}
  skyhouse:layout: {id: [object, id], parent: of}
- name: marks
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: source, datatype: long}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: mag, datatype: float}
  constraints:
  - {name: of, "@type": ForeignKey, columns: ["#marks.source"], referencedColumns: ["#sources.id"]}
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 0.3, parent: of}
- name: notes
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: source, datatype: long}
  - {name: mag, datatype: float}
  constraints:
  - {name: of, "@type": ForeignKey, columns: ["#notes.source"], referencedColumns: ["#sources.id"]}
  skyhouse:layout: {parent: of}
- name: bands
  columns:
  - {name: id, datatype: int, nullable: false}
  - {name: mag, datatype: float}
"""

#: tables with a position, and additional keys of their layouts
_LAYOUTS = {
    "objects": ", overlap_radius: 2.0",
    "wide": ", overlap_radius: 0.5",
    "bare": "",
    "fields": ", everywhere: true",
}

MINE = Table(
    name="mine",
    columns=(
        Column(name="id", datatype="long"),
        Column(name="ra", datatype="double"),
        Column(name="dec", datatype="double"),
        Column(name="mag", datatype="float"),
    ),
    layout=Layout(position=("ra", "dec")),
)

#: in the order in which they are loaded; the second file of objects is appended
FILES = ("objects", "objects_more", "wide", "bare", "fields", "sources", "forced", "marks", "notes", "bands")

#: centres at borders of shards, at the poles and at longitude 0
CENTRES = ((0, 41.81), (0, 0), (45, 41.81), (90, 0), (180, -41.81), (0, 90), (0, -90), (360, 0), (200, 30), (67.5, -60))

Positions = tuple[NDArray[np.float64], NDArray[np.float64]]


def _near(positions: Positions, most: float, chance: np.random.Generator) -> Positions:
    """Return a position within ``most`` degrees of each position, on the sphere."""
    lon, lat = (np.radians(part) for part in positions)
    apart = np.radians(most * chance.uniform(0, 0.99, len(lon)))
    angle = chance.uniform(0, 2 * np.pi, len(lon))
    sine = np.sin(lat) * np.cos(apart) + np.cos(lat) * np.sin(apart) * np.cos(angle)
    there = np.arcsin(np.clip(sine, -1, 1))
    turned = np.arctan2(np.sin(angle) * np.sin(apart) * np.cos(lat), np.cos(apart) - np.sin(lat) * sine)
    return np.degrees(lon + turned) % 360, np.degrees(there)


def _sky(count: int, chance: np.random.Generator) -> Positions:
    """Two thirds of the positions are around the centres, half of these exactly at them."""
    ra, dec = chance.uniform(0, 360, count), np.degrees(np.arcsin(chance.uniform(-1, 1, count)))
    some = 2 * count // 3
    centres = np.array(CENTRES, float)[chance.integers(0, len(CENTRES), some)].T
    around = _near((centres[0], centres[1]), 3.0, chance)
    exactly = chance.random(some) < 0.5
    ra[:some], dec[:some] = (np.where(exactly, *pair) for pair in zip(centres, around, strict=True))
    return ra, dec


def _without(values: NDArray[np.float64], count: int) -> pa.Array:
    """The first ``count`` values are NULL."""
    return pa.array(values, mask=np.arange(len(values)) < count)


def write_files(folder: Path) -> None:
    chance = np.random.default_rng(5)

    def write(name: str, rows: int, first: int = 0, **columns: Any) -> None:
        drawn = chance.integers(0, 12, rows)
        mag = pa.array((drawn / 2).astype(np.float32), mask=drawn == 11)
        pq.write_table(
            pa.table({"id": np.arange(first, first + rows), **columns, "mag": mag}), folder / f"{name}.parquet"
        )

    def position_columns(positions: Positions, nulls: int = 0) -> dict[str, pa.Array]:
        return {name: _without(values, nulls) for name, values in zip(("ra", "dec"), positions, strict=True)}

    def some(positions: Positions, rows: NDArray[np.int64]) -> Positions:
        return positions[0][rows], positions[1][rows]

    tables = "".join(_PLACED.format(*each) for each in _LAYOUTS.items())
    (folder / "night.yaml").write_text(_SCHEMA.replace("tables:{}", "tables:" + tables))
    sky = _sky(400, chance)
    write("objects", 400, **position_columns(sky))
    write("objects_more", 40, 400, **position_columns(_sky(40, chance), 6))
    for name, nulls in (("wide", 4), ("bare", 4), ("fields", 0), ("mine", 1)):
        rows = {"fields": 40, "mine": 30}.get(name, 250)
        around = _near(some(sky, chance.integers(0, 400, rows)), 1.2, chance)
        write(name, rows, **position_columns(around, nulls))
    of = chance.integers(0, 200, 700)
    detected = _near(some(sky, of), 1.0, chance)
    write(
        "sources", 700, object=of, **position_columns(detected, 5), mjd=chance.integers(60000, 61500, 700).astype(float)
    )
    of = chance.integers(100, 406, 700).astype(np.int32)
    write("forced", 700, object=of, mjd=chance.integers(60000, 61500, 700).astype(float))
    of = chance.integers(5, 700, 500)
    write("marks", 500, source=of, **position_columns(_near(some(detected, of), 0.3, chance)))
    write("notes", 500, source=chance.integers(0, 700, 500))
    write("bands", 4)


def fill(engine: Engine, folder: Path, reporter: Reporter) -> None:
    for file in FILES:
        mode: Mode = "append" if file.endswith("_more") else "create"
        schema = folder / "night.yaml" if mode == "create" else None
        request = LoadRequest(
            files=(folder / f"{file}.parquet",),
            table=f"night.{file.removesuffix('_more')}",
            rejects=folder / "rejects.csv",
            schema_file=schema,
            max_errors=0,
            mode=mode,
        )
        load_files(engine, request, reporter)
    engine.execute("CREATE DATABASE night_uploads")
    engine.execute(create_table_sql(MINE, "night_uploads.mine"))
    kinds = pa.schema([(column.name, column.type.arrow) for column in MINE.columns])
    engine.insert_batches("night_uploads.mine", pq.read_table(folder / "mine.parquet").cast(kinds).to_batches())


def catalogue_of(engine: Engine) -> Catalogue:
    uploads = Schema(name="TAP_UPLOAD", tables=(MINE,))
    return catalogue_log.read_catalogue(engine).add_entries(
        (TableEntry(uploads, MINE, 30, stored_sql="`night_uploads`.`mine`"),)
    )
