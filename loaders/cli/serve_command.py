"""``skyhouse serve``: engine, TAP application and control socket over one data directory, until a signal stops them."""

from __future__ import annotations

import asyncio
import errno
import gc
import signal
import socket
import tempfile
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from loaders.cli.console_reporter import ConsoleReporter
from loaders.cli.process_group import ProcessGroup
from loaders.control.admin_commands import Administration
from loaders.control.command_outcome import EXIT_FAILED, explain_error
from loaders.control.control_server import ControlServer
from loaders.control.engine_opener import open_engine
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from loaders.tables.demo_tables import load_demo
from tap_service.application import create_app
from tap_service.config import Config, ConfigError, divide_limits
from tap_service.freed_memory import return_freed_memory
from tap_service.hangup import catch_hangups
from tap_service.http_server.http_protocol import SERVER
from tap_service.http_server.open_connections import raise_file_limit
from tap_service.process_end import end_within, report_crashes
from tap_service.readers.read_error import ReadError
from tap_service.service_manager import ALIVE, READY, STOPPING, find_alive_interval, notify_manager
from tap_service.services.registry.registry_file import RegistryFileError
from tap_service.services.site.authenticator import IssuersError
from tap_service.services.site.blocked_networks import BlockedError
from tap_service.services.site.first_queries import format_first_queries
from tap_service.storage.accounts import AccountError
from tap_service.storage.engine.engine import EngineError
from tap_service.storage.history_store import HistoryUnavailable
from tap_service.storage.jobs.job_store import JobStoreUnavailable
from tap_service.storage.private_directory import create_private_directory
from tap_service.storage.registry_store import RegistryStoreError
from tap_service.storage.share_store import ShareStoreUnavailable
from tap_service.storage.site_state import SiteStateUnavailable
from tap_service.storage.usage.usage_store import UsageUnavailable
from tap_service.storage.watch_store import WatchStoreUnavailable

#: The time for running responses after the signal, and for the complete end of the process. systemd and
#: ``ProcessGroup`` wait longer.
_MAX_GRACE_SECONDS = 5
_MAX_ENDING_SECONDS = 25

_ERRORS = (
    ReadError,
    EngineError,
    AccountError,
    BlockedError,
    ConfigError,
    IssuersError,
    JobStoreUnavailable,
    RegistryFileError,
    RegistryStoreError,
    ShareStoreUnavailable,
    WatchStoreUnavailable,
    SiteStateUnavailable,
    UsageUnavailable,
    HistoryUnavailable,
)


def run_service(
    data_path: Path, host: str, port: int, reporter: Reporter, *, demo: bool = False, processes: int = 1
) -> int:
    """Serve until SIGINT or SIGTERM.

    Parameters
    ----------
    data_path : Path
        Data directory.
    host : str
        Name or IP address to listen on.
    port : int
        Number of the port.
    reporter : Reporter
        Receives messages.
    demo : bool, optional
        Load the demo tables first.
    processes : int, optional
        Number of processes that answer requests; several need ClickHouse servers and jobs in Redis.

    Returns
    -------
    int
        The exit code.
    """
    _prepare_process()
    try:
        with _bind_listener(host, port) as listener:
            url = f"http://{host}:{port}"
            config = read_settings(data_path)
            if processes > 1:
                _check_processes(config)
                with tempfile.TemporaryDirectory(prefix="skyhouse-metrics-") as folder:
                    arguments = processes, data_path, listener, url, Path(folder)
                    return ProcessGroup(processes, serve_as_one_of, arguments).run(reporter.message)
            _serve_listener(config, data_path, listener, url, reporter, demo=demo)
    except _ERRORS as error:
        return _report_error(error, reporter)
    except SystemExit:
        reporter.message("stopped")
    return 0


def serve_as_one_of(
    number: int, count: int, data_path: Path, listener: socket.socket, url: str, metrics_folder: Path
) -> int:
    """Serve as one of several processes, with a part of the limits. Only process 0 announces the service.

    Parameters
    ----------
    number, count : int
        The number of this process, and how many there are.
    data_path : Path
        Data directory.
    listener : socket.socket
        The socket on which all processes listen.
    url : str
        The URL that is announced.
    metrics_folder : Path
        Folder of sockets, through which each process shows the metrics of all processes.

    Returns
    -------
    int
        The exit code.
    """
    _prepare_process()
    with ConsoleReporter() as reporter, suppress(SystemExit):
        try:
            config = divide_limits(read_settings(data_path), count)
            shown = "" if number else url
            _serve_listener(config, data_path, listener, shown, reporter, share=(metrics_folder, str(number)))
        except _ERRORS as error:
            return _report_error(error, reporter)
    return 0


def _report_error(error: Exception, reporter: Reporter) -> int:
    reporter.message(f"error: {explain_error(error)}")
    return EXIT_FAILED


def _serve_listener(
    config: Config,
    data_path: Path,
    listener: socket.socket,
    url: str,
    reporter: Reporter,
    *,
    demo: bool = False,
    share: tuple[Path, str] | None = None,
) -> None:
    """Serve, and announce the service if there is a ``url``. ``share``: arguments of ``ServiceMetrics.share_in``."""
    connections = raise_file_limit(config.max_connections)
    if url and connections < config.max_connections:
        reporter.message(
            f"note: only {connections} connections can be open at once, not {config.max_connections} "
            "(SKYHOUSE_MAX_CONNECTIONS): each connection needs two files, so raise the hard limit of open files "
            "(ulimit -Hn, LimitNOFILE of systemd)"
        )
    with open_engine(data_path, is_read_only=True) as engine:
        if demo:
            load_demo(engine, reporter)
        _create_folder(data_path)
        app = create_app(config, engine)
        catalogue_cache = app.state.services.catalogue_cache
        if share is not None:
            app.state.services.metrics.share_in(*share)
        gc.freeze()  # objects that exist now live as long as the process, so the garbage collector need not visit them

        def announce() -> None:
            reporter.output(format_first_queries(engine, catalogue_cache.catalogue_for(None), url))

        server = _Server(app, announce if url else None)
        if config.redis_url:  # commands connect to the engine and to Redis directly
            server.run(sockets=[listener])
            return
        services = app.state.services
        administration = Administration(
            services.job_administration, services.work, lambda: nullcontext(services.watches)
        )
        control = ControlServer(engine, data_path, catalogue_cache.refresh, administration)
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
    """Notifies the service manager and calls ``on_start`` when it answers; with None, another process does both."""

    def __init__(self, app: Any, on_start: Callable[[], None] | None) -> None:
        super().__init__(
            uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_MAX_GRACE_SECONDS, **SERVER)
        )
        self._on_start = on_start
        self._signs: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._on_start is not None:
            notify_manager(READY)
            self._signs = asyncio.create_task(_send_signs_of_life())
            await asyncio.to_thread(self._on_start)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        end_within(_MAX_ENDING_SECONDS)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._on_start is not None:
            notify_manager(STOPPING)
        await super().shutdown(sockets)


async def _send_signs_of_life() -> None:
    """Tell the service manager that the event loop runs; it ends a process whose loop hangs."""
    interval = find_alive_interval()
    while interval:
        notify_manager(ALIVE)
        await asyncio.sleep(interval)


def _create_folder(data_path: Path) -> None:
    try:
        create_private_directory(data_path)
    except OSError as error:
        raise LoadError(f"cannot use {data_path} for data: {error.strerror}") from error


def _bind_listener(host: str, port: int) -> socket.socket:
    """Bind the port before the engine starts, so that a port in use is reported at once."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise LoadError(
                f"port {port} of {host} is in use: stop the program that listens there, or choose another --port"
            ) from error
        raise LoadError(f"cannot listen on {host} port {port}: {error.strerror}") from error


def _prepare_process() -> None:
    report_crashes()
    return_freed_memory()
    _catch_signals()


def _catch_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit_on_signal)
    catch_hangups()


def _exit_on_signal(_number: int, _frame: FrameType | None) -> None:
    end_within(_MAX_ENDING_SECONDS)
    raise SystemExit(0)
