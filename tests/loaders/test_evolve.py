"""``skyhouse schema diff|plan|apply``: comparing the engine with a schema file, and changing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from loaders.control.data_commands import run_command
from loaders.control.table_requests import SchemaRequest, TableRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.pipeline.startup_cleanup import finish_killed_loads
from loaders.tables import schema_apply
from loaders.tables.drop_table import drop_table
from loaders.tables.table_list import list_tables
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.built_request import build_request
from tests.loaders.recorder import Recorder

SCHEMA = """\
name: evolving
description: Stars and their names
tables:
- name: stars
  skyhouse:layout: {position: [ra, dec], id: [id]}
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double, ivoa:unit: deg}
  - {name: dec, datatype: double, ivoa:unit: deg}
"""
MORE = (
    SCHEMA.replace("id: [id]}", "id: [id], indexes: [mag], healpix_order: 3}")
    + """\
  - {name: mag, datatype: float, ivoa:unit: mag, description: Magnitude}
- name: aliases
  skyhouse:layout: {id: [name]}
  columns: [{name: name, datatype: string}, {name: star, datatype: long}]
"""
)


@pytest.fixture
def evolving(engine: EmbeddedEngine, tmp_path: Path) -> EmbeddedEngine:
    """An engine with one table of two rows, created by a load."""
    engine_setup.prepare_engine(engine)
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "evolving":
            drop_table(engine, entry.qualified_name, Recorder())
    _load(engine, tmp_path, SCHEMA, "id,ra,dec\n1,10,20\n2,30,40\n")
    return engine


def _load(
    engine: EmbeddedEngine, folder: Path, schema: str, rows: str, table: str = "stars", mode: str = "create"
) -> None:
    (folder / "rows.csv").write_text(rows)
    (folder / "schema.yaml").write_text(schema)
    file = folder / "schema.yaml" if mode != "append" else None
    load_files(
        engine,
        LoadRequest(
            files=(folder / "rows.csv",), table=f"evolving.{table}", rejects=folder / "r", schema_file=file, mode=mode
        ),
        Recorder(),
    )


def _said(engine: EmbeddedEngine, command: str, folder: Path, schema: str) -> tuple[int, list[str], str]:
    """Return the exit code, lines and messages of a command."""
    (folder / "schema.yaml").write_text(schema)
    recorder = Recorder()
    code = run_command(
        engine, build_request(f"schema {command}", {"schema_file": str(folder / "schema.yaml")}), recorder
    )
    return code, recorder.lines, "\n".join(recorder.messages)


def _entry(engine: EmbeddedEngine, name: str) -> TableEntry:
    [entry] = [e for e in catalogue_log.read_catalogue(engine).entries if e.qualified_name == f"evolving.{name}"]
    return entry


def test_an_engine_that_matches_the_file(evolving: EmbeddedEngine, tmp_path: Path) -> None:
    told = f"the engine matches {tmp_path / 'schema.yaml'}"
    before = catalogue_log.read_catalogue_version(evolving)
    assert _said(evolving, "diff", tmp_path, SCHEMA) == (0, [told], "")
    assert _said(evolving, "plan", tmp_path, SCHEMA) == (0, [f"-- {told}"], "")
    assert _said(evolving, "apply", tmp_path, SCHEMA) == (0, [told], "")
    assert catalogue_log.read_catalogue_version(evolving) == before


def test_differences_are_reported_and_removed(evolving: EmbeddedEngine, tmp_path: Path) -> None:
    differences = [
        "the column mag of evolving.stars is missing",
        "the index by_index_mag of evolving.stars is missing",
        "in the catalogue evolving.stars has another skyhouse:layout",
        "the column mag of evolving.stars is not in the catalogue",
        "the table evolving.aliases is missing",
        "evolving.aliases is not in the catalogue",
    ]
    code, lines, message = _said(evolving, "diff", tmp_path, MORE)
    assert (code, lines) == (1, differences)
    assert message.endswith("schema.yaml: 6 differences")
    code, lines, _ = _said(evolving, "plan", tmp_path, MORE)
    assert code == 0
    assert [line.split("\n")[0] for line in lines] == [f"-- {words}" for words in differences]
    assert lines[0].endswith(
        "ALTER TABLE `evolving`.`stars` ADD COLUMN IF NOT EXISTS `mag` Nullable(Float32) CODEC(LZ4)"
        " COMMENT 'Magnitude' AFTER `dec`;"
    )
    assert _said(evolving, "apply", tmp_path, MORE) == (0, differences, "")
    assert _said(evolving, "diff", tmp_path, MORE)[0] == 0
    assert _entry(evolving, "stars").table.get_column("mag").unit == "mag"
    assert evolving.fetch_table("SELECT 1 FROM TAP_SCHEMA.columns WHERE table_name = 'evolving.aliases'").num_rows == 2
    assert _entry(evolving, "stars").rows == 2
    verify_table(evolving, "evolving.stars", Recorder())


def test_indexes_follow_appends_and_rebuilds(evolving: EmbeddedEngine, tmp_path: Path) -> None:
    named = SCHEMA + "  - {name: name, datatype: unicode, skyhouse:if_missing: leave_out}\n"
    indexed = named.replace("id: [id]}", "id: [id], indexes: [[name, ra], {name: text}]}")
    _load(evolving, tmp_path, indexed, "id,ra,dec\n1,10,20\n", mode="replace")
    assert _entry(evolving, "stars").table.layout.indexes == ()  # no file has the column
    _load(evolving, tmp_path, indexed, "id,ra,dec,name\n1,10,20,a rare star\n2,30,40,\n", mode="replace")
    _load(evolving, tmp_path, indexed, "id,ra,dec,name\n3,50,60,Rare Stars\n", mode="append")
    assert _said(evolving, "diff", tmp_path, indexed)[0] == 0
    assert run_command(evolving, TableRequest(command="rebuild", table="evolving.stars"), Recorder()) == 0
    query = "SELECT id FROM evolving.stars WHERE name ILIKE '%rare%' ORDER BY id"
    translation = translate(query, catalogue_log.read_catalogue(evolving))
    assert evolving.fetch_table(translation.sql, translation.settings).column(0).to_pylist() == [1, 3]
    assert "Name: pieces_name" in evolving.explain_query(translation.sql, translation.settings)
    verify_table(evolving, "evolving.stars", Recorder())


def test_what_was_added_is_loaded_into(evolving: EmbeddedEngine, tmp_path: Path) -> None:
    assert _said(evolving, "apply", tmp_path, MORE)[0] == 0
    recorder = Recorder()
    list_tables(evolving, recorder)
    assert any(line.startswith("evolving.aliases ") and line.endswith("no rows yet") for line in recorder.lines)
    _load(evolving, tmp_path, MORE, "id,ra,dec,mag\n3,50,60,7.5\n", mode="append")
    _load(evolving, tmp_path, MORE, "name,star\nx,3\n", "aliases", mode="append")
    found = evolving.fetch_table("SELECT mag FROM evolving.stars JOIN evolving.aliases AS n ON n.star = stars.id")
    assert found.column(0).to_pylist() == [7.5]
    for name in ("stars", "aliases"):
        verify_table(evolving, f"evolving.{name}", Recorder())


def test_a_change_that_was_killed_before_the_catalogue_knew_it_is_finished(
    evolving: EmbeddedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(schema_apply, "register_table", killed)
        with pytest.raises(KeyboardInterrupt):
            _said(evolving, "apply", tmp_path, MORE)
    assert "mag" not in {column.name for column in _entry(evolving, "stars").table.columns}
    finish_killed_loads(evolving, is_only_user=True)
    assert "mag" in {column.name for column in _entry(evolving, "stars").table.columns}
    assert _said(evolving, "apply", tmp_path, MORE)[0] == 0
    assert _said(evolving, "diff", tmp_path, MORE)[0] == 0


def test_metadata_from_data_files_are_kept(evolving: EmbeddedEngine, tmp_path: Path) -> None:
    described = SCHEMA.replace("datatype: long,", "datatype: long, description: The number,")
    assert _said(evolving, "apply", tmp_path, described)[1] == [
        "the comment on evolving.stars.id differs",
        "in the catalogue evolving.stars.id has another description",
    ]
    assert _said(evolving, "plan", tmp_path, SCHEMA)[1] == [f"-- the engine matches {tmp_path / 'schema.yaml'}"]
    renamed = SCHEMA.replace("Stars and their names", "Only stars")
    assert _said(evolving, "apply", tmp_path, renamed)[1] == ["in the catalogue evolving has another description"]
    assert _entry(evolving, "stars").schema.description == "Only stars"
    assert _entry(evolving, "stars").table.get_column("id").description == "The number"


def test_rejected_changes_change_nothing(evolving: EmbeddedEngine, tmp_path: Path) -> None:
    refused = {
        "evolving.stars.ra is stored as Float64, but": SCHEMA.replace("ra, datatype: double", "ra, datatype: float"),
        "evolving.stars is in the order of hpx29, not of hpx29, dec": SCHEMA.replace("id: [id]", "id: [id], time: dec"),
        "position of evolving.stars determines the index of its rows": SCHEMA.replace("[ra, dec]", "[dec, ra]"),
        "the schema name system is reserved": SCHEMA.replace("name: evolving\n", "name: system\n"),
    }
    before = catalogue_log.read_catalogue_version(evolving)
    for said, changed in refused.items():
        for command in ("apply", "diff"):
            code, lines, message = _said(evolving, command, tmp_path, changed)
            assert code == 1
            assert said in message + "\n".join(lines)
    assert catalogue_log.read_catalogue_version(evolving) == before
    assert evolving.fetch_table("SELECT name FROM system.tables WHERE database = 'evolving'").num_rows == 1
    recorder = Recorder()
    assert run_command(evolving, SchemaRequest(command="schema apply", schema_file=tmp_path / "no.yaml"), recorder) == 1
    assert "no.yaml" in recorder.messages[0]
