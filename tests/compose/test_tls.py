"""TLS as in compose.tls.yaml, with certificates created as in docs/cluster.md: the parts that can be tested here."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
import redis

from tap_service.config import Config
from tap_service.models.work_class import WorkClass
from tap_service.services.jobs.celery_dispatcher import CeleryDispatcher, build_celery_app, celery_queue_name
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import EngineUnavailable
from tap_service.storage.open_storage import open_remote_engine
from tests.compose.test_compose import COMPOSE, read
from tests.servers.server_cluster import running_server
from tests.support.environment import ROOT
from tests.support.ports import free_port
from tests.support.running_service import running_service
from tests.tap_service.site.test_request_origin import FORGED
from tests.tap_service.storage.failing_proxy import failing_proxy

NGINX = "daemon off; pid {folder}/nginx.pid; error_log stderr; events {{}} http {{ access_log off; {server} }}"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ca.crt, server.crt and server.key."""
    folder = tmp_path_factory.mktemp("tls")
    [recipe] = re.findall(r"```sh\n(mkdir -p compose/tls.*?)```", (ROOT / "docs" / "cluster.md").read_text(), re.DOTALL)
    subprocess.run(["bash", "-e", "-c", recipe], cwd=folder, check=True, capture_output=True)
    return folder / "compose" / "tls"


def test_the_certificate_is_for_all_parts(certificates: Path) -> None:
    command = ["openssl", "x509", "-in", certificates / "server.crt", "-noout", "-ext", "subjectAltName"]
    names = set(re.findall(r"DNS:([\w-]+)", subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    parts = {name for name in read("compose.yaml")["services"] if re.match("clickhouse|keeper|redis", name)}
    assert names == {*parts, "localhost", "api-inside"}


def test_clickhouse(certificates: Path, tmp_path: Path) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    with running_server(tmp_path) as behind, failing_proxy(behind.port, tls) as server:
        asked = open_remote_engine(Config(clickhouse_url=server.url, clickhouse_ca=certificates / "ca.crt"))
        assert asked.fetch_table("SELECT 1 AS one").to_pylist() == [{"one": 1}]
        asked.close()
        with pytest.raises(EngineUnavailable) as caught:
            open_remote_engine(Config(clickhouse_url=server.url))
        assert "certificate verify failed" in caught.value.detail


@pytest.fixture
def redis_address(certificates: Path, tmp_path: Path) -> Iterator[str]:
    """Yield the port of a Redis server that runs with the command of the container."""
    port = free_port()
    command = read("compose.tls.yaml")["services"]["redis"]["command"][-1]
    command = command.replace("6379", str(port)).replace("$$", "$").replace("/tls/", f"{certificates}/")
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=tmp_path, env={"REDISCLI_AUTH": "secret", "PATH": "/usr/bin:/bin"}
    )
    yield f"rediss://:{{}}@localhost:{port}/0"
    process.terminate()
    process.wait()


def test_redis(certificates: Path, redis_address: str) -> None:
    said = read("compose.tls.yaml")["services"]["worker-long"]["environment"]["SKYHOUSE_REDIS_URL"]
    options = said.rpartition("?")[2].replace("/tls", str(certificates))
    with redis.Redis.from_url(f"{redis_address.format('secret')}?{options}") as client:
        while not _answers(client):
            time.sleep(0.02)
        broker = CeleryDispatcher(build_celery_app(f"{redis_address.format('secret')}?{options}", 60))
        broker.wake(WorkClass.LONG)
        assert client.llen(celery_queue_name(WorkClass.LONG)) == 1
        broker.close()
    with redis.Redis.from_url(f"{redis_address.format('guess')}?{options}") as client, pytest.raises(redis.RedisError):
        client.ping()
    unknown = redis.Redis.from_url(f"{redis_address.format('secret')}?ssl_cert_reqs=required")
    with unknown, pytest.raises(redis.ConnectionError, match="certificate verify failed"):
        unknown.ping()


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_the_gateway(certificates: Path, demo_engine: EmbeddedEngine, tmp_path: Path) -> None:
    config = Config(query_log="", jobs_path=tmp_path / "jobs")
    with (
        running_service(config, demo_engine) as service,
        _gateway(certificates, service.url, tmp_path) as (url, process),
    ):
        context = ssl.create_default_context(cafile=certificates / "ca.crt")
        answer = _first_answer(f"{url}/tap/capabilities", context, process)
        forged = httpx.post(f"{url}/tap/async", data={"QUERY": "SELECT 1 AS a"}, headers=FORGED, verify=context)
    assert forged.headers["location"].startswith(f"{url}/tap/async/")
    addresses = {element.text for element in ElementTree.fromstring(answer.content).iter("accessURL")}
    assert f"{url}/tap" in addresses
    assert answer.headers["strict-transport-security"]


@contextmanager
def _gateway(certificates: Path, service: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """nginx with the configuration of the gateway, except for its port and its upstream."""
    port = free_port()
    server = (COMPOSE / "gateway" / "nginx.conf").read_text()
    for here, there in (("8443", str(port)), ("/tls/", f"{certificates}/"), ("http://api-inside:8000", service)):
        assert here in server
        server = server.replace(here, there)
    server = server.replace("http2 on;", "")  # from nginx 1.25
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, server=server))
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin")
    assert nginx, "these tests need nginx: install it with the system's package manager"
    process = subprocess.Popen([nginx, "-c", folder / "nginx.conf", "-e", folder / "error.log"])
    try:
        yield f"https://localhost:{port}", process
    finally:
        process.terminate()
        process.wait()


def _first_answer(url: str, context: ssl.SSLContext, process: subprocess.Popen[bytes]) -> httpx.Response:
    while True:
        try:
            return httpx.get(url, verify=context)
        except httpx.ConnectError:
            assert process.poll() is None
            time.sleep(0.02)
