"""A correction that is killed at any point, or on a full disk, and started again has the same result as undisturbed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.failpoints import Failpoint
from tests.loaders.forked import Ended, run_forked
from tests.loaders.killed_work import run_commands
from tests.loaders.small_disk import can_mount

ROWS = 40_000

SCHEMA = """
name: kill
tables:
- name: stars
  columns:
  - {name: id, datatype: long, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: object, datatype: long}
  skyhouse:layout: {position: [ra, dec], id: [id], indexes: [object]}
"""

#: A command, where it is killed, and how many seconds later
POINTS = [
    ("update", Failpoint.STAGING_CHANGE_BEGIN, 0.003),
    ("update", Failpoint.PUBLISH_EXCHANGE, 0),
    ("move", Failpoint.STAGING_CHANGE_BEGIN, 0.003),
    ("move", Failpoint.STAGING_INSERT_GATEWAY, 0),
    ("move", Failpoint.STAGING_DESCRIBE, 0),
    ("delete", Failpoint.STAGING_CHANGE_BEGIN, 0.003),
    ("delete", Failpoint.CATALOGUE_WRITE, 0),
]


#: Runs the command on a full disk of 40 MB, and again when there is space; loads first unless there are data
FULL = """
import json, os, sys
from pathlib import Path
from loaders.control.data_commands import run_command
from loaders.control.engine_opener import open_engine
from tests.loaders.recorder import Recorder
from tests.loaders.built_request import build_request

folder, command = Path(sys.argv[1]), sys.argv[2]
recorder = Recorder()
ask = {"table": "kill.stars", "rejects": str(folder / "rejects.csv")}
name = "append" if command == "load" else command
change = ask | {"files": [str(folder / (name + ".parquet"))]} | json.loads(sys.argv[3])
load = {"files": [str(folder / "load.parquet")], "schema_file": str(folder / "kill.yaml"), "mode": "create"}
request = build_request(command, change)
is_loaded = (folder / "small" / "data").exists()
with open_engine(folder / "small" / "data") as engine:
    assert is_loaded or run_command(engine, build_request("load", ask | load), recorder) == 0, recorder.reports
    ballast = folder / "small" / "ballast"
    room = os.statvfs(folder / "small")
    ballast.write_bytes(bytes(room.f_bavail * room.f_bsize - 300_000))
    content = "SELECT sum(cityHash64(tuple(*))) FROM kill.stars"
    before = engine.fetch_table(content).to_pylist()
    assert run_command(engine, request, recorder) == 1
    print(recorder.messages[-1])
    assert command == "load" or engine.fetch_table(content).to_pylist() == before
    ballast.unlink()
    assert run_command(engine, request, recorder) == 0, recorder.reports
    assert run_command(engine, build_request("verify", {"table": "kill.stars"}), recorder) == 0, recorder.reports
"""


def run(folder: Path, commands: str, point: str = "", delay: float = 0) -> Ended:
    return run_forked(run_commands, folder, commands, point, delay)


def write_files(folder: Path, kind: str) -> str:
    """Write the files of a load and of a correction; return the command of the correction."""
    random = np.random.default_rng(3)
    (folder / "kill.yaml").write_text(SCHEMA)
    columns = {"id": np.arange(ROWS), "ra": random.uniform(0, 360, ROWS), "dec": random.uniform(-90, 90, ROWS)}
    columns["object"] = random.integers(0, 100, ROWS)
    pq.write_table(pa.table(columns), folder / "load.parquet")
    change = {"id": np.arange(0, ROWS, 3)}
    if kind != "delete":
        change["object"] = -change["id"]
    if kind == "move":
        change["ra"] = random.uniform(0, 360, len(change["id"]))
    command = "delete" if kind == "delete" else "update"
    pq.write_table(pa.table(change), folder / f"{command}.parquet")
    return command


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data of a process that has loaded the table."""
    folder = tmp_path_factory.mktemp("loaded")
    write_files(folder, "update")
    done = run(folder, "load")
    assert done.returncode == 0, done.stderr
    return folder


def copy_data(loaded: Path, folder: Path) -> None:
    shutil.copytree(loaded / "data", folder / "data", symlinks=True)


@pytest.fixture(scope="module")
def undisturbed(loaded: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """The content and the tables after an undisturbed correction of each kind."""

    @cache
    def correct(kind: str) -> list[str]:
        folder = tmp_path_factory.mktemp(kind)
        command = write_files(folder, kind)
        copy_data(loaded, folder)
        done = run(folder, f"{command} verify")
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-2:]

    return correct


@pytest.mark.parametrize(("kind", "point", "delay"), POINTS)
def test_killed_and_started_again(
    loaded: Path, tmp_path: Path, undisturbed: Callable[[str], list[str]], kind: str, point: Failpoint, delay: float
) -> None:
    command = write_files(tmp_path, kind)
    copy_data(loaded, tmp_path)
    killed = run(tmp_path, command, point, delay)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = run(tmp_path, f"{command} verify")
    assert again.returncode == 0, again.stderr
    assert "tables ['stars']" in again.stdout
    assert again.stdout.splitlines()[-2:] == undisturbed(kind)
    assert undisturbed(kind)[0].startswith("content [{'n': ")


@pytest.mark.skipif(not can_mount(), reason="mounting a small disk needs a user namespace")
@pytest.mark.parametrize("kind", ["update", "move", "delete"])
def test_a_full_disk_changes_nothing(loaded: Path, tmp_path: Path, kind: str) -> None:
    command = write_files(tmp_path, kind)
    copy_data(loaded, tmp_path)
    assert f"free some space and start the same {command} again" in run_on_full_disk(tmp_path, command, "{}")


@pytest.mark.skipif(not can_mount(), reason="mounting a small disk needs a user namespace")
def test_an_append_whose_latest_versions_find_a_full_disk_is_finished(tmp_path: Path) -> None:
    write_files(tmp_path, "update")
    versions = "{position: [ra, dec], id: [id, object], versions: {key: [id], by: object}}"
    plain = "{position: [ra, dec], id: [id], indexes: [object]}"
    (tmp_path / "kill.yaml").write_text(SCHEMA.replace(plain, versions))
    added = {"id": np.arange(100), "ra": np.full(100, 1.0), "dec": np.full(100, 1.0), "object": np.full(100, 1000)}
    pq.write_table(pa.table(added), tmp_path / "append.parquet")
    assert "free some space and start the same load again" in run_on_full_disk(tmp_path, "load", '{"mode": "append"}')


def run_on_full_disk(folder: Path, command: str, options: str) -> str:
    """Run a command like FULL, on the data of ``folder`` if it has any; return its output on the full disk."""
    (folder / "small").mkdir()
    copied = f"cp -a {folder / 'data'} {folder / 'small'} && " if (folder / "data").exists() else ""
    mounted = f'mount -t tmpfs -o size=40m none "$1/small" && {copied}exec "$0" -c "$4" "$1" "$2" "$3"'
    arguments = ["unshare", "-rm", "sh", "-c", mounted, sys.executable, str(folder), command, options, FULL]
    done = subprocess.run(arguments, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "no space left in " in done.stdout
    return done.stdout
