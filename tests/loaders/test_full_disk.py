"""Commands and the service on a full disk, each followed by a restart: with the disk still full, and with free space."""

from __future__ import annotations

import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tap_service.storage.accounts import Accounts
from tests.loaders.small_disk import Command, SmallDisk, can_mount
from tests.support.ports import free_port

pytestmark = pytest.mark.skipif(not can_mount(), reason="mounting a small disk needs a user namespace")

ROWS = 5_000

SCHEMA = """
name: sky
tables:
- name: {name}
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: ra, datatype: double}}
  - {{name: dec, datatype: double}}
  - {{name: object, datatype: long}}
  skyhouse:layout: {{position: [ra, dec], id: [id], indexes: [object]}}
"""

#: Rows of the tables, which show whether a command was made completely or not at all
COUNTS = [
    "SELECT count() AS n, sum(cityHash64(id, ra, dec, object)) AS s FROM sky.stars",
    "SELECT schema_name, table_name, argMax(document, version) AS d FROM skyhouse.catalogue GROUP BY ALL ORDER BY ALL",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files of all commands."""
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(4)
    columns = {"id": np.arange(ROWS), "ra": random.uniform(0, 360, ROWS), "dec": random.uniform(-90, 90, ROWS)}
    columns["object"] = random.integers(0, 100, ROWS)
    pq.write_table(pa.table(columns), folder / "stars.parquet")
    pq.write_table(pa.table(columns | {"id": columns["id"] + ROWS}), folder / "more.parquet")
    pq.write_table(pa.table({"id": columns["id"][::3], "object": -columns["id"][::3]}), folder / "update.parquet")
    pq.write_table(pa.table({"id": columns["id"][::3]}), folder / "delete.parquet")
    for name in ("stars", "other"):
        (folder / f"{name}.yaml").write_text(SCHEMA.format(name=name))
    return folder


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path_factory.mktemp("disk"), 24 << 20)
    yield disk
    disk.close()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, disk: SmallDisk, folder: Path) -> Path:
    """A data directory with a table, and a HATS collection of it in ``folder``."""
    export = ("export", {"source": "sky.stars", "target": str(folder / "hats"), "columns": []})
    done = disk.work(load(folder, "stars", "stars"), export)
    assert done.codes == [0, 0], done
    data = tmp_path_factory.mktemp("data") / "data"
    shutil.copytree(disk.path / "data", data, symlinks=True)
    return data


@pytest.fixture(scope="module")
def before(disk: SmallDisk, data: Path) -> list[list[dict[str, Any]]]:
    """Return the content of the tables before each command."""
    disk.start_again(data)
    return disk.work(sql=COUNTS).rows


def load(folder: Path, table: str, file: str, mode: str = "create") -> Command:
    files = {"files": [str(folder / f"{file}.parquet")], "rejects": str(folder / "rejects.csv")}
    schema = None if mode == "append" else str(folder / f"{table}.yaml")
    return ("load", files | {"table": f"sky.{table}", "schema_file": schema, "mode": mode})


def build_command(name: str, folder: Path, disk: SmallDisk) -> Command:
    table = {"table": "sky.stars"}
    change = table | {"files": [str(folder / f"{name}.parquet")], "rejects": str(folder / "rejects.csv")}
    backup = {"data": str(disk.name / "data"), "target": str(disk.name / "backup"), "parts": ["tables"]}
    commands: dict[str, Command] = {
        "load": load(folder, "other", "more"),
        "append": load(folder, "stars", "more", "append"),
        "replace": load(folder, "stars", "more", "replace"),
        "update": ("update", change),
        "delete": ("delete", change),
        "rebuild": ("rebuild", table),
        "attach": ("attach", {"address": str(folder / "hats"), "table": "sky.lying", "schema_file": None}),
        "drop": ("drop", table),
        "backup": ("backup", backup),
        "export": ("export", {"source": "sky.stars", "target": str(disk.name / "hats"), "columns": []}),
    }
    return commands[name]


#: A command, and the bytes that are free before it
CASES = [
    *((name, 0) for name in ("load", "append", "replace", "update", "delete", "rebuild", "attach", "drop")),
    *((name, free) for name in ("backup", "export") for free in (0, 200_000)),
    *((name, 1_200_000) for name in ("load", "append", "update", "drop")),
]


@pytest.mark.parametrize(("name", "free"), CASES)
def test_a_command_on_a_full_disk_is_done_completely_or_not_at_all(
    disk: SmallDisk, data: Path, before: list[list[dict[str, Any]]], folder: Path, name: str, free: int
) -> None:
    command = build_command(name, folder, disk)
    counts = COUNTS[1:] if name == "drop" else COUNTS
    disk.start_again(data)
    disk.fill(free)

    first = disk.work(command)
    after_restart = disk.work(sql=counts)
    disk.make_room()
    repeated = disk.work(command, sql=counts)

    if first.codes == [1]:
        assert "space" in first.messages[0], first
        assert str(disk.name) in first.messages[0], first
        assert after_restart.rows == before[-len(counts) :], after_restart
        assert repeated.codes == [0], repeated
    else:
        assert free, "nothing can be written on a disk without a free byte"
        assert after_restart.rows == repeated.rows


@pytest.mark.parametrize("free", [0, 1_000_000])
def test_a_match_on_a_full_disk_is_made_completely_or_not_at_all(
    disk: SmallDisk, data: Path, folder: Path, free: int
) -> None:
    tables = {"left": "sky.stars", "right": "sky.other", "table": "sky.pairs", "radius": 1.0}
    make: Command = ("match make", tables)
    disk.start_again(data)
    disk.work(load(folder, "other", "more"))
    disk.fill(free)

    first = disk.work(make)
    known = ["SELECT count() AS n FROM skyhouse.catalogue WHERE table_name = 'pairs'"]
    after_restart = disk.work(sql=known)
    disk.make_room()
    repeated = disk.work(make, sql=["SELECT count() AS n FROM sky.pairs"])

    if first.codes == [1]:
        assert "space" in first.messages[0], first
        assert after_restart.rows == [[{"n": 0}]]
    else:
        assert free, "nothing can be written on a disk without a free byte"
    assert repeated.codes == [0], repeated
    assert repeated.rows == [[{"n": ROWS}]]


@pytest.mark.parametrize("free", [0, 4_096, 12_288])
def test_an_engine_that_runs_out_of_space_loses_no_definition(
    disk: SmallDisk, data: Path, before: list[list[dict[str, Any]]], folder: Path, free: int
) -> None:
    """Another program fills the disk just before the engine, which does not report failed writes, writes a definition."""
    command = build_command("load", folder, disk)
    disk.start_again(data)
    disk.fill(free)

    first = disk.work(command, is_unguarded=True)
    after_restart = disk.work(sql=COUNTS)
    disk.make_room()

    assert first.codes == [1]
    assert "space" in first.messages[0], first
    assert after_restart.rows == before, after_restart
    assert disk.work(command, sql=COUNTS[:1]).codes == [0]


def empty_staging(data: Path) -> Path:
    """A load of an earlier version on a full disk."""
    stored = data / "clickhouse/store/000/00000000-0000-4000-8000-000000000000"
    (stored / "all_1_1_0").mkdir(parents=True)
    (data / "clickhouse/data/sky/other__loading").symlink_to(f"../../store/000/{stored.name}")
    definition = data / "clickhouse/metadata/sky/other__loading.sql"
    definition.touch()
    return definition


def empty_mutation(data: Path) -> Path:
    mutation = find_stored(data) / "mutation_9.txt"
    mutation.touch()
    return mutation


def empty_format(data: Path) -> Path:
    return empty(find_stored(data) / "format_version.txt")


def empty_database(data: Path) -> Path:
    return empty(data / "clickhouse/metadata/sky.sql")


def cut_changed_definition(data: Path) -> Path:
    """The definition of a published table that the process was changing when it was killed."""
    definition = data / "clickhouse/metadata/sky/stars.sql"
    text = definition.read_text()
    (data / "clickhouse/changed_definitions").mkdir(exist_ok=True)
    definition.rename(data / "clickhouse/changed_definitions/sky.stars.sql")
    definition.write_text(text[: len(text) // 2])
    return definition


def empty(file: Path) -> Path:
    file.write_text("")
    return file


def find_stored(data: Path) -> Path:
    return data / "clickhouse/data/sky" / (data / "clickhouse/data/sky/stars").readlink()


@pytest.mark.parametrize(
    "damage", [empty_staging, empty_mutation, empty_format, empty_database, cut_changed_definition]
)
def test_data_open_after_the_disk_was_full(
    disk: SmallDisk, data: Path, before: list[list[dict[str, Any]]], damage: Callable[[Path], Path]
) -> None:
    disk.start_again(data)
    damaged = damage(disk.path / "data")

    opened = disk.work(sql=COUNTS)

    assert opened.rows == before, opened
    assert str(disk.name / "data") in opened.log
    assert damaged.name in opened.log
    assert not disk.work().log
    kept = disk.path / "data/clickhouse/put_aside"
    if damaged.exists():
        assert damaged.stat().st_size
    else:
        assert [file.name[5:].split(".")[-2] for file in kept.iterdir()] == [damaged.stem]
    assert not (disk.path / "data/clickhouse/store/000/00000000-0000-4000-8000-000000000000").exists()


def test_data_on_another_disk_than_their_path(
    disk: SmallDisk, data: Path, before: list[list[dict[str, Any]]], folder: Path, tmp_path: Path
) -> None:
    disk.start_again(data)
    shutil.move(disk.path / "data/clickhouse", tmp_path)
    (disk.path / "data/clickhouse").symlink_to(tmp_path / "clickhouse")
    damaged = [damage(disk.path / "data") for damage in (cut_changed_definition, empty_staging)]
    disk.fill()

    opened = disk.work(load(folder, "stars", "more", "append"), sql=[COUNTS[0], "SELECT count() AS n FROM sky.stars"])

    assert opened.codes == [0], opened
    assert opened.rows[1] == [{"n": 2 * ROWS}]
    assert damaged[0].exists()
    assert [file.name for file in (tmp_path / "clickhouse/put_aside").iterdir()] == ["0001-sky.other__loading.sql"]


def test_a_table_can_be_dropped_in_two_megabytes(disk: SmallDisk, data: Path) -> None:
    disk.start_again(data)
    disk.fill(1_800_000)
    dropped = disk.work(("drop", {"table": "sky.stars"}))
    assert dropped.codes == [0], dropped


def test_the_lost_definition_of_a_published_table_is_not_put_aside(
    disk: SmallDisk, data: Path, before: list[list[dict[str, Any]]]
) -> None:
    disk.start_again(data)
    definition = disk.path / "data/clickhouse/metadata/sky/stars.sql"
    text = definition.read_text()
    empty(definition)

    [message] = disk.work(sql=COUNTS).messages

    assert "the definition of the table sky.stars" in message
    assert "put the file back from a copy of the data, or move it away" in message
    definition.write_text(text)
    assert disk.work(sql=COUNTS).rows == before


def test_stores_open_again_on_a_disk_that_became_full_while_they_were_open(disk: SmallDisk, data: Path) -> None:
    disk.start_again(data)
    disk.use_stores("x" * 50_000)
    disk.fill(500_000)
    assert disk.use_stores("y" * 50_000, is_filled=True) == 1
    disk.fill()
    assert disk.use_stores() == 2


class Service:
    """``skyhouse serve`` on the small disk, and the requests of a user."""

    def __init__(self, disk: SmallDisk) -> None:
        port = free_port()
        self._disk = disk
        disk.start_service(port)
        self.url = f"http://127.0.0.1:{port}"
        self.http = httpx.Client(base_url=f"{self.url}/tap/", auth=("ana", "secret-of-ana"), timeout=60)
        while not self._is_alive():
            time.sleep(0.05)

    def stop(self, by: signal.Signals = signal.SIGTERM) -> None:
        self.http.close()
        assert self._disk.stop_service(by) == (0 if by == signal.SIGTERM else -by)

    def count(self, table: str) -> int:
        answer = self.http.post(
            "sync", data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": f"SELECT COUNT(*) FROM {table}"}
        )
        assert answer.status_code == 200, answer.text
        return int(answer.text.split()[-1])

    def create_table(self, name: str) -> bool:
        rows = "id,ra,dec\n" + "".join(f"{number},{number % 360},10\n" for number in range(1000))
        return self._is_done(self.http.put(f"tables/mydb.{name}", content=rows, headers={"Content-Type": "text/csv"}))

    def run_job(self) -> str:
        """Run a job; return its id, '' if it failed."""
        request = {"LANG": "ADQL", "PHASE": "RUN", "QUERY": "SELECT * FROM sky.stars", "CHECKSUM": "true"}
        created = self.http.post("async", data=request)
        if not self._is_done(created):
            return ""
        job = created.headers["Location"] if created.status_code == 303 else str(created.url)
        while (phase := self.http.get(f"{job}/phase").text) not in ("COMPLETED", "ERROR"):
            time.sleep(0.05)
        return job.rpartition("/")[2] if phase == "COMPLETED" else ""

    def list_history(self) -> list[Any]:
        answer = self.http.get("history", headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.text
        queries: list[Any] = answer.json()["queries"]
        return queries

    def share(self, job: str) -> bool:
        return self._is_done(self.http.post("shares", data={"JOB": job, "TITLE": "Stars"}))

    def watch(self, name: str) -> bool:
        request = {"name": name, "query": "SELECT id, ra, dec FROM sky.stars WHERE object = 5"}
        return self._is_done(self.http.post("watches", json=request))

    def read_hats(self, columns: str) -> bool:
        folder = f"{self.url}/hats/sky.stars/stars/dataset/"
        pixel = re.findall(r'href="(Norder=\d+/)', self.http.get(folder).text)[0]
        files = re.findall(r'href="(Npix=\d+\.parquet)', self.http.get(f"{folder}{pixel}Dir=0/").text)
        return self._is_done(self.http.get(f"{folder}{pixel}Dir=0/{files[0]}", params={"columns": columns}))

    @staticmethod
    def _is_done(answer: httpx.Response) -> bool:
        """Whether a request succeeded; it may only fail for lack of space."""
        if answer.status_code >= 400:
            assert answer.status_code in (503, 507), answer.text
            assert re.search("space|room|full|cannot be marked now", answer.text), answer.text
        return answer.status_code < 400

    def _is_alive(self) -> bool:
        """Whether the service answers. On a full disk it is not ready: it accepts no jobs."""
        try:
            return httpx.get(f"{self.url}/health/live").status_code == 200
        except httpx.TransportError:
            return False


def assert_no_room_for_job(service: Service, disk: SmallDisk) -> None:
    """A job fails on the full disk. If it does not, the service has freed some files since, and the disk is filled again."""
    for _ in range(5):
        disk.fill()
        if not service.run_job():
            return
    raise AssertionError("jobs complete on a full disk")


def test_a_service_on_a_full_disk_answers_and_starts_again(disk: SmallDisk, data: Path, folder: Path) -> None:
    disk.start_again(data)
    accounts = Accounts(folder / "accounts.sqlite")
    accounts.add_user("ana", "secret-of-ana")
    accounts.close()
    shutil.copy(folder / "accounts.sqlite", disk.path / "data")
    service = Service(disk)
    assert service.create_table("kept")
    job = service.run_job()
    assert job

    disk.fill()
    assert not service.create_table("added")
    assert_no_room_for_job(service, disk)
    shared, watched = service.share(job), service.watch("new")
    assert not (shared and watched)
    service.read_hats("id,ra")

    for by in (signal.SIGTERM, signal.SIGKILL):
        disk.fill()
        service.stop(by)
        disk.fill()
        service = Service(disk)
        assert service.count("sky.stars") == ROWS
        assert service.count("mydb.kept") == 1000
        assert service.list_history()
    disk.fill()
    assert not service.create_table("added")
    assert_no_room_for_job(service, disk)

    disk.make_room()
    assert service.count("mydb.kept") == 1000
    assert service.create_table("added")
    assert service.count("mydb.added") == 1000
    assert service.run_job()
    assert service.share(job)
    assert watched or service.watch("new")
    assert service.read_hats("id,dec")
    service.stop()
