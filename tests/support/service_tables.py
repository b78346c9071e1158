"""The schema ``svc``: small tables of known content for tests of the service."""

from __future__ import annotations

import json

from clickhouse_schema.engine_tables.catalogue_log import register_table
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.engine import Engine

#: rows of svc.numbers: n from 0, half = n / 2, word = 'row n'
NUMBERS = 1_000_000

_SCHEMA = {
    "name": "svc",
    "description": "Tables of the service's tests",
    "skyhouse:citation": "2000A&A...355L..27H",
    "skyhouse:licence": "CC BY 4.0",
    "tables": [
        {
            "name": "stars",
            "description": "Stars on a grid of one degree",
            "columns": [
                {"name": "id", "datatype": "long", "nullable": False, "ivoa:ucd": "meta.id;meta.main"},
                {"name": "ra", "datatype": "double", "ivoa:unit": "deg", "ivoa:ucd": "pos.eq.ra;meta.main"},
                {"name": "dec", "datatype": "double", "ivoa:unit": "deg", "ivoa:ucd": "pos.eq.dec;meta.main"},
                {"name": "mag", "datatype": "float", "ivoa:unit": "mag", "ivoa:ucd": "phot.mag"},
                {"name": "name", "datatype": "unicode", "length": 20},
            ],
            "skyhouse:layout": {"position": ["ra", "dec"], "id": ["id"]},
        },
        {
            "name": "numbers",
            "columns": [
                {"name": "n", "datatype": "long", "nullable": False},
                {"name": "half", "datatype": "double"},
                {"name": "word", "datatype": "unicode", "length": 20},
            ],
        },
    ],
}

_ROWS = {
    "stars": "SELECT number, number % 360, intDiv(number, 360) - 89, number % 20, concat('Stérn ', toString(number))"
    " FROM numbers(360 * 179)",
    "numbers": f"SELECT number, number / 2, concat('row ', toString(number)) FROM numbers({NUMBERS})",
}


def create_service_tables(engine: Engine) -> None:
    prepare_engine(engine)
    schema = Schema.model_validate_json(json.dumps(_SCHEMA))
    engine.execute("CREATE DATABASE svc")
    for table in schema.tables:
        columns = ", ".join(f"`{column.name}`" for column in table.columns)
        engine.execute(create_table_sql(table, f"`svc`.`{table.name}`"))
        engine.execute(f"INSERT INTO svc.{table.name} ({columns}) {_ROWS[table.name]}")
        register_table(engine, schema, table)
