"""A service that runs in this process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from tap_service.application import create_app
from tap_service.config import Config
from tap_service.http_server.http_protocol import SERVER
from tap_service.storage.engine.engine import Engine

#: Maximum time that a service takes to end after its grace period
_ENDING_SECONDS = 60


class RunningService:
    """A running service."""

    def __init__(self, server: uvicorn.Server, url: str) -> None:
        self.server = server
        self.url = url
        self.tap = f"{url}/tap"
        self.sync = f"{url}/tap/sync"

    @property
    def engine(self) -> Engine:
        """Return the engine of the service."""
        found: Engine = self.server.config.app.state.services.engine
        return found

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def ask(self, query: str, **parameters: Any) -> httpx.Response:
        data = {"LANG": "ADQL", "QUERY": query, **parameters}
        return httpx.post(self.sync, data=data, timeout=60, verify=False)  # certificates take 20 ms to read

    def raw(self, request: bytes) -> bytes:
        """Send raw bytes; return the bytes received until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(request)
            received = b""
            while piece := connection.recv(65536):
                received += piece
            return received

    def refresh(self) -> None:
        """Read the catalogue now; the service does so every second."""
        self.server.config.app.state.services.catalogue_cache.refresh()

    def set_time_limit(self, seconds: float) -> None:
        """Change the time limit of the waiting and running requests to /sync: 0 ends them at once."""
        for answer in tuple(self.server.config.app.state.services.queries.answers):
            answer._seconds = seconds

    def metric(self, name: str, **labels: str) -> float:
        value = self.server.config.app.state.services.metrics.registry.get_sample_value(name, labels)
        return 0.0 if value is None else value


@contextmanager
def running_service(
    config: Config, engine: Engine, grace_seconds: int = 5, portal: Path | None = None
) -> Iterator[RunningService]:
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_app(config, engine, portal, are_helpers_kept_ready=False)  # each takes half a second to start
    options = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=grace_seconds, **SERVER)
    server = uvicorn.Server(options)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield RunningService(server, f"http://127.0.0.1:{listener.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(grace_seconds + _ENDING_SECONDS)  # pytest has no timeout after a test that has failed
        listener.close()
        if thread.is_alive():
            raise RuntimeError("the service does not end: a client may have left a response unread")
