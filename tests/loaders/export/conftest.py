"""A table whose rows crowd at the borders of pixels, a second one that matches it, and their exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from loaders.export.export_hats import export_hats
from loaders.export.export_request import ExportRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.adql.conftest import asked
from tests.loaders.recorder import Recorder

STARS, OTHERS = "hats_out.stars", "hats_out.others"
ROWS, WITHOUT_POSITION = 600, 3
SCHEMA = """
name: hats_out
"skyhouse:citation": 2000A&A...355L..27H
tables:
  - name: {name}
    description: Stars at borders
    skyhouse:layout: {{position: [ra, dec], id: [id]}}
    columns:
      - {{name: id, datatype: long, nullable: false, ivoa:ucd: meta.id;meta.main}}
      - {{name: ra, datatype: double, ivoa:unit: deg, ivoa:ucd: pos.eq.ra;meta.main}}
      - {{name: dec, datatype: double, ivoa:unit: deg, ivoa:ucd: pos.eq.dec;meta.main}}
      - {{name: mag, datatype: float, ivoa:unit: mag, ivoa:ucd: phot.mag, description: Brightness}}
      - {{name: name, datatype: unicode}}
      - {{name: seen, datatype: timestamp}}
      - {{name: variable, datatype: boolean}}
"""


def _write_rows(path: Path, first: int, ra: np.ndarray, dec: np.ndarray) -> None:
    random = np.random.default_rng(first)
    size = len(ra)
    pq.write_table(
        pa.table(
            {
                "id": np.arange(first, first + size),
                "ra": pa.array(ra % 360, mask=np.isnan(ra)),
                "dec": pa.array(dec, mask=np.isnan(dec)),
                "mag": pa.array(random.normal(10, 2, size).astype("f4"), mask=random.random(size) < 0.2),
                "name": [f"né {number % 50}" for number in range(size)],
                "seen": pa.array(np.datetime64("2026-01-01T00:00:00.5", "us") + np.arange(size).astype("m8[s]")),
                "variable": pa.array(random.random(size) < 0.5, mask=random.random(size) < 0.1),
            }
        ),
        path,
    )


def load_stars(engine: EmbeddedEngine, folder: Path, table: str, rows: Path, mode: str = "create") -> None:
    schema = folder / f"{table}.yaml"
    schema.write_text(SCHEMA.format(name=table.partition(".")[2]))
    load_files(engine, LoadRequest((rows,), table, folder / "rejects.csv", schema, mode=mode), Recorder())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def sky(engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the rows' files; both tables are loaded."""
    folder = tmp_path_factory.mktemp("sky")
    engine_setup.prepare_engine(engine)
    random = np.random.default_rng(7)
    # along the meridian of 45 degrees, a border of pixels of order 0 at the equator and of finer ones beyond
    along = random.uniform(-30, 30, ROWS)
    ra, dec = 45 + random.normal(0, 8 / 3600, ROWS), along
    ra[: ROWS // 3] = random.uniform(40, 50, ROWS // 3)
    dec[ROWS // 3 : ROWS // 2] = random.normal(0, 8 / 3600, ROWS // 2 - ROWS // 3)
    near_ra, near_dec = ra + random.normal(0, 3 / 3600, ROWS), dec + random.normal(0, 3 / 3600, ROWS)
    ra[-WITHOUT_POSITION:] = np.nan
    _write_rows(folder / "stars.parquet", 0, ra, dec)
    _write_rows(folder / "others.parquet", 10_000, near_ra, near_dec)
    _write_rows(folder / "more.parquet", 20_000, ra[:10], dec[:10])
    for table in (STARS, OTHERS):
        load_stars(engine, folder, table, folder / f"{table.partition('.')[2]}.parquet")
    yield folder
    for table in (STARS, OTHERS):
        drop_table(engine, table, Recorder())


@pytest.fixture(scope="module")
def exported(engine: EmbeddedEngine, sky: Path) -> Path:
    """A folder with the collections ``stars`` and ``others``."""
    for table in (STARS, OTHERS):
        export_hats(engine, ExportRequest(table, str(sky / table.partition(".")[2]), max_rows=150), Recorder())
    return sky


def rows_of(engine: EmbeddedEngine, query: str) -> list[tuple[object, ...]]:
    """The rows of an ADQL query."""
    return asked(engine, catalogue_log.read_catalogue(engine), query)
