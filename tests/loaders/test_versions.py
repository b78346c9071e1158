"""Tables of versions: the latest version of each key is in a second table, whatever is loaded, corrected or killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adql.translation import translate
from clickhouse_schema.engine_tables import catalogue_log, density_table, engine_setup
from clickhouse_schema.engine_tables.table_versions import read_table_versions
from loaders.load_error import LoadError
from loaders.pipeline import chunk_reader
from loaders.pipeline.correct_rows import correct_rows
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from loaders.storage.stored_table import wait_for_mutations
from loaders.tables.drop_table import drop_table
from loaders.tables.schema_apply import apply_schema
from loaders.tables.table_list import list_tables
from loaders.tables.table_rebuild import rebuild_table
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder

SCHEMA = """
name: versioned
tables:
- name: object
  description: Objects at some time.
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: start, datatype: double}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: flux, datatype: float}
  - {name: end, datatype: double}
  - {name: note, datatype: unicode}
  skyhouse:layout:
    position: [ra, dec]
    id: [id, start]
    time: start
    years: true
    indexes: [flux]
    versions: {key: [id], by: start}
"""

Row = dict[str, Any]


@pytest.fixture
def folder(engine: EmbeddedEngine, tmp_path: Path) -> Iterator[Path]:
    """The folder of the files. The tables of the schema are dropped afterwards."""
    engine_setup.prepare_engine(engine)
    (tmp_path / "versioned.yaml").write_text(SCHEMA)
    yield tmp_path
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "versioned":
            catalogue_log.unregister_table(engine, "versioned", entry.table.name)
    engine.execute("DROP DATABASE IF EXISTS versioned SYNC")


def make_rows(random: np.random.Generator, count: int, keys: int = 300) -> list[Row]:
    """Return versions of some keys; each time occurs once."""
    return [
        {
            "id": int(random.integers(keys)),
            "start": float(random.uniform(60000, 61500)),
            "ra": float(random.uniform(0, 360)),
            "dec": float(random.uniform(-90, 90)),
            "flux": float(np.float32(random.normal())),
            "end": None,
            "note": None if random.random() < 0.5 else f"note {random.integers(9)}",
        }
        for _ in range(count)
    ]


def write(folder: Path, rows: list[Row]) -> Path:
    file = folder / f"{len([*folder.iterdir()])}.parquet"
    types = {"id": pa.int64(), "flux": pa.float32(), "note": pa.string()}
    columns = {name: pa.array([row[name] for row in rows], types.get(name, pa.float64())) for name in rows[0]}
    pq.write_table(pa.table(columns), file, row_group_size=100)
    return file


def load(engine: Any, folder: Path, rows: list[Row], mode: Mode = "append") -> None:
    schema = None if mode == "append" else folder / "versioned.yaml"
    request = LoadRequest(
        files=(write(folder, rows),),
        table="versioned.object",
        rejects=folder / "rejects.csv",
        schema_file=schema,
        mode=mode,
    )
    load_files(engine, request, Recorder())


def correct(engine: Any, folder: Path, kind: Literal["update", "delete"], rows: list[Row]) -> None:
    request = CorrectionRequest(
        command=kind, files=(write(folder, rows),), table="versioned.object", rejects=folder / "rejects.csv"
    )
    correct_rows(engine, request, Recorder())


def fetch(engine: EmbeddedEngine, table: str) -> list[Row]:
    found: list[Row] = engine.fetch_table(f"SELECT * FROM versioned.{table} ORDER BY ALL").to_pylist()
    return found


def find_latest(rows: list[Row]) -> list[Row]:
    latest: dict[int, Row] = {}
    for row in rows:
        known = latest.get(row["id"])
        if known is None or row["start"] > known["start"]:
            latest[row["id"]] = row
    return [latest[key] for key in sorted(latest)]


def check(engine: EmbeddedEngine, rows: list[Row]) -> None:
    """Compare both tables with all versions, and their counts with the rows."""
    assert fetch(engine, "object") == sorted(rows, key=lambda row: (row["id"], row["start"]))
    assert fetch(engine, "object_last") == find_latest(rows)
    wait_for_mutations(engine, "system.mutations", "skyhouse", "density")  # counts of an earlier table with this name
    for table in ("object", "object_last"):
        verify_table(engine, f"versioned.{table}", Recorder())
        counted = density_table.read_density(engine, "versioned", table).column("rows").to_pylist()
        assert sum(counted) == len(rows if table == "object" else find_latest(rows))
    left = engine.fetch_table("SELECT name FROM system.tables WHERE database = 'versioned' ORDER BY name")
    assert left.column(0).to_pylist() == ["object", "object_last"]
    assert not engine.fetch_table("SELECT 1 FROM system.tables WHERE startsWith(name, 'correction_')").num_rows


def test_the_version_of_the_latest_rows_changes_with_the_table_of_all_versions(
    engine: EmbeddedEngine, folder: Path
) -> None:
    rows = make_rows(np.random.default_rng(1), 400, keys=20)
    engine.execute(  # the clock was ahead
        "INSERT INTO skyhouse.catalogue SELECT max(version) + 60000000000, 'x', 'x', '', 0, '' FROM skyhouse.catalogue"
    )
    load(engine, folder, rows[:200], "create")
    keys = [("versioned", name) for name in ("object", "object_last")]
    known = [read_table_versions(engine, keys)]
    load(engine, folder, rows[200:300])
    known.append(read_table_versions(engine, keys[1:]) | read_table_versions(engine, keys[:1]))
    correct(engine, folder, "delete", [{"id": rows[0]["id"], "start": rows[0]["start"]}])
    known.append(read_table_versions(engine, keys))
    for key in keys:
        assert known[0][key] < known[1][key] < known[2][key]
    assert read_table_versions(engine, [("versioned", "none")]) == {}


def test_random_changes_give_what_python_computes(
    engine: EmbeddedEngine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_reader, "CHUNK_ROWS", 400)  # some appends are larger
    random = np.random.default_rng(0)
    rows = make_rows(random, 1000)
    load(engine, folder, rows, "create")
    check(engine, rows)
    for kind in random.choice(["append", "append", "large", "update", "move", "delete", "replace"], 5):
        chosen = [rows[i] for i in random.choice(len(rows), 150, replace=False)]
        ids: list[Row] = [{"id": row["id"], "start": row["start"]} for row in chosen]
        if kind in ("append", "large"):
            added = make_rows(random, 700 if kind == "large" else 100, 330)
            load(engine, folder, added)
            rows = rows + added
        elif kind == "delete":
            correct(engine, folder, "delete", ids)
            gone = [(row["id"], row["start"]) for row in ids]
            rows = [row for row in rows if (row["id"], row["start"]) not in gone]
        elif kind == "replace":
            rows = make_rows(random, 500)
            load(engine, folder, rows, "replace")
        else:
            for row in ids:
                row |= {"end": float(random.uniform(0, 1)), "flux": None if random.random() < 0.1 else 7.0}
                row |= {"ra": float(random.uniform(0, 360))} if kind == "move" else {}
            correct(engine, folder, "update", ids)
            changes = {(row["id"], row["start"]): row for row in ids}
            rows = [row | changes.get((row["id"], row["start"]), {}) for row in rows]
        check(engine, rows)


def test_one_of_several_versions_with_equal_times_is_the_latest_whatever_the_order(
    engine: EmbeddedEngine, folder: Path
) -> None:
    base = make_rows(np.random.default_rng(1), 1)[0] | {"id": 1, "start": 60000.0}
    ties = [base | {"flux": float(n)} for n in range(3)]
    chosen = []
    for order in (ties, ties[::-1]):
        load(engine, folder, [base | {"id": 2, "end": float(len(chosen))}], "replace")
        for row in order:
            load(engine, folder, [row])
        found = fetch(engine, "object_last")
        assert [row["id"] for row in found] == [1, 2]
        chosen.append(found[0]["flux"])
        verify_table(engine, "versioned.object", Recorder())
    assert chosen[0] == chosen[1]
    load(engine, folder, [*ties, *ties], "replace")
    assert [row["flux"] for row in fetch(engine, "object_last")] == chosen[:1]
    verify_table(engine, "versioned.object", Recorder())


def test_a_version_without_a_time_is_older_than_any(engine: EmbeddedEngine, folder: Path) -> None:
    base = make_rows(np.random.default_rng(1), 1)[0]
    load(engine, folder, [base | {"id": n, "start": None} for n in (1, 2)], "create")
    load(engine, folder, [base | {"id": 1, "start": -5.0}])
    load(engine, folder, [base | {"id": 1, "start": None, "flux": 9.0}])
    assert [(row["id"], row["start"]) for row in fetch(engine, "object_last")] == [(1, -5.0), (2, None)]
    verify_table(engine, "versioned.object", Recorder())


def test_a_version_that_moved_leaves_its_old_position(engine: EmbeddedEngine, folder: Path) -> None:
    base = make_rows(np.random.default_rng(1), 1)[0] | {"id": 1}
    load(engine, folder, [base | {"start": 60000.0, "ra": 10.0, "dec": 10.0}], "create")
    load(engine, folder, [base | {"start": 60001.0, "ra": 20.0, "dec": 10.0}])
    catalogue = catalogue_log.read_catalogue(engine)
    for longitude, count in ((10, 0), (20, 1)):
        query = f"SELECT id FROM versioned.object_last WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({longitude}, 10, 0.1))"
        assert engine.fetch_table(translate(query, catalogue).sql).num_rows == count


def test_masked_rows_are_not_found_and_do_not_accumulate(engine: EmbeddedEngine, folder: Path) -> None:
    rows = make_rows(np.random.default_rng(1), 20_000, 10**9)
    load(engine, folder, rows, "create")
    for visit in range(6):
        added = [row | {"start": 62000.0 + visit} for row in rows[:2000]]
        load(engine, folder, added)
        parts = (
            "SELECT sum(rows) AS n FROM system.parts WHERE database = 'versioned' AND table = 'object_last' AND active"
        )
        assert engine.fetch_table(parts).column(0)[0].as_py() < 27_000
    recorder = Recorder()
    list_tables(engine, recorder)
    assert any(line.startswith("versioned.object_last ") and " 20,000 rows " in line for line in recorder.lines)
    catalogue = catalogue_log.read_catalogue(engine)
    everywhere = {"min_table_rows_to_use_projection_index": 0}
    for i, start in ((5, 62005.0), (5000, rows[5000]["start"])):
        sql = translate(f"SELECT start FROM versioned.object_last WHERE id = {rows[i]['id']}", catalogue).sql
        assert engine.fetch_table(sql, everywhere).column(0).to_pylist() == [start]


def test_the_latest_versions_are_a_table_of_the_catalogue(engine: EmbeddedEngine, folder: Path) -> None:
    load(engine, folder, make_rows(np.random.default_rng(1), 500), "create")
    entry = catalogue_log.read_catalogue(engine).find_entry("versioned", "object_last")
    assert entry is not None
    assert entry.rows == len(fetch(engine, "object_last"))
    assert entry.table.description == "The latest version of each id of object, by start. Objects at some time."
    where = "WHERE table_name = 'versioned.object_last' ORDER BY column_index"
    found = engine.fetch_table(f"SELECT column_name, indexed FROM TAP_SCHEMA.columns {where}").to_pylist()
    names = ["id", "start", "ra", "dec", "flux", "end", "note"]
    assert [row["column_name"].strip('"') for row in found] == names
    assert [row["indexed"] for row in found] == [1, 0, 1, 1, 1, 0, 0]
    recorder = Recorder()
    list_tables(engine, recorder)
    assert any(line.startswith("versioned.object_last ") for line in recorder.lines)
    rebuild_table(engine, "versioned.object_last", Recorder())
    verify_table(engine, "versioned.object", Recorder())


def test_the_table_of_latest_versions_cannot_be_changed_directly(engine: EmbeddedEngine, folder: Path) -> None:
    rows = make_rows(np.random.default_rng(1), 10)
    load(engine, folder, rows, "create")
    file = write(folder, rows)
    told = r"versioned\.object_last has the latest versions of versioned\.object, which it follows: change that table instead"
    with pytest.raises(LoadError, match=told):
        load_files(
            engine,
            LoadRequest(files=(file,), table="versioned.object_last", rejects=folder / "r", mode="append"),
            Recorder(),
        )
    with pytest.raises(LoadError, match=told):
        correct_rows(
            engine,
            CorrectionRequest(command="delete", files=(file,), table="versioned.object_last", rejects=folder / "r"),
            Recorder(),
        )
    with pytest.raises(LoadError, match=told):
        drop_table(engine, "versioned.object_last", Recorder())
    drop_table(engine, "versioned.object", Recorder())
    assert not [e for e in catalogue_log.read_catalogue(engine).entries if e.schema.name == "versioned"]


def test_the_name_of_another_table_is_rejected(engine: EmbeddedEngine, folder: Path) -> None:
    rows = make_rows(np.random.default_rng(1), 10)
    load_files(
        engine,
        LoadRequest(files=(write(folder, rows),), table="versioned.object_last", rejects=folder / "r"),
        Recorder(),
    )
    with pytest.raises(
        LoadError, match=r"there is a table versioned\.object_last, .* give them another name with last"
    ):
        load(engine, folder, rows, "create")
    (folder / "versioned.yaml").write_text(SCHEMA.replace("by: start", "by: start, last: newest"))
    load(engine, folder, rows, "create")
    assert fetch(engine, "newest") == find_latest(rows)


def test_a_table_that_is_replaced_without_versions_has_none(engine: EmbeddedEngine, folder: Path) -> None:
    rows = make_rows(np.random.default_rng(1), 10)
    load(engine, folder, rows, "create")
    (folder / "versioned.yaml").write_text(SCHEMA.replace("    versions: {key: [id], by: start}\n", ""))
    with pytest.raises(LoadError, match=r"versions of versioned\.object determines .*--replace"):
        apply_schema(engine, folder / "versioned.yaml", Recorder())
    load(engine, folder, rows, "replace")
    found = [e.table.name for e in catalogue_log.read_catalogue(engine).entries if e.schema.name == "versioned"]
    assert found == ["object"]


def test_a_new_column_is_added_to_the_latest_versions_too(engine: EmbeddedEngine, folder: Path) -> None:
    rows = make_rows(np.random.default_rng(1), 10)
    load(engine, folder, rows, "create")
    wider = SCHEMA.replace("  skyhouse:layout:", "  - {name: mag, datatype: float}\n  skyhouse:layout:")
    (folder / "versioned.yaml").write_text(wider)
    apply_schema(engine, folder / "versioned.yaml", Recorder())
    load(engine, folder, [rows[0] | {"start": 70000.0, "mag": 3.0}])
    [row] = [row for row in fetch(engine, "object_last") if row["id"] == rows[0]["id"]]
    assert (row["start"], row["mag"]) == (70000.0, 3.0)
    verify_table(engine, "versioned.object", Recorder())


def test_a_table_that_was_created_empty_gets_versions(engine: EmbeddedEngine, folder: Path) -> None:
    apply_schema(engine, folder / "versioned.yaml", Recorder())
    assert fetch(engine, "object_last") == []
    rows = make_rows(np.random.default_rng(1), 10)
    load(engine, folder, rows)
    check(engine, rows)


def test_verify_finds_a_row_that_is_not_the_latest(engine: EmbeddedEngine, folder: Path) -> None:
    rows = make_rows(np.random.default_rng(1), 10)
    load(engine, folder, rows, "create")
    change = f"ALTER TABLE versioned.object_last UPDATE note = 'x' WHERE id = {rows[0]['id']}"
    engine.execute("ALTER TABLE versioned.object_last MODIFY COLUMN note Nullable(String)", {"mutations_sync": 2})
    engine.execute(change, {"mutations_sync": 2})
    with pytest.raises(LoadError, match=r"object_last has .* rows that differ from the .* latest versions"):
        verify_table(engine, "versioned.object", Recorder())
