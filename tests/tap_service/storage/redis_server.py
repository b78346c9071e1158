"""A Redis server for the tests, on a free port, with an append-only file that outlives its process."""

from __future__ import annotations

import itertools
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.support.ports import free_port

#: as in the documentation: while the disk is busy, Redis would otherwise answer before it has written
SURVIVES_KILLS = ("--appendfsync", "always")


class RedisServer:
    """``options``: further options of ``redis-server``."""

    def __init__(self, directory: Path, *options: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._options = options
        self._port = free_port()
        self._process: subprocess.Popen | None = None
        self._databases = itertools.count(1)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def new_url(self) -> str:
        """Return the URL of an unused database."""
        return f"redis://127.0.0.1:{self._port}/{next(self._databases)}"

    def start(self) -> None:
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self._directory)]
        keeping = ["--appendonly", "yes", "--save", "", "--databases", "1000"]
        self._process = subprocess.Popen(
            ["redis-server", *options, *keeping, *self._options], stdout=subprocess.DEVNULL
        )
        with redis.Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                    return
                except redis.ConnectionError:
                    time.sleep(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def connect(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, decode_responses=True)

    def flush(self) -> None:
        with self.connect() as client:
            client.flushdb()


@contextmanager
def redis_server(directory: Path, *options: str) -> Iterator[RedisServer]:
    server = RedisServer(directory, *options)
    server.start()
    try:
        yield server
    finally:
        server.kill()
