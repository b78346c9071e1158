"""Attached tables in the service: on the embedded engine and on a ClickHouse server, also with a failing storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, unregister_table
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.attach_table import attach_catalogue
from tap_service.config import Config
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.hats.reading.folder_backend import Patience
from tap_service.services.catalogue.attachment_watch import AttachmentWatch
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import Engine
from tests.loaders.recorder import Recorder
from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.file_server import FileServer, serving_files
from tests.support.running_service import RunningService
from tests.tap_service.hats.hats_files import make_rows, write_catalogue, write_properties

StartServer = Callable[..., AbstractContextManager[RunningService]]

COUNT = "SELECT COUNT(mag) AS n, SUM(id) AS s FROM gateway.stars"
CONE = "SELECT id FROM gateway.stars WHERE DISTANCE(ra, dec, 120, -40) < 20 ORDER BY id"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileServer]:
    folder = tmp_path_factory.mktemp("served")
    write_catalogue(folder / "stars")
    with serving_files(folder) as server:
        yield server


@pytest.fixture
def failing_server(server: FileServer) -> Iterator[FileServer]:
    yield server
    server.choose_failure = lambda method, path: ""


@contextmanager
def attached(engine: Engine, server: FileServer) -> Iterator[None]:
    attach_catalogue(engine, AttachRequest(address=f"{server.url}/stars", table="gateway.stars"), Recorder())
    try:
        yield
    finally:
        unregister_table(engine, "gateway", "stars")


def check_answers(served: RunningService) -> None:
    rows = make_rows()
    assert served.ask(COUNT, FORMAT="csv").text.split() == ["n,s", f"1200,{sum(range(1200))}"]
    found = [int(line) for line in served.ask(CONE, FORMAT="csv").text.split()[1:]]
    assert 20 < len(found) < 80
    assert {*found} < {*rows["id"].to_pylist()}


def test_on_the_embedded_engine(
    serve: Callable[..., RunningService], svc_engine: EmbeddedEngine, server: FileServer, tmp_path: Path
) -> None:
    served = serve(attach_cache=tmp_path)
    with attached(svc_engine, server):
        served.refresh()
        check_answers(served)
        near = "DISTANCE(a.ra, a.dec, b.ra, b.dec) < .5"
        joined = f"SELECT COUNT(*) AS n FROM gateway.stars AS a JOIN svc.stars AS b ON {near}"
        assert int(served.ask(joined, FORMAT="csv").text.split()[1]) > 100
    assert any(tmp_path.rglob("0"))


def test_its_files_are_not_served(
    serve: Callable[..., RunningService], svc_engine: EmbeddedEngine, server: FileServer, tmp_path: Path
) -> None:
    served = serve(attach_cache=tmp_path, hats_path=tmp_path / "hats")
    with attached(svc_engine, server):
        served.refresh()
        answer = httpx.get(f"{served.url}/hats/gateway.stars/", timeout=20)
        assert answer.status_code == 404
        assert "it is the table of a HATS catalogue whose files are elsewhere" in answer.text
        assert server.url not in answer.text
        assert httpx.get(f"{served.tap}/tables/gateway.stars/density").json()["hats"] is None


def test_the_operator_learns_of_a_change(
    svc_engine: EmbeddedEngine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_catalogue(tmp_path / "stars")
    with (
        serving_files(tmp_path) as changing,
        attached(svc_engine, changing),
        closing(FileGateway("127.0.0.1", tmp_path / "cache", 0, patience=Patience(1, 1, attempts=1))) as gateway,
    ):
        watch = AttachmentWatch(gateway)
        gateway.publish(read_catalogue(svc_engine))
        watch.check_all()
        assert not caplog.messages
        changing.choose_failure = lambda method, path: 503
        watch.check_all()
        assert "hats.properties cannot be read" in caplog.messages[-1]
        changing.choose_failure = lambda method, path: ""
        write_properties(tmp_path / "stars", obs_description="written again")
        for _ in range(2):
            watch.check_all()
        [_, message] = caplog.messages
        assert "attached table gateway.stars" in message
        assert "hats.properties has changed since it was attached" in message
        assert "skyhouse attach --refresh --table gateway.stars" in message
        attach_catalogue(svc_engine, AttachRequest(address="", table="gateway.stars", refresh=True), Recorder())
        gateway.publish(read_catalogue(svc_engine))
        watch.check_all()
        assert len(caplog.messages) == 2


def test_on_a_server(
    clickhouse: ClickHouseServer, server: FileServer, start_server: StartServer, tmp_path: Path
) -> None:
    config = Config(
        clickhouse_url=clickhouse.url, query_log="", jobs_path=tmp_path / "jobs", attach_cache=tmp_path / "cache"
    )
    with (
        closing(ClickHouseEngine(clickhouse.url)) as engine,
        attached(engine, server),
        start_server(config, engine) as served,
    ):
        check_answers(served)


def test_users_learn_which_table_fails(
    serve: Callable[..., RunningService], svc_engine: EmbeddedEngine, failing_server: FileServer, tmp_path: Path
) -> None:
    served = serve(attach_cache=tmp_path)
    with attached(svc_engine, failing_server):
        served.refresh()
        for error, reason in (
            (503, "cannot be read now, because their storage does not answer. Try again later"),
            ("changed", "have changed since they were attached, or some are missing"),
        ):
            failing_server.choose_failure = lambda method, path, error=error: error if "Npix=5" in path else ""
            answer = served.ask(COUNT)
            assert answer.status_code == 503
            assert f"the files of the table gateway.stars {reason}" in answer.text
            assert failing_server.url not in answer.text
        failing_server.choose_failure = lambda method, path: ""
        check_answers(served)
