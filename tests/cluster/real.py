"""The real cluster on which tests are run, if there is one: ``make cluster-test URL=...`` sets ``CLUSTER_URL``.

``CLUSTER_USER`` and ``CLUSTER_PASSWORD`` are the name and password of a user who may load; ``CLUSTER_STOP`` and
``CLUSTER_START`` are commands that stop and start a server, in which ``{host}`` and ``{port}`` are replaced: servers
on one machine differ only in the port.
"""

from __future__ import annotations

import os
import subprocess
from urllib.parse import urlsplit

from tap_service.config import Config
from tap_service.storage.engine.engine import Engine
from tap_service.storage.open_storage import open_remote_engine

IS_GIVEN = "CLUSTER_URL" in os.environ


def config() -> Config:
    names = ("URL", "USER", "PASSWORD")
    settings = {f"clickhouse_{name.lower()}": os.environ.get(f"CLUSTER_{name}", "") for name in names}
    return Config(**{name: value for name, value in settings.items() if value})


def engine() -> Engine:
    return open_remote_engine(config())


def stop(url: str) -> None:
    _run("CLUSTER_STOP", url)


def start(url: str) -> None:
    _run("CLUSTER_START", url)


def _run(command: str, url: str) -> None:
    address = urlsplit(url)
    line = os.environ[command].replace("{host}", address.hostname or "").replace("{port}", str(address.port or ""))
    subprocess.run(line, shell=True, check=True)
