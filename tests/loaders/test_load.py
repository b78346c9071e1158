"""Loading into the engine: good and bad rows, a second load, a load that is stopped."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from astropy.table import Table

from clickhouse_schema import schema_model, table_ddl
from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.engine_tables import catalogue_log, density_table, engine_setup
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.healpix import NO_POSITION
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline import chunk_reader, startup_cleanup
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from loaders.storage import server_storage
from loaders.storage.gateway_table import Orphan
from loaders.storage.server_storage import ServerPublication, ServerStagingTable, open_server_storage
from loaders.tables.drop_table import drop_table
from loaders.tables.table_list import list_tables
from loaders.tables.table_rebuild import rebuild_table
from loaders.tables.verify_table import verify_table
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at
from tests.loaders.recorder import Recorder

STARS = 5000


@pytest.fixture
def stars(tmp_path: Path) -> Path:
    random = np.random.default_rng(7)
    made = pa.table(
        {
            "id": np.arange(STARS),
            "ra": pa.array(random.uniform(0, 360, STARS), mask=np.arange(STARS) == 3),
            "dec": np.where(np.arange(STARS) == 4, np.nan, random.uniform(-90, 90, STARS)),
            "name": [f"Ω {number}" for number in range(STARS)],
        }
    )
    pq.write_table(made, tmp_path / "stars.parquet", row_group_size=700)
    return tmp_path / "stars.parquet"


@pytest.fixture
def loading(engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedEngine]:
    """The engine, with chunks of 1000 rows; tables of the schema loadtests are dropped afterwards."""
    engine_setup.prepare_engine(engine)
    monkeypatch.setattr(chunk_reader, "CHUNK_ROWS", 1000)
    yield engine
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "loadtests":
            catalogue_log.unregister_table(engine, "loadtests", entry.table.name)
    engine.execute("DROP DATABASE IF EXISTS loadtests SYNC")


def request(file: Path, mode: Mode = "create", max_errors: int = 100) -> LoadRequest:
    return LoadRequest(
        files=(file,), table="loadtests.stars", rejects=file.parent / "rejects.csv", max_errors=max_errors, mode=mode
    )


def content(engine: EmbeddedEngine) -> list[int]:
    """Return the rows, a checksum of all values with the index, and the rows in parts."""
    sql = "SELECT count(), sum(cityHash64(tuple(*, hpx29))), uniqExact(id) FROM loadtests.stars"
    return list(engine.fetch_table(sql).to_pylist()[0].values())


def test_load_verify_drop(loading: EmbeddedEngine, stars: Path) -> None:
    recorder = Recorder()
    load_files(loading, request(stars), recorder)
    assert recorder.lines == [f"loaded {STARS:,} rows into loadtests.stars"]
    assert recorder.fractions == sorted(recorder.fractions)
    assert recorder.fractions[-1] == 1
    assert content(loading)[0] == STARS
    without = f"SELECT id FROM loadtests.stars WHERE hpx29 = {NO_POSITION} ORDER BY id"
    assert loading.fetch_table(without).column(0).to_pylist() == [3, 4]
    assert not (stars.parent / "rejects.csv").exists()
    assert len(catalogue_log.read_catalogue(loading).find_tables("stars", False, "loadtests")) == 1
    assert sum(density_table.read_density(loading, "loadtests", "stars").column("rows").to_pylist()) == STARS
    names = loading.fetch_table("SELECT name FROM system.columns WHERE database = 'loadtests' ORDER BY name").column(0)
    assert names.to_pylist() == ["dec", "hpx29", "id", "name", "ra"]
    verify_table(loading, "loadtests.stars", recorder)
    assert "positions: 4,998, 2 rows have none" in recorder.lines
    list_tables(loading, recorder)
    assert any("loadtests.stars" in line and f"{STARS:,} rows" in line for line in recorder.lines)
    drop_table(loading, "loadtests.stars", recorder)
    assert catalogue_log.read_catalogue(loading).find_tables("stars", False, "loadtests") == ()
    with pytest.raises(LoadError, match=r"no table loadtests\.stars"):
        drop_table(loading, "loadtests.stars", recorder)


def test_the_same_load_again_changes_nothing(loading: EmbeddedEngine, stars: Path) -> None:
    load_files(loading, request(stars), Recorder())
    before = content(loading)
    for mode in ("create", "append", "replace"):
        recorder = Recorder()
        load_files(loading, request(stars, mode), recorder)  # type: ignore[arg-type]
        assert recorder.lines == [f"already loaded: loadtests.stars holds these files ({STARS:,} rows)"]
        assert content(loading) == before


def test_other_files_need_an_option(loading: EmbeddedEngine, stars: Path) -> None:
    load_files(loading, request(stars), Recorder())
    more = stars.parent / "more.parquet"
    table = pq.read_table(stars).slice(0, 1500)
    pq.write_table(table.set_column(0, "id", pa.array(range(STARS, STARS + 1500))), more)
    with pytest.raises(LoadError, match="--append"):
        load_files(loading, request(more), Recorder())
    assert content(loading)[0] == STARS
    load_files(loading, request(more, "append"), Recorder())
    assert content(loading)[::2] == [STARS + 1500, STARS + 1500]
    verify_table(loading, "loadtests.stars", Recorder())
    load_files(loading, request(more, "append"), Recorder())
    assert content(loading)[0] == STARS + 1500
    load_files(loading, request(more, "replace"), Recorder())
    assert content(loading)[0] == 1500
    verify_table(loading, "loadtests.stars", Recorder())


@pytest.mark.parametrize("checks", [0, 2, 4])
def test_a_stopped_load_continues(loading: EmbeddedEngine, stars: Path, checks: int) -> None:
    load_files(loading, request(stars), Recorder())
    expected = content(loading)
    drop_table(loading, "loadtests.stars", Recorder())
    with pytest.raises(LoadCancelled):
        load_files(loading, request(stars), Recorder(stop_after=checks))
    storage = open_server_storage(loading, "loadtests", "stars")
    assert not storage.live.has_table()
    done = len(storage.staging.count_chunk_rows())
    inserted: list[int] = []
    insert = ServerStagingTable.insert_chunk

    def counted(self: ServerStagingTable, number: int, batches: Sequence[pa.RecordBatch]) -> list[Orphan]:
        inserted.append(number)
        return insert(self, number, batches)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerStagingTable, "insert_chunk", counted)
        load_files(loading, request(stars), Recorder())
    assert len(inserted) == 4 - done
    assert content(loading) == expected
    verify_table(loading, "loadtests.stars", Recorder())


def stored_types(engine: EmbeddedEngine, table: str = "stars") -> dict[str, str]:
    where = f"database = 'loadtests' AND table = '{table}' AND default_kind = ''"
    columns = engine.fetch_table(f"SELECT name, type FROM system.columns WHERE {where}").to_pylist()
    return {column["name"]: column["type"] for column in columns}


def write_magnitudes(path: Path, first: int, magnitudes: Sequence[float | None]) -> Path:
    count = len(magnitudes)
    columns = {"id": np.arange(first, first + count), "mag": pa.array(magnitudes, pa.float32())}
    pq.write_table(pa.table(columns | {"other": np.ones(count)}), path, row_group_size=500)
    return path


def test_only_columns_with_nulls_are_nullable(loading: EmbeddedEngine, tmp_path: Path) -> None:
    """With the first NULL in the first or another chunk, in a resumed load, in a small and in a large append."""
    file = write_magnitudes(tmp_path / "first.parquet", 0, [1.0] * 4500 + [None] * 500)
    with pytest.raises(LoadCancelled):
        load_files(loading, request(file), Recorder(stop_after=3))
    assert stored_types(loading, "stars__loading")["mag"] == "Float32"
    load_files(loading, request(file), Recorder())
    assert stored_types(loading) == {"id": "Int64", "mag": "Nullable(Float32)", "other": "Float64"}
    file = write_magnitudes(tmp_path / "replaced.parquet", 0, [1.0] * 2500)
    load_files(loading, request(file, "replace"), Recorder())
    assert stored_types(loading)["mag"] == "Float32"
    entry = catalogue_log.read_catalogue(loading).find_entry("loadtests", "stars")
    assert entry is not None
    assert entry.table.get_column("mag").nullable
    for name, first, magnitudes in (("few", 2500, [2.0] * 100), ("many", 2600, [2.0] * 1500)):
        load_files(
            loading, request(write_magnitudes(tmp_path / f"{name}.parquet", first, magnitudes), "append"), Recorder()
        )
        assert stored_types(loading)["mag"] == "Float32"


@pytest.mark.parametrize("count", [100, 2000])
def test_an_append_with_the_first_nulls(loading: EmbeddedEngine, tmp_path: Path, count: int) -> None:
    load_files(loading, request(write_magnitudes(tmp_path / "a.parquet", 0, [1.0] * 2500)), Recorder())
    file = write_magnitudes(tmp_path / "b.parquet", 2500, [*[3.0] * (count - 7), *[None] * 7])
    load_files(loading, request(file, "append"), Recorder())
    assert stored_types(loading) == {"id": "Int64", "mag": "Nullable(Float32)", "other": "Float64"}
    found = loading.fetch_table("SELECT count() AS a, count(mag) AS b, sum(mag) AS c FROM loadtests.stars").to_pylist()
    assert found == [{"a": 2500 + count, "b": 2493 + count, "c": 2500 + 3 * (count - 7)}]
    verify_table(loading, "loadtests.stars", Recorder())


def test_another_load_does_not_continue_it(loading: EmbeddedEngine, stars: Path) -> None:
    with pytest.raises(LoadCancelled):
        load_files(loading, request(stars), Recorder(stop_after=3))
    shorter = stars.parent / "shorter.parquet"
    pq.write_table(pq.read_table(stars).slice(0, 1200), shorter)
    load_files(loading, request(shorter), Recorder())
    assert content(loading)[::2] == [1200, 1200]


def test_a_load_killed_before_the_catalogue_knew_is_finished(
    loading: EmbeddedEngine, stars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(startup_cleanup.catalogue_log, "register_table", killed)
        with pytest.raises(Killed):
            load_files(loading, request(stars), Recorder())
    assert content(loading)[0] == STARS
    with pytest.raises(LoadError, match="catalogue does not know"):
        verify_table(loading, "loadtests.stars", Recorder())
    startup_cleanup.finish_killed_loads(loading)
    verify_table(loading, "loadtests.stars", Recorder())
    assert len(catalogue_log.read_catalogue(loading).find_tables("stars", False, "loadtests")) == 1


def few(stars: Path, first: int, count: int) -> Path:
    """Return a file with some other rows."""
    made = pq.read_table(stars).slice(0, count).set_column(0, "id", pa.array(range(first, first + count)))
    pq.write_table(made, stars.parent / f"few{first}.parquet", row_group_size=400)
    return stars.parent / f"few{first}.parquet"


def test_few_rows_go_into_the_table_itself(loading: EmbeddedEngine, stars: Path) -> None:
    storage = "SELECT uuid FROM system.tables WHERE database = 'loadtests' AND name = 'stars'"
    load_files(loading, request(stars), Recorder())
    before = loading.fetch_table(storage)
    contents = catalogue_log.read_content_stamps(loading, [("loadtests", "stars")])
    load_files(loading, request(few(stars, 9000, 500), "append"), Recorder())
    load_files(loading, request(few(stars, 11000, 1500), "append"), Recorder())  # two chunks: through a gateway table
    assert loading.fetch_table(storage) != before
    before = loading.fetch_table(storage)
    load_files(loading, request(few(stars, 7000, 300), "append"), Recorder())
    assert loading.fetch_table(storage) == before
    assert catalogue_log.read_content_stamps(loading, [("loadtests", "stars")]) != contents
    recorder = Recorder()
    for file in (stars, few(stars, 9000, 500), few(stars, 11000, 1500), few(stars, 7000, 300)):
        load_files(loading, request(file, "append"), recorder)
    assert set(recorder.lines) == {"already loaded: loadtests.stars holds these files (7,300 rows)"}
    verify_table(loading, "loadtests.stars", recorder)
    assert "loadtests.stars: 7,300 rows, 7,300 were loaded from 4 inputs" in recorder.lines
    assert content(loading)[::2] == [7300, 7300]
    assert sum(density_table.read_density(loading, "loadtests", "stars").column("rows").to_pylist()) == 7300
    load_files(loading, request(stars, "replace"), Recorder())
    assert content(loading)[0] == STARS
    verify_table(loading, "loadtests.stars", Recorder())


@pytest.mark.parametrize("point", [Failpoint.APPENDS_WRITE, Failpoint.APPEND_INSERT, Failpoint.DENSITY_WRITE])
def test_an_addition_that_was_killed_is_finished_without_its_file(
    loading: EmbeddedEngine, stars: Path, point: Failpoint
) -> None:
    load_files(loading, request(stars), Recorder())
    file = few(stars, 9000, 500)
    with killed_at(loading, point) as dying:
        load_files(dying, request(file, "append"), Recorder())
    with pytest.raises(LoadError, match=r"the append of .*few9000\.parquet was stopped"):
        verify_table(loading, "loadtests.stars", Recorder())
    startup_cleanup.finish_killed_loads(loading)
    verify_table(loading, "loadtests.stars", Recorder())
    assert content(loading)[::2] == [STARS + 500, STARS + 500]
    assert sum(density_table.read_density(loading, "loadtests", "stars").column("rows").to_pylist()) == STARS + 500
    recorder = Recorder()
    load_files(loading, request(file, "append"), recorder)
    assert recorder.lines[-1].startswith("already loaded")


def test_an_addition_is_counted_even_if_the_earlier_counts_vanish(loading: EmbeddedEngine, stars: Path) -> None:
    """ClickHouse deletes the counts of a dropped table with the same name some time later."""
    load_files(loading, request(stars), Recorder())
    with killed_at(loading, Failpoint.APPEND_INSERT) as dying:
        load_files(dying, request(few(stars, 9000, 500), "append"), Recorder())
    loading.execute("ALTER TABLE skyhouse.density DELETE WHERE schema_name = 'loadtests'", {"mutations_sync": 2})
    startup_cleanup.finish_killed_loads(loading)
    assert sum(density_table.read_density(loading, "loadtests", "stars").column("rows").to_pylist()) == 500


def test_a_load_starts_again_if_rows_were_added_to_the_table_meanwhile(
    loading: EmbeddedEngine, stars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_files(loading, request(stars), Recorder())
    many = few(stars, 20000, 2500)

    def killed(*_: object) -> None:
        raise LoadCancelled

    with monkeypatch.context() as patch:
        patch.setattr(ServerPublication, "publish_staging", killed)
        with pytest.raises(LoadCancelled):
            load_files(loading, request(many, "append"), Recorder())
    load_files(loading, request(few(stars, 9000, 500), "append"), Recorder())
    load_files(loading, request(many, "append"), Recorder())
    verify_table(loading, "loadtests.stars", Recorder())
    assert content(loading)[::2] == [STARS + 3000, STARS + 3000]


def test_each_year_is_stored_separately(loading: EmbeddedEngine, stars: Path) -> None:
    """Also years of appended rows, few or many, and rows without a time."""
    schema, folder = stars.parent / "years.yaml", stars.parent
    schema.write_text(
        "name: loadtests\ntables:\n- name: stars\n  columns:\n  - {name: id, datatype: long}\n"
        "  - {name: ra, datatype: double}\n  - {name: dec, datatype: double}\n  - {name: mjd, datatype: double}\n"
        "  skyhouse:layout: {position: [ra, dec], id: [id], time: mjd, years: true}\n"
    )
    for number, (count, mode) in enumerate(((2500, "create"), (300, "append"), (1500, "append"))):
        mjd = np.linspace(60000, 61000, count)
        mjd[5] = np.nan
        ids, ra = np.arange(count) + 10_000 * number, np.linspace(0, 359, count)
        pq.write_table(pa.table({"id": ids, "ra": ra, "dec": ra / 10, "mjd": mjd}), folder / f"{number}.parquet")
        asked = request(folder / f"{number}.parquet", mode).model_copy(
            update={"schema_file": schema if number == 0 else None}
        )  # type: ignore[arg-type]
        load_files(loading, asked, Recorder())
    verify_table(loading, "loadtests.stars", Recorder())
    years = (
        "SELECT partition, sum(rows) AS rows FROM system.parts WHERE active AND database = 'loadtests'"
        " AND table = 'stars' GROUP BY partition ORDER BY partition"
    )
    found = loading.fetch_table(years).to_pydict()
    assert found["partition"] == ["0", "164", "165", "166", "167"]
    assert sum(found["rows"]) == 4300
    read = loading.fetch_table("SELECT uniqExact(_partition_id) AS n FROM loadtests.stars WHERE mjd > 60996.8")
    assert read.column(0).to_pylist() == [1]
    plan = loading.explain_query("SELECT sum(id) FROM loadtests.stars WHERE mjd > 60996.8")
    read_parts, parts = (int(number) for number in re.findall(r"Parts: (\d+)/(\d+)", plan)[0])
    assert read_parts < parts


def bad_csv(folder: Path, bad: int) -> Path:
    lines = ["id,ra,dec"] + [f"{number},{number},0" for number in range(50)]
    for number in range(bad):
        lines[10 + number] = f"{number},10,{91 + number}"
    (folder / "bad.csv").write_text("\n".join(lines))
    return folder / "bad.csv"


def test_bad_rows_are_rejected(loading: EmbeddedEngine, tmp_path: Path) -> None:
    file = bad_csv(tmp_path, 3)
    file.write_text(file.read_text() + "\n77,361,0\n78,nan,0\n79,,0\n1,2\n80,inf,0\n81,0,-91\n")
    recorder = Recorder()
    load_files(loading, request(file), recorder)
    assert recorder.lines == [f"loaded 49 rows into loadtests.stars; 7 bad rows are in {tmp_path / 'rejects.csv'}"]
    with (tmp_path / "rejects.csv").open() as rejects:
        rows = list(csv.reader(rejects))
    assert rows[0] == ["file", "line_or_row", "column", "value", "reason"]
    assert [tuple(row[1:]) for row in rows[1:]] == [
        ("11", "dec", "91", "a latitude outside [-90, 90]"),
        ("12", "dec", "92", "a latitude outside [-90, 90]"),
        ("13", "dec", "93", "a latitude outside [-90, 90]"),
        ("52", "ra", "361", "a longitude outside [0, 360]"),
        ("55", "", "1,2", "has 2 fields for 3 columns"),
        ("56", "ra", "inf", "a longitude outside [0, 360]"),
        ("57", "dec", "-91", "a latitude outside [-90, 90]"),
    ]
    load_files(loading, request(file), recorder)
    assert recorder.lines[-1].startswith("already loaded")


def test_files_that_cannot_be_loaded_leave_nothing_behind(loading: EmbeddedEngine, stars: Path) -> None:
    load_files(loading, request(stars), Recorder())
    (stars.parent / "other.csv").write_text("id,ra\n1,2\n")
    two = request(stars).model_copy(update={"files": (stars, stars.parent / "other.csv"), "table": "loadtests.two"})
    with pytest.raises(ReadError, match=r"other.csv has no column dec, name of table two"):
        load_files(loading, two, Recorder())
    with pytest.raises(
        LoadError, match=r"there is a table loadtests.stars, from which LoadTests.STARS differs only in case"
    ):
        load_files(loading, request(stars).model_copy(update={"table": "LoadTests.STARS"}), Recorder())
    recorder = Recorder()
    list_tables(loading, recorder)
    assert [line.split()[0] for line in recorder.lines if "oad" in line.split()[0]] == ["loadtests.stars"]


def test_texts_longer_than_results_can_contain_are_rejected(loading: EmbeddedEngine, tmp_path: Path) -> None:
    """A unicodeChar of 3 units can be three letters, or one letter and a character of two units."""
    file, schema = tmp_path / "texts.csv", tmp_path / "texts.yaml"
    file.write_text("id,text\n1,abc\n2,a\N{ROCKET}\n3,ab\N{ROCKET}\n4,abcd\n5,\n")
    schema.write_text(
        "name: loadtests\ntables:\n- name: stars\n  columns:\n  - {name: id, datatype: int}\n"
        "  - {name: text, datatype: unicode, votable:arraysize: '3*'}\n"
    )
    load_files(loading, request(file).model_copy(update={"schema_file": schema}), Recorder())
    with (tmp_path / "rejects.csv").open() as rejects:
        assert [(row[1], row[4]) for row in csv.reader(rejects)][1:] == [
            ("4", "longer than 3 UTF-16 units"),
            ("5", "longer than 3 UTF-16 units"),
        ]


def test_a_votable_of_texts_whose_length_counts_characters(loading: EmbeddedEngine, tmp_path: Path) -> None:
    """Astropy declares the length in characters; the text is loaded completely and no length is kept."""
    file = tmp_path / "texts.vot"
    Table({"text": ["abc", "ab\N{ROCKET}"]}).write(file, format="votable")
    assert 'arraysize="3"' in file.read_text()
    load_files(loading, request(file), Recorder())
    (entry,) = catalogue_log.read_catalogue(loading).find_tables("stars", True, "loadtests", True)
    assert [column.type for column in entry.table.columns] == [ColumnType("unicodeChar", "*")]
    assert loading.fetch_table("SELECT text FROM loadtests.stars ORDER BY text").column(0).to_pylist() == [
        "abc",
        "ab\N{ROCKET}",
    ]


def test_too_many_bad_rows_change_nothing(loading: EmbeddedEngine, stars: Path) -> None:
    load_files(loading, request(stars), Recorder())
    before = content(loading)
    with pytest.raises(LoadError, match=r"more than 2 bad rows .*the last in line 13 of .*dec: '93' is a latitude"):
        load_files(loading, request(bad_csv(stars.parent, 3), "replace", max_errors=2), Recorder())
    assert content(loading) == before
    verify_table(loading, "loadtests.stars", Recorder())


def test_a_table_without_a_good_row_is_not_published(loading: EmbeddedEngine, stars: Path) -> None:
    load_files(loading, request(stars), Recorder())
    before = content(loading)
    bad = stars.parent / "bad.csv"
    bad.write_text("id,ra,dec\n1,10,91\n2,10,92\n")
    for wanted in (request(bad, "replace"), request(bad).model_copy(update={"table": "loadtests.others"})):
        with pytest.raises(LoadError, match=r"all 2 rows are bad; they are in .*rejects.csv.* Nothing was changed"):
            load_files(loading, wanted, Recorder())
    assert content(loading) == before
    verify_table(loading, "loadtests.stars", Recorder())


def test_verify_finds_what_is_wrong(loading: EmbeddedEngine, stars: Path) -> None:
    load_files(loading, request(stars), Recorder())
    loading.execute("INSERT INTO loadtests.stars (id, ra, dec) VALUES (1, 400, 95)")
    loading.execute("ALTER TABLE loadtests.stars MODIFY COLUMN hpx29 UInt64 DEFAULT 0")
    loading.execute("INSERT INTO loadtests.stars (id, ra, dec, hpx29) VALUES (2, 10, 10, 5)")
    with pytest.raises(LoadError, match="2 rows are too many; 1 positions out of range; 2 rows with a wrong hpx29"):
        verify_table(loading, "loadtests.stars", Recorder())


def test_queries_run_during_a_load(loading: EmbeddedEngine, stars: Path) -> None:
    thread = threading.Thread(target=load_files, args=(loading, request(stars), Recorder()))
    thread.start()
    while thread.is_alive():
        assert loading.fetch_table("SELECT 1 AS one").num_rows == 1
    thread.join()
    assert content(loading)[0] == STARS


SCHEMA = """
name: loadtests
tables:
- name: stars
  description: Stars by hand
  columns:
  - {name: NAME, datatype: unicode}
  - {name: id, datatype: short, nullable: false, "ivoa:ucd": meta.id;meta.main}
  - {name: ra, datatype: double, "ivoa:unit": deg}
  - {name: dec, datatype: float, "ivoa:unit": deg}
  skyhouse:layout: {position: [ra, dec], id: [id]}
"""


def test_a_schema_file_determines_the_table(loading: EmbeddedEngine, stars: Path) -> None:
    (stars.parent / "stars.yaml").write_text(SCHEMA)
    asked = LoadRequest(
        files=(stars,), table="loadtests.stars", rejects=stars.parent / "r.csv", schema_file=stars.parent / "stars.yaml"
    )
    load_files(loading, asked, Recorder())
    types = loading.fetch_table("SELECT name, type FROM system.columns WHERE database = 'loadtests' ORDER BY position")
    assert dict(zip(*types.to_pydict().values(), strict=True)) == {
        "NAME": "String",
        "id": "Int16",
        "ra": "Nullable(Float64)",
        "dec": "Float32",
        "hpx29": "UInt64",
    }
    verify_table(loading, "loadtests.stars", Recorder())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: loadtests", "name: others", "describes the schema others, but --table names loadtests"),
        ("name: stars", "name: planets", "has no table stars; it has planets"),
        ("name: ra,", "name: alpha,", "stars.yaml:11: the table stars has no column ra"),
        ("datatype: unicode", "datatype: unicod", "unicod"),
        ("name: NAME", "name: nickname", "has no column nickname of table stars"),
    ],
)
def test_a_schema_file_that_does_not_fit(loading: EmbeddedEngine, stars: Path, old: str, new: str, said: str) -> None:
    (stars.parent / "stars.yaml").write_text(SCHEMA.replace(old, new))
    asked = LoadRequest(
        files=(stars,), table="loadtests.stars", rejects=stars.parent / "r.csv", schema_file=stars.parent / "stars.yaml"
    )
    with pytest.raises(ReadError, match=said):
        load_files(loading, asked, Recorder())


@pytest.mark.parametrize("name", ["stars", "a.b.c", ".t", "TAP_SCHEMA.tables", "system.parts", "skyhouse.t"])
def test_invalid_names(loading: EmbeddedEngine, stars: Path, name: str) -> None:
    with pytest.raises(LoadError, match=r"schema\.table|reserved|cannot"):
        load_files(loading, LoadRequest(files=(stars,), table=name, rejects=stars.parent / "r.csv"), Recorder())


def test_a_table_of_an_older_layout_is_rebuilt(
    loading: EmbeddedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As before 0.1: all columns Nullable, ZSTD, granules of 8192. Loaded and appended files are still known."""
    file = write_magnitudes(tmp_path / "a.parquet", 0, [1.0, None, *[2.0] * 2498])
    few = write_magnitudes(tmp_path / "few.parquet", 2500, [4.0] * 10)
    with monkeypatch.context() as patch:
        patch.setattr(server_storage, "store_plainly", lambda table, _: table)
        patch.setattr(table_ddl, "_GRANULE_ROWS", 8192)
        load_files(loading, request(file), Recorder())
        load_files(loading, request(few, "append"), Recorder())
    assert stored_types(loading)["other"] == "Nullable(Float64)"
    sums = "SELECT count(), sum(cityHash64(tuple(id, mag, other))) FROM loadtests.stars"
    before = loading.fetch_table(sums).to_pylist()
    recorder = Recorder()
    rebuild_table(loading, "loadtests.stars", recorder)
    assert recorder.lines == ["rebuilt loadtests.stars: 2,510 rows"]
    assert loading.fetch_table(sums).to_pylist() == before
    assert stored_types(loading) == {"id": "Int64", "mag": "Nullable(Float32)", "other": "Float64"}
    definition = loading.fetch_table("SHOW CREATE TABLE loadtests.stars").column(0)[0].as_py()
    assert "index_granularity = 2048" in definition
    assert "__chunk" not in definition
    verify_table(loading, "loadtests.stars", Recorder())
    for known in (file, few):
        recorder = Recorder()
        load_files(loading, request(known, "append"), recorder)
        assert recorder.lines == ["already loaded: loadtests.stars holds these files (2,510 rows)"]


def test_a_table_that_changes_is_not_rebuilt(
    loading: EmbeddedEngine, stars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_files(loading, request(stars), Recorder())
    create = ServerStagingTable.allow_nulls

    def changed(self: ServerStagingTable, table: schema_model.Table, columns: Sequence[str]) -> None:
        create(self, table, columns)
        loading.execute("ALTER TABLE loadtests.stars DELETE WHERE id < 10", {"mutations_sync": 2})

    with monkeypatch.context() as patch:
        patch.setattr(ServerStagingTable, "allow_nulls", changed)
        with pytest.raises(LoadError, match="was changed while it was rebuilt"):
            rebuild_table(loading, "loadtests.stars", Recorder())
    assert content(loading)[0] == STARS - 10
    assert not loading.fetch_table("SELECT 1 AS one FROM system.tables WHERE name = 'stars__loading'").num_rows
    with pytest.raises(LoadError, match=r"no loaded table loadtests\.moons"):
        rebuild_table(loading, "loadtests.moons", Recorder())
