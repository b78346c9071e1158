"""Malicious uploads to a running service: it refuses them with the protocol's error document, and stays alive."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import numpy as np
import pyarrow as pa
import pytest

from tap_service.config import Config
from tap_service.services.uploads.sandbox_client import SandboxClient
from tests.support.running_service import RunningService
from tests.tap_service.async_client import Job
from tests.tap_service.jobs.test_job_recovery import SERVICE, Process
from tests.tap_service.processes import children, open_files, said_by
from tests.tap_service.uploads.test_hostile_files import REFUSED, arrow

CSV = b"n\n1\n2\n"
SUM = "SELECT SUM(n) AS n FROM TAP_UPLOAD.t"
VOTABLE = "{http://www.ivoa.net/xml/VOTable/v1.3}"


@pytest.fixture(scope="module")
def tight(serve: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> RunningService:
    """A service with small limits."""
    return serve(
        upload_bytes=20 << 20,
        upload_rows=100_000,
        upload_columns=200,
        upload_cell_bytes=1 << 16,
        upload_memory=1 << 30,
        upload_seconds=20,
        spool_path=tmp_path_factory.mktemp("spool"),
    )


def ask(
    service: RunningService, content: bytes = CSV, query: str = SUM, kind: str = "", **parameters: str
) -> httpx.Response:
    """Send a query with ``content`` as TAP_UPLOAD.t."""
    data = {"QUERY": query, "UPLOAD": "t,param:t", "FORMAT": "csv", **parameters}
    part = ("t", content, kind) if kind else ("t", content)
    return httpx.post(service.sync, data=data, files={"t": part}, timeout=60, verify=False)


def refusal(answer: httpx.Response, status: int = 400) -> str:
    """Return the message of a DALI error document."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/x-votable+xml"
    info = ElementTree.fromstring(answer.content).find(f".//{VOTABLE}INFO[@name='QUERY_STATUS']")
    assert info is not None
    assert info.get("value") == "ERROR"
    said = info.text or ""
    assert "\n" not in said
    assert "Traceback" not in said
    assert "/proc/" not in said
    return said


def hosts(process: int) -> list[int]:
    """Return the sandbox processes of a service."""
    return [child for child in children(process) if b"tap_service.readers.sandbox_host" in said_by(child, "cmdline")]


def readers(process: int) -> list[int]:
    return [child for host in hosts(process) for child in children(host)]


def peak(process: int) -> int:
    """Return the peak memory of a process in bytes."""
    lines = said_by(process, "status").decode().splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")), 0)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("href to a file", "keeps its data in another file"),
        ("billion laughs", "DOCTYPE, which is not allowed"),
        ("rows in the footer", "more than 100000 rows"),
        ("zip", "not a table in a known format"),
    ],
)
def test_files(tight: RunningService, case: str, said: str) -> None:
    """The files of ``test_hostile_files`` get the same messages over HTTP."""
    sentence = refusal(ask(tight, REFUSED[case][0]))
    assert sentence.startswith("table t: the file")
    assert said in sentence


def test_what_no_process_can_hold(tight: RunningService) -> None:
    bomb = arrow(pa.table({"a": np.zeros(160_000_000)}), compression="zstd")
    assert "takes more than 1073741824 bytes of memory" in refusal(ask(tight, bomb))


def test_too_many_bytes(tight: RunningService) -> None:
    assert "more than 20971520 bytes" in refusal(ask(tight, b"n\n" + b"1\n" * 11_000_000), 413)


def test_names_that_do_nothing(tight: RunningService) -> None:
    names = [
        "a`b",
        "c'd",
        'e"f',
        "g\\",
        "`; DROP TABLE x --",
        "{x:Int8}",
        "_part",
        "__cover_a",
        "SELECT",
        "λ",
        "c0",
        "C0",
    ]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    content = f"{quoted}\n{','.join(str(i) for i in range(len(names)))}\n".encode()
    answer = ask(tight, content, f"SELECT {quoted} FROM TAP_UPLOAD.t WHERE {quoted.split(',')[0]} = 0")
    assert answer.text.splitlines()[1:] == [",".join(str(i) for i in range(len(names)))]


def test_positions_that_are_none(tight: RunningService) -> None:
    """Rows without a valid position match nothing; with values out of range the upload has no position index."""
    none = "nan,nan\n,\n,5\ninf,0\n"
    query = (
        "SELECT COUNT(*) AS n, SUM(CASE WHEN 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 1)) THEN 1 ELSE 0 END) AS m"
    )
    for rows, count in ((none, 5), (none + "400,1\n1e308,-1e308\n10,95\n", 8)):
        answer = ask(tight, f"ra,dec\n{rows}10,20\n".encode(), f"{query} FROM TAP_UPLOAD.t")
        assert answer.text == f"n,m\r\n{count},1\r\n"


# --- parameters and parts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("upload", "said"),
    [
        ("t", "UPLOAD takes a name and a location"),
        ("t,", "UPLOAD takes a name and a location"),
        (",param:t", "is not a valid table name"),
        ("t,param:other", "the request has no part other for table t (its parts: t)"),
        ("t,param:t;T,param:t", "two tables are called T"),
        (";".join(f"t{i},param:t" for i in range(21)), "21 tables are too many"),
        ("TAP_SCHEMA.tables,param:t", "is not a valid table name"),
        ("TAP_UPLOAD.TAP_UPLOAD.t,param:t", "is not a valid table name"),
        ("a b,param:t", "is not a valid table name"),
        ("a'b,param:t", "is not a valid table name"),
        ("a`b,param:t", "is not a valid table name"),
        ('"t",param:t', "is not a valid table name"),
        ("x" * 65 + ",param:t", "is not a valid table name"),
        ("1t,param:t", "is not a valid table name"),
        ("t,file:///etc/passwd", "give param:... or an http or https address"),
        ("t,/etc/passwd", "give param:... or an http or https address"),
        ("t,ftp://example.org/x", "give param:... or an http or https address"),
        ("t,vos://example.org/x", "give param:... or an http or https address"),
        ("t,http://user:password@example.org/x", "give param:... or an http or https address"),
        ("t,http:///x", "give param:... or an http or https address"),
        ("t,http://example.org:99999/", "give param:... or an http or https address"),
        ("t,http://127.0.0.1:8123/?query=SELECT", "127.0.0.1 is not an address of the public internet"),
        ("t,http://[::1]/", "::1 is not an address of the public internet"),
        ("t,http://169.254.169.254/latest/meta-data/", "169.254.169.254 is not an address of the public internet"),
        ("t,http://2130706433/", "2130706433 is not an address of the public internet"),
        ("t,http://127.0.0.1\r\nX: y/", "give param:... or an http or https address"),
    ],
)
def test_what_upload_may_not_say(tight: RunningService, upload: str, said: str) -> None:
    assert said in refusal(ask(tight, UPLOAD=upload))


def test_names_of_tables_that_are_words(tight: RunningService) -> None:
    query = 'SELECT SUM(s.n) AS n FROM TAP_UPLOAD."select" AS s JOIN TAP_UPLOAD.tables AS t ON s.n = t.n'
    assert ask(tight, CSV, query, UPLOAD="TAP_UPLOAD.select,param:t;tables,param:t").text == "n\r\n3\r\n"


def part(name: str, content: bytes, more: str = "", head: str = "") -> bytes:
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n{head}\r\n'.encode() + content + b"\r\n"


QUERY = part("QUERY", SUM.encode()) + part("FORMAT", b"csv") + part("UPLOAD", b"t,param:t")
FILE = '; filename="t.csv"'


def post(service: RunningService, body: bytes, end: bytes = b"--b--\r\n") -> httpx.Response:
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    return httpx.post(service.sync, content=body + end, headers=kind, timeout=60, verify=False)


@pytest.mark.parametrize(
    "body",
    [
        part("t", CSV, FILE) + QUERY,
        QUERY + part("t", CSV),
        QUERY + part("t", CSV, '; filename="../../etc/passwd"'),
        QUERY + part("t", CSV, FILE, "Content-Type: text/csv; charset=utf-8\r\n"),
        QUERY + part("t", gzip.compress(CSV)),
        QUERY.replace(b'"QUERY"', b'"QUERY"; filename="q.txt"') + part("t", CSV, FILE),
        QUERY + part("t", CSV, FILE) + part("never used", b"\xff" * 5000, FILE),
    ],
    ids=["first", "no file name", "path", "type", "packed", "query as file", "unused"],
)
def test_parts_that_are_odd_but_good(tight: RunningService, body: bytes) -> None:
    answer = post(tight, body)
    assert (answer.status_code, answer.text) == (200, "n\r\n3\r\n")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (QUERY + part("t", CSV, FILE) * 2, "two files of the request are called 't'"),
        (QUERY, "the request has no part t for table"),
        (QUERY + part("t", b"", FILE), "table t: the file is empty"),
        (QUERY + b"--b\r\n\r\n" + CSV + b"\r\n", "has no name in its Content-Disposition"),
        (part("QUERY", b"\xff\xfe", FILE), "not UTF-8"),
    ],
    ids=["twice", "missing", "empty", "no name", "query of bytes"],
)
def test_parts_that_are_not(tight: RunningService, body: bytes, said: str) -> None:
    assert said in refusal(post(tight, body))


def test_a_body_without_end(tight: RunningService) -> None:
    assert "its final boundary is missing" in refusal(post(tight, QUERY + part("t", CSV, FILE), b""))


def test_a_job_tells_the_same(tight: RunningService) -> None:
    content, _ = REFUSED["billion laughs"]
    data = {"QUERY": SUM, "UPLOAD": "t,param:t", "PHASE": "RUN"}
    made = httpx.post(f"{tight.tap}/async", data=data, files={"t": ("t", content)}, timeout=60, verify=False)
    job = Job(made.headers["location"])
    assert job.wait_for_end() == "ERROR"
    assert "DOCTYPE, which is not allowed" in job.message


# --- clients and processes --------------------------------------------------------------------------------------------


def begun(service: RunningService, share: float = 0.5) -> socket.socket:
    """Start an upload of four megabytes, and send only a part of it."""
    body = QUERY + part("t", b"n\n" + b"1\n" * 2_000_000, FILE) + b"--b--\r\n"
    head = f"POST /tap/sync HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", service.port), timeout=30)
    connection.sendall(head.encode() + body[: int(len(body) * share)])
    return connection


def test_clients_that_vanish(serve: Callable[..., RunningService], tmp_path: Path, eventually: Any) -> None:
    service = serve(spool_path=tmp_path)
    clients = [begun(service) for _ in range(5)]
    eventually(lambda: open_files(tmp_path) == 5)
    assert list(tmp_path.iterdir()) == []
    assert ask(service).text == "n\r\n3\r\n"  # other clients continue while these send nothing more
    for client in clients:
        client.close()
    eventually(lambda: open_files(tmp_path) == 0)


def test_no_room_for_files(serve: Callable[..., RunningService], tmp_path: Path) -> None:
    """A directory without write permission acts like a full disk."""
    spool = tmp_path / "spool"
    spool.mkdir()
    service = serve(spool_path=spool)
    assert ask(service).text == "n\r\n3\r\n"
    spool.rmdir()
    assert "try again later" in refusal(ask(service), 503)
    spool.mkdir()
    assert ask(service).text == "n\r\n3\r\n"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the sandbox processes started meanwhile."""
    started: list[int] = []
    start = SandboxClient._start_process

    def watched(self: SandboxClient, requests: socket.socket) -> Any:
        process = start(self, requests)
        started.append(process.pid)
        return process

    monkeypatch.setattr(SandboxClient, "_start_process", watched)
    return started


#: Takes a second to read
LARGE = b"n\n" + b"1\n" * 4_000_000


def test_many_slow_tables_have_one_limit(serve: Callable[..., RunningService], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_service.services.uploads.upload_loader._MAX_SECONDS_FACTOR", 0)
    many = ";".join(f"t{i},param:t" for i in range(20))
    assert "reading these tables takes more than 0 seconds: upload fewer at once" in refusal(ask(serve(), UPLOAD=many))


def test_a_reader_ends_while_its_caller_gives_up(tmp_path: Path, eventually: Any) -> None:
    """The sandbox sees both in one round, and goes on."""
    client = SandboxClient(tmp_path)
    client.start()
    host = client._process
    assert host is not None
    stdin, request = os.pipe()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with open(os.devnull, "w") as nowhere:
        files = [stdin, nowhere.fileno(), nowhere.fileno(), theirs.fileno()]
        socket.send_fds(client._ensure_started(), [b"\0"], files)
    theirs.close()
    os.close(stdin)
    eventually(lambda: children(host.pid))
    [reader] = children(host.pid)
    host.send_signal(signal.SIGSTOP)
    os.close(request)  # the reader waits for it
    eventually(lambda: b"State:\tZ" in said_by(reader, "status"))
    ours.close()
    host.send_signal(signal.SIGCONT)
    assert client.run_reader("no request", 60)[0] == 1
    assert client._process is host
    client.close()


def test_a_reader_that_is_killed(serve: Callable[..., RunningService], started: list[int], eventually: Any) -> None:
    service = serve()
    assert ask(service).text == "n\r\n3\r\n"
    [host] = started
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(ask, service, LARGE)
        eventually(lambda: children(host))
        os.kill(children(host)[0], signal.SIGKILL)
        assert "it is broken, or takes too much memory to read" in refusal(answer.result())
    assert ask(service).text == "n\r\n3\r\n"
    assert started == [host]


def test_what_readers_are_forked_from_is_killed(
    serve: Callable[..., RunningService], started: list[int], eventually: Any
) -> None:
    """The sandbox is restarted, and the file is read again."""
    service = serve()
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(ask, service, LARGE, "SELECT COUNT(*) AS n FROM TAP_UPLOAD.t")
        eventually(lambda: started and children(started[0]))
        os.kill(started[0], signal.SIGKILL)
        assert answer.result().text == "n\r\n4000000\r\n"
    os.kill(started[1], signal.SIGKILL)
    assert ask(service).text == "n\r\n3\r\n"
    assert len(started) == 3


def test_more_than_can_be_read_at_once(serve: Callable[..., RunningService]) -> None:
    service = serve(concurrent_queries=1)
    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(lambda _: ask(service).text, range(5)))
    assert answers == ["n\r\n3\r\n"] * 5


def test_the_service_ends_with_its_readers(
    svc_engine: Any, start_server: Any, tmp_path: Path, started: list[int], eventually: Any
) -> None:
    with (
        start_server(Config(query_log="", jobs_path=tmp_path), svc_engine, grace_seconds=1) as service,
        ThreadPoolExecutor(1) as thread,
    ):
        answer = thread.submit(ask, service, LARGE)
        eventually(lambda: started and children(started[0]))
        [reader] = children(started[0])
        eventually(lambda: said_by(reader, "limits") != said_by(started[0], "limits"))  # it has started
        os.kill(reader, signal.SIGSTOP)
        service.server.should_exit = True
        assert answer.exception() is not None or answer.result().status_code == 503
    assert [pid for pid in started if said_by(pid, "cmdline")] == []
    eventually(lambda: not said_by(reader, "cmdline"))


# --- the service as a process -----------------------------------------------------------------------------------------

UPLOADS = SERVICE.replace("concurrent_jobs=1", 'concurrent_jobs=1, spool_path=data / "spool", upload_memory=1 << 30')
LONG = "SELECT t.n FROM TAP_UPLOAD.t AS t, " + ", ".join(f"TAP_SCHEMA.columns AS {letter}" for letter in "abcdef")


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    monkeypatch.setenv("SKYHOUSE_CLICKHOUSE_PASSWORD", "hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    (tmp_path / "data" / "spool").mkdir(parents=True)
    process = Process(tmp_path / "data", UPLOADS)
    process.start()
    yield process
    process.stop(signal.SIGKILL)


class Address:
    """Like ``RunningService``, for a separate process."""

    def __init__(self, process: Process) -> None:
        self.port = process.port
        self.tap = process.tap
        self.sync = f"{process.tap}/sync"


def stored(process: Process) -> list[str]:
    """Return the uploaded tables in the engine."""
    names = [name for _, _, files in os.walk(process.data / "clickhouse") for name in files]
    return [name.removesuffix(".sql") for name in names if name.startswith("upload_") and name.endswith(".sql")]


def test_nothing_is_left_after_a_crash(process: Process, eventually: Callable[[Callable[[], bool]], None]) -> None:
    service: Any = Address(process)
    first = hosts(process.process.pid)
    assert len(first) == 1
    assert b"hunter2" not in said_by(first[0], "environ")
    assert b"PATH" in said_by(first[0], "environ")
    half = begun(service)
    form = {"UPLOAD": "t,param:t", "FORMAT": "csv", "MAXREC": "100000000"}
    made = httpx.post(
        f"{service.tap}/async", data={"QUERY": LONG, "PHASE": "RUN", **form}, files={"t": ("t", CSV)}, verify=False
    )
    with httpx.stream("POST", service.sync, data={"QUERY": LONG, **form}, files={"t": ("t", CSV)}) as answer:
        assert answer.status_code == 200
        eventually(lambda: len(stored(process)) == 2)
        children_then = hosts(process.process.pid)
        process.stop(signal.SIGKILL)
    half.close()
    eventually(lambda: not any(said_by(child, "cmdline") for child in children_then))
    process.start()
    eventually(lambda: [name.split("_")[1] for name in stored(process)] == ["async"])  # it runs again
    job = made.headers["location"]
    assert httpx.delete(job, verify=False).status_code in (200, 303)
    eventually(lambda: stored(process) == [])
    assert list((process.data / "spool").iterdir()) == []
    eventually(lambda: process.results() == [])
    assert ask(service).text == "n\r\n3\r\n"
    last = hosts(process.process.pid)
    process.stop(signal.SIGTERM)
    eventually(lambda: not any(said_by(child, "cmdline") for child in last))


def test_memory_of_bombs_and_of_large_files(process: Process) -> None:
    """The service does not hold any part of the file; readers stay within their limit."""
    service: Any = Address(process)
    assert ask(service).text == "n\r\n3\r\n"
    before, most = peak(process.process.pid), 0
    over = threading.Event()

    def watch() -> int:
        most = 0
        while not over.is_set():
            most = max(most, *(peak(child) for child in readers(process.process.pid)), 0)
            time.sleep(0.01)
        return most

    bombs = [
        arrow(pa.table({"a": np.zeros(160_000_000)}), compression="zstd"),
        gzip.compress(b"a,b\n1," + b"x" * 100_000_000, 1),
    ]
    with ThreadPoolExecutor(1) as thread:
        watching = thread.submit(watch)
        for bomb in bombs:
            assert refusal(ask(service, bomb))
        large = b"n\n" + b"123456789\n" * 4_000_000
        assert ask(service, large).text == f"n\r\n{123456789 * 4_000_000}\r\n"
        over.set()
        most = watching.result()
    assert 100 << 20 < most < 1 << 30
    assert peak(process.process.pid) - before < 400 << 20
