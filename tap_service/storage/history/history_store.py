"""The history store: queries of users that have ended. SQLite and Redis implement it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from tap_service.models.history_entry import HistoryEntry


class HistoryUnavailable(Exception):
    """Unreachable, or out of space; the message has the reason."""


class HistoryStore(ABC):
    """Safe for threads and processes. Every method but ``close`` may raise HistoryUnavailable."""

    @abstractmethod
    def add_entries(self, entries: Sequence[tuple[str, HistoryEntry]]) -> None:
        """Add queries, each with its user: all or none."""

    @abstractmethod
    def list_entries(self, user: str, before: str, limit: int) -> list[HistoryEntry]:
        """Return up to ``limit`` queries of a user with ids below ``before`` ('': all), the newest first."""

    @abstractmethod
    def delete_entries(self, user: str) -> None:
        """Delete all queries of a user."""

    @abstractmethod
    def trim_entries(self, users: Collection[str], keep: int, oldest: str) -> None:
        """Delete what is beyond the ``keep`` newest queries of each of these users, and queries with ids below
        ``oldest``."""

    @abstractmethod
    def close(self) -> None: ...
