"""The ``skyhouse`` command as users run it: while a service uses the data directory, and alone."""

from __future__ import annotations

import base64
import json
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from loaders.command_request import CommandRequest
from loaders.control.control_client import hand_over
from loaders.control.table_requests import ArgumentlessRequest, TableRequest
from tests.loaders.recorder import Recorder
from tests.support.environment import make_environment
from tests.support.ports import free_port
from tests.tap_service.site.test_first_queries import suggested

MAIN = "from loaders.cli.skyhouse_command import main; main()"
SMALL_CHUNKS = "from loaders.pipeline import chunk_reader; chunk_reader.CHUNK_ROWS = 20_000"

#: Commands that may read files in their own process; others do not import the readers and start in half of the time
READING = {"serve", "demo", "load", "update", "delete"}


def start(folder: Path, *arguments: str, **options: object) -> subprocess.Popen[str]:
    code = f"{SMALL_CHUNKS}; {MAIN}" if READING & {*arguments} else MAIN
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=make_environment(folder / "data", query_log=""),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,  # type: ignore[call-overload]
    )


def skyhouse(folder: Path, *arguments: str, given: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    process = start(folder, *arguments, stdin=subprocess.PIPE)
    out, err = process.communicate(given, timeout=100)
    return process.returncode, out, err


@dataclass(frozen=True)
class Service:
    folder: Path
    port: int
    process: subprocess.Popen[str]
    said: str

    def rows(self, query: str) -> list[str]:
        """Return the lines of the CSV that the service answers."""
        asked = urllib.parse.urlencode({"LANG": "ADQL", "FORMAT": "csv", "QUERY": query})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/tap/sync?{asked}", timeout=30) as answer:
            return answer.read().decode().split()[1:]


def started(folder: Path, command: str = "serve", **options: object) -> Service:
    """A service that has printed what to try and answers requests."""
    port = free_port()
    process = start(folder, command, "--port", str(port), **options)
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "data-urlencode" in line:
            return Service(folder, port, process, said)
    raise AssertionError(process.communicate())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "data").mkdir()
    # what a killed service leaves behind
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(folder / "data" / "control.sock"))
    service = started(folder)
    yield service
    service.process.send_signal(signal.SIGTERM)
    _, err = service.process.communicate(timeout=30)
    assert service.process.returncode == 0, err
    assert "stopped" in err
    assert "Traceback" not in err
    assert not (folder / "data" / "control.sock").exists()


@pytest.fixture(scope="module")
def stars(service: Service) -> Path:
    random = np.random.default_rng(5)
    size = 400_000
    columns = {"id": np.arange(size), "ra": random.uniform(0, 360, size), "dec": random.uniform(-90, 90, size)}
    pq.write_table(pa.table(columns), service.folder / "stars.parquet", row_group_size=20_000)
    return service.folder / "stars.parquet"


def test_files_are_for_this_user_alone(service: Service) -> None:
    """The data directory was open when the service started; jobs, results, uploads and the engine write into it."""
    uploaded = urllib.parse.urlencode(
        {"QUERY": "SELECT table_name FROM TAP_SCHEMA.tables", "LANG": "ADQL", "PHASE": "RUN"}
    )
    created = urllib.request.urlopen(f"http://127.0.0.1:{service.port}/tap/async", uploaded.encode(), timeout=30)
    urllib.request.urlopen(f"{created.url}?WAIT=60&PHASE=QUEUED", timeout=90).close()
    urllib.request.urlopen(f"{created.url}?WAIT=60&PHASE=EXECUTING", timeout=90).close()
    skyhouse(service.folder, "user", "add", "alice", given="correct-horse\n")
    data = service.folder / "data"
    found = {path: stat.S_IMODE(path.lstat().st_mode) for path in (data, *data.rglob("*"))}
    open_to_others = {str(path): oct(mode) for path, mode in found.items() if mode & 0o077 and not path.is_symlink()}
    assert not open_to_others
    names = {path.name for path in found}
    assert names >= {
        "accounts.sqlite",
        "jobs.sqlite",
        "jobs.sqlite-wal",
        "results",
        "control.sock",
        "lock",
        "clickhouse",
    }
    assert any(path.parent.name == "results" for path in found)


def test_commands_while_a_service_runs(service: Service, stars: Path) -> None:
    mode = stat.S_IMODE((service.folder / "data" / "control.sock").stat().st_mode)
    assert mode == 0o600
    assert skyhouse(service.folder, "tables")[:2] == (0, "no tables yet: skyhouse load FILE --table schema.table\n")
    code, out, err = skyhouse(service.folder, "load", stars.name, "--table", "s.stars")
    assert (code, out) == (0, "loaded 400,000 rows into s.stars\n"), err
    assert service.rows("SELECT COUNT(*) FROM s.stars") == ["400000"]
    assert service.rows("SELECT column_name FROM TAP_SCHEMA.columns WHERE table_name = 's.stars' ORDER BY 1") == [
        "dec",
        "id",
        "ra",
    ]
    code, out, _ = skyhouse(service.folder, "verify", "s.stars")
    assert code == 0
    assert "400,000 rows" in out
    code, out, _ = skyhouse(
        service.folder, "adql", "SELECT id FROM s.stars WHERE 1=CONTAINS(POINT(ra,dec),CIRCLE(9,9,1))", "--explain"
    )
    assert code == 0
    assert "hpx29" in out
    assert "Granules: " in out
    code, out, err = skyhouse(service.folder, "adql", "SELECT idd FROM s.stars")
    assert (code, out) == (1, "")
    assert "line 1, column 8" in err
    few = "SELECT id, ra, dec FROM s.stars WHERE id < 500"
    code, out, err = skyhouse(service.folder, "export", few, "few", "--no-index")
    assert (code, out[:26]) == (0, "few: 500 rows in 12 pixels"), err
    assert (service.folder / "few" / "few" / "dataset" / "_metadata").exists()
    code, out, err = skyhouse(service.folder, "export", "s.stars", "few", "--verify")
    assert (code, out) == (1, "")
    assert f"{service.folder}/few is an export of {few}: name another target" in err
    code, _, err = skyhouse(service.folder, "load", "none.csv", "--table", "s.none")
    assert code == 1
    assert "none.csv cannot be read: No such file" in err
    assert skyhouse(service.folder, "drop", "s.stars")[:2] == (0, "dropped s.stars\n")
    assert skyhouse(service.folder, "drop", "s.stars")[0] == 1
    assert service.rows("SELECT COUNT(*) FROM TAP_SCHEMA.tables WHERE table_name = 's.stars'") == ["0"]


def test_a_schema_file_changes_what_a_service_has(service: Service) -> None:
    file = service.folder / "made.yaml"
    file.write_text("name: made\ntables:\n- name: t\n  columns: [{name: a, datatype: int}]\n")
    code, out, err = skyhouse(service.folder, "schema", "apply", file.name)
    assert (code, out) == (0, "the table made.t is missing\nmade.t is not in the catalogue\n"), err
    file.write_text(file.read_text().replace("int}", "int}, {name: b, datatype: double}"))
    assert skyhouse(service.folder, "schema", "apply", file.name)[0] == 0
    assert service.rows("SELECT COUNT(b) FROM made.t") == ["0"]
    code, out, err = skyhouse(service.folder, "shards", "plan")
    assert (code, out, err) == (1, "", "error: this is a single server, which has no shards\n")


def test_versions_and_corrections_while_a_service_runs(service: Service) -> None:
    folder = service.folder
    columns = "".join(f"  - {{name: {n}, datatype: long, nullable: false}}\n" for n in ("id", "version", "value"))
    layout = "  skyhouse:layout: {id: [id, version], versions: {key: [id], by: version}}\n"
    (folder / "kept.yaml").write_text(f"name: kept\ntables:\n- name: t\n  columns:\n{columns}{layout}")
    files = {"first": "1,1,10\n2,1,20\n", "next": "1,2,11\n", "update": "1,2,12\n7,7,7\n"}
    for name, lines in files.items():
        (folder / f"{name}.csv").write_text(f"id,version,value\n{lines}")
    (folder / "delete.csv").write_text("id,version\n1,2\n")
    latest = 'SELECT id, version, "value" FROM kept.t_last ORDER BY id'
    assert skyhouse(folder, "load", "first.csv", "--table", "kept.t", "--schema", "kept.yaml")[0] == 0
    assert service.rows(latest) == ["1,1,10", "2,1,20"]
    assert skyhouse(folder, "load", "next.csv", "--table", "kept.t", "--append")[0] == 0
    assert service.rows(latest) == ["1,2,11", "2,1,20"]
    code, _, err = skyhouse(folder, "update", "kept.t", "update.csv", "--max-errors", "0")
    assert code == 1
    assert "line 3 of" in err
    code, out, err = skyhouse(folder, "update", "kept.t", "update.csv", "--rejects", "bad.csv")
    assert (code, out) == (0, f"corrected 1 rows of kept.t; 1 bad rows are in {folder / 'bad.csv'}\n"), err
    assert service.rows(latest) == ["1,2,12", "2,1,20"]
    assert skyhouse(folder, "delete", "kept.t", "delete.csv")[:2] == (0, "deleted 1 rows of kept.t\n")
    assert service.rows(latest) == ["1,1,10", "2,1,20"]
    assert service.rows("SELECT COUNT(*) FROM kept.t") == ["2"]
    assert skyhouse(folder, "drop", "kept.t")[0] == 0


def test_an_unexpected_error_ends_the_command_and_not_the_service(tmp_path: Path) -> None:
    service = started(tmp_path)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(tmp_path / "data" / "control.sock"))
        connection.sendall(b'{"command": "load", "files": [], "table": "s.wrong", "rejects": "/rejects.csv"}\n')
        said = [json.loads(line) for line in connection.makefile("r", encoding="utf-8")]
    assert "because of an error in Skyhouse" in said[0]["message"]
    assert said[1:] == [{"exit": 1}]
    assert skyhouse(tmp_path, "tables")[0] == 0
    service.process.send_signal(signal.SIGTERM)
    _, err = service.process.communicate(timeout=30)
    assert service.process.returncode == 0, err
    assert "load failed\nTraceback" in err


def test_a_service_of_another_version_says_that_it_does_not_know_a_command(service: Service) -> None:
    recorder = Recorder()
    assert hand_over(service.folder / "data", CommandRequest(command="of later"), recorder) == 1
    assert "the service does not know of later: it runs Skyhouse " in recorder.messages[0]


def test_a_client_that_is_stopped_stops_its_load(service: Service, stars: Path) -> None:
    client = start(service.folder, "load", stars.name, "--table", "s.stopped")
    wait_for(lambda: "s.stopped" in listed(service), client)
    recorder = Recorder()
    assert hand_over(service.folder / "data", TableRequest(command="drop", table="s.stopped"), recorder) == 1
    assert recorder.fractions == []
    assert recorder.messages == ["error: another command is changing s.stopped: wait until it is done"]
    client.send_signal(signal.SIGINT)
    _, err = client.communicate(timeout=30)
    assert client.returncode == 1
    assert "stopped: start the same load again" in err
    code, out, err = skyhouse(service.folder, "load", stars.name, "--table", "s.stopped")
    assert (code, out) == (0, "loaded 400,000 rows into s.stopped\n")
    assert "resuming the stopped load of s.stopped" in err
    assert service.rows("SELECT COUNT(DISTINCT id) FROM s.stopped") == ["400000"]


def listed(service: Service) -> str:
    """Return what ``skyhouse tables`` prints, without the time that a process takes to start."""
    recorder = Recorder()
    assert hand_over(service.folder / "data", ArgumentlessRequest(command="tables"), recorder) == 0
    assert recorder.fractions == []
    return "\n".join(recorder.lines)


def wait_for(happened: object, running: subprocess.Popen[str] | None = None) -> None:
    while not happened():  # type: ignore[operator]
        assert running is None or running.poll() is None, running.communicate()
        time.sleep(0.05)


def test_too_few_files_for_the_connections_are_reported(tmp_path: Path) -> None:
    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 1000))

    service = started(tmp_path, preexec_fn=limit_files)
    service.process.terminate()
    _, err = service.process.communicate(timeout=30)
    assert err.startswith("note: only 500 connections can be open at once, not 4000 (SKYHOUSE_MAX_CONNECTIONS): each")


def test_a_second_service_does_not_start(service: Service) -> None:
    code, _, err = skyhouse(service.folder, "serve", "--port", str(free_port()))
    assert code == 1
    assert f"another process (pid {service.process.pid}) holds the data directory" in err
    code, _, err = skyhouse(service.folder, "serve", "--port", str(service.port))
    assert (code, err.splitlines()) == (
        1,
        [
            f"error: port {service.port} of 127.0.0.1 is in use: stop the program that listens there, or choose another --port"
        ],
    )


def test_files_of_users(service: Service) -> None:
    """A new user with the name of a removed user does not inherit tables, jobs and queries."""
    definition = b"<table><column><name>a</name><dataType>int</dataType></column></table>"
    assert skyhouse(service.folder, "user", "add", "alice", given="correct-horse\n")[0] == 0

    def asked(path: str, method: str = "GET", content: bytes | None = None) -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{service.port}/tap/{path}", content, method=method)
        request.add_header("Authorization", "Basic " + base64.b64encode(b"alice:correct-horse").decode())
        request.add_header("Content-Type", "text/xml")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())

    for name in ("one", "two", "three"):
        asked(f"tables/mydb.{name}", "PUT", definition)
    code, out, _ = skyhouse(service.folder, "user", "tables")
    assert code == 0
    assert [line.split("\t")[:3] for line in out.splitlines()] == [
        ["alice", f"mydb.{name}", "0 rows"] for name in ("one", "three", "two")
    ]
    assert skyhouse(service.folder, "user", "drop-table", "alice", "mydb.two")[1] == "dropped mydb.two of alice\n"
    code, _, err = skyhouse(service.folder, "user", "drop-table", "alice", "mydb.two")
    assert (code, err) == (1, "error: alice has no table mydb.two; see skyhouse user tables alice\n")
    asked("sync?QUERY=SELECT+table_name+FROM+TAP_SCHEMA.tables")
    asked("async?PHASE=RUN&QUERY=SELECT+table_name+FROM+TAP_SCHEMA.tables", "POST", b"")
    assert b"<uws:jobref " in asked("async")
    wait_for(lambda: [each["status"] for each in json.loads(asked("history"))["queries"]] == ["OK", "OK"])
    code, out, said_too = skyhouse(service.folder, "user", "remove", "alice")
    assert "deleted 1 job of alice" in said_too
    said = ["dropped mydb.one of alice", "dropped mydb.three of alice", "alice is removed"]
    assert (code, out.splitlines()) == (0, said)
    assert skyhouse(service.folder, "user", "add", "alice", given="correct-horse\n")[0] == 0
    assert json.loads(asked("mydb"))["tables"] == []
    assert json.loads(asked("history"))["queries"] == []
    assert b"<uws:jobref " not in asked("async")


def test_a_service_answers_while_a_load_runs(service: Service, stars: Path) -> None:
    client = start(service.folder, "load", stars.name, "--table", "s.other")
    while client.poll() is None:
        assert service.rows("SELECT TOP 1 table_name FROM TAP_SCHEMA.tables ORDER BY table_name") != []
    assert client.returncode == 0, client.communicate()
    client.communicate()


def test_the_demo_starts_again_with_its_data(tmp_path: Path) -> None:
    for said in ("loaded 120,521 rows into tycho2.bright", "already loaded: tycho2.bright"):
        service = started(tmp_path, "demo")
        assert service.rows("SELECT COUNT(*) FROM tycho2.bright") == ["120521"]
        python, stilts, curl = suggested(service.said)
        for query in (python, curl):
            assert service.rows(query) != []
        assert shutil.which(stilts[0]), "STILTS is needed: apt-get install stilts"
        asked = subprocess.run([*stilts, "ofmt=csv"], capture_output=True, text=True, timeout=100, check=True)
        assert asked.stdout == "n\n14033\n"
        service.process.send_signal(signal.SIGINT)
        _, err = service.process.communicate(timeout=30)
        assert service.process.returncode == 0, err
        assert "Traceback" not in err
        assert service.said.startswith(said)


def test_commands_without_a_service(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("RAJ2000,DEJ2000,name\n1,2,a\n3,95,b\n")
    code, out, _ = skyhouse(tmp_path, "describe", "t.csv", "--table", "s.t")
    assert code == 0
    (tmp_path / "t.yaml").write_text(out)
    assert "RAJ2000\n    - DEJ2000" in out
    assert "    indexes:\n      name: text\n" in out
    code, _, err = skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--schema", "t.yaml", "--max-errors", "0")
    assert code == 1
    assert "more than 0 bad rows" in err
    code, out, _ = skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--schema", "t.yaml")
    assert (code, out) == (0, f"loaded 1 rows into s.t; 1 bad rows are in {tmp_path}/s.t.rejects.csv\n")
    assert skyhouse(tmp_path, "verify", "s.t")[0] == 0
    assert skyhouse(tmp_path, "load")[0] == 2
    assert skyhouse(tmp_path, "load", "t.csv", "--table", "s.t", "--replace", "--append")[0] == 2


def test_a_value_that_makes_numbers_text_is_reported(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("ra,dec,mag,name\n1,2,3.5,HD 1\n1,2\n\n3,95,none,2\n4,5,-1e5,HD 3\n4,5,,HD 4\n")
    code, out, err = skyhouse(tmp_path, "describe", "t.csv")
    assert code == 0
    assert out.count("datatype: unicode") == 2
    told = err.splitlines()[-1]
    assert told.startswith("warning: t.csv: column mag is read as text because of values such as 'none' in line 5; ")
    (tmp_path / "t.yaml").write_text(out.replace("mag\n    datatype: unicode", "mag\n    datatype: double"))
    arguments = ("load", "t.csv", "--table", "my_schema.t")
    code, out, err = skyhouse(tmp_path, *arguments, "--schema", "t.yaml")
    assert (code, out) == (0, f"loaded 3 rows into my_schema.t; 2 bad rows are in {tmp_path}/my_schema.t.rejects.csv\n")
    assert "mag" not in err


def test_parse_only(tmp_path: Path) -> None:
    queries = "SELECT 1 FROM t\nSELECT a\\n FROM\\tt WHERE b = 'x\\\\y'\nSELECT a\\nFROM t WHERE\n\n"
    queries += "SELECT ABS(a) FROM s.t\nSELECT nothing(a) FROM t\nSELECT a,\\n ABS('x') FROM t\n"
    code, out, _ = skyhouse(tmp_path, "adql", "--parse-only", "-", given=queries)
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == ["OK", "OK"]
    assert lines[2].startswith("ERROR 2:")
    assert lines[3].startswith("ERROR 1:1 ")
    assert lines[4:6] == ["OK", "ERROR 1:8 there is no function nothing"]
    assert lines[6].startswith("ERROR 2:6 ABS takes a number")
    assert not (tmp_path / "data").exists()


def test_data_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    code, _, err = skyhouse(tmp_path, "tables")
    assert code == 1
    assert err.startswith(f"error: cannot use {tmp_path / 'data'} for data: ")
    assert len(err.splitlines()) == 1
