"""Processes that are killed at a failpoint: this process as its code reaches it, or another process by SIGKILL."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from clickhouse_schema import failpoints
from clickhouse_schema.failpoints import Failpoint


class Killed(Exception):
    """Raised by all calls of code that continues in a process that was killed."""


class _Alarm:
    """Calls ``ring`` when ``point`` is reached for the ``count``-th time, on any thread."""

    def __init__(self, point: Failpoint, count: int, ring: Callable[[], None]) -> None:
        self._point = point
        self._left = count
        self._ring = ring
        self._lock = threading.Lock()

    def __call__(self, reached: Failpoint) -> None:
        if reached is not self._point:
            return
        with self._lock:
            self._left -= 1
            is_meant = self._left == 0
        if is_meant:
            self._ring()


class _Dying:
    """The engine of a process: when the process is dead, all calls raise ``Killed``."""

    def __init__(self, engine: Any, death: threading.Event) -> None:
        self._engine = engine
        self._death = death

    def __getattr__(self, name: str) -> Any:
        if self._death.is_set():
            raise Killed
        return getattr(self._engine, name)

    def list_servers(self) -> list[_Dying]:
        return [_Dying(each, self._death) for each in self.__getattr__("list_servers")()]

    def require_servers(self) -> list[_Dying]:
        return [_Dying(each, self._death) for each in self.__getattr__("require_servers")()]

    def pin_server(self) -> _Dying:
        return _Dying(self.__getattr__("pin_server")(), self._death)


@contextmanager
def observed(observer: Callable[[Failpoint], None]) -> Iterator[None]:
    """Call ``observer`` with each failpoint that is reached."""
    assert failpoints.observer is None
    failpoints.observer = observer
    try:
        yield
    finally:
        failpoints.observer = None


@contextmanager
def killed_at(engine: Any, point: Failpoint, count: int = 1) -> Iterator[Any]:
    """Yield the engine of a process that dies when it reaches ``point`` for the ``count``-th time; it must reach it."""
    death = threading.Event()
    alarm = _Alarm(point, count, death.set)

    def die(reached: Failpoint) -> None:
        alarm(reached)
        if death.is_set():
            raise Killed

    with observed(die), pytest.raises(Killed):
        yield _Dying(engine, death)


@contextmanager
def interrupted_at(point: Failpoint, count: int, act: Callable[[], None]) -> Iterator[None]:
    """Call ``act`` when ``point`` is reached for the ``count``-th time."""
    done: list[bool] = []

    def ring() -> None:
        done.append(True)
        act()

    with observed(_Alarm(point, count, ring)):
        yield
    assert done, f"{point} was not reached {count} times"


def die_at(point: str, count: int, delay: float = 0) -> None:
    """Let this process, which a test has started, kill itself at a failpoint or ``delay`` seconds later."""

    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    failpoints.observer = _Alarm(Failpoint(point), count, threading.Timer(delay, kill).start if delay else kill)
