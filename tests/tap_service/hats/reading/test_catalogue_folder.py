"""Files of a folder on each storage: complete, unchanged and from inside the folder, or an error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from s3fs import S3FileSystem

from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.reading.catalogue_folder import CatalogueFolder, open_folder
from tap_service.hats.reading.folder_backend import FileMissing, Patience, StorageUnavailable
from tests.servers.file_server import Failure, FileServer, serving_files
from tests.servers.object_store import running_object_store
from tests.support.ports import closed_port

PATIENCE = Patience(connect_seconds=2, silence_seconds=0.4, attempts=3, pause_seconds=0.01)
DATA = bytes(range(256)) * 8
LONG_NAME = "a b+ü&.bin"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("named") / "stars"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / LONG_NAME).write_bytes(DATA)
    (folder / "text").write_text("größe")
    (folder / "empty").touch()
    (folder.parent / "secret").write_text("not named")
    return folder


@pytest.fixture(scope="module")
def server(files: Path) -> Iterator[FileServer]:
    with serving_files(files.parent) as server:
        yield server


@pytest.fixture(scope="module")
def store(files: Path) -> Iterator[str]:
    with running_object_store("folders") as url:
        S3FileSystem().put(str(files), "folders/stars", recursive=True)
        yield f"{url}/stars"


@pytest.fixture(params=["local", "file", "http", "s3"])
def folder(request: pytest.FixtureRequest, files: Path) -> CatalogueFolder:
    if request.param == "http":
        return open_folder(f"{request.getfixturevalue('server').url}/stars", PATIENCE)
    if request.param == "s3":
        return open_folder(request.getfixturevalue("store"), PATIENCE)
    return open_folder(str(files) if request.param == "local" else f"file://{files}", PATIENCE)


@pytest.fixture
def failing_server(server: FileServer) -> Iterator[FileServer]:
    yield server
    server.choose_failure = lambda method, path: ""


def test_existing_files_are_read(folder: CatalogueFolder) -> None:
    path = f"deep/{LONG_NAME}"
    version = folder.stat(path)
    assert version.size == len(DATA)
    assert folder.stat(path) == version
    assert folder.read(path, 0, len(DATA), version) == DATA
    assert folder.read(path, 255, 3, version) == DATA[255:258]
    assert folder.read(path, len(DATA), 0, version) == b""
    assert folder.read_text("text", 7) == "größe"
    assert folder.read_text("empty", 7) == ""
    with pytest.raises(HatsError, match=r"text has 7 bytes; the limit is 6"):
        folder.read_text("text", 6)
    with pytest.raises(HatsError, match="has 2,048 bytes, none at 2,047 to 2,049"):
        folder.read(path, 2047, 2, version)


def test_missing_files(folder: CatalogueFolder) -> None:
    with pytest.raises(FileMissing, match="nothing"):
        folder.stat("nothing")
    with pytest.raises(FileMissing, match="deep"):
        folder.stat("deep")


@pytest.mark.parametrize(
    "path", ["../secret", "deep/../../secret", "/etc/passwd", "", ".", "a//b", "a/", "a\\b", "x?y", "x#y", "a\nb"]
)
def test_no_path_leaves_the_folder(folder: CatalogueFolder, path: str) -> None:
    with pytest.raises(HatsError, match="nothing outside it is read"):
        folder.stat(path)
    if path:
        with pytest.raises(HatsError, match="nothing outside it is read"):
            folder.list_files(path)


def test_lists(folder: CatalogueFolder) -> None:
    if folder.address.startswith("http"):
        with pytest.raises(HatsError, match="HTTP has no lists"):
            folder.list_files("")
        return
    assert sorted(folder.list_files("")) == [f"deep/{LONG_NAME}", "empty", "text"]
    assert folder.list_files("deep") == [f"deep/{LONG_NAME}"]
    assert folder.list_files("nothing") == []


def test_links_out_of_a_folder_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "named"
    folder.mkdir()
    (tmp_path / "secret").write_text("x")
    (folder / "file").write_text("y")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "within").symlink_to(folder / "file")
    (folder / "outside").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    os.mkfifo(folder / "pipe")
    opened = open_folder(str(folder))
    with pytest.raises(HatsError, match="is a link out of the folder"):
        opened.stat("out")
    assert opened.read_text("within", 9) == "y"
    with pytest.raises(FileMissing, match="is not a file"):
        opened.stat("pipe")
    with pytest.raises(HatsError, match="outside is a link out of the folder"):
        opened.list_files("outside")
    with pytest.raises(HatsError, match=f"{folder}/outside is a link to a folder"):
        opened.list_files("")


def test_a_changed_file_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(DATA)
    with serving_files(tmp_path) as server:
        folders = [open_folder(str(tmp_path)), open_folder(server.url, PATIENCE)]
        versions = [folder.stat("f") for folder in folders]
        (tmp_path / "f").write_bytes(DATA[::-1])
        for folder, version in zip(folders, versions, strict=True):
            with pytest.raises(HatsError, match=r"/f has changed: it had 2,048 bytes"):
                folder.read("f", 0, 10, version)


def test_a_changed_object_is_no_answer(store: str) -> None:
    folder = open_folder(store, PATIENCE)
    S3FileSystem().pipe("folders/stars/changing", DATA)
    version = folder.stat("changing")
    S3FileSystem().pipe("folders/stars/changing", DATA[::-1])
    with pytest.raises(HatsError, match="has changed: it had"):
        folder.read("changing", 0, 10, version)
    S3FileSystem().rm("folders/stars/changing")
    with pytest.raises(FileMissing):
        folder.read("changing", 0, 10, version)


@pytest.mark.parametrize("error", [500, 503, 429, "half", "silent"])
def test_passing_failures_are_retried(failing_server: FileServer, error: Failure) -> None:
    folder = open_folder(f"{failing_server.url}/stars", PATIENCE)
    path = f"deep/{LONG_NAME}"
    version = folder.stat(path)
    failing = iter([error, error, ""])
    failing_server.choose_failure = lambda method, path: next(failing)
    assert folder.read(path, 0, len(DATA), version) == DATA


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (500, r"the server answered 500 Internal Server Error \(after 3 attempts"),
        ("half", r"(broke off after|of 2,048 bytes arrived).*\(after 3 attempts"),
        ("silent", r"Read timed out.*\(after 3 attempts"),
        ("slow head", r"Read timed out.*\(after 3 attempts"),
        ("slow", r"of 2,048 bytes arrived within the time limit \(after 3 attempts"),
        ("changed", "has changed: it had"),
        ("whole", "sends no ranges"),
        ("no tag", "neither ETag nor Last-Modified"),
        (302, r"redirects to http://elsewhere\.example/x: redirects are not followed"),
        (403, "does not exist: the server answered 403"),
        (418, "the server answered 418"),
    ],
)
def test_lasting_failures_are_errors(failing_server: FileServer, error: Failure, message: str) -> None:
    folder = open_folder(f"{failing_server.url}/stars", PATIENCE)
    path = f"deep/{LONG_NAME}"
    version = folder.stat(path)
    failing_server.choose_failure = lambda method, path: error
    length = len(DATA) - 1 if error == "whole" else len(DATA)
    with pytest.raises(HatsError, match=message) as caught:
        folder.read(path, 0, length, version)
    assert isinstance(caught.value, StorageUnavailable) == ("after 3 attempts" in message)
    assert f"{failing_server.url}/stars/{path}" in str(caught.value)


def test_a_store_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with closed_port() as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        with pytest.raises(StorageUnavailable, match=r"s3://folders/stars/x cannot be read: .*\(after 3 attempts"):
            open_folder("s3://folders/stars", PATIENCE).stat("x")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://host/x", "unknown scheme"),
        ("https://user:word@host/x", "an address must not contain a user or password"),
        ("https://host/x?key=1", "is not the address of a folder"),
        ("https://host/a/../b", "dots"),
        ("https:///x", "is not the address of a folder"),
        ("https://host:port/x", "is not an address"),
        ("/nowhere/at/all", "is not a folder"),
        ("file:///nowhere/at/all", "is not a folder"),
    ],
)
def test_invalid_addresses(address: str, message: str) -> None:
    with pytest.raises(HatsError, match=message):
        open_folder(address)


def test_hats_is_https() -> None:
    assert open_folder("hats://data.example/gaia/").address == "https://data.example/gaia"
