"""An engine as a process has it that is killed at a certain place."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from tap_service.storage.engine.engine import Engine


class Killed(Exception):
    pass


class _Count:
    """Counts down; threads of one process share it."""

    def __init__(self, left: int) -> None:
        self.left = left
        self._lock = threading.Lock()

    def lower(self) -> bool:
        """Count one; whether it was the last."""
        with self._lock:
            self.left -= 1
            return self.left == 0


class Dying:
    """The engine as a process has it that is killed after the n-th statement that has ``text``, on any server.

    Inserted batches are the statement ``INSERT INTO table``.
    """

    def __init__(self, engine: Engine, text: str, count: int | _Count) -> None:
        self._engine = engine
        self._text = text
        self._count = count if isinstance(count, _Count) else _Count(count)

    def __getattr__(self, name: str) -> Any:
        self._refuse_dead()
        return getattr(self._engine, name)

    def list_servers(self) -> list[Dying]:
        return [self._wrap(each) for each in self._engine.list_servers()]

    def require_servers(self) -> list[Dying]:
        return [self._wrap(each) for each in self._engine.require_servers()]

    def pin_server(self) -> Dying:
        return self._wrap(self._engine.pin_server())

    def execute(self, sql: str, *rest: Any, **options: Any) -> None:
        self._refuse_dead()
        self._engine.execute(sql, *rest, **options)
        self._note(sql)

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch], *rest: Any) -> None:
        self._refuse_dead()
        self._engine.insert_batches(table, batches, *rest)
        self._note(f"INSERT INTO {table}")

    def _wrap(self, engine: Engine) -> Dying:
        return type(self)(engine, self._text, self._count)

    def _refuse_dead(self) -> None:
        if self._count.left <= 0:
            raise Killed

    def _note(self, sql: str) -> None:
        if self._text in sql and self._count.lower():
            self.note_death()

    def note_death(self) -> None:
        raise Killed
