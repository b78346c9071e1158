"""The share store: the records of shares. SQLite and Redis implement it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tap_service.models.share import Share


class ShareStoreError(Exception):
    pass


class NoSuchShare(ShareStoreError):
    pass


class ShareStoreUnavailable(ShareStoreError):
    """Unreachable, or out of space; the message has the reason."""


@dataclass(frozen=True, slots=True)
class StoredShares:
    """What shares take: the number and bytes of one user's, the bytes of all anonymous clients' and of all."""

    number: int
    size: int
    anonymous_size: int
    total_size: int


class ShareStore(ABC):
    """Thread-safe. Every method may raise ShareStoreUnavailable.

    ``user`` is that of ``Share.user``: a user or the anonymous clients at one address; '' stands for all.
    """

    @abstractmethod
    def create_share(self, share: Share, check: Callable[[StoredShares], None]) -> None:
        """Store a new share unless ``check`` raises for what is stored without it, of its user and of all.

        No other share comes between; ``check`` may be called again.
        """

    @abstractmethod
    def write_share(self, share: Share) -> None:
        """Store a share, or replace its record."""

    @abstractmethod
    def replace_share(self, share: Share) -> None:
        """Replace the record of a share. Raise NoSuchShare if it has been deleted."""

    @abstractmethod
    def get_share(self, share_id: str) -> Share:
        """Raise NoSuchShare."""

    @abstractmethod
    def delete_share(self, share_id: str) -> Share:
        """Delete the record and return it. Raise NoSuchShare; of two concurrent callers one gets the record."""

    @abstractmethod
    def list_shares(self, user: str = "", last: int | None = None) -> list[Share]:
        """Return shares, the newest first, at most ``last``."""

    @abstractmethod
    def list_due(self, at: datetime, limit: int) -> list[Share]:
        """Return up to ``limit`` shares of which something is to be deleted at that instant (``Share.due``)."""

    @abstractmethod
    def count_shares(self, user: str) -> StoredShares:
        """Return what the shares of a user and of all take (``Share.stored_bytes``)."""

    @abstractmethod
    def close(self) -> None: ...
