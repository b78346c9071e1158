"""The files of compose/: as Docker Compose reads them, and as the engine does."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from tap_service.config import Config
from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tests.compose.serving import ENVIRONMENT, users_file
from tests.servers.server_cluster import running_server
from tests.support.environment import ROOT
from tests.support.ports import closed_port
from tests.support.running_service import running_service
from tests.tap_service.storage.failing_proxy import Failures, failing_proxy

COMPOSE = ROOT / "compose"


class _Loader(yaml.SafeLoader):
    """With Compose's own tags, which precede the values to which they apply."""


_Loader.add_constructor("!reset", lambda loader, node: [])


def read(name: str) -> Any:
    return yaml.load((COMPOSE / name).read_text(), _Loader)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return read("compose.yaml")["services"]


@pytest.mark.parametrize("name", ["compose.yaml", "compose.tls.yaml"])
def test_the_schema_of_compose(name: str) -> None:
    schemas = importlib.resources.files("check_jsonschema.builtin_schemas")
    schema = json.loads(schemas.joinpath("vendor", "compose-spec.json").read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    assert [error.message for error in validator.iter_errors(read(name))] == []


def test_images_are_of_a_version_and_secrets_come_from_outside() -> None:
    for name in ("compose.yaml", "compose.tls.yaml"):
        text = (COMPOSE / name).read_text()
        images = re.findall(r"^\s+image: (\S+)$", text, re.MULTILINE)
        assert all(re.search(r":(\d+\.\d+\.\d+|\$\{SKYHOUSE_VERSION:-\d+\.\d+\.\d+\})", image) for image in images), (
            images
        )
        for line in re.findall(r".*(?:PASSWORD|SECRET).*", text):
            assert re.search(r"\$\{\w+:\?|REDISCLI_AUTH|\$\$", line), line
    bases = re.findall(r"^FROM (\S+)", (COMPOSE / "Dockerfile").read_text(), re.MULTILINE)
    assert len(set(bases)) == 1
    assert re.search(r":\d+\.\d+\.\d+-", bases[0])


def test_what_listens_is_healthy_or_is_not_started_upon(services: dict[str, Any]) -> None:
    """Each service waits until the services that it depends on are healthy or have succeeded.

    Only the API can be reached from outside.
    """
    for name, service in services.items():
        for needed, how in service.get("depends_on", {}).items():
            assert needed in services
            is_watched = "healthcheck" in services[needed]
            assert how["condition"] == ("service_healthy" if is_watched else "service_completed_successfully")
        assert ("ports" in service) == (name == "api")


def test_the_servers_of_the_configuration_are_those_that_run(services: dict[str, Any]) -> None:
    running = {name: service["environment"] for name, service in services.items() if name.startswith("clickhouse")}
    for name in ("replicas.xml", "tls.xml"):
        cluster = ElementTree.parse(COMPOSE / "clickhouse" / name).find("remote_servers/skyhouse")
        assert cluster is not None
        shards = [[host.text for host in shard.iter("host")] for shard in cluster.iter("shard")]
        assert {host: str(number) for number, hosts in enumerate(shards, 1) for host in hosts} == {
            host: environment["SHARD"] for host, environment in running.items()
        }
    assert all(environment["REPLICA"] == host for host, environment in running.items())
    for name, port in (("compose.yaml", 8123), ("compose.tls.yaml", 8443)):
        urls = set(re.findall(r"https?://clickhouse-\w+:\d+", (COMPOSE / name).read_text()))
        assert {url.partition("://")[2] for url in urls} == {f"{host}:{port}" for host in running}
    keepers = {name for name in services if name.startswith("keeper")}
    for path in ("clickhouse/replicas.xml", "clickhouse/tls.xml"):
        assert {host.text for host in ElementTree.parse(COMPOSE / path).iterfind("zookeeper/node/host")} == keepers
    raft = ElementTree.parse(COMPOSE / "keeper" / "config.xml").iterfind("keeper_server/raft_configuration/server")
    numbers = {server.findtext("hostname"): server.findtext("id") for server in raft}
    assert numbers == {name: services[name]["environment"]["SERVER_ID"] for name in keepers}


def test_every_environment_variable_of_the_servers_is_given(services: dict[str, Any]) -> None:
    needed = set()
    for name in ("config.xml", "users.xml", "shards.xml", "replicas.xml", "tls.xml", "backups.xml"):
        needed |= set(re.findall(r'from_env="(\w+)"', (COMPOSE / "clickhouse" / name).read_text()))
    assert needed == set(ENVIRONMENT) == set(services["clickhouse-1a"]["environment"]) - {"CLICKHOUSE_SKIP_USER_SETUP"}


def test_the_health_of_the_service(services: dict[str, Any], tmp_path: Path) -> None:
    """With the container's own check, on another port."""
    _, *check = services["api"]["healthcheck"]["test"]
    with running_server(tmp_path / "server") as behind, failing_proxy(behind.port) as server:
        engine = ClickHouseEngine(server.url)
        prepare_engine(engine)
        with running_service(Config(query_log="", jobs_path=tmp_path / "jobs"), engine) as service:
            assert _is_well(check, service.port)
            server.failures = Failures(status=502)
            while _is_well(check, service.port):  # a response of the last second
                time.sleep(0.1)
        engine.close()
    with closed_port() as port:
        assert not _is_well(check, port)


def _is_well(check: list[str], port: int) -> bool:
    command = [sys.executable, *(part.replace("8000", str(port)) for part in check[1:])]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class TestUp:
    """The command that starts compose, with a docker that only records its arguments."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        shutil.copytree(COMPOSE, tmp_path / "compose", ignore=shutil.ignore_patterns(".env", "tls", "load"))
        docker = tmp_path / "bin" / "docker"
        docker.parent.mkdir()
        docker.write_text('#!/bin/sh\necho "$@"\n')
        docker.chmod(0o700)
        return tmp_path

    def up(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [folder / "compose" / "up", *arguments], env={"PATH": path}, capture_output=True, text=True, check=False
        )

    def test_secrets_are_made_once(self, folder: Path) -> None:
        asked = self.up(folder, "--", "--scale", "worker-long=2")
        assert asked.stdout == "compose -f compose.yaml up --build --detach --scale worker-long=2\n", asked.stderr
        secrets = folder / "compose" / ".env"
        assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
        made = dict(line.split("=") for line in secrets.read_text().split())
        required = set(re.findall(r"\$\{(\w+):\?", (COMPOSE / "compose.yaml").read_text()))
        assert set(made) == required
        for user in ("SKYHOUSE", "JOBS", "LOADER"):
            password = made[f"{user}_PASSWORD"]
            assert len(password) == 64
            assert hashlib.sha256(password.encode()).hexdigest() == made[f"{user}_PASSWORD_SHA256"]
        assert len(set(made.values())) == len(made)
        assert self.up(folder).returncode == 0
        assert dict(line.split("=") for line in secrets.read_text().split()) == made

    def test_with_tls(self, folder: Path) -> None:
        refused = self.up(folder, "tls")
        assert refused.returncode == 1
        assert "ca.crt is missing or not readable" in refused.stderr
        (folder / "compose" / "tls").mkdir()
        for name in ("ca.crt", "server.crt", "server.key"):
            (folder / "compose" / "tls" / name).touch()
        assert self.up(folder, "tls").stdout == "compose -f compose.yaml -f compose.tls.yaml up --build --detach\n"


_ASKED = {
    "clusters": "SELECT shard_num, replica_num, host_name, port, internal_replication FROM system.clusters"
    " WHERE cluster = 'skyhouse' ORDER BY ALL",
    "macros": "SELECT macro, substitution FROM system.macros ORDER BY ALL",
    "users": "SELECT name, toString(auth_type) FROM system.users WHERE name != 'default' ORDER BY ALL",
    "roles": "SELECT user_name, granted_role_name FROM system.role_grants ORDER BY ALL",
    "profiles": "SELECT profile_name, setting_name, value FROM system.settings_profile_elements"
    " WHERE profile_name IS NOT NULL AND value IS NOT NULL ORDER BY ALL",
    "quotas": "SELECT quota_name, duration, max_written_bytes FROM system.quota_limits ORDER BY ALL",
    "workloads": "SELECT name, parent FROM system.workloads ORDER BY ALL",
    "weights": "SELECT path, weight FROM system.scheduler WHERE type = 'workload' ORDER BY ALL",
    "limited": "SELECT path FROM system.scheduler WHERE type = 'inflight_limit'",
}

_READ_BACK = """
import json, sys, chdb
path, statements, asked = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
connection = chdb.connect(path)
for statement in statements:
    connection.query(statement)
print(json.dumps({name: json.loads(connection.query(sql, "JSONCompact").bytes())["data"] for name, sql in asked.items()}))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[Any]]]:
    """Return the configuration that an engine reports."""
    folder = tmp_path_factory.mktemp("configuration")
    document = ElementTree.parse(COMPOSE / "clickhouse" / "config.xml")
    root = document.getroot()
    root.extend(ElementTree.parse(COMPOSE / "clickhouse" / "replicas.xml").getroot())
    workloads = [part.strip() for part in (root.findtext("resources_and_workloads") or "").split(";") if part.strip()]
    logger = root.find("logger")
    assert logger is not None
    logger.clear()
    ElementTree.SubElement(root, "users_config").text = str(users_file(folder))
    document.write(folder / "config.xml")
    path = f"{folder}/data?config-file={folder}/config.xml"
    # chDB reads workloads by SQL alone
    command = [sys.executable, "-c", _READ_BACK, path, json.dumps(workloads), json.dumps(_ASKED)]
    answer = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    found: dict[str, list[list[Any]]] = json.loads(answer.stdout.splitlines()[-1])
    return found


class TestConfiguration:
    def test_the_cluster(self, told: dict[str, list[list[Any]]]) -> None:
        assert told["clusters"] == [
            [shard, replica, f"clickhouse-{shard}{letter}", 9000, 1]
            for shard in (1, 2)
            for replica, letter in ((1, "a"), (2, "b"))
        ]
        assert told["macros"] == [["replica", "clickhouse-1a"], ["shard", "1"]]

    def test_the_users(self, told: dict[str, list[list[Any]]]) -> None:
        assert told["users"] == [[name, "['sha256_password']"] for name in ("jobs", "loader", "skyhouse")]
        assert told["roles"] == [["jobs", "service"], ["loader", "load"], ["skyhouse", "service"]]

    def test_limits(self, told: dict[str, list[list[Any]]]) -> None:
        values = {(profile, name): value for profile, name, value in told["profiles"]}
        for profile, memory in (("people", "PEOPLE"), ("jobs", "JOBS"), ("loads", "LOADS")):
            assert values[profile, "max_memory_usage_for_user"] == ENVIRONMENT[f"{memory}_MEMORY"]
            assert values[profile, "workload"] == profile
        assert values["default", "max_memory_usage"] == ENVIRONMENT["QUERY_MEMORY"]
        assert values["default", "distributed_product_mode"] == "deny"
        assert int(values["people", "max_execution_time"]) < int(values["jobs", "max_execution_time"])
        assert [quota for quota, _, written in told["quotas"] if written] == ["service"]

    def test_the_classes_of_work(self, told: dict[str, list[list[Any]]]) -> None:
        parent = "everything"
        assert told["workloads"] == [[parent, ""], *([name, parent] for name in ("jobs", "loads", "people"))]
        weights = {path.rpartition("/")[2]: weight for path, weight in told["weights"]}
        assert weights["people"] > weights["jobs"] > weights["loads"]
        assert told["limited"] == [["/everything/semaphore"]]  # without a limit, weights are nothing
