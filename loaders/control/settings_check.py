"""Checks whether this user can use the folders, files, address and servers that the settings name."""

from __future__ import annotations

import errno
import os
import pwd
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import redis

from tap_service.config import Config
from tap_service.services.registry.registry_file import RegistryFileError, read_registry_file
from tap_service.services.site.authenticator import IssuersError, read_issuers
from tap_service.services.site.blocked_networks import BlockedError, read_networks
from tap_service.storage.engine.engine import EngineError
from tap_service.storage.open_storage import find_results_folder, open_remote_engine, open_result_store

_TIMEOUT_SECONDS = 5.0


def find_problems(config: Config) -> list[tuple[str, str]]:
    """Check whether the settings can be used, without changing anything.

    It connects to ClickHouse, Redis and the store of results if the settings name them.

    Parameters
    ----------
    config : Config
        Complete settings (``complete_paths``).

    Returns
    -------
    list of tuple of str
        The name of each setting that cannot be used, with the reason in one sentence.
    """
    return [(name, reason) for name, check in _CHECKS.items() for reason in check(config)]


def _check_data(config: Config) -> Iterator[str]:
    yield from _check_folder(config.data)


def _check_jobs(config: Config) -> Iterator[str]:
    if not config.redis_url and config.jobs_path:
        yield from _check_folder(config.jobs_path)


def _check_hats(config: Config) -> Iterator[str]:
    if config.hats_path and config.hats_path.parent != config.data:  # the data directory has its own check
        yield from _check_folder(config.hats_path)


def _check_spool(config: Config) -> Iterator[str]:
    if not config.spool_path.is_dir():
        yield f"the folder {config.spool_path} does not exist: create it, or name another one"
    else:
        yield from _check_folder(config.spool_path)


def _check_file_of(name: str) -> Callable[[Config], Iterator[str]]:
    def check(config: Config) -> Iterator[str]:
        path = getattr(config, name)
        if path is not None and str(path) not in ("", "-"):
            yield from _check_file(Path(path), config.data)

    return check


def _check_registry(config: Config) -> Iterator[str]:
    if config.registry:
        try:
            read_registry_file(config.registry)
        except RegistryFileError as error:
            yield str(error)


def _check_blocked(config: Config) -> Iterator[str]:
    if config.blocked:
        try:
            read_networks(config.blocked)
        except BlockedError as error:
            yield str(error)


def _check_folder(path: Path) -> Iterator[str]:
    """Yield why nothing can be written to a folder. A missing folder is no problem: it will be created."""
    existing = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    if not existing.is_dir():
        yield f"{existing} is a file, not a folder"
    elif not os.access(existing, os.W_OK | os.X_OK):
        purpose = "write to" if existing == path.absolute() else f"create {path} in"
        yield f"{_user_name()} may not {purpose} {existing}: give the folder to the user of the service (chown)"


def _check_file(path: Path, data: Path) -> Iterator[str]:
    """Yield why a file cannot be written. Its folder must exist, except the data directory, which has its own check."""
    if not path.exists():
        if not path.absolute().parent.is_dir() and path.parent != data:
            yield f"the folder {path.absolute().parent} does not exist: create it, or name another file"
        elif path.parent != data:
            yield from _check_folder(path.parent)
    elif path.is_dir():
        yield f"{path} is a folder, not a file"
    elif not os.access(path, os.R_OK | os.W_OK):
        yield f"{_user_name()} may not write to {path}: give the file to the user of the service (chown)"


def _check_issuers(config: Config) -> Iterator[str]:
    if config.token_issuers:
        try:
            read_issuers(config.token_issuers)
        except IssuersError as error:
            yield str(error)


def _check_address(config: Config) -> Iterator[str]:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        socket.create_server((config.host, config.port), family=family).close()
    except OSError as error:
        if error.errno == errno.EACCES:
            yield f"only root can use ports below 1024: choose another port, and let nginx listen on {config.port}"
        elif error.errno != errno.EADDRINUSE:  # in use by the running service itself
            yield f"cannot listen on {config.host} port {config.port}: {error.strerror or error}"


def _check_readable_file_of(setting: str) -> Callable[[Config], Iterator[str]]:
    def check(config: Config) -> Iterator[str]:
        path: Path | None = getattr(config, setting)
        if path and not (path.is_file() and os.access(path, os.R_OK)):
            yield f"{_user_name()} cannot read {path}"

    return check


_check_certificate = _check_readable_file_of("clickhouse_ca")


def _check_clickhouse(config: Config) -> Iterator[str]:
    if config.clickhouse_url and not any(_check_certificate(config)):
        try:
            engine = open_remote_engine(config)
            engine.ping()
            engine.close()
        except EngineError as error:
            yield f"the ClickHouse servers cannot be used: {error.detail or error}"


def _check_results(config: Config) -> Iterator[str]:
    if not config.results_url:
        return
    if folder := find_results_folder(config.results_url):
        yield from _check_folder(folder)
        return
    try:
        open_result_store(config.results_url).check_writable()
    except (OSError, ValueError, ImportError) as error:
        yield f"the store cannot be used: {error}"


def _check_redis(config: Config) -> Iterator[str]:
    if config.redis_url:
        connection = redis.Redis.from_url(
            config.redis_url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
        )
        try:
            connection.ping()
        except redis.RedisError as error:
            yield f"Redis cannot be used: {error}"
        finally:
            connection.close()


def _user_name() -> str:
    try:
        return f"the user {pwd.getpwuid(os.geteuid()).pw_name}"
    except KeyError:  # a user of a container has no name
        return f"the user {os.geteuid()}"


_CHECKS: dict[str, Callable[[Config], Iterator[str]]] = {
    "data": _check_data,
    "port": _check_address,
    "accounts": _check_file_of("accounts"),
    "token_issuers": _check_issuers,
    "blocked": _check_blocked,
    "aladin_lite": _check_readable_file_of("aladin_lite"),
    "registry": _check_registry,
    "registry_state": _check_file_of("registry_state"),
    "query_log": _check_file_of("query_log"),
    "request_log": _check_file_of("request_log"),
    "usage": _check_file_of("usage"),
    "spool_path": _check_spool,
    "jobs_path": _check_jobs,
    "hats_path": _check_hats,
    "results_url": _check_results,
    "redis_url": _check_redis,
    "clickhouse_ca": _check_certificate,
    "clickhouse_url": _check_clickhouse,
}
