"""Servers of tests in separate threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from typing import TypeVar

Server = TypeVar("Server", bound=BaseServer)

_POLL_SECONDS = 0.01


@contextmanager
def run_server(server: Server) -> Iterator[Server]:
    """Answer requests until the end of the block; then close the server."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
