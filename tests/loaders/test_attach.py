"""``skyhouse attach``: the same answers as from the loaded catalogue, and changes, faults and commands of the table."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from adql import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_content_stamps
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.load_error import LoadError
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.attach_table import attach_catalogue
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.table_list import list_tables
from loaders.tables.verify_table import verify_table
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import FilesUnavailable
from tests.loaders.recorder import Recorder
from tests.tap_service.hats.hats_files import make_rows, write_catalogue
from tests.tap_service.hats.survey import ROWS, write_survey

Ask = Callable[..., pa.Table]


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory, engine: EmbeddedEngine) -> Iterator[Path]:
    """The catalogue, loaded as ``att.stored`` and attached as ``att.lying``."""
    prepare_engine(engine)
    folder = write_survey(tmp_path_factory.mktemp("hats") / "survey")
    load_files(engine, LoadRequest((folder,), "att.stored", folder / "rejects.csv"), Recorder())
    attach_catalogue(engine, AttachRequest(str(folder), "att.lying"), Recorder())
    yield folder
    drop_table(engine, "att.stored", Recorder())
    drop_table(engine, "att.lying", Recorder())


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileGateway]:
    gateway = FileGateway("127.0.0.1", tmp_path_factory.mktemp("cache"), 1 << 20)
    yield gateway
    gateway.close()


@pytest.fixture(scope="module")
def ask(engine: EmbeddedEngine, gateway: FileGateway) -> Ask:
    def ask(query: str, catalogue: Catalogue | None = None) -> pa.Table:
        translation = translate(query, gateway.publish(catalogue or read_catalogue(engine)))
        return engine.fetch_table(translation.sql, translation.settings)

    return ask


QUERIES = """
SELECT COUNT(*), SUM(id), MIN(name), MAX(observed), AVG(mag), SUM(big), COUNT(error), COUNT(flag), COUNT(band) FROM {0}
SELECT * FROM {0} ORDER BY id
SELECT * FROM {0} WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 1)) ORDER BY id
SELECT id, curve FROM {0} WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(8, 18, 12, 18.5, 11, 21)) AND error > 3 ORDER BY id
SELECT id FROM {0} WHERE DISTANCE(ra, dec, 359.9, -30) < 20 ORDER BY id
SELECT id FROM {0} WHERE ra BETWEEN 0 AND 9 AND dec > 19 ORDER BY id
SELECT id FROM {0} WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, .3)) OR DISTANCE(ra, dec, 200, -60) < 9 ORDER BY id
SELECT id FROM {0} WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 1)) AND DISTANCE(ra, dec, 200, -60) < 9
SELECT id FROM {0} WHERE NOT (error > 3 OR flag IS NULL OR name = '') ORDER BY id
SELECT id, name FROM {0} WHERE name IS NULL OR name LIKE 'Stérn 1_' ORDER BY id
SELECT band, COUNT(*), AVG(error) FROM {0} GROUP BY band ORDER BY band
SELECT TOP 7 id, mag FROM {0} WHERE mag > 0 ORDER BY mag DESC
SELECT id FROM {0} WHERE id IN (5, 17, 2999, 4000) ORDER BY id
SELECT id FROM {0} WHERE observed BETWEEN '2020-06-01T00:00:00' AND '2020-07-01T00:00:00' ORDER BY id
SELECT a.id, b.id FROM {0} AS a JOIN {0} AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < .1 AND a.id < b.id ORDER BY 1, 2
SELECT a.id, b.id FROM {0} AS a JOIN att.stored AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < .05 ORDER BY a.id, b.id
SELECT a.id, b.id FROM att.stored AS a LEFT JOIN {0} AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < .05 AND a.id <> b.id ORDER BY a.id, b.id
SELECT a.id, b.id FROM att.stored AS a LEFT JOIN {0} AS b ON a.id = b.id AND DISTANCE(b.ra, b.dec, 10, 20) < 1 ORDER BY a.id
SELECT a.id, b.id FROM {0} AS a FULL JOIN {0} AS b ON a.id = b.id + 5 AND DISTANCE(b.ra, b.dec, 10, 20) < 1 ORDER BY a.id, b.id
SELECT a.id, b.mag FROM {0} AS a JOIN {0} AS b ON a.id = b.id WHERE DISTANCE(a.ra, a.dec, 10, 20) < 1 ORDER BY a.id
SELECT id FROM att.stored WHERE id IN (SELECT id FROM {0} WHERE DISTANCE(ra, dec, 10, 20) < 1) ORDER BY id
SELECT id FROM {0} AS a WHERE EXISTS (SELECT 1 FROM {0} AS b WHERE b.id = a.id + 1 AND DISTANCE(b.ra, b.dec, 10, 20) < 1) ORDER BY id
SELECT id FROM {0} AS a WHERE NOT EXISTS (SELECT 1 FROM {0} AS b WHERE DISTANCE(a.ra, a.dec, b.ra, b.dec) < .2 AND a.id <> b.id) ORDER BY id
SELECT id FROM {0} WHERE DISTANCE(ra, dec, 10, 20) < 1 UNION SELECT id FROM {0} WHERE DISTANCE(ra, dec, 11, 20) < 1 ORDER BY id
SELECT ivo_healpix_index(3, ra, dec) AS cell, COUNT(*) FROM {0} GROUP BY cell ORDER BY cell
"""


@pytest.mark.parametrize("query", QUERIES.strip().splitlines())
def test_the_answers_are_those_of_the_loaded_table(survey: Path, ask: Ask, query: str) -> None:  # noqa: ARG001
    stored, lying = ask(query.format("att.stored")), ask(query.format("att.lying"))
    assert _round(lying.to_pylist()) == _round(stored.to_pylist())
    assert lying.schema.names == stored.schema.names


def test_a_cone_reads_the_files_of_its_cells(survey: Path, engine: EmbeddedEngine) -> None:
    catalogue = read_catalogue(engine)
    cone = "SELECT id FROM att.lying WHERE DISTANCE(ra, dec, 200, -60) < .1"
    assert re.findall(r"/([^/]+)\.parquet", translate(cone, catalogue).sql) == ["12"]
    every = translate("SELECT id FROM att.lying", catalogue).sql
    files = len(list(survey.rglob("Npix=*.parquet")))
    assert f"/{{0..{files - 1}}}.parquet" in every
    nowhere = translate(f"{cone} AND DISTANCE(ra, dec, 10, 20) < .1", catalogue).sql
    assert "null('" in nowhere and "url(" not in nowhere


def test_pieces_of_jobs_read_the_files_of_their_cells(survey: Path, ask: Ask, engine: EmbeddedEngine) -> None:  # noqa: ARG001
    bound = translate("SELECT id, mag FROM att.lying", read_catalogue(engine)).bound
    divided = divide_query(bound, 4)


def _round(value: object) -> object:
    """Return rows with their numbers rounded, for sums depend on the order of rows, and NaN as text."""
    if isinstance(value, dict):
        return {key: _round(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_round(part) for part in value]
    return f"{value:.12g}" if isinstance(value, float) else value
