"""A table of this service, described from this service, keeps its whole model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clickhouse_schema.engine_tables.catalogue_log import register_table, unregister_table
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from loaders.origin.origin_client import OriginClient
from loaders.origin.origin_error import OriginMissing
from loaders.origin.origin_table import read_origin_table
from loaders.origin.tap_address import find_tap_service
from loaders.pipeline.describe_origin import describe_origin

_MODEL = """\
name: svc
description: Tables of the service's tests
tables:
- name: odd table
  description: A & B < C
  votable:utype: x:y.z
  primaryKey: [id]
  skyhouse:layout: {position: [ra, dec], id: [id]}
  columns:
  - {name: id, datatype: long, nullable: false, ivoa:ucd: meta.id;meta.main, tap:principal: true, tap:column_index: 5}
  - {name: ra, datatype: double, ivoa:unit: deg, ivoa:ucd: pos.eq.ra;meta.main, tap:column_index: 7}
  - {name: dec, datatype: double, ivoa:unit: deg, ivoa:ucd: pos.eq.dec;meta.main, tap:column_index: 9}
  - {name: select, datatype: float, ivoa:unit: km.s**-1, description: "Speed: fast", tap:column_index: 10}
  - {name: B-V, datatype: float, ivoa:unit: mag, tap:std: true, votable:utype: "a:b", tap:column_index: 11}
  - {name: names, datatype: string, length: 20, tap:column_index: 12}
  - {name: title, datatype: unicode, length: 30, tap:column_index: 13}
  - {name: seen, datatype: timestamp, tap:principal: true, tap:column_index: 14}
  - {name: area, datatype: string, "votable:xtype": "adql:REGION", tap:column_index: 15}
  - {name: cov, datatype: double, "votable:arraysize": "3x*", tap:column_index: 16}
  - {name: ring, datatype: double, "votable:arraysize": "3", "votable:xtype": circle, tap:column_index: 17}
  - {name: flag, datatype: boolean, tap:column_index: 18}
  - {name: z, datatype: double, votable:datatype: doubleComplex, tap:column_index: 19}
  constraints:
  - {name: star, "@type": ForeignKey, columns: [id], referencedColumns: [svc.stars.id], description: its star}
"""


def described(tap: str, table: str) -> Schema:
    client = OriginClient()
    assert find_tap_service(client, tap) == tap
    found = read_origin_table(client, tap, table)
    assert (found.sources, found.notes) == (("tables", "TAP_SCHEMA"), ())
    return read_schema(describe_origin(found).text, "described", strict=True)[0]


@pytest.fixture
def model(service: Any, eventually: Callable[[Callable[[], bool]], None]) -> Iterator[Table]:
    schema = read_schema(_MODEL, "model", strict=True)[0]
    table = schema.tables[0]
    service.engine.execute(create_table_sql(table, f"`svc`.`{table.name}`"))
    register_table(service.engine, schema, table)
    service.refresh()
    yield table
    unregister_table(service.engine, "svc", table.name)
    service.engine.execute(f"DROP TABLE svc.`{table.name}`")
    service.refresh()


@pytest.mark.parametrize("name", ["svc.odd table", 'svc."odd table"'])
def test_the_model_comes_back_as_it_was(service: Any, model: Table, name: str) -> None:
    found = described(service.tap, name).tables[0]
    assert found.columns == tuple(_with_arraysize(column) for column in model.columns)
    assert found == model.model_copy(update={"columns": found.columns})


def _with_arraysize(column: Any) -> Any:
    """A length is written as the corresponding arraysize."""
    if column.length is None:
        return column
    return column.model_copy(update={"length": None, "arraysize": f"{column.length}*"})


def test_a_plain_table(service: Any) -> None:
    found = described(service.tap, "svc.stars")
    assert (found.name, found.description) == ("svc", "Tables of the service's tests")
    table = found.tables[0]
    assert (table.layout.position, table.layout.id) == (("ra", "dec"), ("id",))
    assert [column.name for column in table.columns] == ["id", "ra", "dec", "mag", "name"]


def test_a_table_that_it_lacks(service: Any) -> None:
    with pytest.raises(OriginMissing, match=r"has no table svc\.starz: did you mean svc\.stars"):
        read_origin_table(OriginClient(), service.tap, "svc.starz")
