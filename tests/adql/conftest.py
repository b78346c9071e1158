"""Small tables with NULLs, duplicates and awkward values, the same in the engine and in DuckDB; and a way to ask both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from adql.resolve.tableless_check import check_without_tables
from adql.translation import Translation, translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tap_service.storage.engine.engine import Engine
from tests.adql.call_check import _check_calls  # noqa: F401  a fixture
from tests.adql.crossmatch_sky import MATCHES, Sky
from tests.adql.sky import positions
from tests.adql.storing import catalogue_of, store
from tests.servers.server_cluster import prepared_engine, running_cluster, running_server

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The tests' embedded engine, or that of one server (``--remote``), or of a cluster (``--shards``)."""
    shards, is_remote = (request.config.getoption(name) for name in ("--shards", "--remote"))
    if not (shards or is_remote):
        yield request.getfixturevalue("engine")
        return
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        if shards:
            servers = stack.enter_context(running_cluster(folder, shards))
        else:
            servers = [stack.enter_context(running_server(folder))]
        yield stack.enter_context(prepared_engine(servers))


Ask = Callable[[str], Rows]

STARS = Table(
    name="stars",
    columns=(
        Column(name="id", datatype="int", nullable=False, unit="", ucd="meta.id;meta.main"),
        Column(name="name", datatype="unicode"),
        Column(name="mag", datatype="float", unit="mag", ucd="phot.mag;em.opt.V"),
        Column(name="parallax", datatype="double", unit="mas"),
        Column(name="n_obs", datatype="short"),
        Column(name="big", datatype="long"),
        Column(name="variable", datatype="boolean"),
        Column(name="Mixed Case", datatype="int"),
    ),
    layout=Layout(id=("id",)),
)
SPECTRA = Table(
    name="spectra",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        Column(name="star", datatype="int"),
        Column(name="flux", datatype="double"),
        Column(name="name", datatype="unicode"),
    ),
    layout=Layout(id=("id",)),
)
VISITS = Table(
    name="visits",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        Column(name="star", datatype="int"),
        Column(name="begun", datatype="timestamp"),
        Column(name="ended", datatype="timestamp"),
    ),
    layout=Layout(id=("id",)),
)
SMALL = Schema(name="small", tables=(STARS, SPECTRA, VISITS))

_STAR_ROWS: Rows = [
    (1, "alpha", 1.5, 10.0, 3, 9_000_000_000, True, 1),
    (2, "Beta", 2.5, None, None, -9_000_000_000, False, 2),
    (3, None, None, 0.5, 0, 9_223_372_036_854_775_807, None, 3),
    (4, "alpha", 1.5, -3.25, -7, 0, True, None),
    (5, "Éta_é", 12.25, 1e10, 32767, None, False, 5),
    (6, "100%", 0.0, 7.0, 2, 1, None, 6),
    (7, "back\\slash", -1.25, 7.0, -1, 2, True, 7),
    (8, "", 4.0, None, 10, 3, False, 8),
    (9, "it's", 9.0, 2.5, 5, 4, None, 9),
]
_SPECTRUM_ROWS: Rows = [
    (1, 1, 0.5, "a"),
    (2, 1, 1.5, "b"),
    (3, 2, None, "Beta"),
    (4, None, 7.0, None),
    (5, 4, 7.0, "alpha"),
    (6, 99, -1.0, "none"),
    (7, 9, 2.5, "it's"),
    (8, 5, -0.0, None),
    (9, None, 0.0, ""),
]
_NEW_YEAR = datetime(2020, 1, 1, tzinfo=UTC)
_LATER = datetime(2020, 1, 1, 12, 30, 0, 500_000, tzinfo=UTC)
_VISIT_ROWS: Rows = [
    (1, 1, _NEW_YEAR, _LATER),
    (2, 1, _LATER, None),
    (3, 2, _NEW_YEAR, _NEW_YEAR),
    (4, None, None, _LATER),
    (5, 9, datetime(1969, 7, 20, 20, 17, 40, tzinfo=UTC), _NEW_YEAR),
    (6, 4, datetime(2019, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), None),
]


def _arrow(table: Table, rows: Rows) -> pa.RecordBatch:
    schema = pa.schema([(c.name, c.type.arrow) for c in table.columns])
    return pa.RecordBatch.from_arrays(
        [pa.array([r[i] for r in rows], f.type) for i, f in enumerate(schema)], schema=schema
    )


#: The small tables with their rows
CONTENT = tuple(
    (table, _arrow(table, rows))
    for table, rows in ((STARS, _STAR_ROWS), (SPECTRA, _SPECTRUM_ROWS), (VISITS, _VISIT_ROWS))
)


def _without_zones(content: pa.Table) -> pa.Table:
    """Instants as plain ones: DuckDB would reckon with the time zone of the machine."""
    plain = [pa.field(f.name, pa.timestamp("us") if pa.types.is_timestamp(f.type) else f.type) for f in content.schema]
    return content.cast(pa.schema(plain))


@pytest.fixture(scope="session")
def small(engine: Engine) -> Catalogue:
    """The catalogue of the small tables, which are in the engine."""
    engine.execute("CREATE DATABASE IF NOT EXISTS small")
    for table, batch in CONTENT:
        store(engine, "small", table, [batch])
    return catalogue_of(engine, SMALL)


def independent_engine() -> duckdb.DuckDBPyConnection:
    """A DuckDB with the same small tables."""
    connection = duckdb.connect()
    connection.execute("SET error_on_division_by_zero = false")
    connection.execute("PRAGMA disable_optimizer")  # what is compared with is the plain meaning of the SQL
    connection.execute("CREATE SCHEMA small")
    for table, batch in CONTENT:
        content = _without_zones(pa.Table.from_batches([batch]))
        connection.register("content", content)
        connection.execute(f"CREATE TABLE small.{table.name} AS SELECT * FROM content")
        connection.unregister("content")
    return connection


@pytest.fixture(scope="session")
def other() -> Iterator[duckdb.DuckDBPyConnection]:
    """The same tables in an independent engine."""
    with independent_engine() as connection:
        yield connection


#: Small tables are read by their projections, as large ones are.
BY_PROJECTION: dict[str, str | int] = {"min_table_rows_to_use_projection_index": 0}


def asked(engine: Engine, catalogue: Catalogue, query: str) -> Rows:
    """The rows of an ADQL query, with the declared Arrow types; without its tables too it is accepted, and names them."""
    translation = translate(query, catalogue)
    read = {name[-1].lower() for name in check_without_tables(query)}
    assert read == {entry.table.name.lower() for entry in translation.tables}
    return fetched(engine, translation, translation.sql)


def fetched(engine: Engine, translation: Translation, sql: str) -> Rows:
    """The rows of one form of a translated query, with the declared Arrow types."""
    answer = engine.fetch_table(sql, translation.settings | BY_PROJECTION)
    if not answer.num_columns:
        return []
    columns = [c.cast(f.type.arrow).to_pylist() for c, f in zip(answer.columns, translation.fields, strict=True)]
    return list(zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    """Numbers as one kind, good to 12 digits, so that engines may differ in the last bit and in the type."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, list):
        return ("list", tuple(_plain(item) for item in value))
    if isinstance(value, datetime):
        return ("instant", value.replace(tzinfo=None))
    if isinstance(value, float) and math.isnan(value):
        return ("nan", None)
    if isinstance(value, int) and abs(value) > 1 << 50:
        return ("number", value)
    return ("number", float(f"{float(value):.12g}") + 0.0)  # no negative zero


def comparable(rows: Rows) -> list[tuple[Any, ...]]:
    """Rows as two engines may be compared by."""
    return [tuple(_plain(value) for value in row) for row in rows]


@pytest.fixture
def ask(engine: Engine, small: Catalogue) -> Ask:
    """Ask the small tables in ADQL."""
    return lambda query: asked(engine, small, query)


# --- a sky of hard places ----------------------------------------------------------------------------------------------

SKY_COUNT = 2000
SKY_LAYOUT = Layout(position=("ra", "dec"), id=("id",))
SKY_COLUMNS = (
    Column(name="id", datatype="int", nullable=False),
    Column(name="ra", datatype="double"),
    Column(name="dec", datatype="double"),
    Column(name="mag", datatype="float"),
)
SKY = Schema(
    name="sky", tables=tuple(Table(name=n, columns=SKY_COLUMNS, layout=SKY_LAYOUT) for n in ("points", "others"))
)

Positions = tuple[NDArray[np.float64], NDArray[np.float64]]


@pytest.fixture(scope="session")
def points() -> Positions:
    return positions(SKY_COUNT, seed=1)


@pytest.fixture(scope="session")
def others(points: Positions) -> Positions:
    return _moved(points)


def _moved(points: Positions) -> Positions:
    """A second catalogue: the first one's positions moved by 1e-6 to 1 degree, and positions of its own."""
    rng = np.random.default_rng(2)
    lon, lat = points
    size = 10 ** rng.uniform(-6, 0, len(lon))
    angle = rng.uniform(0, 2 * np.pi, len(lon))
    moved = np.clip(lat + size * np.sin(angle), -90, 90)
    return np.concatenate([(lon + size * np.cos(angle)) % 360, lon[:100]]), np.concatenate([moved, lat[:100]])


def sky_rows() -> Iterator[tuple[Table, pa.RecordBatch]]:
    """Both catalogues, each with rows whose position is NULL, NaN or half known."""
    points = positions(SKY_COUNT, seed=1)
    for table, (lon, lat) in zip(SKY.tables, (points, _moved(points)), strict=True):
        ra = [*lon.tolist(), None, float("nan"), 10.0, None]
        dec = [*lat.tolist(), None, float("nan"), None, 10.0]
        mag = [float(i % 10) for i in range(len(ra))]
        schema = pa.schema([(c.name, c.type.arrow) for c in SKY_COLUMNS])
        arrays = [pa.array(v, f.type) for v, f in zip((range(len(ra)), ra, dec, mag), schema, strict=True)]
        yield table, pa.RecordBatch.from_arrays(arrays, schema=schema)


@pytest.fixture(scope="session")
def sky(engine: Engine) -> Catalogue:
    """The catalogue of both, which are in the engine."""
    engine.execute("CREATE DATABASE IF NOT EXISTS sky")
    for table, batch in sky_rows():
        store(engine, "sky", table, [batch])
    return catalogue_of(engine, SKY)


# --- two tables to match ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def matches() -> Sky:
    return Sky()


@pytest.fixture(scope="session")
def match_catalogue(engine: Engine, matches: Sky) -> Catalogue:
    matches.store(engine)
    return catalogue_of(engine, MATCHES)


@pytest.fixture(scope="session")
def ask_matches(engine: Engine, match_catalogue: Catalogue) -> Ask:
    return lambda query: asked(engine, match_catalogue, query)
