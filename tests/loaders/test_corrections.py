"""``skyhouse update`` and ``skyhouse delete`` on one server: which rows change, and which corrections are rejected."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adql.translation import translate
from clickhouse_schema.engine_tables import catalogue_log, density_table, engine_setup
from clickhouse_schema.failpoints import Failpoint
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline import correct_rows as correct_rows_module
from loaders.pipeline.correct_rows import correct_rows
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at
from tests.loaders.recorder import Recorder

SOURCES = 20_000

SCHEMA = """
name: corrections
tables:
- name: sources
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: object, datatype: long}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: mjd, datatype: double}
  - {name: band, datatype: string, "skyhouse:values": [g, r, i]}
  - {name: flux, datatype: float}
  - {name: withdrawn, datatype: double}
  skyhouse:layout: {position: [ra, dec], id: [id], time: mjd, years: true, indexes: [object], row_store: true}
- name: curve
  columns:
  - {name: object, datatype: long, nullable: false}
  - {name: mjd, datatype: double}
  - {name: run, datatype: string, nullable: false}
  - {name: region, datatype: string, "votable:xtype": "adql:REGION"}
  constraints:
  - {name: of, "@type": ForeignKey, columns: ["#curve.object"], referencedColumns: ["#sources.id"]}
  skyhouse:layout: {id: [run], parent: of, time: mjd}
- name: notes
  columns:
  - {name: note, datatype: unicode}
"""


@pytest.fixture
def folder(engine: EmbeddedEngine, tmp_path: Path) -> Iterator[Path]:
    """The folder of the files; the engine has a table of sources. The tables are dropped afterwards."""
    engine_setup.prepare_engine(engine)
    (tmp_path / "corrections.yaml").write_text(SCHEMA)
    load(engine, tmp_path, "sources", make_sources(SOURCES))
    yield tmp_path
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "corrections":
            catalogue_log.unregister_table(engine, "corrections", entry.table.name)
    engine.execute("DROP DATABASE IF EXISTS corrections SYNC")


def make_sources(count: int, first: int = 0, seed: int = 3) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "id": random.permutation(count) + first,
        "object": random.integers(0, 500, count),
        "ra": random.uniform(0, 360, count),
        "dec": random.uniform(-90, 90, count),
        "mjd": random.uniform(60000, 61000, count),
        "band": random.choice(["g", "r", "i"], count),
        "flux": random.normal(1, 3, count).astype(np.float32),
        "withdrawn": pa.nulls(count, pa.float64()),
    }


def write(folder: Path, columns: dict[str, Any]) -> Path:
    file = folder / f"{len([*folder.iterdir()])}.parquet"
    pq.write_table(pa.table(columns), file)
    return file


def load(
    engine: EmbeddedEngine,
    folder: Path,
    table: str,
    columns: dict[str, Any],
    mode: Literal["create", "append"] = "create",
) -> None:
    schema = folder / "corrections.yaml" if mode == "create" else None
    request = LoadRequest(
        files=(write(folder, columns),),
        table=f"corrections.{table}",
        rejects=folder / "rejects.csv",
        schema_file=schema,
        mode=mode,
    )
    load_files(engine, request, Recorder())


def ask(folder: Path, kind: Literal["update", "delete"], columns: dict[str, Any], **options: Any) -> CorrectionRequest:
    table = options.pop("table", "sources")
    return CorrectionRequest(
        command=kind,
        files=(write(folder, columns),),
        table=f"corrections.{table}",
        rejects=folder / "rejects.csv",
        **options,
    )


def apply(engine: Any, request: CorrectionRequest) -> Recorder:
    recorder = Recorder()
    correct_rows(engine, request, recorder)
    return recorder


def fetch(engine: EmbeddedEngine, columns: str = "*", table: str = "sources") -> list[dict[str, Any]]:
    return engine.fetch_table(f"SELECT {columns} FROM corrections.{table} ORDER BY ALL").to_pylist()  # type: ignore[no-any-return]


def by_id(engine: EmbeddedEngine) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in fetch(engine)}


def verify(engine: EmbeddedEngine, table: str = "sources") -> list[str]:
    recorder = Recorder()
    verify_table(engine, f"corrections.{table}", recorder)
    return recorder.lines


def test_an_update_changes_the_named_columns_of_the_named_rows(engine: EmbeddedEngine, folder: Path) -> None:
    wanted = by_id(engine)
    update = {"id": [5, 7, 9], "object": [1000, 1001, None], "flux": [1.5, np.nan, None], "withdrawn": [1.0, 2.0, None]}
    recorder = apply(engine, ask(folder, "update", update))
    assert recorder.reports == ["corrected 3 rows of corrections.sources"]
    wanted[5] |= {"object": 1000, "flux": 1.5, "withdrawn": 1.0}
    wanted[7] |= {"object": 1001, "withdrawn": 2.0}
    wanted[9] |= {"object": None, "flux": None}
    found = by_id(engine)
    assert np.isnan(found[7].pop("flux"))
    del wanted[7]["flux"]
    assert found == wanted
    assert "corrected: 3 rows by 1 inputs" in verify(engine)


def test_a_column_without_nulls_keeps_its_values_in_other_rows(engine: EmbeddedEngine, folder: Path) -> None:
    wanted = by_id(engine)
    apply(engine, ask(folder, "update", {"id": [5], "flux": np.array([7], np.float32), "band": ["g"]}))
    wanted[5] |= {"flux": 7.0, "band": "g"}
    assert by_id(engine) == wanted


def test_a_row_whose_position_is_corrected_is_moved(engine: EmbeddedEngine, folder: Path) -> None:
    wanted = by_id(engine)
    apply(engine, ask(folder, "update", {"id": [5, 7], "dec": [-wanted[5]["dec"], 0.5], "mjd": [61999.0, 60000.0]}))
    wanted[5] |= {"dec": -wanted[5]["dec"], "mjd": 61999.0}
    wanted[7] |= {"dec": 0.5, "mjd": 60000.0}
    assert by_id(engine) == wanted
    verify(engine)
    cone = f"CIRCLE({wanted[5]['ra']}, {wanted[5]['dec']}, 0.001)"
    query = f"SELECT id FROM corrections.sources WHERE 1 = CONTAINS(POINT(ra, dec), {cone})"
    translation = translate(query, catalogue_log.read_catalogue(engine))
    assert engine.fetch_table(translation.sql).column(0).to_pylist() == [5]


def test_the_parent_by_which_a_curve_is_ordered_can_be_corrected(engine: EmbeddedEngine, folder: Path) -> None:
    shape, other = "Circle ICRS 1 2 3", "Circle ICRS 50 20 1"
    rows = {"object": [1, 1, 2], "mjd": [1.0, 2.0, 3.0], "run": ["a", "b", "c"], "region": [shape] * 3}
    load(engine, folder, "curve", rows)
    update = {"run": ["b", "c"], "object": [2, 9], "mjd": [9.0, 8.0], "region": [other, None]}
    apply(engine, ask(folder, "update", update, table="curve"))
    found = fetch(engine, "object, run, mjd, region", "curve")
    assert [(*row.values(),) for row in found] == [(1, "a", 1.0, shape), (2, "b", 9.0, other), (9, "c", 8.0, None)]
    assert "region: the shapes and covers of 3 rows checked" in verify(engine, "curve")
    apply(engine, ask(folder, "update", {"run": ["a"], "region": [other]}, table="curve"))
    assert fetch(engine, "region", "curve") == [{"region": other}, {"region": other}, {"region": None}]
    verify(engine, "curve")


def test_deleted_rows_are_gone_and_counted(engine: EmbeddedEngine, folder: Path) -> None:
    wanted = by_id(engine)
    gone = [*range(0, SOURCES, 7)]
    recorder = apply(engine, ask(folder, "delete", {"id": gone, "flux": [0.0] * len(gone)}))
    assert recorder.reports == [
        "rows are deleted by id, so these columns are ignored: flux",
        f"deleted {len(gone):,} rows of corrections.sources",
    ]
    assert by_id(engine) == {key: row for key, row in wanted.items() if key % 7}
    lines = verify(engine)
    assert lines[0] == f"corrections.sources: {SOURCES - len(gone):,} rows, {SOURCES:,} were loaded from 1 inputs"
    assert lines[1] == f"deleted: {len(gone):,} rows by 1 inputs"
    density = density_table.read_density(engine, "corrections", "sources")
    assert sum(density.column("rows").to_pylist()) == SOURCES - len(gone)


def test_verify_finds_rows_that_were_not_deleted_by_a_correction(engine: EmbeddedEngine, folder: Path) -> None:
    apply(engine, ask(folder, "delete", {"id": [1, 2]}))
    engine.execute("ALTER TABLE corrections.sources DELETE WHERE id = 3", {"mutations_sync": 2})
    with pytest.raises(LoadError, match="1 rows are missing"):
        verify(engine)


def test_ids_of_no_row_are_rejected_with_their_rows(engine: EmbeddedEngine, folder: Path) -> None:
    before = fetch(engine)
    request = ask(folder, "update", {"id": [1, SOURCES + 1, 2, None], "flux": [1.0, 2.0, 3.0, 4.0]})
    recorder = apply(engine, request)
    assert recorder.lines == [f"corrected 2 rows of corrections.sources; 2 bad rows are in {request.rejects}"]
    with request.rejects.open() as file:
        rejects = {row["line_or_row"]: (row["column"], row["value"], row["reason"]) for row in csv.DictReader(file)}
    assert rejects == {
        "2": ("id", str(SOURCES + 1), "the id of no row of corrections.sources"),
        "4": ("id", "", "has no value, but the column is not nullable"),
    }
    assert len(fetch(engine)) == len(before)


@pytest.mark.parametrize("kind", ["update", "delete"])
def test_too_many_unknown_ids_change_nothing(engine: EmbeddedEngine, folder: Path, kind: Any) -> None:
    before = fetch(engine)
    columns = {"id": [1, *range(SOURCES, SOURCES + 11)], **({"flux": [9.0] * 12} if kind == "update" else {})}
    with pytest.raises(LoadError, match=r"more than 10 bad rows .* the id of no row .* Nothing was changed"):
        apply(engine, ask(folder, kind, columns, max_errors=10))
    assert fetch(engine) == before
    assert leftovers(engine) == []
    verify(engine)


def leftovers(engine: EmbeddedEngine) -> list[str]:
    """Return the tables that a command has left behind."""
    left = "database = 'corrections' AND name LIKE '%\\_\\_%' OR startsWith(name, 'correction_')"
    return engine.fetch_table(f"SELECT name FROM system.tables WHERE {left}").column(0).to_pylist()  # type: ignore[no-any-return]


def test_values_that_do_not_fit_are_rejected_with_their_lines(engine: EmbeddedEngine, folder: Path) -> None:
    file = folder / "update.csv"
    file.write_text("id,band,flux\n1,g,1.5\n2,x,1.5\n3,r,much\n")
    request = CorrectionRequest(
        command="update", files=(file,), table="corrections.sources", rejects=folder / "rejects.csv"
    )
    assert apply(engine, request).lines[0].startswith("corrected 1 rows")
    with request.rejects.open() as rejects:
        assert [(row["line_or_row"], row["column"], row["value"]) for row in csv.DictReader(rejects)] == [
            ("3", "band", "x"),
            ("4", "flux", "much"),
        ]


def test_the_last_of_several_rows_of_an_id_counts(engine: EmbeddedEngine, folder: Path) -> None:
    recorder = apply(engine, ask(folder, "update", {"id": [1, 2, 1, 1], "flux": [1.0, 2.0, 3.0, 4.0]}))
    assert recorder.messages == ["2 rows have the same id as a later row, which applies"]
    assert recorder.lines == ["corrected 2 rows of corrections.sources"]
    assert by_id(engine)[1]["flux"] == 4.0


def test_files_are_applied_once(engine: EmbeddedEngine, folder: Path) -> None:
    first = ask(folder, "update", {"id": [1], "flux": [1.0]})
    other = ask(folder, "update", {"id": [1], "flux": [2.0]})
    apply(engine, first)
    apply(engine, other)
    line = "already applied to corrections.sources: nothing was changed (--again applies the files again)"
    assert apply(engine, first).lines == [line]
    assert by_id(engine)[1]["flux"] == 2.0
    both = CorrectionRequest(
        command="update",
        files=(*first.files, write(folder, {"id": [2], "flux": [2.5]})),
        table=first.table,
        rejects=first.rejects,
    )
    with pytest.raises(LoadError, match=r"already applied to .*parquet\. Give only the other files, or --again"):
        apply(engine, both)
    again = CorrectionRequest(command="update", files=first.files, table=first.table, rejects=first.rejects, again=True)
    assert apply(engine, again).lines == ["corrected 1 rows of corrections.sources"]
    assert by_id(engine)[1]["flux"] == 1.0


def test_what_a_correction_rejects(engine: EmbeddedEngine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fetch(engine)
    load(engine, folder, "notes", {"note": ["a", "b"]})
    refused: list[tuple[dict[str, Any], str]] = [
        ({"id": [1]}, "has only the id"),
        ({"flux": [1.0]}, r"has no column id: the id of corrections\.sources is id"),
        ({"id": [1], "fluxx": [1.0]}, r"has no column fluxx: did you mean flux\?"),
    ]
    for columns, message in refused:
        with pytest.raises(LoadError, match=message):
            apply(engine, ask(folder, "update", columns))
    with pytest.raises(LoadError, match="has no id by which rows can be found: name its columns in id"):
        apply(engine, ask(folder, "delete", {"note": ["a"]}, table="notes"))
    with pytest.raises(LoadError, match=r"no loaded table corrections\.nothing"):
        apply(engine, ask(folder, "delete", {"id": [1]}, table="nothing"))
    short = write(folder, {"id": [2]})
    request = ask(folder, "update", {"id": [1], "flux": [1.0]})
    with pytest.raises(ReadError, match="has no column flux"):
        apply(
            engine,
            CorrectionRequest(
                command="update", files=(*request.files, short), table=request.table, rejects=request.rejects
            ),
        )
    monkeypatch.setattr(correct_rows_module, "MAX_ROWS", 3)
    with pytest.raises(LoadError, match="more than 3 rows, too many for one delete: split the files"):
        apply(engine, ask(folder, "delete", {"id": [1, 2, 3, 4]}))
    assert fetch(engine) == before
    assert leftovers(engine) == []


def test_a_user_who_stops_a_correction_has_changed_nothing(engine: EmbeddedEngine, folder: Path) -> None:
    before = fetch(engine)
    with pytest.raises(LoadCancelled):
        correct_rows(engine, ask(folder, "delete", {"id": [1]}), Recorder(stop_after=0))
    assert fetch(engine) == before
    assert leftovers(engine) == []


def test_a_correction_is_noticed_by_stored_results(engine: EmbeddedEngine, folder: Path) -> None:
    tables = [("corrections", "sources")]
    before = catalogue_log.read_content_stamps(engine, tables)
    apply(engine, ask(folder, "update", {"id": [1], "flux": [1.0]}))
    assert catalogue_log.read_content_stamps(engine, tables) != before


def test_an_append_that_was_killed_is_finished_first(engine: EmbeddedEngine, folder: Path) -> None:
    file = write(folder, make_sources(10, SOURCES))
    append = LoadRequest(files=(file,), table="corrections.sources", rejects=folder / "rejects.csv", mode="append")
    with killed_at(engine, Failpoint.APPENDS_WRITE) as dying:
        load_files(dying, append, Recorder())
    recorder = apply(engine, ask(folder, "update", {"id": [SOURCES], "flux": [1.0]}))
    assert recorder.messages == [f"finishing a stopped append: {file}"]
    assert recorder.lines == ["corrected 1 rows of corrections.sources"]
    verify(engine)


def test_random_changes_give_what_python_computes(engine: EmbeddedEngine, folder: Path) -> None:
    random = np.random.default_rng(0)
    wanted = by_id(engine)
    for step in range(6):
        kind = random.choice(["append", "update", "move", "delete"])
        if kind == "append":
            rows = make_sources(50, SOURCES + 50 * step, 0)
            load(engine, folder, "sources", rows, "append")
            lists = {name: (v.to_pylist() if isinstance(v, pa.Array) else v.tolist()) for name, v in rows.items()}
            wanted |= {lists["id"][i]: {name: v[i] for name, v in lists.items()} for i in range(50)}
            continue
        ids = random.choice([*wanted], 200, replace=False).tolist()
        if kind == "delete":
            apply(engine, ask(folder, "delete", {"id": ids}))
            wanted = {key: row for key, row in wanted.items() if key not in ids}
            continue
        columns = {"object": random.integers(0, 500, 200).tolist(), "withdrawn": random.uniform(0, 1, 200).tolist()}
        if kind == "move":
            columns |= {"ra": random.uniform(0, 360, 200).tolist(), "mjd": random.uniform(59000, 62000, 200).tolist()}
        apply(engine, ask(folder, "update", {"id": ids} | columns))
        for i, key in enumerate(ids):
            wanted[key] |= {name: values[i] for name, values in columns.items()}
    assert by_id(engine) == wanted
    verify(engine)
