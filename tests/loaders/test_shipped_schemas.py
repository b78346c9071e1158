"""The shipped schemas of standards: their names, and their examples loaded and queried."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.schema_files.yaml_reader import read_schema
from loaders.cli.skyhouse_command import app
from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.schema_names import find_example_file, find_schema_file, list_schema_names, resolve_schema_option
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.support.adql_rows import query_rows

#: Shipped schema -> its table with example rows, their number, and the table's utype in the registry
TABLES = {
    "epn-tap": ("epntap.epn_core", 4, "ivo://ivoa.net/std/epntap#table-2.0"),
    "linetap": ("linetap.lines", 11, "ivo://ivoa.net/std/linetap#lines-1.0"),
}


@pytest.fixture
def prepared(engine: EmbeddedEngine) -> Iterator[EmbeddedEngine]:
    """The tests' engine, whose tables of shipped schemas are dropped afterwards."""
    engine_setup.prepare_engine(engine)
    yield engine
    catalogue = catalogue_log.read_catalogue(engine)
    for table, *_ in TABLES.values():
        if catalogue.find_entry(*table.split(".")) is not None:
            drop_table(engine, table, Recorder())


def test_shipped_schemas_are_named() -> None:
    assert list_schema_names() == ["epn-tap", "linetap", "obscore", "obscore-radio"]
    assert resolve_schema_option("obscore") == find_schema_file("obscore")
    assert resolve_schema_option("./obscore") == Path("obscore").absolute()
    known = "epn-tap, linetap, obscore, obscore-radio"
    with pytest.raises(LoadError, match=rf"there is no shipped schema '\.\./demo/tycho2'; there are {known}"):
        find_schema_file("../demo/tycho2")
    refused = CliRunner().invoke(app, ["schema", "show", "obscor"])
    assert refused.exit_code == 1
    assert refused.stderr == f"error: there is no shipped schema 'obscor'; there are {known}\n"


@pytest.mark.parametrize("name", TABLES)
def test_the_example_is_loaded_completely(name: str, prepared: EmbeddedEngine, tmp_path: Path) -> None:
    table, rows, utype = TABLES[name]
    files = (find_example_file(name),)
    recorder = Recorder()
    load_files(
        prepared,
        LoadRequest(
            files=files,
            table=table,
            rejects=tmp_path / "r",
            schema_file=find_schema_file(name),
            strict=True,
            max_errors=0,
        ),
        recorder,
    )
    assert recorder.lines == [f"loaded {rows} rows into {table}"]
    catalogue = catalogue_log.read_catalogue(prepared)
    entry = catalogue.find_entry(*table.split("."))
    assert entry is not None
    assert entry.table.utype == utype
    for example in entry.schema.examples:
        assert query_rows(prepared, catalogue, example.query), example.name


@pytest.mark.parametrize("name", ["epn-tap", "linetap", "obscore-radio"])
def test_columns_are_described_and_in_order(name: str) -> None:
    for table in read_schema(find_schema_file(name), strict=True)[0].tables:
        assert [column.column_index for column in table.columns] == list(range(1, len(table.columns) + 1))
        assert all(column.std and column.description for column in table.columns)
        assert all(column.if_missing for column in table.columns if column.nullable)
