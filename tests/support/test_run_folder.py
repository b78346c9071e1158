"""A run that writes outside its folder, or uses a default data directory, fails and names the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.audited.sitecustomize import RUN_FOLDER
from tests.support.environment import ROOT

STRAY = """
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

def test_file():
    (HERE / "stray.txt").write_text("x")

def test_folder():
    (HERE / "stray").mkdir()
    (HERE / "stray").rename(HERE / "strayed")

def test_database():
    sqlite3.connect(HERE / "stray.sqlite").close()

def test_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", port))

def test_child():
    code = f"open({str(HERE / 'child.txt')!r}, 'w').close()"
    subprocess.run([sys.executable, "-c", code], check=True)

def test_data():
    code = "from tap_service.config import read_config; read_config().data.mkdir(parents=True)"
    subprocess.run([sys.executable, "-c", code], check=True)
"""

TIDY = """
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from tap_service.config import Config

def test_tidy(tmp_path):
    (tmp_path / "file").write_text("x")
    (Path.home() / "file").write_text("x")
    with tempfile.TemporaryFile(), socket.create_server(("127.0.0.1", 0)):
        pass
    subprocess.run([sys.executable, "-c", "open('file', 'w').close()"], cwd=tmp_path, check=True)

def test_no_settings():
    assert not [name for name in os.environ if name.startswith("SKYHOUSE_") and os.environ[name]]
    assert Config().data.is_relative_to(os.environ["TESTS_RUN_FOLDER"])
"""


def run(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests as a user who has Skyhouse on this machine, with settings in the environment."""
    (folder / "test_given.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "tmp").mkdir()
    environment = {name: value for name, value in os.environ.items() if name != RUN_FOLDER}
    environment |= {"TMPDIR": str(folder / "tmp"), "SKYHOUSE_DATA": "/srv/data", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.run_folder", "-p", "no:cacheprovider", str(folder)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


def test_what_strays_fails_the_run(tmp_path: Path) -> None:
    ran = run(tmp_path, STRAY)
    assert ran.returncode == 1, ran.stdout
    assert "6 passed" in ran.stdout
    told = [line for line in ran.stdout.splitlines() if ", in test_given.py::" in line or "SKYHOUSE_DATA" in line]
    assert [line.split(", in ")[0] for line in told[:4]] == [
        f"open {tmp_path}/stray.txt",
        f"os.mkdir {tmp_path}/stray",
        f"os.rename {tmp_path}/stray",
        f"os.rename {tmp_path}/strayed",
    ]
    assert told[4].startswith(f"sqlite3.connect {tmp_path}/stray.sqlite, in test_given.py::test_database")
    assert told[5].startswith("binds port ")
    assert told[6].startswith(f"open {tmp_path}/child.txt, in test_given.py::test_child")
    assert told[7].startswith("a process without SKYHOUSE_DATA made ")
    assert len(told) == 8
    [kept] = (tmp_path / "tmp").iterdir()
    assert f"the files of this run are kept: {kept}" in ran.stderr


def test_a_tidy_run_passes_and_leaves_nothing(tmp_path: Path) -> None:
    ran = run(tmp_path, TIDY)
    assert (ran.returncode, "2 passed" in ran.stdout) == (0, True), ran.stdout
    assert list((tmp_path / "tmp").iterdir()) == []
