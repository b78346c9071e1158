from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from loaders.pipeline import chunk_reader
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.mirror.gaia_mirror import GaiaMirror
from tests.loaders.mirror.origin_files import make_gaia_rows, write_gaia
from tests.servers.origin_server import OriginServer, serving_origin

ROWS_PER_FILE = 100


@pytest.fixture
def gaia_rows() -> list[list[dict[str, object]]]:
    """The rows of four files; magnitudes are floats of 32 bits."""
    files = make_gaia_rows(ROWS_PER_FILE)
    for row in (row for rows in files for row in rows):
        row["phot_g_mean_mag"] = float(np.float32(row["phot_g_mean_mag"]))
    return files


@pytest.fixture
def origin(tmp_path: Path, gaia_rows: list[list[dict[str, object]]]) -> Iterator[OriginServer]:
    write_gaia(tmp_path / "origin", gaia_rows)
    with serving_origin(tmp_path / "origin") as server:
        yield server


@pytest.fixture
def gaia(origin: OriginServer, tmp_path: Path) -> GaiaMirror:
    return GaiaMirror(origin, tmp_path)


@pytest.fixture
def mirror_engine(engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedEngine]:
    """The engine without mirrored tables, in which a file has several chunks."""
    engine_setup.prepare_engine(engine)
    monkeypatch.setattr(chunk_reader, "CHUNK_ROWS", 30)
    monkeypatch.setattr("tap_service.readers.csv_reader._BLOCK_BYTES", 2000)
    yield engine
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "mirrored":
            catalogue_log.unregister_table(engine, "mirrored", entry.table.name)
    engine.execute("DROP DATABASE IF EXISTS mirrored SYNC")
