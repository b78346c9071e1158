"""Joins by CONTAINS and INTERSECTS of two tables' shapes are planned as cross-matches, with the answers of all pairs."""

from __future__ import annotations

import pyarrow as pa
import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.shape_cover import cover_column, shape_column
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.readers import shape_columns
from tap_service.storage.engine.engine import Engine
from tap_service.storage.engine.memory_settings import choose_memory_settings
from tests.adql.sky import DIFFICULT_POSITIONS, positions
from tests.support.adql_rows import query_rows

_ID = Column(name="id", datatype="int", nullable=False)
_POSITION = (Column(name="ra", datatype="double"), Column(name="dec", datatype="double"))
_SHAPES = (
    Column(name="c", datatype="double", arraysize="3", xtype="circle"),
    Column(name="v", datatype="double", arraysize="*", xtype="polygon"),
    Column(name="s", datatype="string", xtype="adql:REGION"),
)
TABLES = (
    Table(name="stars", columns=(_ID, *_POSITION), layout=Layout(position=("ra", "dec"), id=("id",))),
    Table(name="fields", columns=(_ID, *_SHAPES), layout=Layout(id=("id",))),
)


def _make_catalogue(rows: int) -> Catalogue:
    counts = {("joined", table.name): rows for table in TABLES}
    return Catalogue((Schema(name="joined", tables=TABLES),), counts)


#: Catalogues with enough rows for a cross-match, and with so few that all pairs are tested
MANY, FEW = _make_catalogue(1_000_000), _make_catalogue(10)


@pytest.fixture(scope="session")
def joined(engine: Engine) -> Engine:
    """Store stars at difficult positions, and fields of all sizes around them, one without a shape."""
    engine.execute("CREATE DATABASE IF NOT EXISTS joined")
    for table in TABLES:
        engine.execute(create_table_sql(table, f"joined.{table.name}"))
    lon, lat = positions(600, 21)
    stars = {"id": pa.array(range(len(lon)), pa.int32()), "ra": pa.array(lon), "dec": pa.array(lat)}
    engine.insert_batches("joined.stars", pa.table(stars).to_batches())
    circles, polygons, texts = [], [], []
    for i, (ra, dec) in enumerate([*DIFFICULT_POSITIONS, (200, -50), (20, 20)] * 3):
        size, south, north = 10.0 ** (i % 5 - 3), max(dec - 3, -90), min(dec + 2, 90)
        middle = min(max(dec, -80.0), 80.0)
        circles.append([float(ra), float(dec), size])
        polygons.append([ra + 0.0, middle - size / 20, ra + size / 9, middle, ra + 0.0, middle + size / 10])
        texts.append(
            [
                f"Union (Circle {ra} {dec} {size} Circle 30 30 1)",
                f"Not (Circle {ra} {dec} {100 + size})",
                f"Intersection (Circle {ra} {dec} {size} PositionInterval {ra} {south} {ra + 4} {north})",
                f"Range {ra - size / 20} {ra + size / 9} {south} {north}",
                f"Circle {ra} {dec} {size}",
            ][i % 5]
        )
    fields = {"id": pa.array(range(len(texts) + 1), pa.int32())}
    for column, values in zip(_SHAPES, ([*circles, []], [*polygons, []], [*texts, None]), strict=True):
        fields[column.name] = pa.array(values, column.type.arrow)
        assert not shape_columns.find_bad_shapes(column.type, fields[column.name])
    shape, number, bad = shape_columns.read_regions(_SHAPES[2].type, fields["s"])
    assert not bad
    fields |= {shape_column("s"): shape, cover_column("s"): number}
    engine.insert_batches("joined.fields", pa.table(fields).to_batches())
    return engine


def check_disk_use(engine: Engine, catalogue: Catalogue, query: str) -> None:
    """Check that each large join goes to disk, and that planning takes little memory."""
    translation = translate(query, catalogue)
    memory = choose_memory_settings(150_000_000)
    plan = engine.fetch_table(f"EXPLAIN actions = 1 {translation.sql}", translation.settings | memory)
    algorithms = [line for line in plan["explain"].to_pylist() if "Algorithm:" in line]
    assert algorithms
    assert all("SpillingHashJoin" in line for line in algorithms)


@pytest.mark.parametrize("condition", ["a.id < b.id OR b.id IS NULL", "a.id > b.id OR a.ra = b.ra"])
@pytest.mark.parametrize("kind", ["INNER", "LEFT"])
def test_a_match_with_alternatives_goes_to_disk(condition: str, kind: str, joined: Engine) -> None:
    near = "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 1"
    check_disk_use(joined, MANY, f"SELECT COUNT(*) FROM stars AS a {kind} JOIN stars AS b ON {near} AND ({condition})")


@pytest.mark.parametrize(
    "joins",
    [
        "stars AS a JOIN fields AS b ON 1 = CONTAINS(POINT(a.ra, a.dec), b.c)",
        "stars AS a JOIN fields AS b ON 1 = CONTAINS(POINT(a.ra, a.dec), b.v)",
        "stars AS a, fields AS b WHERE 1 = INTERSECTS(b.s, POINT(a.ra, a.dec)) AND b.id > 3",
        "fields AS b LEFT JOIN stars AS a ON 1 = CONTAINS(POINT(a.ra, a.dec), b.v) AND a.id > 9",
        "stars AS a JOIN fields AS b ON 1 = CONTAINS(POINT('GALACTIC', a.ra, a.dec), BOX(b.c[1], b.c[2] / 2, 9, b.c[3]))",
        "fields AS a JOIN fields AS b ON 1 = INTERSECTS(a.v, b.c)",
        "fields AS a FULL JOIN fields AS b ON 1 = INTERSECTS(a.v, b.c)",
    ],
)
def test_a_join_by_shapes_is_planned_and_keeps_its_pairs(joins: str, joined: Engine) -> None:
    query = f"SELECT COUNT(*), COUNT(a.id), COUNT(b.id), SUM(a.id * (b.id + 7)) FROM {joins}"
    assert "bitShiftLeft" in translate(query, MANY).sql
    assert "bitShiftLeft" not in translate(query, FEW).sql
    planned = query_rows(joined, MANY, query)
    assert planned == query_rows(joined, FEW, query)
    assert planned[0][0] >= 5
    check_disk_use(joined, MANY, query)
