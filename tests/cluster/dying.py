"""An engine as a process has it that is killed at a certain place."""

from __future__ import annotations

from tap_service.storage.engine.engine import Engine


class Killed(Exception):
    pass


class Dying:
    """The engine as a process has it that is killed after the n-th statement that has ``text``."""

    def __init__(self, engine: Engine, text: str, count: int) -> None:
        self._engine = engine
        self._text = text
        self._left = count

    def __getattr__(self, name: str) -> object:
        if self._left <= 0:
            raise Killed
        return getattr(self._engine, name)

    def list_servers(self) -> list[Dying]:
        return [self]

    def execute(self, sql: str, *rest: object, **options: object) -> None:
        if self._left <= 0:
            raise Killed
        self._engine.execute(sql, *rest, **options)  # type: ignore[arg-type]
        if self._text in sql:
            self._left -= 1
            if not self._left:
                raise Killed
