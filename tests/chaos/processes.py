"""The processes of a deployment, each of which can be killed and started again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests.servers.clickhouse_server import ClickHouseServer
from tests.servers.server_cluster import running_cluster, running_server, urls_of
from tests.support.environment import make_environment
from tests.support.ports import free_port
from tests.tap_service.storage.redis_server import SURVIVES_KILLS, RedisServer
from tests.tap_service.worker_processes import Workers

WORKERS = 2

#: slow queries run in pieces
_PIECE_SECONDS = 1

#: a worker that is silent for this number of seconds counts as dead
SILENCE_SECONDS = 5


class Part(Protocol):
    """A component of the deployment. ``start`` does nothing if it is running; a start that fails is repeated."""

    name: str

    @property
    def is_running(self) -> bool: ...
    def kill(self) -> bool:
        """Kill the component; return False if it was not running."""
        ...

    def start(self) -> None: ...


class ServerPart:
    """A ClickHouse server or Redis, which answers when ``start`` returns."""

    def __init__(self, name: str, server: ClickHouseServer | RedisServer) -> None:
        self.name = name
        self._server = server
        self.is_running = True

    def kill(self) -> bool:
        was_running, self.is_running = self.is_running, False
        if was_running:
            self._server.kill()
        return was_running

    def start(self) -> None:
        if not self.is_running:
            self._server.start()
            self.is_running = True


class WorkerPart:
    """``skyhouse-worker`` with all its processes."""

    def __init__(self, name: str, workers: Workers) -> None:
        self.name = name
        self.workers = workers

    @property
    def is_running(self) -> bool:
        return self.workers.process.poll() is None

    def kill(self) -> bool:
        was_running = self.is_running
        self.workers.kill()
        return was_running

    def start(self) -> None:
        if not self.is_running:
            self.workers.start()


class WorkerProcessPart:
    """One of the processes of a worker that execute jobs, which the worker itself replaces."""

    name = "process of a worker"
    is_running = True

    def __init__(self, workers: Workers, dice: random.Random) -> None:
        self._workers = workers
        self._dice = dice

    def kill(self) -> bool:
        found = self._workers.children()
        if found:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self._dice.choice(found), signal.SIGKILL)
        return bool(found)

    def start(self) -> None:
        pass


class ServicePart:
    """``skyhouse serve``, which ends if an engine or Redis is unavailable when it starts."""

    name = "service"

    def __init__(self, deployment: Deployment, port: int) -> None:
        self._deployment = deployment
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    @property
    def tap(self) -> str:
        return f"http://127.0.0.1:{self._port}/tap"

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> bool:
        if self._process is None or not self.is_running:
            return False
        self._process.kill()
        self._process.wait()
        return True

    def start(self) -> None:
        if not self.is_running:
            self.starts += 1
            self._process = self._deployment.start_command("serve", "--port", str(self._port), output="service.log")


@dataclass
class Deployment:
    """The components, and the settings that they share. Without Redis there is one process with the embedded engine."""

    folder: Path
    servers: Sequence[ClickHouseServer] = ()
    redis: RedisServer | None = None
    more_settings: Mapping[str, Any] = field(default_factory=dict)
    workers: list[Workers] = field(default_factory=list)
    commands: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.settings: dict[str, Any] = {
            "results_url": str(self.folder / "results"),
            "query_log": str(self.folder / "queries.jsonl"),
            "worker_silence": SILENCE_SECONDS,
            "piece_seconds": _PIECE_SECONDS,
            "concurrent_jobs": 2,
            "user_running_jobs": 4,
            **self.more_settings,
        }
        if self.redis is not None:
            self.settings |= {"clickhouse_url": urls_of(self.servers), "redis_url": self.redis.url}
        self.service = ServicePart(self, free_port())

    def kill(self) -> None:
        """Kill commands, the service and workers."""
        for process in self.commands:
            process.kill()
            process.wait()
        for workers in self.workers:
            workers.kill()

    def start_command(self, *arguments: str, output: str) -> subprocess.Popen[bytes]:
        """Start a ``skyhouse`` command, whose output is appended to a file."""
        environment = make_environment(self.folder / "data", **self.settings)
        command = [sys.executable, "-c", "from loaders.cli.skyhouse_command import main; main()", *arguments]
        with (self.folder / output).open("ab") as log:
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
        self.commands.append(process)
        return process

    @property
    def is_embedded(self) -> bool:
        return self.redis is None

    def list_parts(self, seed: int) -> dict[str, list[Part]]:
        """Return the components that may be killed, by kind. Each kind is killed equally often."""
        assert self.redis is not None
        return {
            "ClickHouse server": [ServerPart(f"server {n}", server) for n, server in enumerate(self.servers)],
            "Redis": [ServerPart("Redis", self.redis)],
            **self.list_workers(seed),
            "service": [self.service],
        }

    def list_workers(self, seed: int) -> dict[str, list[Part]]:
        dice = random.Random(seed)
        return {
            "worker": [WorkerPart(f"worker {n}", workers) for n, workers in enumerate(self.workers)],
            "process of a worker": [WorkerProcessPart(workers, dice) for workers in self.workers],
        }


@contextmanager
def running_deployment(folder: Path, shards: int, **settings: Any) -> Iterator[Deployment]:
    """Servers, Redis, workers and the service, all of which end with the context.

    One shard is a server without a cluster; no shard is the embedded engine, without Redis and workers.
    """
    with ExitStack() as stack:
        servers: Sequence[ClickHouseServer] = ()
        redis = None
        if shards:
            data_folder = folder / "clickhouse"
            running = stack.enter_context(
                running_server(data_folder) if shards == 1 else running_cluster(data_folder, shards)
            )
            servers = running if isinstance(running, list) else [running]
            redis = RedisServer(folder / "redis", *SURVIVES_KILLS, "--auto-aof-rewrite-min-size", "1mb")
            stack.callback(redis.kill)
            redis.start()
        deployment = Deployment(folder, servers, redis, settings)
        stack.callback(deployment.kill)
        yield deployment


def start_jobs(deployment: Deployment) -> None:
    """Start the service and the workers when the tables exist."""
    deployment.service.start()
    for number in range(0 if deployment.is_embedded else WORKERS):
        output = deployment.folder / f"worker{number}.log"
        deployment.workers.append(Workers(deployment.settings, output))
