"""A cluster in one process whose only user is one of compose/clickhouse/users.xml, with that user's rights and limits.

chDB lets in the user ``default`` alone, so the user is given that name. Everything else of the file stays as it is.

In its own process: ``python -m tests.compose.serving FOLDER USER SHARDS TCP_PORT``; ADMIN is a user who may do anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

from tests.cluster.serving import process_of, serve
from tests.tap_service.storage.clickhouse_server import ROOT, free_port

USERS = ROOT / "compose" / "clickhouse" / "users.xml"
ADMIN = "admin"

#: what compose.yaml gives to each server
ENVIRONMENT = {
    "SHARD": "1",
    "REPLICA": "clickhouse-1a",
    "CLUSTER_SECRET": "secret",
    "SKYHOUSE_PASSWORD_SHA256": "a" * 64,
    "JOBS_PASSWORD_SHA256": "b" * 64,
    "LOADER_PASSWORD_SHA256": "c" * 64,
    "QUERY_MEMORY": "4000000000",
    "PEOPLE_MEMORY": "5000000000",
    "JOBS_MEMORY": "6000000000",
    "LOADS_MEMORY": "7000000000",
}

_REPLICA = "<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>"

_CONFIGURATION = """<clickhouse>
<tcp_port>{port}</tcp_port>
<listen_host>127.0.0.1</listen_host>
<remote_servers><skyhouse>{shards}</skyhouse></remote_servers>
<users_config>{users}</users_config>
{access}
</clickhouse>
"""

_ADMINISTRATOR = """<default><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>loads</quota>
<access_management>1</access_management></default>"""


@contextmanager
def served_as(folder: Path, user: str, shards: int = 3) -> Iterator[str]:
    """The address of the cluster in this folder over HTTP, as long as the context lasts."""
    arguments = (str(folder), user, str(shards), str(free_port()))
    with process_of("tests.compose.serving", *arguments, environment=ENVIRONMENT) as url:
        yield url


def users_file(folder: Path, user: str) -> Path:
    """A file of users for chDB, in which ``user`` is called default and needs no password."""
    document = ElementTree.parse(USERS)
    users = document.find("users")
    assert users is not None
    if user == ADMIN:
        users.append(ElementTree.fromstring(_ADMINISTRATOR))
    else:
        entry = users.find(user)
        assert entry is not None
        secret = entry.find("password_sha256_hex")
        assert secret is not None
        entry.tag, secret.tag = "default", "password"
        secret.attrib.clear()
    path = folder / f"users_{user}.xml"
    document.write(path)
    return path


def main(folder: str, user: str, shards: str, port: str) -> None:
    access = ElementTree.parse(USERS.parent / "config.xml").find("access_control_improvements")
    assert access is not None
    configuration = _CONFIGURATION.format(
        port=port,
        shards=_REPLICA.format(port=port) * int(shards),
        users=users_file(Path(folder), user),
        access=ElementTree.tostring(access, encoding="unicode"),
    )
    serve(Path(folder), configuration, f"config_{user}")


if __name__ == "__main__":
    main(*sys.argv[1:])
