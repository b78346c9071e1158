"""Catalogues of hats-import become tables: from a folder, a server and a store, completely and without duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from s3fs import S3FileSystem
from typer.testing import CliRunner

from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.schema_files.yaml_reader import read_schema
from loaders.cli.skyhouse_command import app
from loaders.export.export_hats import export_hats
from loaders.export.export_request import ExportRequest
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest, Mode
from loaders.pipeline.load_table import load_files
from loaders.storage.gateway_table import Orphan
from loaders.storage.server_storage import ServerStagingTable
from loaders.tables.verify_catalogue import verify_catalogue
from loaders.tables.verify_table import verify_table
from tap_service.hats.reading import catalogue_folder
from tap_service.hats.reading.folder_backend import Patience
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.servers.file_server import FileServer, serving_files
from tests.servers.object_store import running_object_store
from tests.tap_service.hats.hats_files import make_rows, write_catalogue
from tests.tap_service.hats.import_catalogue import import_catalogue

ROWS = 3000
TABLE = "hatsload.stars"

BuildRequest = Callable[..., LoadRequest]


@pytest.fixture(scope="module")
def stars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection that hats-import has made from ``stars.parquet`` in the same folder."""
    folder = tmp_path_factory.mktemp("sky")
    random = np.random.default_rng(5)
    made = pa.table(
        {
            "id": np.arange(ROWS),
            "ra": random.uniform(0, 360, ROWS),
            "dec": np.degrees(np.arcsin(random.uniform(-1, 1, ROWS))),
            "mag": pa.array(random.normal(15, 2, ROWS).astype(np.float32), mask=np.arange(ROWS) % 7 == 0),
            "name": [f"Ω {number}" for number in range(ROWS)],
        }
    )
    pq.write_table(made, folder / "stars.parquet")
    return import_catalogue(folder / "stars.parquet", folder, "collection")


@pytest.fixture(scope="module")
def server(stars: Path) -> Iterator[FileServer]:
    with serving_files(stars.parent) as server:
        yield server


@pytest.fixture
def server_address(server: FileServer) -> str:
    return f"{server.url}/collection"


@pytest.fixture
def store_address(stars: Path) -> Iterator[str]:
    with running_object_store("catalogues") as url:
        S3FileSystem().put(str(stars), "catalogues/collection", recursive=True)
        yield f"{url}/collection"


@pytest.fixture
def loading(engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedEngine]:
    """The engine, with chunks of 700 rows; tables of the schema hatsload are dropped afterwards."""
    engine_setup.prepare_engine(engine)
    monkeypatch.setattr(chunk_reader, "CHUNK_ROWS", 700)
    yield engine
    for entry in catalogue_log.read_catalogue(engine).entries:
        if entry.schema.name == "hatsload":
            catalogue_log.unregister_table(engine, "hatsload", entry.table.name)
    engine.execute("DROP DATABASE IF EXISTS hatsload SYNC")


@pytest.fixture
def request_of(tmp_path: Path) -> BuildRequest:
    def build(file: Path | str, mode: Mode = "create", schema: Path | None = None) -> LoadRequest:
        return LoadRequest(
            files=(file,), table=TABLE, rejects=tmp_path / "rejects.csv", schema_file=schema, max_errors=0, mode=mode
        )

    return build


def read_content(engine: EmbeddedEngine, columns: str = "id, ra, dec, mag, name") -> pa.Table:
    return engine.fetch_table(f"SELECT {columns} FROM {TABLE} ORDER BY id")


def assert_all_rows(engine: EmbeddedEngine, stars: Path) -> None:
    wanted = pq.read_table(stars.parent / "stars.parquet")
    assert read_content(engine).to_pylist() == wanted.to_pylist()
    verify_table(engine, TABLE, Recorder())


@pytest.mark.parametrize("storage", ["local", "server_address", "store_address"])
def test_a_catalogue_becomes_a_table(
    loading: EmbeddedEngine, stars: Path, storage: str, request_of: BuildRequest, request: pytest.FixtureRequest
) -> None:
    name = str(stars) if storage == "local" else request.getfixturevalue(storage)
    recorder = Recorder()
    load_files(loading, request_of(name), recorder)
    assert recorder.lines == [f"loaded {ROWS:,} rows into {TABLE}"]
    assert recorder.fractions == sorted(recorder.fractions)
    assert_all_rows(loading, stars)
    again = Recorder()
    load_files(loading, request_of(name, "append"), again)
    assert again.lines == [f"already loaded: {TABLE} holds these files ({ROWS:,} rows)"]
    [entry] = [e for e in catalogue_log.read_catalogue(loading).entries if e.schema.name == "hatsload"]
    assert entry.table.layout.position == ("ra", "dec")
    assert [(column.name, column.unit, column.ucd) for column in entry.table.columns[:3]] == [
        ("id", "", ""),
        ("ra", "deg", "pos.eq.ra;meta.main"),
        ("dec", "deg", "pos.eq.dec;meta.main"),
    ]


@pytest.mark.parametrize("checks", [13, 15, 16])
def test_a_stopped_load_continues_without_reading_again(
    loading: EmbeddedEngine,
    stars: Path,
    checks: int,
    request_of: BuildRequest,
    server: FileServer,
    server_address: str,
) -> None:
    with pytest.raises(LoadCancelled):
        load_files(loading, request_of(server_address), Recorder(stop_after=checks))
    server.requests.clear()
    inserted: list[int] = []
    insert = ServerStagingTable.insert_chunk

    def counted(self: ServerStagingTable, number: int, batches: Sequence[pa.RecordBatch]) -> list[Orphan]:
        inserted.append(number)
        return insert(self, number, batches)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerStagingTable, "insert_chunk", counted)
        load_files(loading, request_of(server_address), recorder := Recorder())
    read = [path for method, path in server.requests if method == "GET" and "/Norder=0/" in path]
    again = {path for path in read if read.count(path) > 1}  # the first time is for the footer
    assert len({*read}) == 12
    stored = checks - 12  # chunks, of three partitions each
    assert len(again) == 12 - 3 * stored
    assert f"resuming the stopped load of {TABLE}" in recorder.messages
    assert sorted(inserted) == list(range(1 + stored, 5))
    assert_all_rows(loading, stars)


def test_a_failing_server_leaves_no_table(
    loading: EmbeddedEngine,
    stars: Path,
    request_of: BuildRequest,
    server: FileServer,
    server_address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patience = Patience(attempts=2, pause_seconds=0.01, silence_seconds=0.4)
    monkeypatch.setattr(catalogue_folder.open_folder, "__defaults__", (patience,))
    seen: list[str] = []

    def fail_later(method: str, path: str) -> str:
        """Fail the second reading of a partition, after its footer."""
        seen.append(path)
        return "half" if path.endswith("Npix=7.parquet") and seen.count(path) > 2 else ""

    server.choose_failure = fail_later
    try:
        with pytest.raises(ReadError, match=r"Npix=7\.parquet cannot be read: .* \(after 2 attempts"):
            load_files(loading, request_of(server_address), Recorder())
        assert catalogue_log.read_catalogue(loading).find_tables("stars", False, "hatsload") == ()
    finally:
        server.choose_failure = lambda method, path: ""
    load_files(loading, request_of(server_address), Recorder())
    assert_all_rows(loading, stars)


def test_a_changed_catalogue_is_other_input(loading: EmbeddedEngine, tmp_path: Path, request_of: BuildRequest) -> None:
    folder = write_catalogue(tmp_path / "stars")
    load_files(loading, request_of(folder), Recorder())
    file = folder / "dataset" / "Norder=0" / "Dir=0" / "Npix=3.parquet"
    pq.write_table(pq.read_table(file, partitioning=None), file)
    with pytest.raises(LoadError, match=r"exists: add to it with skyhouse load --append, replace it with --replace"):
        load_files(loading, request_of(folder), Recorder())
    load_files(loading, request_of(folder, "replace"), recorder := Recorder())
    assert recorder.lines == [f"loaded 1,200 rows into {TABLE}"]


def test_columns_that_cannot_be_loaded_are_named(
    loading: EmbeddedEngine, tmp_path: Path, request_of: BuildRequest
) -> None:
    light = pa.StructArray.from_arrays([pa.array([[0.5, 1.5]] * 1200), pa.array([[3]] * 1200)], ["mjd", "flux"])
    rows = make_rows().append_column("lc", light).append_column("notes", pa.array([["x"]] * 1200))
    folder = write_catalogue(tmp_path / "stars", rows)
    with pytest.raises(LoadError, match=r"\(notes: the type list<.*--schema without them, which skyhouse describe"):
        load_files(loading, request_of(folder), Recorder())
    described = CliRunner().invoke(app, ["describe", str(folder), "--table", TABLE])
    assert "warning: notes is left out because it cannot be loaded: the type list<" in described.stderr
    (tmp_path / "stars.yaml").write_text(described.stdout)
    schema, _ = read_schema(described.stdout, "described", strict=True)
    assert schema.tables[0].description == "Stars of a test"
    assert [column.name for column in schema.tables[0].columns] == ["id", "ra", "dec", "mag", "lc_mjd", "lc_flux"]
    load_files(loading, request_of(folder, schema=tmp_path / "stars.yaml"), Recorder())
    found = read_content(loading, "id, lc_mjd, lc_flux").slice(0, 2).to_pylist()
    assert found == [{"id": number, "lc_mjd": [0.5, 1.5], "lc_flux": [3]} for number in range(2)]


def test_an_exported_table_comes_back(loading: EmbeddedEngine, tmp_path: Path, request_of: BuildRequest) -> None:
    rows = make_rows(300).append_column("flux", pa.array([[0.5] * (number % 3) for number in range(300)]))
    load_files(loading, request_of(write_catalogue(tmp_path / "stars", rows)), Recorder())
    export_hats(loading, ExportRequest(source=TABLE, target=str(tmp_path / "exported")), Recorder())
    names = "id, ra, dec, mag, flux"
    before = read_content(loading, names)
    load_files(loading, request_of(tmp_path / "exported", "replace"), Recorder())
    assert read_content(loading, names).equals(before)
    [entry] = [e for e in catalogue_log.read_catalogue(loading).entries if e.schema.name == "hatsload"]
    assert entry.table.description == "Stars of a test"
    assert [column.unit for column in entry.table.columns] == ["", "deg", "deg", "mag", ""]


def test_bad_rows_name_their_partition(loading: EmbeddedEngine, tmp_path: Path, request_of: BuildRequest) -> None:
    rows = make_rows()
    names = pa.array(["plain" if number else "not ASCII: é" for number in range(rows.num_rows)])
    folder = write_catalogue(tmp_path / "stars", rows.append_column("name", names))
    (tmp_path / "stars.yaml").write_text(
        "name: hatsload\ntables:\n- name: stars\n  columns:\n  - {name: id, datatype: long}\n"
        "  - {name: name, datatype: char, length: 20}\n"
    )
    with pytest.raises(LoadError, match=r"in row 1 of .*dataset/Norder=0/Dir=0/Npix=0\.parquet: column name"):
        load_files(loading, request_of(folder, schema=tmp_path / "stars.yaml"), Recorder())


def test_verify_reads_a_catalogue_at_its_address(stars: Path) -> None:
    recorder = Recorder()
    verify_catalogue(str(stars), recorder, with_rows=True)
    assert f"{ROWS:,} rows in 12 partitions of the order 0" in recorder.lines[0]
    assert recorder.lines[1:] == [
        "rows: as in hats_nrows",
        "columns: 6, the same in all partitions",
        "spatial index: _healpix_29 of order 29",
        "margin caches: none",
        f"read: {ROWS:,} rows, each in the pixel of its partition",
    ]


def test_the_commands(stars: Path, tmp_path: Path) -> None:
    run = CliRunner()
    assert run.invoke(app, ["verify", str(stars)]).exit_code == 0
    (tmp_path / "empty").mkdir()
    for command in (["verify"], ["describe"]):
        failed = run.invoke(app, [*command, str(tmp_path / "empty")])
        assert failed.exit_code == 1
        assert "is not a HATS catalogue" in failed.stderr
    assert "--rows is for catalogues" in run.invoke(app, ["verify", TABLE, "--rows", "--data", str(tmp_path)]).stderr
