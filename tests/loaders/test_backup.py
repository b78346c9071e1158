"""Backups of the embedded engine's data, made while a service runs and restored in a second data directory."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from loaders.backup.backup_target import BackupTarget
from loaders.backup.job_backup import copy_watches
from loaders.control.restore_command import RestoreRequest, restore_data
from loaders.load_error import LoadError
from tap_service.config import Config
from tap_service.models.watch import Watch
from tap_service.storage.watch_store import WatchStore
from tests.loaders.recorder import Recorder
from tests.loaders.test_cli import Service, skyhouse, start, started
from tests.support.environment import ROOT, make_environment

ROWS, MORE = 30_000, 500
COUNT = "SELECT COUNT(*) FROM s.stars"


def write_stars(path: Path, first: int, rows: int) -> None:
    random = np.random.default_rng(first)
    columns = {"ra": random.uniform(0, 360, rows), "dec": random.uniform(-90, 90, rows)}
    pq.write_table(pa.table({"id": np.arange(first, first + rows), **columns}), path)


def run_job(service: Service, query: str) -> str:
    """Return the address of a job below /tap/async when it has ended."""
    asked = urllib.parse.urlencode(
        {"LANG": "ADQL", "FORMAT": "csv", "PHASE": "RUN", "CHECKSUM": "true", "QUERY": query}
    ).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/tap/async", asked, timeout=30) as answer:
        address = urllib.parse.urlsplit(answer.url).path
    assert read(service, f"{address}/phase?WAIT=30") in (b"EXECUTING", b"COMPLETED", b"QUEUED")
    while read(service, f"{address}/phase") in (b"EXECUTING", b"QUEUED"):
        time.sleep(0.05)
    return address


def make_share(service: Service, job: str) -> str:
    """Return the address of a share of a job's result, below /tap/shares."""
    asked = urllib.parse.urlencode({"JOB": job.rsplit("/", 1)[1], "TITLE": "Kept"}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/tap/shares", asked, timeout=30) as answer:
        return urllib.parse.urlsplit(json.load(answer)["url"]).path


def read(
    service: Service, path: str, password: str = "", *, method: str = "", data: bytes | None = None, kind: str = ""
) -> bytes:
    request = urllib.request.Request(f"http://127.0.0.1:{service.port}{path}", data, method=method or None)
    if password:
        request.add_header("Authorization", f"Bearer {password}")
    if kind:
        request.add_header("Content-Type", kind)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


def share_user_table(service: Service, owner: str) -> None:
    """Create a table of alice, whose token is ``owner``, and let bob read it."""
    read(service, "/tap/tables/mydb.mine", owner, method="PUT", data=b"n\n7\n", kind="text/csv")
    read(service, "/tap/mydb/mydb.mine/grants", owner, data=b'{"user": "bob"}', kind="application/json")


def query_path(query: str) -> str:
    return "/tap/sync?" + urllib.parse.urlencode({"LANG": "ADQL", "FORMAT": "csv", "QUERY": query})


def stop(service: Service) -> None:
    service.process.send_signal(signal.SIGTERM)
    service.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a data directory, two backups of it in backups/, and their expected content in expected.json."""
    folder = tmp_path_factory.mktemp("backup")
    write_stars(folder / "stars.parquet", 0, ROWS)
    write_stars(folder / "more.parquet", ROWS, MORE)
    assert skyhouse(folder, "load", "stars.parquet", "--table", "s.stars")[0] == 0
    assert skyhouse(folder, "user", "add", "alice", given="a secret password\n")[0] == 0
    assert skyhouse(folder, "user", "add", "bob", given="another password\n")[0] == 0
    token, reader = (skyhouse(folder, "user", "token", name)[1].strip() for name in ("alice", "bob"))
    service = started(folder)
    try:
        job = run_job(service, "SELECT TOP 50 id, ra FROM s.stars ORDER BY id")
        result = read(service, f"{job}/results/result").decode()
        share = make_share(service, job)
        share_user_table(service, token)
        code, first, err = skyhouse(folder, "backup", "backups")
        assert code == 0, err
        assert skyhouse(folder, "load", "more.parquet", "--table", "s.stars", "--append")[0] == 0
        assert service.rows(COUNT) == [str(ROWS + MORE)]
        code, second, err = skyhouse(folder, "backup", "backups")
        assert code == 0, err
    finally:
        stop(service)
    expected = {"job": job, "share": share, "result": result, "first": first, "second": second}
    expected |= {"token": token, "reader": reader}
    (folder / "expected.json").write_text(json.dumps(expected))
    return folder


@pytest.fixture
def expected(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "expected.json").read_text())
    return found


def restore(folder: Path, source: Path, *arguments: str) -> tuple[int, str, str]:
    return skyhouse(folder, "restore", str(source), *arguments)


def test_the_list_of_backups_shows_what_they_contain(folder: Path, expected: dict[str, str]) -> None:
    name, described = expected["first"].strip().split(": ")
    assert described.startswith("1 table (full, ")
    assert ", users, 1 job, 3 files of results, " in described
    assert re.search(rf": 1 table \(adds 0\.[01] MB to {re.escape(name)}\), users", expected["second"])
    code, out, _ = skyhouse(folder, "backup", "backups", "--list")
    listed = (expected["first"] + expected["second"]).replace("Z: ", "Z\t")
    assert (code, out) == (0, listed)


def test_the_newest_backup_is_served_from_another_folder(
    folder: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(folder / "backups", moved)
    code, out, err = restore(tmp_path, moved)
    assert code == 0, err
    assert f"s.stars: {ROWS + MORE:,} rows, {ROWS + MORE:,} were loaded from 2 inputs" in out
    assert f"restored to {tmp_path}/data" in out
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert {"accounts.sqlite", "usage.sqlite"} <= {path.name for path in (tmp_path / "data").iterdir()}
    assert {"jobs.sqlite", "results", "site.sqlite"} <= {path.name for path in (tmp_path / "data" / "jobs").iterdir()}
    service = started(tmp_path)
    try:
        assert service.rows(COUNT) == [str(ROWS + MORE)]
        assert read(service, f"{expected['job']}/results/result").decode() == expected["result"]
        assert read(service, f"{expected['share']}/result").decode() == expected["result"]
        assert json.loads(read(service, expected["share"]))["title"] == "Kept"
        assert json.loads(read(service, f"{expected['share']}/check"))["same"] is False  # rows were appended to it
        assert read(service, "/tap/tables", expected["token"])
        # a user table is restored with its readers
        assert b'"users":["bob"]' in read(service, "/tap/mydb/mydb.mine/grants", expected["token"])
        assert read(service, query_path("SELECT n FROM mydb_alice.mine"), expected["reader"]).split() == [b"n", b"7"]
        # everything works after a restore
        write_stars(tmp_path / "last.parquet", ROWS + MORE, 7)
        assert skyhouse(tmp_path, "load", "last.parquet", "--table", "s.stars", "--append")[0] == 0
        assert service.rows(COUNT) == [str(ROWS + MORE + 7)]
    finally:
        stop(service)


def test_older_backup_without_users_and_jobs(folder: Path, expected: dict[str, str], tmp_path: Path) -> None:
    name = expected["first"].split(":")[0]
    code, out, err = restore(tmp_path, folder / "backups", "--backup", name, "--without", "users", "--without", "jobs")
    assert code == 0, err
    assert f"s.stars: {ROWS:,} rows, {ROWS:,} were loaded from 1 inputs" in out
    assert not (tmp_path / "data" / "accounts.sqlite").exists()
    assert not (tmp_path / "data" / "jobs" / "jobs.sqlite").exists()


def test_the_commands_of_the_page_run(folder: Path, expected: dict[str, str], tmp_path: Path) -> None:
    shutil.copytree(folder / "data", tmp_path / "data", symlinks=True)
    page = (ROOT / "docs" / "backup.md").read_text()
    script = "set -euo pipefail\n" + "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    folders = {
        "BACKUPS": str(tmp_path / "b"),
        "SECOND": str(tmp_path / "second"),
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-c", script],
        env=make_environment(tmp_path / "data") | folders | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    listed = run.stdout.splitlines()
    assert listed[0].replace(": ", "\t") == listed[1]
    assert f"restored to {tmp_path}/second: skyhouse serve --data {tmp_path}/second" in listed
    assert listed[-1].startswith("s.stars")
    assert f"{ROWS + MORE:,} rows" in listed[-1]


@pytest.mark.parametrize("delay", [0.0, 0.15])
def test_killed_backup_leaves_none(folder: Path, tmp_path: Path, delay: float) -> None:
    shutil.copytree(folder / "data", tmp_path / "data", symlinks=True)
    kill_when(lambda: (tmp_path / "backups" / "data").exists(), delay, start(tmp_path, "backup", "backups"))
    listed = BackupTarget(str(tmp_path / "backups")).list_backups()
    left = list((tmp_path / "backups" / "data").iterdir())
    assert len(listed) <= len(left)
    if delay == 0:
        assert listed == []
        code, out, err = skyhouse(tmp_path, "backup", "backups")
        assert code == 0, err
        assert f"deleted the files of the stopped backup {left[0].name}" in err
        assert [path.name for path in (tmp_path / "backups" / "data").iterdir()] == [out.split(":")[0]]


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_killed_restore_leaves_no_data(folder: Path, tmp_path: Path, delay: float) -> None:
    working = tmp_path / "data.restoring"
    kill_when(working.exists, delay, start(tmp_path, "restore", str(folder / "backups")))
    if working.exists():
        assert not (tmp_path / "data").exists()
        code, out, err = restore(tmp_path, folder / "backups")
        assert code == 0, err
        assert f"deleted what a stopped restore left in {working}" in err
        assert f"{ROWS + MORE:,} rows" in out
    assert delay or not working.exists()


def kill_when(condition: Callable[[], bool], delay: float, process: subprocess.Popen[str]) -> None:
    """Kill a process ``delay`` seconds after a condition holds."""
    while not condition() and process.poll() is None:
        time.sleep(0.005)
    time.sleep(delay)
    process.kill()
    process.communicate()


def test_data_are_copied_if_links_are_followed(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "data", tmp_path / "data", symlinks=False, ignore=shutil.ignore_patterns("control.sock"))
    assert not any(path.is_symlink() for path in (tmp_path / "data").rglob("*"))
    code, out, err = skyhouse(tmp_path, "verify", "s.stars")
    assert code == 0, err
    assert f"{ROWS + MORE:,} rows" in out
    links = [path for path in (tmp_path / "data" / "clickhouse").rglob("*") if path.is_symlink()]
    assert {str(path.relative_to(tmp_path / "data" / "clickhouse")) for path in links} >= {"metadata/s", "data/s/stars"}
    assert all(tmp_path in path.resolve().parents for path in links)


@pytest.fixture
def damaged(folder: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the backups, for a test to damage."""
    shutil.copytree(folder / "backups", tmp_path / "backups")
    yield tmp_path / "backups"
    assert not (tmp_path / "data").exists()


def refusal(folder: Path, source: Path, name: str = "") -> str:
    """Return why a restore is rejected before it opens an engine."""
    with pytest.raises(LoadError) as caught:
        restore_data(folder / "data", RestoreRequest(str(source), name), Recorder())
    return str(caught.value)


class TestRefusals:
    def test_target_without_backups(self, tmp_path: Path) -> None:
        assert refusal(tmp_path, tmp_path / "none") == f"there is no backup in {tmp_path}/none, which has no backup"

    def test_unknown_backup(self, folder: Path, tmp_path: Path, expected: dict[str, str]) -> None:
        found = refusal(tmp_path, folder / "backups", "2020")
        names = ", ".join(expected[each].split(":")[0] for each in ("first", "second"))
        assert found == f"there is no backup 2020 in {folder}/backups, which has {names}"

    def test_data_directory_that_is_not_empty(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "mine.txt").write_text("mine")
        assert f"{tmp_path}/data is not empty" in refusal(tmp_path, folder / "backups")
        assert [path.name for path in tmp_path.iterdir()] == ["data"]

    def test_damaged_rows(self, damaged: Path, tmp_path: Path) -> None:
        largest = max((path for path in damaged.rglob("*.bin")), key=lambda path: path.stat().st_size)
        content = bytearray(largest.read_bytes())
        content[len(content) // 2] ^= 0xFF
        largest.write_bytes(content)
        code, _, err = restore(tmp_path, damaged)
        assert code == 1
        assert "error: " in err

    def test_damaged_result(self, damaged: Path, tmp_path: Path) -> None:
        result = next(path for path in (damaged / "results").iterdir() if path.name.endswith("-1"))
        result.write_bytes(result.read_bytes()[:-1])
        code, _, err = restore(tmp_path, damaged)
        assert (code, err.splitlines()[-1]) == (1, f"error: {result} is damaged: restore another backup")

    def test_manifest_of_a_later_version(self, damaged: Path, tmp_path: Path) -> None:
        newest = max(damaged.glob("*.json"))
        document = json.loads(newest.read_text())
        newest.write_text(json.dumps(document | {"version": 2, "colour": "blue"}, indent=1))
        assert f"the backup {newest} was made by a later version of Skyhouse" in refusal(tmp_path, damaged)

    def test_invalid_manifest(self, damaged: Path, tmp_path: Path) -> None:
        newest = max(damaged.glob("*.json"))
        newest.write_text('{"version": 1')
        assert f"the backup {newest} is damaged" in refusal(tmp_path, damaged)

    def test_target_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(LoadError, match=f"{tmp_path}/file cannot be used for backups: File exists"):
            BackupTarget(str(tmp_path / "file")).hold_lock().__enter__()

    def test_unknown_scheme(self) -> None:
        with pytest.raises(LoadError, match="nosuch://there cannot be used for backups: Protocol not known: nosuch"):
            BackupTarget("nosuch://there")

    def test_two_backups_at_once(self, tmp_path: Path) -> None:
        target = BackupTarget(str(tmp_path))
        with (
            target.hold_lock(),
            pytest.raises(LoadError, match=rf"another backup to {tmp_path} is running \(pid \d+\)"),
        ):
            BackupTarget(str(tmp_path)).hold_lock().__enter__()


def test_watches_are_copied_with_the_jobs(tmp_path: Path) -> None:
    """Also if there are none yet."""
    config = Config(jobs_path=tmp_path / "jobs")
    (tmp_path / "none").mkdir()
    copy_watches(config, tmp_path / "none")
    made = Watch(
        *("w1", "alice", "bright", datetime(2026, 1, 31, tzinfo=UTC), "SELECT 1", "sky.alerts"),
        *("bright", 0, "https://example.org/hook", "the secret"),
    )
    with closing(WatchStore.open("", tmp_path / "jobs")) as store:
        store.add_watch(made)
    (tmp_path / "copy").mkdir()
    copy_watches(config, tmp_path / "copy")
    for folder, wanted in (("none", []), ("copy", [made])):
        with closing(WatchStore.open("", tmp_path / folder)) as store:
            assert store.list_watches() == wanted
