"""The examples of the shipped ObsCore schema, and typical queries of clients, read few granules by covers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.shape_cover import cover_column, shape_column
from clickhouse_schema.table_ddl import create_table_sql
from loaders.tables.schema_names import find_schema_file
from tap_service.readers import shape_columns
from tap_service.storage.engine.engine import Engine
from tests.support.adql_rows import query_rows

ROWS = 6_000
GRANULE = 32

OBSCORE = Catalogue((read_schema(find_schema_file("obscore"))[0],))
EXAMPLES = {example.name: example.query for example in OBSCORE.schemas[0].examples}

#: Conditions as TOPCAT, pyvo's image discovery and the standard's use cases write them
TYPICAL = {
    "a position within": "SELECT * FROM ivoa.Obscore WHERE CONTAINS(POINT('ICRS', 16.0, 40.0), s_region) = 1",
    "regions within": "SELECT * FROM ivoa.ObsCore WHERE 1 = CONTAINS(s_region, CIRCLE('ICRS', 30, -20, 3))",
    "centres within": "SELECT * FROM ivoa.obscore WHERE 1 = CONTAINS(POINT('', s_ra, s_dec), CIRCLE('', 30, -20, 3))",
    "around a pole": "SELECT * FROM ivoa.obscore WHERE 1 = INTERSECTS(CIRCLE(0, 90, 2), s_region) AND calib_level = 2",
}


#: Positions with observations
POSITIONS = ((83.82, -5.39), (56.75, 24.12), (10.7, 41.2), (187.7, 12.4), (16, 40), (30, -20), (0, 90))


@pytest.fixture(scope="module")
def observations(engine: Engine) -> Iterator[Engine]:
    """Store circles of 1 arcsec to half a degree all over the sky, and one row in ten without a region."""
    rng = np.random.default_rng(3)
    table = OBSCORE.schemas[0].tables[0]
    ra, dec = rng.uniform(0, 360, ROWS), np.degrees(np.arcsin(rng.uniform(-1, 1, ROWS)))
    radius = 10 ** rng.uniform(-3.5, -0.3, ROWS)
    for i, position in enumerate(POSITIONS, 1):
        ra[i], dec[i] = position
    circles = zip(ra.tolist(), dec.tolist(), radius.tolist(), strict=True)
    regions = pa.array([f"Circle ICRS {a} {b} {r}" if i % 10 else None for i, (a, b, r) in enumerate(circles)])
    shape, cover, _ = shape_columns.read_regions(table.get_column("s_region").type, regions)
    given = {
        "s_ra": ra,
        "s_dec": dec,
        "s_region": regions,
        shape_column("s_region"): shape,
        cover_column("s_region"): cover,
        "dataproduct_type": ["image"] * ROWS,
        "calib_level": pa.array([2] * ROWS, pa.int32()),
        "t_min": rng.uniform(60000, 60600, ROWS),
        "t_max": [61000.0] * ROWS,
        "em_min": [5e-7] * ROWS,
        "em_max": [7e-7] * ROWS,
        "facility_name": ["F"] * ROWS,
        **{name: [f"{name} {i}" for i in range(ROWS)] for name in ("obs_id", "obs_collection", "obs_publisher_did")},
    }
    for column in table.columns:
        given.setdefault(column.name, pa.nulls(ROWS, column.type.arrow))
    engine.execute("CREATE DATABASE IF NOT EXISTS ivoa")
    engine.execute(create_table_sql(table, "ivoa.ObsCore") + f", index_granularity = {GRANULE}")
    engine.insert_batches("ivoa.ObsCore", pa.table(given).to_batches())
    yield engine
    engine.execute("DROP TABLE ivoa.ObsCore SYNC")


@pytest.mark.parametrize("query", [*EXAMPLES.values(), *TYPICAL.values()], ids=[*EXAMPLES, *TYPICAL])
def test_few_granules_are_read(query: str, observations: Engine) -> None:
    translation = translate(query, OBSCORE)
    # the engine ignores projections of tables below a million rows
    settings = translation.settings | {"min_table_rows_to_use_projection_index": 0}
    explained = observations.explain_query(translation.sql, settings)
    marks = [int(found) for found in re.findall(r"(?:Granules|Marks): (\d+)", explained)]
    assert 0 < min(marks) < ROWS / GRANULE / 4, explained
    found = observations.fetch_table(translation.sql, settings).num_rows
    assert found == len(query_rows(observations, OBSCORE, _unpruned(query))) > 0


def _unpruned(query: str) -> str:
    """Return the query with the relation as a value, which prunes nothing."""
    relation = r"(?:1 = )?((?:CONTAINS|INTERSECTS)\((?:[^()]|\([^()]*\))*\))(?: = 1)?"
    changed, count = re.subn(relation, r"(CASE WHEN 1 = \1 THEN 1 ELSE 0 END) = 1", query)
    assert count == 1
    return changed


def test_observations_are_looked_up(observations: Engine) -> None:
    for column in ("obs_id", "obs_publisher_did"):
        translation = translate(f"SELECT s_ra FROM ivoa.ObsCore WHERE {column} = '{column} 77'", OBSCORE)
        explained = observations.explain_query(
            translation.sql, translation.settings | {"min_table_rows_to_use_projection_index": 0}
        )
        assert "Name: by_i" in explained
        assert observations.fetch_table(translation.sql, translation.settings).num_rows == 1
