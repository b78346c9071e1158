"""A table of positions, also of difficult ones, with the index that tables store."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from adql.clickhouse.sky.membership_sql import Row
from adql.clickhouse.sky.unit_vector_sql import position_vector_sql
from adql.clickhouse.sql_settings import SETTINGS
from adql.regions.unit_vectors import Vectors, positions_to_vectors
from clickhouse_schema.healpix import index_sql
from tap_service.storage.engine.engine import Engine
from tests.adql.regions.spots import Select
from tests.adql.sky import positions


@pytest.fixture(scope="session")
def row() -> Row:
    """SQL of a row's position."""
    return Row(*position_vector_sql("t.ra", "t.dec", None, None), "t.hpx29")


@pytest.fixture(scope="session")
def spots() -> Vectors:
    return positions_to_vectors(*positions(1000, 11))


@pytest.fixture(scope="session")
def select(engine: Engine) -> Select:
    """Return the ids of the rows of ``spots`` for which a condition holds."""
    lon, lat = positions(1000, 11)
    engine.execute("CREATE DATABASE IF NOT EXISTS spots")
    index = index_sql("ra", "dec")
    engine.execute(
        f"CREATE TABLE spots.spots (id Int32, ra Float64, dec Float64, hpx29 UInt64 MATERIALIZED {index}) "
        "ENGINE = MergeTree ORDER BY hpx29"
    )
    columns = [pa.array(np.arange(len(lon), dtype=np.int32)), pa.array(lon), pa.array(lat)]
    engine.insert_batches("spots.spots", [pa.RecordBatch.from_arrays(columns, names=["id", "ra", "dec"])])

    def select_ids(condition: str) -> NDArray[np.int64]:
        table = engine.fetch_table(f"SELECT t.id FROM spots.spots AS t WHERE {condition}", SETTINGS)
        return np.sort(table.column(0).to_numpy())

    return select_ids


@pytest.fixture(scope="session")
def evaluate(engine: Engine) -> Callable[[list[str]], list[object]]:
    """Return the values of expressions."""

    def evaluate_expressions(expressions: list[str]) -> list[object]:
        named = ", ".join(f"{e} AS c{i}" for i, e in enumerate(expressions))
        return list(engine.fetch_table(f"SELECT {named}", SETTINGS).to_pylist()[0].values())

    return evaluate_expressions
