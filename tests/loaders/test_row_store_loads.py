"""The row store is correct after loads, appends, replacements, rebuilds and changes of the schema."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adql.translation import translate
from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.row_store import find_row_layout
from clickhouse_schema.schema_model import Table
from loaders.control.data_commands import run_command
from loaders.control.table_requests import SchemaRequest
from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.table_rebuild import rebuild_table
from loaders.tables.verify_table import verify_table
from tap_service.config import Config
from tap_service.factory.query_services import build_query_services
from tap_service.models.engine_share import EngineShare
from tap_service.models.query_report import QueryReport
from tap_service.services.queries.query_preparation import Costing
from tap_service.services.queries.query_run import QueryRun
from tap_service.services.queries.row_look_ups import RowLookUps
from tap_service.services.queries.stored_row_source import StoredRowSource
from tap_service.services.queries.tap_parameters import read_tap_parameters
from tap_service.services.queries.thrifty_source import ThriftySource
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tests.loaders.recorder import Recorder

PLAIN = """\
name: whole_rows
tables:
- name: objects
  skyhouse:layout: {position: [ra, dec], id: [id]}
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: note, datatype: unicode}
  - {name: c1, datatype: float}
  - {name: c0, datatype: float}
  - {name: c, datatype: short}
  - {name: d, datatype: timestamp}
  - {name: e, datatype: boolean}
"""
SCHEMA = PLAIN.replace("id: [id]}", "id: [id], row_store: true}")
HEADER = "id,ra,dec,note,c1,c0,c,d,e\n"
ROWS = HEADER + "1,10,20,first,1,2,3,2020-01-01T00:00:00,true\n2,30,40,ü,-1,5,6,1999-12-31T23:59:59.999999,false\n"
MORE_ROWS = HEADER + "3,50,60,,,,,,\n4,70,80,last,1,1,1,2000-01-01T00:00:00,true\n"


@pytest.fixture
def engine_with_rows(engine: EmbeddedEngine, tmp_path: Path) -> EmbeddedEngine:
    """An engine with a table of two rows."""
    engine_setup.prepare_engine(engine)
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "whole_rows":
            drop_table(engine, entry.qualified_name, Recorder())
    _load(engine, tmp_path, SCHEMA, ROWS)
    return engine


def _load(engine: EmbeddedEngine, folder: Path, schema: str, rows: str, mode: str = "create") -> None:
    (folder / "rows.csv").write_text(rows)
    (folder / "schema.yaml").write_text(schema)
    file = None if mode == "append" else folder / "schema.yaml"
    load_files(
        engine,
        LoadRequest(
            files=(folder / "rows.csv",), table="whole_rows.objects", rejects=folder / "r", schema_file=file, mode=mode
        ),
        Recorder(),
    )


def _apply(engine: EmbeddedEngine, folder: Path, schema: str) -> list[str]:
    (folder / "schema.yaml").write_text(schema)
    recorder = Recorder()
    code = run_command(engine, SchemaRequest(command="schema apply", schema_file=folder / "schema.yaml"), recorder)
    assert code == 0, recorder.messages
    return recorder.lines


def _get_table(engine: EmbeddedEngine) -> Table:
    entry = catalogue_log.read_catalogue(engine).find_entry("whole_rows", "objects")
    assert entry is not None
    return entry.table


def _check_rows(engine: EmbeddedEngine, count: int) -> None:
    """Compare the row store with the columns, by verify and by a look-up."""
    recorder = Recorder()
    verify_table(engine, "whole_rows.objects", recorder)
    assert f"row store: {count} rows compared with their columns" in recorder.lines
    query = "SELECT * FROM whole_rows.objects WHERE id IN (1, 2, 3, 4, 5)"
    translation = translate(query, catalogue_log.read_catalogue(engine))
    assert translation.stored_rows is not None
    wanted = engine.fetch_table(translation.sql, translation.settings).to_pylist()
    source = StoredRowSource(engine, translation.stored_rows, RowLookUps(engine))
    with source.stream_batches("SELECT throwIf(1)", settings=translation.settings) as batches:
        found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert sorted(found) == sorted(tuple(row.values()) for row in wanted)
    assert len(found) == count


def test_loads_appends_replacements_and_rebuilds(engine_with_rows: EmbeddedEngine, tmp_path: Path) -> None:
    engine = engine_with_rows
    _check_rows(engine, 2)
    _load(engine, tmp_path, SCHEMA, MORE_ROWS, mode="append")  # the first NULLs: columns become Nullable
    _check_rows(engine, 4)
    rebuild_table(engine, "whole_rows.objects", Recorder())
    _check_rows(engine, 4)
    _load(engine, tmp_path, SCHEMA, MORE_ROWS, mode="replace")
    _check_rows(engine, 2)


def test_verify_finds_a_row_that_differs(engine_with_rows: EmbeddedEngine) -> None:
    layout = find_row_layout(_get_table(engine_with_rows))
    assert layout is not None
    spoil = f"UPDATE `{layout.column}` = 'x' WHERE id = 1"
    engine_with_rows.execute(f"ALTER TABLE whole_rows.objects MODIFY COLUMN `{layout.column}` REMOVE MATERIALIZED")
    engine_with_rows.execute(f"ALTER TABLE whole_rows.objects {spoil}", {"mutations_sync": 2})
    with pytest.raises(LoadError, match="1 rows differ from their row store"):
        verify_table(engine_with_rows, "whole_rows.objects", Recorder())


def test_a_mutation_of_a_column_changes_the_row_store(engine_with_rows: EmbeddedEngine) -> None:
    engine_with_rows.execute("ALTER TABLE whole_rows.objects UPDATE c = 77 WHERE id = 1", {"mutations_sync": 2})
    _check_rows(engine_with_rows, 2)


def test_schema_apply_adds_changes_and_drops_it(engine_with_rows: EmbeddedEngine, tmp_path: Path) -> None:
    engine = engine_with_rows
    columns = "SELECT name FROM system.columns WHERE database = 'whole_rows' AND startsWith(name, '__row_')"
    assert _apply(engine, tmp_path, PLAIN) == [
        "whole_rows.objects has a row store that does not match the file",
        "in the catalogue whole_rows.objects has another skyhouse:layout",
    ]
    assert not engine.fetch_table(columns).num_rows
    assert "the row store of whole_rows.objects is missing" in _apply(engine, tmp_path, SCHEMA)
    _check_rows(engine, 2)
    assert _apply(engine, tmp_path, SCHEMA + "  - {name: f, datatype: double}\n") == [
        "the column f of whole_rows.objects is missing",
        "the row store of whole_rows.objects is missing",
        "whole_rows.objects has a row store that does not match the file",
        "the column f of whole_rows.objects is not in the catalogue",
    ]
    _check_rows(engine, 2)
    assert engine.fetch_table(columns).num_rows == 1
    _load(
        engine,
        tmp_path,
        SCHEMA,
        MORE_ROWS.replace(",e\n", ",e,f\n").replace("true", "true,5").replace(",,\n", ",,,\n"),
        mode="append",
    )
    _check_rows(engine, 4)


_TIMES_OF_THE_QUERY = re.compile(rb"request_date[^\n]*|elapsed[^\n]*|seconds[^\n]*|DATE    =[^/]*/")


class _Sink:
    """Keeps a document."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        self.data += data


@pytest.mark.parametrize("form", ["csv", "votable", "votable/td", "fits", "parquet", "json", "ecsv"])
def test_a_service_answers_the_same_with_and_without(
    engine_with_rows: EmbeddedEngine, tmp_path: Path, form: str
) -> None:
    engine = engine_with_rows
    _load(engine, tmp_path, SCHEMA, MORE_ROWS, mode="append")
    config = Config(jobs_path=tmp_path / "jobs", query_log="")
    jobs = SqliteJobStore(config.jobs_path)
    documents, sources = [], []
    for schema in (SCHEMA, PLAIN):
        _apply(engine, tmp_path, schema)
        components = build_query_services(config, engine, jobs, are_helpers_kept_ready=False)
        components.start()
        query = "SELECT TOP 3 * FROM whole_rows.objects WHERE id IN (1, 2, 3, 4) ORDER BY id DESC"
        parameters = read_tap_parameters([("QUERY", query), ("LANG", "ADQL"), ("RESPONSEFORMAT", form)], 1000)
        prepared = components.preparation.prepare_query(parameters, "whole-rows", 100, costing=Costing.UNLESS_SMALL)
        report = QueryReport()
        sink = _Sink()
        QueryRun(prepared, report).run(sink, EngineShare())
        assert report.rows == 3
        sources.append(type(prepared.source))
        documents.append(_TIMES_OF_THE_QUERY.sub(b"", sink.data))
        components.close()
    jobs.close()
    assert sources == [StoredRowSource, ThriftySource]
    assert documents[0] == documents[1]
