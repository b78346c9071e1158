"""Felis files with keys that databases need and Skyhouse does not: ``schema check``, ``plan``, ``apply``, and loads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from clickhouse_schema.engine_tables import engine_setup
from loaders.cli.skyhouse_command import app
from loaders.control.data_commands import run_command
from loaders.control.table_requests import SchemaRequest
from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder

BASE = """\
name: base
tables:
- name: Visit
  columns:
  - {name: visit, datatype: long, nullable: false, tap:principal: 1, tap:std: 0, mysql:datatype: BIGINT}
  - {name: begin, datatype: timestamp, precision: 6, value: CURRENT_TIMESTAMP}
"""
FELIS = """\
name: felis
version: {current: "1.0"}
resources:
  base: {uri: base.yaml}
tables:
- name: Source
  mysql:engine: MyISAM
  primaryKey: "#Source.id"
  columns:
  - {name: id, datatype: long, mysql:datatype: BIGINT}
  - {name: visit, datatype: long, fits:tunit: , mysql:datatype: BIGINT}
  - {name: psf, datatype: binary, length: 8, mysql:datatype: BINARY(8)}
  constraints:
  - {name: UQ_Source, "@type": Unique, columns: ["#Source.visit"]}
  - {name: FK_Source, "@type": ForeignKey, columns: ["#Source.visit"], referencedColumns: ["#Visit.visit"]}
- name: Visit
  primaryKey: "#Visit.visit"
  columnRefs: {base: {Visit: {visit: , begin: }}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "felis.yaml").write_text(FELIS)
    return tmp_path / "felis.yaml"


@pytest.fixture
def applied(engine: EmbeddedEngine, file: Path) -> Iterator[EmbeddedEngine]:
    """The tests' engine with the tables of the file, which are dropped afterwards."""
    engine_setup.prepare_engine(engine)
    assert run_command(engine, SchemaRequest(command="schema apply", schema_file=file), Recorder()) == 0
    yield engine
    for table in ("felis.Source", "felis.Visit"):
        drop_table(engine, table, Recorder())


def ask(engine: EmbeddedEngine, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in engine.fetch_table(sql).to_pylist()]


def test_an_applied_file_matches_the_engine(applied: EmbeddedEngine, file: Path) -> None:
    recorder = Recorder()
    assert run_command(applied, SchemaRequest(command="schema plan", schema_file=file), recorder) == 0
    assert recorder.lines == [f"-- the engine matches {file}"]
    assert len(recorder.messages) == 6


def test_tap_schema_has_what_the_file_says(applied: EmbeddedEngine) -> None:
    columns = ask(
        applied,
        "SELECT column_name, datatype, arraysize, principal, indexed FROM TAP_SCHEMA.columns "
        "WHERE startsWith(table_name, 'felis.') ORDER BY table_name, column_name",
    )
    assert columns == [
        ("id", "long", None, 0, 1),
        ("psf", "unsignedByte", "8*", 0, 0),
        ("visit", "long", None, 0, 0),
        ('"begin"', "char", "*", 0, 0),
        ("visit", "long", None, 1, 1),
    ]
    keys = "SELECT key_id, target_table FROM TAP_SCHEMA.keys WHERE startsWith(from_table, 'felis.')"
    assert ask(applied, keys) == [("felis.Source.FK_Source", "felis.Visit")]


def test_binary_values_are_loaded_as_bytes(applied: EmbeddedEngine, file: Path) -> None:
    values = pa.array([[0, 255], None, []], pa.list_(pa.uint8()))
    rows = file.parent / "rows.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3], "visit": [7, 8, 9], "psf": values}), rows)
    load_files(
        applied, LoadRequest(files=(rows,), table="felis.Source", rejects=file.parent / "r", mode="append"), Recorder()
    )
    found = ask(applied, "SELECT id, psf FROM felis.Source ORDER BY id")
    assert [(number, [*psf]) for number, psf in found if isinstance(psf, list)] == [(1, [0, 255]), (2, []), (3, [])]


def test_a_strict_load_rejects_what_the_check_reports(engine: EmbeddedEngine, file: Path) -> None:
    rows = file.parent / "rows.csv"
    rows.write_text("visit,begin\n1,2020-01-01T00:00:00\n")
    with pytest.raises(LoadError) as caught:
        load_files(
            engine,
            LoadRequest(files=(rows,), table="felis.Visit", rejects=file.parent / "r", schema_file=file, strict=True),
            Recorder(),
        )
    result = CliRunner().invoke(app, ["schema", "check", str(file)])
    assert [f"warning: {line}" for line in str(caught.value).splitlines()] == result.output.splitlines()


@pytest.fixture
def lacking(file: Path) -> Path:
    """The file without its resource, from which the table Visit takes its columns."""
    (file.parent / "base.yaml").unlink()
    return file


def test_a_plan_names_the_tables_of_which_a_file_is_missing(engine: EmbeddedEngine, lacking: Path) -> None:
    engine_setup.prepare_engine(engine)
    recorder = Recorder()
    assert run_command(engine, SchemaRequest(command="schema plan", schema_file=lacking), recorder) == 0
    assert recorder.lines[-1] == "-- felis.Visit is unknown: 2 columns are in base.yaml, which is missing"
    assert [line.splitlines()[0] for line in recorder.lines if "CREATE TABLE" in line] == [
        "-- the table felis.Source is missing"
    ]
    said = f"warning: {lacking}:4: base.yaml is missing: copy it to the folder of this file; "
    assert recorder.messages[0] == f"{said}these tables with 2 of its columns are left out: Visit"


def test_a_file_with_unknown_tables_differs_from_the_engine(engine: EmbeddedEngine, lacking: Path) -> None:
    engine_setup.prepare_engine(engine)
    recorder = Recorder()
    assert run_command(engine, SchemaRequest(command="schema diff", schema_file=lacking), recorder) == 1
    assert recorder.lines[-1] == "felis.Visit is unknown: 2 columns are in base.yaml, which is missing"


def test_only_plans_work_without_a_file(engine: EmbeddedEngine, lacking: Path) -> None:
    engine_setup.prepare_engine(engine)
    recorder = Recorder()
    said = f"error: {lacking}:4: the resource base: base.yaml is missing: copy it to the folder of this file"
    assert run_command(engine, SchemaRequest(command="schema apply", schema_file=lacking), recorder) == 1
    assert (recorder.lines, recorder.messages) == ([], [said])
    result = CliRunner().invoke(app, ["schema", "check", str(lacking)])
    assert (result.exit_code, result.output) == (1, f"{said}\n")
    assert not engine.fetch_table("SELECT 1 FROM system.tables WHERE database = 'felis'").num_rows


def test_the_check_needs_no_engine(file: Path) -> None:
    result = CliRunner().invoke(app, ["schema", "check", str(file)])
    assert result.exit_code == 1
    assert result.output.replace(f"{file.parent}/", "").splitlines() == [
        "warning: felis.yaml:7: mysql:engine is ignored: keys of mysql are for another program",
        "warning: felis.yaml:10: mysql:datatype is ignored: keys of mysql are for another program "
        "(3 times; next on line 11, 12)",
        "warning: felis.yaml:11: fits:tunit has no value: give one, or remove the line",
        "warning: felis.yaml:14: Unique constraints are ignored: they are not enforced",
        "warning: base.yaml:5: mysql:datatype is ignored: keys of mysql are for another program",
        "warning: base.yaml:6: value is ignored: missing values are NULL",
    ]
    assert not (file.parent / "data").exists()


def test_the_check_of_a_wrong_file_and_of_a_good_file(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("name: s\ntables:\n- name: t\n  columns: [{name: a, datatype: int, ivoa:unt: m}]\n")
    result = CliRunner().invoke(app, ["schema", "check", str(path)])
    assert (result.exit_code, result.output) == (
        1,
        f"error: {path}:4: unknown key 'ivoa:unt': did you mean 'ivoa:unit'?\n",
    )
    path.write_text(path.read_text().replace("unt", "unit"))
    result = CliRunner().invoke(app, ["schema", "check", str(path)])
    assert (result.exit_code, result.output) == (0, f"{path}: nothing to report\n")
    result = CliRunner().invoke(app, ["schema", "check", str(tmp_path / "no.yaml")])
    assert (result.exit_code, result.output) == (
        1,
        f"error: {tmp_path}/no.yaml: cannot be read: No such file or directory\n",
    )


def test_a_load_names_the_lines_of_columns_that_a_file_lacks(engine: EmbeddedEngine, tmp_path: Path) -> None:
    columns = "".join(f"  - name: c{i}\n    datatype: int\n" for i in range(1000))
    schema, rows = tmp_path / "wide.yaml", tmp_path / "rows.csv"
    schema.write_text(f"name: wide\ntables:\n- name: t\n  columns:\n{columns}")
    rows.write_text("c0,C1,x\n1,2,3\n")
    with pytest.raises(LoadError) as caught:
        load_files(
            engine, LoadRequest(files=(rows,), table="wide.t", rejects=tmp_path / "r", schema_file=schema), Recorder()
        )
    names = ", ".join(f"c{i}" for i in range(2, 12))
    lines = ", ".join(f"{schema}:{5 + 2 * i}" for i in range(2, 12))
    said = f"{rows} has no column {names} and 988 more of table t ({lines} and 988 more; it has c0, C1, x); correct"
    assert str(caught.value).startswith(said)


def test_describe_reports_what_is_wrong_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "t.ecsv"
    names = "".join(f"# - {{name: c{i}, datatype: int32, unit: furlong}}\n" for i in range(1000))
    header = f"# %ECSV 1.0\n# ---\n# datatype:\n{names}"
    path.write_text(f"{header}{' '.join(f'c{i}' for i in range(1000))}\n{'1 ' * 999}1\n")
    result = CliRunner().invoke(app, ["describe", str(path), "--table", "s.t"])
    [warning] = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    said = warning.removeprefix(f"warning: skyhouse describe {path}:")
    assert said.partition(": ")[0] == str(result.stdout.splitlines().index("    ivoa:unit: furlong") + 1)
    assert said.endswith("(1,000 times; next on line 10, 13, 16)")
