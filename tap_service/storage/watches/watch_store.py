"""The watch store: the records of watches. SQLite and Redis implement it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from tap_service.models.watch import Watch


class WatchStoreError(Exception):
    pass


class NoSuchWatch(WatchStoreError):
    pass


class NameTaken(WatchStoreError):
    """The owner has a watch of this name."""


class TooManyWatches(WatchStoreError):
    """The owner has as many as are allowed; the message has their number."""


class WatchStoreUnavailable(WatchStoreError):
    """Unreachable, or out of space; the message has the reason."""


class WatchStore(ABC):
    """Thread-safe. Every method may raise WatchStoreUnavailable."""

    @abstractmethod
    def add_watch(self, watch: Watch, limit: int | None = None) -> None:
        """Store a new watch. Raise NameTaken, and TooManyWatches if the owner has ``limit`` already."""

    @abstractmethod
    def get_watch(self, watch_id: str) -> Watch:
        """Raise NoSuchWatch."""

    @abstractmethod
    def change_watch(self, watch_id: str, change: Callable[[Watch], Watch]) -> Watch:
        """Replace the record by what ``change`` makes of it, as one step; return it.

        ``change`` may be called several times, and keeps id, owner and name. Its errors leave the record as it is.
        Raise NoSuchWatch.
        """

    @abstractmethod
    def delete_watch(self, watch_id: str) -> Watch:
        """Delete the record and return it. Raise NoSuchWatch; of two concurrent callers one gets the record."""

    @abstractmethod
    def list_watches(self, owner: str | None = None) -> list[Watch]:
        """Return the watches of one user, or of all, by owner and name."""

    @abstractmethod
    def close(self) -> None: ...
