"""The service's end of the control socket: each connection runs one command in a thread."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from loaders.command_request import CommandRequest
from loaders.control import admin_commands, data_commands
from loaders.control.command_outcome import EXIT_FAILED
from loaders.control.control_socket import SOCKET_NAME, open_address, send_line, shut_down
from loaders.control.request_parser import parse_request
from loaders.export.export_request import ExportRequest
from loaders.load_error import LoadCancelled
from loaders.mirror.mirror_request import MirrorRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.progress_reporter import Reporter
from tap_service.constants import VERSION
from tap_service.storage.engine.engine import Engine

#: A load next to queries leaves half of the cores to them. With one thread instead of two on two cores, p95 of the
#: queries is 89 ms instead of 108, and 1.05 M rows/s are loaded instead of 1.14.
_LOAD_THREADS = min(2, max(1, (os.cpu_count() or 1) // 2))

_log = logging.getLogger("skyhouse")


class ControlServer:
    """Listens on the control socket from ``start`` to ``close``.

    Parameters
    ----------
    engine : Engine
        The engine, which this process holds.
    data_path : Path
        Data directory.
    on_change : callable
        Is called after a command that may have changed the catalogue.
    administration : admin_commands.Administration, optional
        The services for commands of operators; without them, these commands are unknown.
    """

    def __init__(
        self,
        engine: Engine,
        data_path: Path,
        on_change: Callable[[], None],
        administration: admin_commands.Administration | None = None,
    ) -> None:
        self._engine = engine
        self._administration = administration
        self._path = data_path / SOCKET_NAME
        self._on_change = on_change
        self._listener = socket.socket(socket.AF_UNIX)
        self._connections: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def start(self) -> None:
        # this process holds the data directory, so an existing socket file is left from a killed process
        self._path.unlink(missing_ok=True)
        with open_address(self._path) as address:
            self._listener.bind(address)
            self._path.chmod(0o600)
        self._listener.listen()
        self._start_thread(self._accept_connections)

    def close(self) -> None:
        """Cancel running commands and wait for them."""
        with self._lock:
            self._is_closed = True
            for connection in self._connections:
                shut_down(connection)
        shut_down(self._listener)
        self._listener.close()
        for thread in self._threads:
            thread.join()
        self._path.unlink(missing_ok=True)

    def _start_thread(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, name="control", daemon=True)
        self._threads = [old for old in self._threads if old.is_alive()] + [thread]
        thread.start()

    def _accept_connections(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            with self._lock:
                if self._is_closed:
                    connection.close()
                    return
                self._connections.add(connection)
            self._start_thread(self._serve_connection, connection)

    def _serve_connection(self, connection: socket.socket) -> None:
        with connection, connection.makefile("r", encoding="utf-8") as lines:
            if line := lines.readline():
                reporter = _SocketReporter(connection, lines)
                reporter.send_event({"exit": self._run_line(line, reporter)})
            # otherwise the reporter's thread, which still reads, keeps the connection open
            shut_down(connection)
        with self._lock:
            self._connections.discard(connection)

    def _run_line(self, line: str, reporter: Reporter) -> int:
        """Run the command of a request in JSON, and return its exit code."""
        try:
            request = parse_request(line)
            if request.command in data_commands.COMMANDS or self._administration is not None:
                return self._run_command(_limit_threads(request), reporter)
        except ValidationError as error:
            _log.warning("rejected a command: %s", error)
        command = json.loads(line)["command"]
        reporter.message(
            f"error: the service does not know {command}: it runs Skyhouse {VERSION}, another version than this "
            "command; restart the service"
        )
        return EXIT_FAILED

    def _run_command(self, request: CommandRequest, reporter: Reporter) -> int:
        """Return the command's exit code. Unexpected errors are logged and reported."""
        command = request.command
        try:
            if self._administration is not None and command in admin_commands.COMMANDS:
                return admin_commands.run_command(self._administration, request, reporter)
            return data_commands.run_command(self._engine, request, reporter)
        except Exception as error:
            _log.error("%s failed", command, exc_info=error)
            reporter.message(
                f"error: {command} failed because of an error in Skyhouse: {error!r}. The service's log has the details"
            )
            return EXIT_FAILED
        finally:
            if command in data_commands.REFRESHING_COMMANDS:
                self._on_change()


def _limit_threads(request: CommandRequest) -> CommandRequest:
    """Return the request with the number of threads that a command may use next to queries."""
    if isinstance(request, LoadRequest | MirrorRequest):
        return request.model_copy(update={"insert_threads": _LOAD_THREADS})
    if isinstance(request, ExportRequest):
        return request.model_copy(update={"threads": _LOAD_THREADS})
    return request


class _SocketReporter:
    """Reports to a client; cancelled when the client disconnects."""

    def __init__(self, connection: socket.socket, lines: Any) -> None:
        self._connection = connection
        self._is_cancelled = threading.Event()
        threading.Thread(target=self._watch_client, args=(lines,), name="control watch", daemon=True).start()

    def _watch_client(self, lines: Any) -> None:
        """Wait for the client to disconnect: it sends nothing after its command."""
        with suppress(OSError, ValueError):  # a broken or closed connection
            lines.read()
        self._is_cancelled.set()

    def output(self, text: str) -> None:
        self.send_event({"output": text})

    def message(self, text: str) -> None:
        self.send_event({"message": text})

    def progress(self, rows: int, fraction: float) -> None:
        self.send_event({"progress": [rows, fraction]})

    def check(self) -> None:
        if self._is_cancelled.is_set():
            raise LoadCancelled

    def send_event(self, event: dict[str, Any]) -> None:
        try:
            send_line(self._connection, json.dumps(event))
        except OSError:
            self._is_cancelled.set()
