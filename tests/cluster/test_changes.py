"""Columns and tables are added to a cluster by ``skyhouse schema apply`` while a query runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.cluster_topology import read_topology
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.healpix import index_sql
from clickhouse_schema.shard_map import LOCAL, MARGIN, SHARD_COLUMN
from loaders.cluster import cluster_publication
from loaders.control.data_commands import run_command
from loaders.control.table_requests import SchemaRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.verify_table import verify_table
from tap_service.services.queries.row_look_ups import RowLookUps
from tap_service.services.queries.stored_row_source import StoredRowSource
from tap_service.storage.engine.engine import Engine
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import execute_everywhere, fetch_everywhere

SCHEMA = """\
name: live
tables:
- name: stars
  skyhouse:layout: {position: [ra, dec], id: [id], overlap_radius: 1}
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
"""
MORE = (
    SCHEMA.replace("id: [id], ", "id: [id], indexes: [mag], ")
    + """\
  - {name: mag, datatype: float, description: Magnitude}
- name: bands
  columns: [{name: band, datatype: string}]
"""
)
ROWS = 3000


@pytest.fixture(scope="module")
def live(cluster_of: Callable[[int], Engine], tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Yield a table with rows on three shards, created from a schema file."""
    engine = cluster_of(3)
    code, lines = _said(engine, "apply", tmp_path_factory.mktemp("schema"), SCHEMA)
    assert (code, lines) == (0, ["the table live.stars is missing", "live.stars is not in the catalogue"])
    placement = catalogue_log.read_sharding(engine)
    assert placement is not None
    rows = f"(SELECT number AS id, number % 360 AS ra, number % 179 - 89. AS dec FROM numbers({ROWS}))"
    shard = placement.map.shard_sql(index_sql("ra", "dec"))
    into = read_topology(engine).insert_target_sql("live", "stars", LOCAL)
    engine.execute(f"INSERT INTO {into} (id, ra, dec, {SHARD_COLUMN}) SELECT id, ra, dec, {shard} FROM {rows}")
    return engine


def _said(engine: Engine, command: str, folder: Path, schema: str) -> tuple[int, list[str]]:
    (folder / "schema.yaml").write_text(schema)
    recorder = Recorder()
    request = SchemaRequest(command=f"schema {command}", schema_file=folder / "schema.yaml")  # type: ignore[arg-type]
    return run_command(engine, request, recorder), recorder.reports


def _entry(engine: Engine, name: str) -> TableEntry:
    [entry] = [e for e in catalogue_log.read_catalogue(engine).entries if e.qualified_name == f"live.{name}"]
    return entry


def test_a_column_and_a_table_are_added_while_a_query_runs(live: Engine, tmp_path: Path) -> None:
    entry = _entry(live, "stars")
    slow = (
        f"SELECT id, sleepEachRow(0.001) AS s FROM {entry.storage_sql} SETTINGS max_block_size = 100, max_threads = 1"
    )

    def read() -> int:
        with live.stream_batches(slow, query_id="changing") as batches:
            return sum(batch.num_rows for batch in batches)

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        while "changing" not in live.list_running_ids("changing"):
            assert not reading.done()
        code, lines = _said(live, "apply", tmp_path, MORE)
        assert code == 0
        assert lines == [
            "the column mag of live.stars is missing",
            "the index by_index_mag of live.stars is missing",
            "in the catalogue live.stars has another skyhouse:layout",
            "the column mag of live.stars is not in the catalogue",
            "the table live.bands is missing",
            "live.bands is not in the catalogue",
        ]
        assert reading.result() == ROWS
    assert _said(live, "diff", tmp_path, MORE)[0] == 0
    for part, servers in (("", 3), (LOCAL, 1), (MARGIN, 1)):
        sql = f"SELECT id, mag, hpx29 FROM {entry.part_sql(part)} WHERE id = 7 AND mag IS NULL"
        assert fetch_everywhere(live, sql).num_rows == servers
    local = f"cluster('skyhouse', view(SELECT mag FROM {entry.part_sql(MARGIN)}))"
    assert live.fetch_table(f"SELECT count() AS n FROM {local} WHERE mag IS NULL").column(0).to_pylist() == [ROWS]


def test_what_was_added_is_loaded_into(live: Engine, tmp_path: Path) -> None:
    (tmp_path / "bands.csv").write_text("band\ng\nr\n")
    (tmp_path / "stars.csv").write_text("id,ra,dec,mag\n100000,10,10,5.5\n100001,200,-10,6.5\n")
    assert _said(live, "apply", tmp_path, MORE)[0] == 0
    for name in ("bands", "stars"):
        load_files(
            live,
            LoadRequest(files=(tmp_path / f"{name}.csv",), table=f"live.{name}", rejects=tmp_path / "r", mode="append"),
            Recorder(),
        )
    assert live.fetch_table(f"SELECT count() FROM {_entry(live, 'bands').storage_sql}").column(0).to_pylist() == [2]
    stars = _entry(live, "stars").storage_sql
    assert live.fetch_table(f"SELECT sum(mag), count() FROM {stars}").to_pylist() == [
        {"sum(mag)": 12.0, "count()": ROWS + 2}
    ]


def test_a_dropped_table_is_created_again(live: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_publication, "LINGER_SECONDS", 0)
    assert _said(live, "apply", tmp_path, MORE)[0] == 0
    (tmp_path / "bands.csv").write_text("band\ni\n")
    request = LoadRequest(
        files=(tmp_path / "bands.csv",),
        table="live.bands",
        rejects=tmp_path / "r",
        schema_file=tmp_path / "schema.yaml",
        mode="replace",
    )
    load_files(live, request, Recorder())
    assert _entry(live, "bands").number == 1
    drop_table(live, "live.bands", Recorder())
    assert _said(live, "apply", tmp_path, MORE)[0] == 0
    assert live.fetch_table(f"SELECT count() FROM {_entry(live, 'bands').storage_sql}").column(0).to_pylist() == [0]
    assert _said(live, "diff", tmp_path, MORE)[0] == 0


def test_parts_that_lag_behind_are_found_and_brought_up(live: Engine, tmp_path: Path) -> None:
    """The state after a change that was killed between the rows and the views that read them."""
    assert _said(live, "apply", tmp_path, MORE)[0] == 0
    execute_everywhere(live, "ALTER TABLE live.stars__local ADD COLUMN colour Nullable(Float32) CODEC(LZ4) AFTER mag")
    wanted = MORE.replace("- name: bands", "  - {name: colour, datatype: float}\n- name: bands")
    code, lines = _said(live, "plan", tmp_path, wanted)
    assert code == 0
    assert lines[0].split("\n")[1:] == [
        "ALTER TABLE `live`.`stars__overlap` ADD COLUMN IF NOT EXISTS `colour` Nullable(Float32) CODEC(LZ4)"
        " AFTER `mag`;  -- on every server",
        *(line for line in lines[0].split("\n") if line.startswith("CREATE OR REPLACE VIEW")),
        "ALTER TABLE `live`.`stars` ADD COLUMN IF NOT EXISTS `colour` Nullable(Float32) CODEC(LZ4) AFTER `mag`;  -- on every server",
    ]
    assert _said(live, "apply", tmp_path, wanted)[0] == 0
    assert _said(live, "diff", tmp_path, wanted)[0] == 0
    moved = wanted.replace("overlap_radius: 1}", "overlap_radius: 2}")
    code, lines = _said(live, "diff", tmp_path, moved)
    assert code == 1
    assert lines[0].startswith(
        "overlap_radius of live.stars determines on which servers its rows are: load the table again"
    )


def test_columns_get_another_order(cluster_of: Callable[[int], Engine], tmp_path: Path) -> None:
    engine = cluster_of(3)
    *head, number, ra, dec = SCHEMA.replace("name: live", "name: turned").splitlines()
    assert _said(engine, "apply", tmp_path, "\n".join([*head, number, ra, dec]))[0] == 0
    other = "\n".join([*head, dec, number, ra])
    assert _said(engine, "apply", tmp_path, other) == (
        0,
        [
            "the columns of turned.stars are in another order",
            "in the catalogue the columns of turned.stars are in another order",
        ],
    )
    assert _said(engine, "diff", tmp_path, other)[0] == 0
    rows = f"stars{LOCAL}"
    sql = f"SELECT name FROM system.columns WHERE database = 'turned' AND table = '{rows}' ORDER BY position LIMIT 3"
    assert engine.fetch_table(sql).column(0).to_pylist() == ["dec", "id", "ra"]


def test_a_row_store_is_added_filled_and_dropped(cluster_of: Callable[[int], Engine], tmp_path: Path) -> None:
    """Rows and their copies are on their shards, each with its row store."""
    engine = cluster_of(3)
    plain = SCHEMA.replace("name: live", "name: wholes").replace(
        "  - {name: dec, datatype: double}\n",
        "  - {name: dec, datatype: double}\n" + "".join(f"  - {{name: x{n}, datatype: float}}\n" for n in range(9)),
    )
    stored = plain.replace("overlap_radius: 1", "overlap_radius: 1, row_store: true")
    values = ",".join("1.5" for _ in range(9))
    rows = "".join(f"{number},{number % 360},{number % 179 - 89},{values}\n" for number in range(1000))
    header = "id,ra,dec," + ",".join(f"x{n}" for n in range(9)) + "\n"
    (tmp_path / "stars.csv").write_text(header + rows)
    (tmp_path / "more.csv").write_text(f"{header}5000,10,10,{',' * 8}\n")
    (tmp_path / "plain.yaml").write_text(plain)
    file = tmp_path / "plain.yaml"
    load_files(
        engine,
        LoadRequest(files=(tmp_path / "stars.csv",), table="wholes.stars", rejects=tmp_path / "r", schema_file=file),
        Recorder(),
    )
    assert "the row store of wholes.stars is missing" in _said(engine, "apply", tmp_path, stored)[1]
    append = LoadRequest(files=(tmp_path / "more.csv",), table="wholes.stars", rejects=tmp_path / "r", mode="append")
    load_files(engine, append, Recorder())
    recorder = Recorder()
    verify_table(engine, "wholes.stars", recorder)
    assert "row store: 1,001 rows compared with their columns" in recorder.lines
    translation = translate("SELECT * FROM wholes.stars WHERE id IN (7, 300, 999, 5000)", read_catalogue(engine))
    assert translation.stored_rows is not None
    source = StoredRowSource(engine, translation.stored_rows, RowLookUps(engine))
    with source.stream_batches("SELECT throwIf(1)", settings=translation.settings) as batches:
        found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    wanted = engine.fetch_table(translation.sql, translation.settings).to_pylist()
    assert sorted(found, key=str) == sorted((tuple(row.values()) for row in wanted), key=str)
    assert len(found) == 4
    assert "wholes.stars has a row store that does not match the file" in _said(engine, "apply", tmp_path, plain)[1]
    assert _said(engine, "diff", tmp_path, plain)[0] == 0
    drop_table(engine, "wholes.stars", Recorder())


def test_text_and_composite_indexes_are_added_used_and_dropped(
    cluster_of: Callable[[int], Engine], tmp_path: Path
) -> None:
    """Rows and their copies have indexes; several servers build them while queries run."""
    engine = cluster_of(3)
    plain = SCHEMA.replace("name: live", "name: worded") + "  - {name: note, datatype: unicode}\n"
    indexed = plain.replace("id: [id], ", "id: [id], indexes: [{note: text}, [note, ra]], ")
    notes = ["", "the rare theodolites", "Rare Galaxies"]
    rows = "".join(f"{n},{n % 360},{n % 179 - 89},{notes[n % 500] if n % 500 < 3 else 'a'}\n" for n in range(3000))
    (tmp_path / "stars.csv").write_text("id,ra,dec,note\n" + rows)
    (tmp_path / "plain.yaml").write_text(plain)
    file = tmp_path / "plain.yaml"
    load_files(
        engine,
        LoadRequest(files=(tmp_path / "stars.csv",), table="worded.stars", rejects=tmp_path / "r", schema_file=file),
        Recorder(),
    )
    conditions = ("note LIKE '%heodolite%'", "1 = ivo_hasword(note, 'RARE')", "note = 'Rare Galaxies' AND ra < 300")
    queries = [f"SELECT id FROM worded.stars WHERE {condition}" for condition in conditions]

    def ask() -> list[list[int]]:
        translations = [translate(query, read_catalogue(engine)) for query in queries]
        return [sorted(engine.fetch_table(t.sql, t.settings).column(0).to_pylist()) for t in translations]

    before = ask()
    assert [len(found) for found in before] == [6, 12, 5]
    lines = _said(engine, "apply", tmp_path, indexed)[1]
    assert [line for line in lines if line.endswith("of worded.stars is missing")] == [
        "the index pieces_note of worded.stars is missing",
        "the index words_note of worded.stars is missing",
        "the index by_columns_note__ra of worded.stars is missing",
    ]
    assert ask() == before
    (tmp_path / "more.csv").write_text("id,ra,dec,note\n9000,10,10,theodolites\n")
    append = LoadRequest(files=(tmp_path / "more.csv",), table="worded.stars", rejects=tmp_path / "r", mode="append")
    load_files(engine, append, Recorder())
    assert [len(found) for found in ask()] == [7, 12, 5]
    translation = translate(queries[0], read_catalogue(engine))
    assert "Name: pieces_note" in engine.explain_query(translation.sql, translation.settings)
    verify_table(engine, "worded.stars", Recorder())
    assert _said(engine, "diff", tmp_path, indexed)[0] == 0
    assert _said(engine, "apply", tmp_path, plain)[0] == 0
    assert _said(engine, "diff", tmp_path, plain)[0] == 0
    drop_table(engine, "worded.stars", Recorder())
