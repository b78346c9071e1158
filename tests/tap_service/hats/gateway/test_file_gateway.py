"""The gateway of attached files: the engine gets the file as it was attached, or an error with its reason."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from s3fs import S3FileSystem

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.hats.attachment import AttachedColumn, AttachedFile, Attachment
from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.schema_model import Schema
from tap_service.constants import FILES_MARK
from tap_service.hats.gateway.attached_files import BLOCK_BYTES
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.hats.reading.catalogue_folder import open_folder
from tap_service.hats.reading.folder_backend import Patience
from tests.servers.file_server import FileServer, serving_files
from tests.servers.object_store import running_object_store

PATIENCE = Patience(2, silence_seconds=0.4, bytes_per_second=1 << 30, attempts=3, pause_seconds=0.01)
#: three blocks and a bit
DATA = bytes(range(256)) * 4096 * 3 + b"the end"

TABLE = Schema.model_validate(
    {
        "name": "gate",
        "tables": ({"name": "stars", "columns": ({"name": "id", "datatype": "long"},)},),
    }
)

Publish = Callable[[str], str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stars")
    (folder / "a.parquet").write_bytes(DATA)
    return folder


@pytest.fixture(scope="module")
def server(files: Path) -> Iterator[FileServer]:
    with serving_files(files) as server:
        yield server


@pytest.fixture
def failing_server(server: FileServer) -> Iterator[FileServer]:
    server.requests.clear()
    yield server
    server.choose_failure = lambda method, path: ""


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[FileGateway]:
    gateway = FileGateway("127.0.0.1", tmp_path / "cache", 100 << 20, patience=PATIENCE)
    yield gateway
    gateway.close()


@pytest.fixture
def publish(gateway: FileGateway) -> Publish:
    """Return the address of a.parquet of the folder with an address, as the gateway serves it."""

    def publish(address: str) -> str:
        version = open_folder(address).stat("a.parquet")
        column = AttachedColumn("id", "id", "Int64", "Int64", 8.0)
        file = AttachedFile(HatsPixel(0, 0), "a.parquet", *version, 1)
        attachment = Attachment(open_folder(address).address, (column,), "", None, (file,))
        [entry] = gateway.publish(Catalogue((TABLE,), attachments={("gate", "stars"): attachment})).entries
        assert entry.attached is not None
        return f"{entry.attached.root}/0.parquet"

    return publish


def read_range(url: str, start: int, end: int) -> httpx.Response:
    return httpx.get(url, headers={"Range": f"bytes={start}-{end - 1}"}, timeout=20)


@pytest.fixture(params=["local", "http", "s3"])
def address(request: pytest.FixtureRequest, files: Path) -> Iterator[str]:
    if request.param == "local":
        yield str(files)
    elif request.param == "http":
        yield request.getfixturevalue("server").url
    else:
        with running_object_store("gate") as url:
            S3FileSystem().put(str(files / "a.parquet"), "gate/stars/a.parquet")
            yield f"{url}/stars"


def test_ranges_of_each_storage(address: str, publish: Publish) -> None:
    url = publish(address)
    head = httpx.head(url)
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(DATA)))
    assert head.headers["Accept-Ranges"] == "bytes"
    assert httpx.get(url).content == DATA
    for start, end in ((0, 1), (5, BLOCK_BYTES + 9), (BLOCK_BYTES, 2 * BLOCK_BYTES), (len(DATA) - 7, len(DATA))):
        for _ in range(2):
            answer = read_range(url, start, end)
            assert answer.status_code == 206
            assert answer.headers["Content-Range"] == f"bytes {start}-{end - 1}/{len(DATA)}"
            assert answer.content == DATA[start:end]
    assert httpx.get(url, headers={"Range": "bytes=-7"}).content == b"the end"
    assert httpx.get(url, headers={"Range": f"bytes={len(DATA)}-"}).status_code == 416


def test_an_error_names_the_table_of_the_query(gateway: FileGateway, files: Path) -> None:
    """Tables may share their files, and a user may not see all of them."""
    version = open_folder(str(files)).stat("a.parquet")._replace(size=9)
    column = AttachedColumn("id", "id", "Int64", "Int64", 8.0)
    attachment = Attachment(str(files), (column,), "", None, (AttachedFile(HatsPixel(0, 0), "a.parquet", *version, 1),))
    tables = [TABLE.tables[0].model_copy(update={"name": name}) for name in ("embargoed", "open")]
    schema = TABLE.model_copy(update={"tables": tuple(tables)})
    attachments = {("gate", table.name): attachment for table in tables}
    for entry in gateway.publish(Catalogue((schema,), attachments=attachments)).entries:
        assert entry.attached is not None
        assert f"the table {entry.qualified_name} " in httpx.get(f"{entry.attached.root}/0.parquet").text


@pytest.mark.parametrize("error", [500, 503, "silent", "half", "slow"])
def test_a_storage_that_fails(failing_server: FileServer, publish: Publish, error: int | str) -> None:
    url = publish(failing_server.url)
    failing_server.choose_failure = lambda method, path: error
    answer = read_range(url, 0, 2048)
    assert answer.status_code == 403
    reason = (
        "the files of the table gate.stars cannot be read now, because their storage does not answer. Try again later"
    )
    assert answer.text == f"{FILES_MARK}{reason}{FILES_MARK}"
    failing_server.choose_failure = lambda method, path: ""
    assert read_range(url, 0, 2048).content == DATA[:2048]


def test_a_storage_that_fails_once(failing_server: FileServer, publish: Publish) -> None:
    url = publish(failing_server.url)
    errors = iter([503, "half"])
    failing_server.choose_failure = lambda method, path: next(errors, "")
    assert read_range(url, 0, 2048).content == DATA[:2048]


@pytest.mark.parametrize("error", ["changed", 404, 403])
def test_a_changed_file(
    failing_server: FileServer, publish: Publish, error: int | str, caplog: pytest.LogCaptureFixture
) -> None:
    url = publish(failing_server.url)
    failing_server.choose_failure = lambda method, path: error
    answer = read_range(url, 0, 2048)
    assert answer.status_code == 403
    assert "the files of the table gate.stars have changed since they were attached" in answer.text
    assert failing_server.url not in answer.text
    [message] = caplog.messages
    assert "a.parquet" in message
    assert "skyhouse verify gate.stars" in message
    assert "skyhouse attach --refresh --table gate.stars" in message


def test_an_error_after_the_first_bytes_breaks_the_answer(failing_server: FileServer, publish: Publish) -> None:
    url = publish(failing_server.url)
    blocks = iter(range(9))
    failing_server.choose_failure = lambda method, path: 500 if next(blocks) else ""
    assert read_range(url, 0, BLOCK_BYTES).content == DATA[:BLOCK_BYTES]
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(url)


def test_blocks_are_read_once(
    failing_server: FileServer, publish: Publish, gateway: FileGateway, tmp_path: Path
) -> None:
    url = publish(failing_server.url)
    assert httpx.get(url).content == DATA
    asked = len(failing_server.requests)
    assert httpx.get(url).content == DATA
    assert read_range(url, 100, 3 * BLOCK_BYTES).status_code == 206
    assert len(failing_server.requests) == asked
    [broken, *_] = (tmp_path / "cache").rglob("0/*")
    broken.write_bytes(broken.read_bytes()[:-9])  # as after a crash
    assert httpx.get(url).content == DATA
    assert len(failing_server.requests) == asked + 1
    assert gateway.secret not in str(failing_server.requests)


def test_kept_blocks_are_not_fetched_with_missing_ones(
    failing_server: FileServer, publish: Publish, tmp_path: Path
) -> None:
    url = publish(failing_server.url)
    assert read_range(url, BLOCK_BYTES, BLOCK_BYTES + 9).status_code == 206
    [kept] = (tmp_path / "cache").rglob("0/*")
    written = kept.stat().st_ino
    failing_server.requests.clear()
    assert httpx.get(url).content == DATA
    assert [method for method, _ in failing_server.requests] == ["GET", "GET"]  # before it and after it
    assert kept.stat().st_ino == written


def test_kept_blocks_are_read_in_parallel(
    failing_server: FileServer, publish: Publish, gateway: FileGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache reads several blocks at a time."""
    url = publish(failing_server.url)
    assert httpx.get(url).content == DATA
    reading = threading.Barrier(4, timeout=20)
    read = gateway._cache.read

    def read_together(name: str) -> bytes | None:
        reading.wait()
        return read(name)

    monkeypatch.setattr(gateway._cache, "read", read_together)
    with ThreadPoolExecutor(4) as readers:
        answers = list(readers.map(lambda start: read_range(url, start, start + 9).content, [0, 0, 5, BLOCK_BYTES]))
    assert answers == [DATA[start : start + 9] for start in (0, 0, 5, BLOCK_BYTES)]


def test_nothing_else_can_be_requested(files: Path, publish: Publish, gateway: FileGateway) -> None:
    url = publish(str(files))
    base = url.removesuffix("/0.parquet")
    (files / "secret").write_text("not a partition")
    for other in (
        f"{base}/1.parquet",
        f"{base}/secret",
        f"{base}/../secret",
        url.replace(gateway.secret, "x" * len(gateway.secret)),
        f"{base[:-32]}{'0' * 32}/0.parquet",
        base[: base.index(gateway.secret)],
    ):
        answer = httpx.get(other)
        assert (answer.status_code, answer.text) == (403, f"{FILES_MARK}there is no such file{FILES_MARK}")


def test_files_are_forgotten_when_no_query_can_read_them(tmp_path: Path, files: Path) -> None:
    def attach(rows: int) -> Catalogue:
        version = open_folder(str(files)).stat("a.parquet")
        file = AttachedFile(HatsPixel(0, 0), "a.parquet", *version, rows)
        attachment = Attachment(str(files), (AttachedColumn("id", "id", "Int64", "Int64", 8.0),), "", None, (file,))
        return Catalogue((TABLE,), attachments={("gate", "stars"): attachment})

    def publish(gateway: FileGateway, catalogue: Catalogue) -> str:
        [entry] = gateway.publish(catalogue).entries
        assert entry.attached is not None
        return entry.attached.root.rpartition("/")[2]

    first, second = attach(1), attach(2)
    for seconds in (3600.0, 0.0):
        with closing(FileGateway("127.0.0.1", tmp_path, 0, query_seconds=seconds)) as gateway:
            old = publish(gateway, first)
            new = publish(gateway, second)
            assert gateway.find_files(old) is not None  # queries may be running
            gateway.publish(second)
            assert (gateway.find_files(old) is not None) == (seconds > 0)
            assert gateway.find_files(new) is not None


def test_a_catalogue_without_attached_tables_needs_no_server(gateway: FileGateway) -> None:
    catalogue = Catalogue((TABLE,))
    assert gateway.publish(catalogue) is catalogue
    assert gateway._server is None
