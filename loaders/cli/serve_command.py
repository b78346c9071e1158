"""``skyhouse serve``: engine, TAP application and control socket over one data path, until a signal stops them."""

from __future__ import annotations

import asyncio
import errno
import gc
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn

from loaders.cli.console_reporter import ConsoleReporter
from loaders.cli.process_group import ProcessGroup
from loaders.control import data_commands
from loaders.control.control_server import ControlServer
from loaders.control.engine_opener import open_engine
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from loaders.tables.shipped_schemas import load_demo
from tap_service.application import create_app
from tap_service.config import Config, divide_limits
from tap_service.http_server.http_protocol import SERVER
from tap_service.http_server.open_connections import raise_file_limit
from tap_service.readers.read_error import ReadError
from tap_service.services.site.authentication import IssuersError
from tap_service.services.site.first_queries import format_first_queries
from tap_service.storage.accounts import AccountError
from tap_service.storage.engine.engine import EngineError
from tap_service.storage.jobs.job_store import JobStoreUnavailable

#: How long running responses may continue after the signal.
_MAX_GRACE_SECONDS = 5

_FAULTS = (ReadError, EngineError, AccountError, IssuersError, JobStoreUnavailable)


def run_service(
    data_path: Path, host: str, port: int, reporter: Reporter, *, demo: bool = False, processes: int = 1
) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code.

    Parameters
    ----------
    data_path
        Directory of the data.
    host, port
        The address to listen on.
    reporter
        Receives messages.
    demo
        Load the demo tables first.
    processes
        How many processes answer requests; several need ClickHouse servers and jobs in Redis.
    """
    _catch_signals()
    try:
        with _bind_listener(host, port) as listener:
            url = f"http://{host}:{port}"
            config = read_settings(data_path)
            if processes > 1:
                _check_processes(config)
                return ProcessGroup(processes, serve_as_one_of, (processes, data_path, listener, url)).run(
                    reporter.message
                )
            _serve_listener(config, data_path, listener, url, reporter, demo=demo)
    except _FAULTS as error:
        return _report_fault(error, reporter)
    except SystemExit:
        reporter.message("stopped")
    return 0


def serve_as_one_of(number: int, count: int, data_path: Path, listener: socket.socket, url: str) -> int:
    """Serve as one of ``count`` processes, with a part of the limits; only the first one announces the service."""
    _catch_signals()
    with ConsoleReporter() as reporter, suppress(SystemExit):
        try:
            config = divide_limits(read_settings(data_path), count)
            _serve_listener(config, data_path, listener, "" if number else url, reporter)
        except _FAULTS as error:
            return _report_fault(error, reporter)
    return 0


def _report_fault(error: Exception, reporter: Reporter) -> int:
    reporter.message(f"error: {data_commands.explain_error(error)}")
    return data_commands.EXIT_FAILED


def _serve_listener(
    config: Config, data_path: Path, listener: socket.socket, url: str, reporter: Reporter, *, demo: bool = False
) -> None:
    """Serve; without ``url``, do not announce it."""
    connections = raise_file_limit(config.max_connections)
    if url and connections < config.max_connections:
        reporter.message(
            f"note: only {connections} connections can be open at once, not {config.max_connections} "
            "(SKYHOUSE_MAX_CONNECTIONS): each one needs two files, so raise the hard limit of open files (ulimit -Hn, "
            "LimitNOFILE of systemd)"
        )
    with open_engine(data_path, is_read_only=True) as engine:
        if demo:
            load_demo(engine, reporter)
        _create_folder(data_path)
        app = create_app(config, engine)
        catalogue_cache = app.state.services.catalogue_cache
        gc.freeze()  # what exists now stays, so no collection of garbage needs to look at it

        def announce() -> None:
            if url:
                reporter.output(format_first_queries(engine, catalogue_cache.catalogue, url))

        server = _Server(app, announce)
        if config.clickhouse_url:  # other commands connect to the engine directly
            server.run(sockets=[listener])
            return
        control = ControlServer(engine, data_path, catalogue_cache.refresh)
        control.start()
        try:
            server.run(sockets=[listener])
        finally:
            control.close()


def _check_processes(config: Config) -> None:
    """Raise LoadError unless several processes can share the engine and the jobs."""
    missing = [f"SKYHOUSE_{name.upper()}" for name in ("clickhouse_url", "redis_url") if not getattr(config, name)]
    if missing:
        raise LoadError(
            f"several processes need ClickHouse servers and jobs in Redis: set {' and '.join(missing)}, or serve with "
            "--processes 1. (The embedded engine and the jobs of one machine belong to one process.)"
        )


class _Server(uvicorn.Server):
    """Calls ``on_start`` once it answers."""

    def __init__(self, app: Any, on_start: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_MAX_GRACE_SECONDS, **SERVER)
        )
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await asyncio.to_thread(self._on_start)


def _create_folder(data_path: Path) -> None:
    try:
        data_path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise LoadError(f"cannot use {data_path} for data: {error.strerror}") from error


def _bind_listener(host: str, port: int) -> socket.socket:
    """Bind the port before the engine starts, so that an occupied port is reported at once."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise LoadError(
                f"port {port} of {host} is occupied: stop what listens there, or choose another --port"
            ) from error
        raise LoadError(f"cannot listen on {host} port {port}: {error.strerror}") from error


def _catch_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit_on_signal)


def _exit_on_signal(_number: int, _frame: Any) -> None:
    raise SystemExit(0)
