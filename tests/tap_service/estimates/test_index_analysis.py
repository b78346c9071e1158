"""Compare the granules that the engine's indexes select with the rows that the engine agrees to read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adql import Translation
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from clickhouse_schema.table_index import TableIndex
from loaders.cli.console_reporter import ConsoleReporter
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.services.estimates.estimator import Estimator
from tap_service.services.estimates.index_analysis import find_part_read
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import ResourceLimit

ROWS = 1_500_000
#: Granules at the ends of parts are smaller
MARGIN = 12 * 2048

SCHEMA = """
name: analysed
tables:
- name: sources
  columns:
  - {name: source, datatype: long, nullable: false}
  - {name: ra, datatype: double, nullable: false}
  - {name: dec, datatype: double, nullable: false}
  - {name: mjd, datatype: double, nullable: false}
  - {name: rare, datatype: int, nullable: false}
  skyhouse:layout: {position: [ra, dec], id: [source], time: mjd, years: true, indexes: [rare]}
"""


@pytest.fixture(scope="module")
def sources(engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """Five years of sources; each value of the column ``rare`` has five rows."""
    folder = tmp_path_factory.mktemp("analysed")
    draw = np.random.default_rng(17)
    columns = {
        "source": np.arange(ROWS),
        "ra": draw.uniform(0, 360, ROWS),
        "dec": np.degrees(np.arcsin(draw.uniform(-1, 1, ROWS))),
        "mjd": draw.uniform(60000, 60000 + 5 * 365.25, ROWS),
        "rare": draw.integers(0, ROWS // 5, ROWS).astype(np.int32),
    }
    pq.write_table(pa.table(columns), folder / "sources.parquet")
    (folder / "schema.yaml").write_text(SCHEMA)
    prepare_engine(engine)
    with ConsoleReporter() as reporter:
        files = (folder / "sources.parquet",)
        load_files(
            engine,
            LoadRequest(
                files=files,
                table="analysed.sources",
                rejects=folder / "rejects.csv",
                schema_file=folder / "schema.yaml",
            ),
            reporter,
        )
    return read_catalogue(engine)


def read_at_most(engine: EmbeddedEngine, translation: Translation, rows: float) -> None:
    engine.fetch_table(translation.sql, translation.settings | {"max_rows_to_read": round(rows)})


@pytest.mark.parametrize(
    ("condition", "part"),
    [
        ("mjd > 61000", 0.6),  # three of six partitions
        ("mjd < 60100 AND dec > -2", 0.25),
        ("mjd > 61000 AND 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 100))", 0.6),
        ("1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 80))", 0.75),
        ("ra > 100 AND rare + 1 > 7", 1.0),  # no index serves it
    ],
)
def test_estimate_is_what_is_read(
    condition: str, part: float, sources: Catalogue, engine: EmbeddedEngine, estimator: Estimator
) -> None:
    translation = translate(f"SELECT AVG(ra), AVG(dec), AVG(mjd) FROM analysed.sources WHERE {condition}", sources)
    rows = estimator.estimate_cost(translation, 1).rows
    assert rows <= part * ROWS + MARGIN
    read_at_most(engine, translation, rows + MARGIN)
    with pytest.raises(ResourceLimit):
        read_at_most(engine, translation, rows - MARGIN)


def test_few_rows_by_an_index_are_few_granules(
    sources: Catalogue, engine: EmbeddedEngine, estimator: Estimator
) -> None:
    """The index reads its granules; its rows are scattered over at most as many granules of the table."""
    translation = translate("SELECT AVG(ra), AVG(dec), AVG(mjd) FROM analysed.sources WHERE rare = 77", sources)
    everything = translate("SELECT AVG(ra), AVG(dec), AVG(mjd), AVG(rare) FROM analysed.sources", sources)
    found, all_rows = (estimator.estimate_cost(each, 1) for each in (translation, everything))
    assert all_rows.rows == ROWS
    assert 0 < found.rows <= ROWS
    read_at_most(engine, translation, found.rows + MARGIN)


def test_constant_that_cannot_be_computed_is_estimated_by_the_density(sources: Catalogue, estimator: Estimator) -> None:
    translation = translate("SELECT AVG(ra), AVG(dec), AVG(mjd) FROM analysed.sources WHERE mjd > 61000 / 0", sources)
    assert estimator.estimate_cost(translation, 1).rows == ROWS


def test_a_text_index_shows_what_is_read(engine: EmbeddedEngine) -> None:
    """The index answers a count of words; rows with a substring are found in its granules."""
    columns = (Column(name="id", datatype="long"), Column(name="note", datatype="unicode"))
    layout = Layout(id=("id",), indexes=(TableIndex(columns=("note",), kind="text"),))
    table = Table(name="worded", columns=columns, layout=layout)
    catalogue = Catalogue((Schema(name="analysed", tables=(table,)),))
    engine.execute("CREATE DATABASE IF NOT EXISTS analysed")
    engine.execute("DROP TABLE IF EXISTS analysed.worded SYNC")
    engine.execute(create_table_sql(table, "analysed.worded"))
    notes = "if(number = 5000, 'a rare galaxy', 'a star')"
    engine.execute(f"INSERT INTO analysed.worded SELECT number, {notes} FROM numbers(20480)")
    for query, part in (
        ("SELECT COUNT(*) FROM analysed.worded WHERE 1 = ivo_hasword(note, 'rare')", 0),
        ("SELECT id FROM analysed.worded WHERE note LIKE '%galax%'", 0.1),
        ("SELECT id FROM analysed.worded WHERE note LIKE '%ax%'", 1),
    ):
        assert find_part_read(engine, translate(query, catalogue)) == pytest.approx(part)
    engine.execute("DROP TABLE analysed.worded SYNC")
