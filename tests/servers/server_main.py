"""A ClickHouse server in the foreground: ``python -m tests.servers.server_main CONFIGURATION``, an XML file.

It is the installed ``clickhouse`` if there is one, otherwise clickhouse-local from chDB's library, which can listen
too. That is the engine with its HTTP and native interfaces, users, quotas, and Distributed tables over the network;
it has no ``ON CLUSTER``, no Keeper, no TLS and no copying between replicas. The server ends with the process that
started it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
from xml.etree import ElementTree

from tests.servers.chdb_library import run_clickhouse_local

_SET_DEATH_SIGNAL = 1

#: clickhouse-local ends with its queries; this one does not end
_KEEP_RUNNING = (
    "SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP; SELECT sleepEachRow(3) FROM numbers(1000000000) FORMAT Null"
    " SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 10000000"
)


def main(configuration: str) -> int:
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if binary := shutil.which("clickhouse"):
        os.execv(binary, ["clickhouse", "server", f"--config-file={configuration}"])
    settings = ElementTree.parse(configuration)
    given = [f"--{name}={settings.findtext(name)}" for name in ("path", "tcp_port", "http_port", "listen_host")]
    return run_clickhouse_local([*given, "--multiquery", f"--config-file={configuration}", "-q", _KEEP_RUNNING])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
