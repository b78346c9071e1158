"""Tables with many rows at the borders of pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.engine_tables import catalogue_log
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.support.adql_rows import query_rows

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


def write_rows(path: Path, first: int, ra: np.ndarray, dec: np.ndarray) -> None:
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
    load_files(
        engine,
        LoadRequest(files=(rows,), table=table, rejects=folder / "rejects.csv", schema_file=schema, mode=mode),
        Recorder(),
    )  # type: ignore[arg-type]


def query_stored_rows(engine: EmbeddedEngine, query: str) -> list[tuple[object, ...]]:
    """Return the rows of an ADQL query."""
    return query_rows(engine, catalogue_log.read_catalogue(engine), query)
