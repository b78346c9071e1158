"""The control socket: commands handed to the process that holds the data path.

``<data>/control.sock`` (mode 0600). One connection is one command, in lines of JSON:

    to the service    {"command": "load", "arguments": {...}}
    from it           {"output": text} | {"message": text} | {"progress": [rows, fraction]}   any number of them
                      {"exit": code}                                                          the last

A client that goes away cancels its command; a load so stopped waits in its staging table.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from clickhouse_schema.cluster_topology import ClusterError
from clickhouse_schema.engine_tables import engine_setup
from loaders.control import data_commands
from loaders.control.service_settings import settings
from loaders.load_error import LoadCancelled, LoadError
from loaders.pipeline.startup_cleanup import recover
from loaders.progress_reporter import Reporter
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.embedded_engine import DataPathHeldError, EmbeddedEngine
from tap_service.storage.engine.engine import Engine, EngineError, StorageFull
from tap_service.storage.jobs.job_store import JobStoreUnavailable
from tap_service.storage.jobs.redis_lock import hold_cluster_lock
from tap_service.storage.open_storage import open_remote_engine

_log = logging.getLogger("skyhouse")

SOCKET = "control.sock"

#: of ClickHouse
_ACCESS_DENIED = 497

#: sockaddr_un holds 108 bytes, on some systems 104, its final zero included.
_ADDRESS_BYTES = 100


class ControlServer:
    """Listens from ``start`` to ``close``. ``changed`` is called after a command that changed the catalogue."""

    def __init__(self, engine: Engine, data_path: Path, changed: Callable[[], None]) -> None:
        self._engine = engine
        self._path = data_path / SOCKET
        self._changed = changed
        self._listener = socket.socket(socket.AF_UNIX)
        self._connections: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    def start(self) -> None:
        """The data path is ours alone, so a socket file in it is left over from a process that was killed."""
        self._path.unlink(missing_ok=True)
        with _address(self._path) as address:
            self._listener.bind(address)
            self._path.chmod(0o600)
        self._listener.listen()
        self._thread(self._accept)

    def close(self) -> None:
        """Cancel what runs, and wait for it."""
        with self._lock:
            self._closed = True
            for connection in self._connections:
                _shut(connection)
        _shut(self._listener)
        self._listener.close()
        for thread in self._threads:
            thread.join()
        self._path.unlink(missing_ok=True)

    def _thread(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, name="control", daemon=True)
        self._threads = [old for old in self._threads if old.is_alive()] + [thread]
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            with self._lock:
                if self._closed:
                    connection.close()
                    return
                self._connections.add(connection)
            self._thread(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("r", encoding="utf-8") as lines:
            request = json.loads(lines.readline() or "null")
            if request is not None and request["command"] in data_commands.COMMANDS:
                reporter = _SocketReporter(connection, lines)
                reporter.send({"exit": self._run(request["command"], request["arguments"], reporter)})
            # The reporter still waits for the client's end, and would hold the connection open.
            _shut(connection)
        with self._lock:
            self._connections.discard(connection)

    def _run(self, command: str, arguments: data_commands.Arguments, reporter: Reporter) -> int:
        """The command's exit code. What nobody foresaw is a fault of ours: it is logged, and the client is told."""
        try:
            return data_commands.run(self._engine, command, arguments, reporter)
        except Exception as error:
            _log.error("%s failed", command, exc_info=error)
            reporter.message(
                f"error: {command} failed, and the fault is ours: {error!r}. The service's log has the reason"
            )
            return data_commands.EXIT_FAILED
        finally:
            if command in data_commands.CHANGING:
                self._changed()


class _SocketReporter:
    """Tells a client; cancelled when the client's end is gone."""

    def __init__(self, connection: socket.socket, lines: Any) -> None:
        self._connection = connection
        self._gone = threading.Event()
        threading.Thread(target=self._watch, args=(lines,), name="control watch", daemon=True).start()

    def _watch(self, lines: Any) -> None:
        """A client says nothing more, so the end of its lines is its going away."""
        with suppress(OSError, ValueError):  # a connection that breaks or is closed has ended too
            lines.read()
        self._gone.set()

    def output(self, text: str) -> None:
        self.send({"output": text})

    def message(self, text: str) -> None:
        self.send({"message": text})

    def progress(self, rows: int, fraction: float) -> None:
        self.send({"progress": [rows, fraction]})

    def check(self) -> None:
        if self._gone.is_set():
            raise LoadCancelled

    def send(self, event: dict[str, Any]) -> None:
        try:
            self._connection.sendall(json.dumps(event).encode() + b"\n")
        except OSError:
            self._gone.set()


def work(data_path: Path, command: str, arguments: data_commands.Arguments, reporter: Reporter) -> int:
    """Run a command on ``data_path``, in this process or in the one that holds it; its exit code."""
    try:
        return _done(data_path, command, arguments, reporter)
    except (ReadError, EngineError, JobStoreUnavailable) as error:
        reporter.message(f"error: {data_commands.told(error)}")
    except KeyboardInterrupt:
        reporter.message(data_commands.STOPPED.format(command=command))
    return data_commands.EXIT_FAILED


def _done(data_path: Path, command: str, arguments: data_commands.Arguments, reporter: Reporter) -> int:
    try:
        with opened(data_path) as engine:
            return data_commands.run(engine, command, arguments, reporter)
    except DataPathHeldError:
        code = hand_over(data_path, command, arguments, reporter)
        if code is None:
            raise
        return code


def has_engine(data_path: Path) -> bool:
    """Whether there is anything that commands could work on."""
    return bool(os.environ.get("SKYHOUSE_CLICKHOUSE_URL")) or (data_path / "clickhouse").exists()


@contextmanager
def opened(data_path: Path, *, reads: bool = False) -> Iterator[Engine]:
    """The engine of the settings, else that over ``data_path``, with its catalogue in order, closed at the end.

    On a full disk the catalogue is left as it is: what is there can still be read.
    ``reads``: the catalogue will do as it is, for a user who may not change it.
    """
    config = settings(data_path)
    engine = open_remote_engine(config) if config.clickhouse_url else EmbeddedEngine(data_path)
    try:
        with hold_cluster_lock(config.redis_url, "catalogue") if config.redis_url else nullcontext():
            try:
                # another server may not have yet what was just written
                engine_setup.prepare_engine(engine.list_servers()[0])
                recover(engine, is_ours=not config.clickhouse_url)
            except StorageFull as error:
                _log.warning("the catalogue is left as it is, for no space is left: %s", error)
            except EngineError as error:
                if not reads or error.code != _ACCESS_DENIED:
                    raise
                _log.warning("the catalogue is left as it is, which another user looks after: %s", error)
            except ClusterError as error:
                raise LoadError(str(error)) from error
        yield engine
    finally:
        engine.close()


def hand_over(data_path: Path, command: str, arguments: data_commands.Arguments, reporter: Reporter) -> int | None:
    """Let the process that holds ``data_path`` run a command; its exit code. None if none listens there."""
    connection = socket.socket(socket.AF_UNIX)
    with connection:
        try:
            with _address(data_path / SOCKET) as address:
                connection.connect(address)
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        except PermissionError as error:
            raise LoadError(
                f"the service on {data_path} runs as another user: run this command as that user"
            ) from error
        connection.sendall(json.dumps({"command": command, "arguments": arguments}).encode() + b"\n")
        for line in connection.makefile("r", encoding="utf-8"):
            event = json.loads(line)
            if "exit" in event:
                return int(event["exit"])
            _told(event, reporter)
    raise LoadError(f"the service on {data_path} stopped before the {command} was done: start the {command} again")


def _told(event: dict[str, Any], reporter: Reporter) -> None:
    if "output" in event:
        reporter.output(event["output"])
    elif "message" in event:
        reporter.message(event["message"])
    else:
        reporter.progress(*event["progress"])


@contextmanager
def _address(path: Path) -> Iterator[str]:
    """The socket's address; a long path goes through a descriptor of its folder."""
    if len(os.fsencode(path)) <= _ADDRESS_BYTES:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # not connected any more
        return
