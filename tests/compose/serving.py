"""Servers with the users of compose/clickhouse/users.xml, and the access rights and classes of work of config.xml."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.environment import ROOT
from tests.support.ports import free_port

CONFIGURATION = ROOT / "compose" / "clickhouse"
USERS = CONFIGURATION / "users.xml"

PASSWORDS = {"skyhouse": "of the service", "jobs": "of the workers", "loader": "of the commands"}

#: the variables that compose.yaml sets for each server
ENVIRONMENT = {
    "SHARD": "1",
    "REPLICA": "clickhouse-1a",
    "CLUSTER_SECRET": "secret",
    **{f"{user.upper()}_PASSWORD_SHA256": sha256(word.encode()).hexdigest() for user, word in PASSWORDS.items()},
    "QUERY_MEMORY": "4000000000",
    "PEOPLE_MEMORY": "5000000000",
    "JOBS_MEMORY": "6000000000",
    "LOADS_MEMORY": "7000000000",
    "BACKUPS_FOLDER": "/backups/",
}

#: elements of config.xml for which the servers of the tests have their own values
_OWN = {"listen_host", "logger"}

#: a server of the tests runs its own queries as this user, who has all rights
_ADMINISTRATOR = """<default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>loads</quota><access_management>1</access_management></default>"""


@contextmanager
def configured_cluster(folder: Path, shards: int = 3) -> Iterator[list[ClickHouseServer]]:
    """Servers as in docs/cluster.md without replicas: config.xml, shards.xml, users.xml, backups.xml of compose."""
    ports = [free_port() for _ in range(shards)]
    more = "".join(_read_settings(CONFIGURATION / name) for name in ("config.xml", "backups.xml")) + _read_cluster(
        ports
    )
    users = users_file(folder)
    with ExitStack() as stack:
        servers = []
        for number, port in enumerate(ports, 1):
            data_folder = folder / f"clickhouse-{number}"
            environment = ENVIRONMENT | {"BACKUPS_FOLDER": f"{data_folder}/backups/"}
            servers.append(ClickHouseServer(data_folder, more, users=users, tcp_port=port, environment=environment))
            stack.callback(servers[-1].kill)
        yield servers


def users_file(folder: Path) -> Path:
    """The users of users.xml, and an administrator."""
    document = ElementTree.parse(USERS)
    users = document.find("users")
    assert users is not None
    users.append(ElementTree.fromstring(_ADMINISTRATOR))
    folder.mkdir(parents=True, exist_ok=True)
    document.write(folder / "users.xml")
    return folder / "users.xml"


def _read_settings(path: Path) -> str:
    settings = (each for each in ElementTree.parse(path).getroot() if each.tag not in _OWN)
    return "".join(ElementTree.tostring(each, encoding="unicode") for each in settings)


def _read_cluster(ports: list[int]) -> str:
    """The cluster of shards.xml, with the servers at these ports instead of those in the file."""
    document = ElementTree.parse(CONFIGURATION / "shards.xml")
    cluster = document.find("remote_servers/skyhouse")
    assert cluster is not None
    shards = cluster.findall("shard")
    assert len(shards) == len(ports)
    for shard, port in zip(shards, ports, strict=True):
        host, number = shard.find("replica/host"), shard.find("replica/port")
        assert host is not None
        assert number is not None
        host.text, number.text = "127.0.0.1", str(port)
    servers = document.find("remote_servers")
    assert servers is not None
    return ElementTree.tostring(servers, encoding="unicode")
