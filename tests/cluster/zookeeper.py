"""A real ZooKeeper for the tests, on a free port, and its contents."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.ports import free_port

#: from Debian's package zookeeper
_JAR = Path("/usr/share/java/zookeeper.jar")

#: a small heap, no optimising compiler and no sync to disk, because it runs for seconds
_JAVA = ["java", "-Xmx64m", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no", "-cp", str(_JAR)]

_CONFIGURATION = """tickTime=2000
dataDir={folder}
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
"""


class ZooKeeper:
    def __init__(self, port: int) -> None:
        self.port = port

    def paths(self, under: str) -> list[str]:
        """Return all paths below a path, including itself."""
        command = [*_JAVA, "org.apache.zookeeper.ZooKeeperMain", "-server", f"127.0.0.1:{self.port}", "ls", "-R", under]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [line for line in said.splitlines() if line.startswith("/")]

    def is_serving(self) -> bool:
        """Return whether sessions are accepted; ``ruok`` is answered some time before."""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
            connection.sendall(b"srvr")
            return connection.recv(64).startswith(b"Zookeeper version")
        return False


@contextmanager
def zookeeper(folder: Path) -> Iterator[ZooKeeper]:
    assert _JAR.exists(), "these tests need ZooKeeper: install the system's package zookeeper"
    server = ZooKeeper(free_port())
    configuration = folder / "zoo.cfg"
    configuration.write_text(_CONFIGURATION.format(folder=folder / "data", port=server.port))
    with (folder / "log").open("w") as log:
        command = [*_JAVA, "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(configuration)]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        while not server.is_serving():
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
        yield server
    finally:
        process.terminate()
        process.wait()
