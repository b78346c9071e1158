"""Tables for jobs in pieces: stars over the whole sky, some without a position."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from clickhouse_schema.engine_tables.catalogue_log import register_table, unregister_table
from clickhouse_schema.engine_tables.density_table import update_density
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.engine import Engine

#: rows of cut.stars and cut.others; ids count from 0, every hundredth has no position
STARS, OTHERS = 20_000, 4_000

_COLUMNS = [
    {"name": "id", "datatype": "long", "nullable": False},
    {"name": "ra", "datatype": "double"},
    {"name": "dec", "datatype": "double"},
    {"name": "word", "datatype": "unicode"},
]
_LAYOUT = {"position": ["ra", "dec"], "id": ["id"]}
CUT = Schema.model_validate_json(
    json.dumps(
        {
            "name": "cut",
            "tables": [{"name": name, "columns": _COLUMNS, "skyhouse:layout": _LAYOUT} for name in ("stars", "others")],
        }
    )
)

_ROWS = (
    "SELECT number + {first}, if(number % 100 = 7, NULL, cityHash64(number) % 3600000 / 10000),"
    " degrees(asin(cityHash64(number + 1) % 2000001 / 1000000 - 1)), concat('é ', toString(number)) FROM numbers({rows})"
)


def create_tables(engine: Engine) -> None:
    engine.execute("CREATE DATABASE cut")
    for name, rows in (("stars", STARS), ("others", OTHERS)):
        replace_table(engine, name, rows)


@contextmanager
def cut_tables(engine: Engine) -> Iterator[None]:
    """Hold the tables in the engine."""
    create_tables(engine)
    yield
    for table in CUT.tables:
        unregister_table(engine, "cut", table.name)
    engine.execute("DROP DATABASE cut SYNC")


def replace_table(engine: Engine, name: str, rows: int, first: int = 0) -> None:
    """Replace the table as a load does, by EXCHANGE; ids start at ``first``."""
    table = next(table for table in CUT.tables if table.name == name)
    engine.execute(f"DROP TABLE IF EXISTS cut.{name}__loading SYNC")
    engine.execute(create_table_sql(table, f"cut.{name}__loading"))
    engine.execute(
        f"INSERT INTO cut.{name}__loading (id, ra, dec, word) {_ROWS.format(rows=rows, first=first)}",
        {"min_insert_block_size_rows": 1 << 20},
    )
    exists = engine.fetch_table(f"EXISTS TABLE cut.{name}").column(0)[0].as_py()
    if exists:
        engine.execute(f"EXCHANGE TABLES cut.{name}__loading AND cut.{name}")
        engine.execute(f"DROP TABLE cut.{name}__loading SYNC")
    else:
        engine.execute(f"RENAME TABLE cut.{name}__loading TO cut.{name}")
    update_density(engine, "cut", table)
    register_table(engine, CUT, table)
