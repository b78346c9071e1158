"""Commands and the service on a disk that is full, each followed by a restart: with the disk still full, and with room."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.loaders.small_disk import Command, SmallDisk, can_mount

pytestmark = pytest.mark.skipif(not can_mount(), reason="mounting a small disk needs a user namespace")

ROWS = 5_000

SCHEMA = """
name: full
tables:
- name: {name}
  columns:
  - {{name: id, datatype: long, nullable: false}}
  - {{name: ra, datatype: double}}
  - {{name: dec, datatype: double}}
  - {{name: object, datatype: long}}
  skyhouse:layout: {{position: [ra, dec], id: [id], indexes: [object]}}
"""

#: rows of the tables, by which a command is wholly there or wholly absent
COUNTS = [
    "SELECT count() AS n, sum(cityHash64(id, ra, dec, object)) AS s FROM full.stars",
    "SELECT schema_name, table_name, argMax(document, version) AS d FROM skyhouse.catalogue GROUP BY ALL ORDER BY ALL",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all commands."""
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
    """A data folder with a table, and a HATS collection of it in ``folder``."""
    export = ("export", {"source": "full.stars", "target": str(folder / "hats"), "columns": []})
    done = disk.work(load(folder, "stars", "stars"), export)
    assert done.codes == [0, 0], done
    data = tmp_path_factory.mktemp("data") / "data"
    shutil.copytree(disk.path / "data", data, symlinks=True)
    return data


@pytest.fixture(scope="module")
def before(disk: SmallDisk, data: Path) -> list[list[dict[str, Any]]]:
    """What the data hold before each command."""
    disk.start_again(data)
    return disk.work(sql=COUNTS).rows


def load(folder: Path, table: str, file: str, mode: str = "create") -> Command:
    files = {"files": [str(folder / f"{file}.parquet")], "rejects": str(folder / "rejects.csv")}
    schema = None if mode == "append" else str(folder / f"{table}.yaml")
    return ("load", files | {"table": f"full.{table}", "schema_file": schema, "mode": mode})


def build_command(name: str, folder: Path, disk: SmallDisk) -> Command:
    table = {"table": "full.stars"}
    change = table | {"files": [str(folder / f"{name}.parquet")], "rejects": str(folder / "rejects.csv")}
    backup = {"data": str(disk.name / "data"), "target": str(disk.name / "backup"), "parts": ["tables"]}
    commands: dict[str, Command] = {
        "load": load(folder, "other", "more"),
        "append": load(folder, "stars", "more", "append"),
        "replace": load(folder, "stars", "more", "replace"),
        "update": ("update", change),
        "delete": ("delete", change),
        "rebuild": ("rebuild", table),
        "attach": ("attach", {"address": str(folder / "hats"), "table": "full.lying", "schema_file": None}),
        "drop": ("drop", table),
        "backup": ("backup", backup),
        "export": ("export", {"source": "full.stars", "target": str(disk.name / "hats"), "columns": []}),
    }
    return commands[name]


#: a command, and the bytes that are free before it
CASES = [
    *((name, 0) for name in ("load", "append", "replace", "update", "delete", "rebuild", "attach", "drop")),
    *((name, free) for name in ("backup", "export") for free in (0, 200_000)),
    *((name, 1_200_000) for name in ("load", "append", "update")),
]


@pytest.mark.parametrize(("name", "free"), CASES)
def test_a_command_on_a_full_disk_is_done_wholly_or_not(
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


@pytest.mark.parametrize("free", [0, 4_096, 12_288])
def test_an_engine_that_finds_no_room_after_all_loses_no_definition(
    disk: SmallDisk, data: Path, before: list[list[dict[str, Any]]], folder: Path, free: int
) -> None:
    """The room is taken by somebody else just before the engine, which reports no failed write, writes a definition."""
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
    """An earlier version's load on a full disk."""
    stored = data / "clickhouse/store/000/00000000-0000-4000-8000-000000000000"
    (stored / "all_1_1_0").mkdir(parents=True)
    (data / "clickhouse/data/full/other__loading").symlink_to(f"../../store/000/{stored.name}")
    definition = data / "clickhouse/metadata/full/other__loading.sql"
    definition.touch()
    return definition


def empty_mutation(data: Path) -> Path:
    mutation = find_stored(data) / "mutation_9.txt"
    mutation.touch()
    return mutation


def empty_format(data: Path) -> Path:
    return empty(find_stored(data) / "format_version.txt")


def empty_database(data: Path) -> Path:
    return empty(data / "clickhouse/metadata/full.sql")


def cut_changed_definition(data: Path) -> Path:
    """The definition of a published table that was being changed when the process was killed."""
    definition = data / "clickhouse/metadata/full/stars.sql"
    text = definition.read_text()
    (data / "changed_definitions").mkdir(exist_ok=True)
    definition.rename(data / "changed_definitions/full.stars.sql")
    definition.write_text(text[: len(text) // 2])
    return definition


def empty(file: Path) -> Path:
    file.write_text("")
    return file


def find_stored(data: Path) -> Path:
    return data / "clickhouse/data/full" / (data / "clickhouse/data/full/stars").readlink()


@pytest.mark.parametrize(
    "damage", [empty_staging, empty_mutation, empty_format, empty_database, cut_changed_definition]
)
def test_what_a_full_disk_left_does_not_keep_the_data_from_opening(
    disk: SmallDisk, data: Path, before: list[list[dict[str, Any]]], damage: Callable[[Path], Path]
) -> None:
    disk.start_again(data)
    damaged = damage(disk.path / "data")

    opened = disk.work(sql=COUNTS)

    assert opened.rows == before, opened
    assert str(disk.name / "data") in opened.log
    assert damaged.name in opened.log
    assert not disk.work().log
    kept = disk.path / "data/put_aside"
    if damaged.exists():
        assert damaged.stat().st_size
    else:
        assert [file.name[5:].split(".")[-2] for file in kept.iterdir()] == [damaged.stem]
    assert not (disk.path / "data/clickhouse/store/000/00000000-0000-4000-8000-000000000000").exists()


def test_the_lost_definition_of_a_published_table_is_not_put_aside(
    disk: SmallDisk, data: Path, before: list[list[dict[str, Any]]]
) -> None:
    disk.start_again(data)
    definition = disk.path / "data/clickhouse/metadata/full/stars.sql"
    text = definition.read_text()
    empty(definition)

    [message] = disk.work(sql=COUNTS).messages

    assert "the definition of the table full.stars" in message
    assert "put the file back from a copy of the data, or move it away" in message
    definition.write_text(text)
    assert disk.work(sql=COUNTS).rows == before
