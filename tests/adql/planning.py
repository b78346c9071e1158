"""Two catalogues of the same tables; without positions and ids in the second, nothing is planned by them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import Positions, positions
from tests.support.adql_rows import make_comparable, query_rows

COLUMNS = (
    Column(name="id", datatype="int", nullable=False),
    Column(name="ra", datatype="double"),
    Column(name="dec", datatype="double"),
    Column(name="mag", datatype="float"),
    Column(name="r", datatype="double"),
)

#: Rows of each table
SIZES = {"large": 12_000, "medium": 9_000, "few": 60}


#: Row counts in the catalogue, by which all tables but ``few`` are large
COUNTS = {("planned", "large"): 20_000_000, ("planned", "medium"): 20_000_000, ("planned", "few"): 60}


def _make_catalogue(layout: Layout) -> Catalogue:
    tables = tuple(Table(name=name, columns=COLUMNS, layout=layout) for name in SIZES)
    return Catalogue((Schema(name="planned", tables=tables),), COUNTS)


PLANNED = _make_catalogue(Layout(position=("ra", "dec"), id=("id",)))
PLAIN = Catalogue(_make_catalogue(Layout()).schemas)


@dataclass(frozen=True)
class Sky:
    """The tables in the engine, and the known positions by table; ids count from 0."""

    engine: Engine
    known_positions: dict[str, Positions] = field(repr=False)

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the sorted answer of the planned query, which must equal the answer of the unplanned query."""
        planned = sorted(query_rows(self.engine, PLANNED, query), key=repr)
        plain = sorted(query_rows(self.engine, PLAIN, query), key=repr)
        assert make_comparable(planned) == make_comparable(plain)
        return planned

    def count_granules(self, query: str) -> dict[str, tuple[int, int]]:
        """Return the numbers of granules read and of all granules, by ``table#number of the read in the plan``."""
        translation = translate(query, PLANNED)
        plan = self.engine.explain_query(translation.sql, translation.settings)
        found: dict[str, tuple[int, int]] = {}
        for number, part in enumerate(re.split(r"ReadFromMergeTree \(planned\.", plan)[1:]):
            counts = re.findall(r"Granules: (\d+)/(\d+)", part)
            found[f"{part.split(')')[0]}#{number}"] = (int(counts[-1][0]), int(counts[0][1])) if counts else (0, 0)
        return found

    def find_share_read(self, query: str, name: str) -> float:
        """Return the largest fraction of a table's granules that one read of the plan reads."""
        counts = [count for key, count in self.count_granules(query).items() if key.startswith(f"{name}#")]
        return max(read / max(whole, 1) for read, whole in counts)


def fill_tables(engine: Engine) -> Sky:
    """Store positions on the whole sky, difficult ones, NULL, NaN and half known; granules have 32 rows."""
    engine.execute("CREATE DATABASE IF NOT EXISTS planned")
    known = {name: positions(size // 2, seed=i) for i, (name, size) in enumerate(SIZES.items(), 7)}
    for table in PLANNED.schemas[0].tables:
        lon, lat = known[table.name]
        ra = [*lon.tolist(), None, float("nan"), 10.0, None, float("nan")]
        dec = [*lat.tolist(), None, float("nan"), None, 10.0, 10.0]
        mag = [float(i % 10) if i % 17 else None for i in range(len(ra))]
        radius = [(0.001 * 2 ** (i % 12)) if i % 13 else (None, float("nan"), -1.0, 0.0)[i % 4] for i in range(len(ra))]
        columns = (range(len(ra)), ra, dec, mag, radius)
        schema = pa.schema([(c.name, c.type.arrow) for c in COLUMNS])
        batch = pa.RecordBatch.from_arrays(
            [pa.array(v, f.type) for v, f in zip(columns, schema, strict=True)], schema=schema
        )
        engine.execute(create_table_sql(table, f"planned.{table.name}") + ", index_granularity = 32")
        engine.insert_batches(f"planned.{table.name}", [batch])
    return Sky(engine, known)
