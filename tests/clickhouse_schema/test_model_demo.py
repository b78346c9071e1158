"""The shipped schemas agree with the shipped data."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import loaders.demo
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.datatypes import UNICODE, arrow_to_column_type
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_model import Example, Schema

DEMO = Path(loaders.demo.__file__).parent
FILES = {"tycho2": "tycho2_bright.parquet", "openngc": "openngc.parquet"}


def shipped(name: str) -> Schema:
    return read_schema(DEMO / f"{name}.yaml", strict=True)[0]


@pytest.mark.parametrize("name", FILES)
def test_columns_are_the_columns_of_the_data(name: str) -> None:
    data = pq.read_table(DEMO / FILES[name])
    columns = shipped(name).tables[0].columns
    assert [column.name for column in columns] == data.column_names
    for column in columns:
        values = data[column.name]
        kind = arrow_to_column_type(values.type)
        assert column.nullable == (values.null_count > 0), column.name
        if kind == UNICODE:
            ascii_only = bool(pc.all(pc.string_is_ascii(values)).as_py())
            assert column.datatype == ("string" if ascii_only else "unicode"), column.name
        else:
            assert column.type == kind, column.name


@pytest.mark.parametrize("name", FILES)
def test_an_id_identifies_one_row(name: str) -> None:
    data = pq.read_table(DEMO / FILES[name])
    ident = list(shipped(name).tables[0].layout.id)
    assert data.group_by(ident).aggregate([]).num_rows == data.num_rows


@pytest.mark.parametrize("name", FILES)
def test_metadata_are_complete(name: str) -> None:
    schema = shipped(name)
    columns = schema.tables[0].columns
    assert schema.citation
    assert schema.licence
    assert all(column.description and column.ucd for column in columns)
    assert [column.column_index for column in columns] == list(range(1, len(columns) + 1))
    measured = [column for column in columns if column.ucd.startswith(("pos.eq", "pos.pm", "phot.mag", "stat.error"))]
    assert all(column.unit for column in measured)
    assert list(DEMO.glob(f"{name}-*.txt")), "the licence is in the folder of the data"


@pytest.mark.parametrize("example", [e for name in FILES for e in shipped(name).examples], ids=lambda e: e.name)
def test_examples_are_queries(example: Example) -> None:
    catalogue = Catalogue(tuple(shipped(name) for name in FILES))
    assert translate(example.query, catalogue).fields
