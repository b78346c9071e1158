"""No query changes later answers, although the engine caches conditions."""

from __future__ import annotations

import pyarrow as pa

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.engine import Engine
from tests.support.adql_rows import query_rows

COLUMNS = (
    Column(name="id", datatype="int", nullable=False),
    Column(name="i", datatype="int"),
    Column(name="j", datatype="short"),
    Column(name="x", datatype="double"),
)
LEFT, RIGHT = (Table(name=name, columns=COLUMNS, layout=Layout(id=("id",))) for name in ("ones", "others"))
ROWS = {
    "ones": [(1, 2, 1, 1.0), (2, 0, 3, 0.0), (3, 2, 2, 2.0)],
    "others": [(1, 1, 2, 2.0), (2, 1, 2, 1.0), (3, None, None, None), (4, 2, 0, -0.0), (5, 7, 1, 3.0)],
}
CONDITION = "SELECT a.id FROM remembered.ones AS a WHERE a.id = a.j"
#: Its joins remove all rows of the condition
JOINED = (
    f"{CONDITION} AND EXISTS (SELECT b.j FROM remembered.others AS b WHERE b.j = a.j AND b.j IN"
    " (SELECT CASE WHEN COUNT(*) > 1 THEN SUM(c.x) ELSE 7 END FROM remembered.others AS c"
    " WHERE c.j = b.i AND c.id = a.id))"
)


def test_joins_leave_nothing_behind(engine: Engine) -> None:
    engine.execute("CREATE DATABASE remembered")
    for table in (LEFT, RIGHT):
        engine.execute(create_table_sql(table, f"remembered.{table.name}"))
        columns = [
            pa.array(values, c.type.arrow)
            for values, c in zip(zip(*ROWS[table.name], strict=True), COLUMNS, strict=True)
        ]
        engine.insert_batches(
            f"remembered.{table.name}", [pa.RecordBatch.from_arrays(columns, [c.name for c in COLUMNS])]
        )
    catalogue = Catalogue((Schema(name="remembered", tables=(LEFT, RIGHT)),))
    assert translate(CONDITION, catalogue).settings["use_query_condition_cache"] == 0
    for _ in range(3):
        assert query_rows(engine, catalogue, JOINED) == []
        assert query_rows(engine, catalogue, CONDITION) == [(1,)]
