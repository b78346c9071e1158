"""A table with many rows at the borders of pixels, a second table that matches it, and their exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from clickhouse_schema.engine_tables import engine_setup
from loaders.export.export_hats import export_hats
from loaders.export.export_request import ExportRequest
from loaders.tables.drop_table import drop_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.export.border_stars import OTHERS, ROWS, STARS, WITHOUT_POSITION, load_stars, write_rows
from tests.loaders.recorder import Recorder


@pytest.fixture(scope="module")
def sky(engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the files with the rows; both tables are loaded."""
    folder = tmp_path_factory.mktemp("sky")
    engine_setup.prepare_engine(engine)
    random = np.random.default_rng(7)
    # along the meridian of 45 degrees, a border of pixels of order 0 at the equator and of finer pixels elsewhere
    along = random.uniform(-30, 30, ROWS)
    ra, dec = 45 + random.normal(0, 8 / 3600, ROWS), along
    ra[: ROWS // 3] = random.uniform(40, 50, ROWS // 3)
    dec[ROWS // 3 : ROWS // 2] = random.normal(0, 8 / 3600, ROWS // 2 - ROWS // 3)
    near_ra, near_dec = ra + random.normal(0, 3 / 3600, ROWS), dec + random.normal(0, 3 / 3600, ROWS)
    ra[-WITHOUT_POSITION:] = np.nan
    write_rows(folder / "stars.parquet", 0, ra, dec)
    write_rows(folder / "others.parquet", 10_000, near_ra, near_dec)
    write_rows(folder / "more.parquet", 20_000, ra[:10], dec[:10])
    for table in (STARS, OTHERS):
        load_stars(engine, folder, table, folder / f"{table.partition('.')[2]}.parquet")
    yield folder
    for table in (STARS, OTHERS):
        drop_table(engine, table, Recorder())


@pytest.fixture(scope="module")
def exported(engine: EmbeddedEngine, sky: Path) -> Path:
    """A folder with the collections ``stars`` and ``others``."""
    for table in (STARS, OTHERS):
        export_hats(
            engine, ExportRequest(source=table, target=str(sky / table.partition(".")[2]), max_rows=150), Recorder()
        )
    return sky
