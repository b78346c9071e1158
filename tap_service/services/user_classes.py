"""The classes to which the operator has assigned users, from the file of users; read again within a second."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Mapping

from tap_service.storage.accounts import Accounts

_LOOK_SECONDS = 0.5


class UserClasses:
    """Thread-safe. Without ``accounts`` nobody is in a class."""

    def __init__(self, accounts: Accounts | None) -> None:
        self._accounts = accounts
        self._lock = threading.Lock()
        self._found: Mapping[str, str] = {}
        self._version: int | None = None
        self._looked_at = 0.0

    def find_class(self, user: str) -> str:
        """Return the class of a user, such as ``@survey``, or ''."""
        if self._accounts is None:
            return ""
        with self._lock:
            now = time.monotonic()
            if self._version is None or now - self._looked_at >= _LOOK_SECONDS:
                self._looked_at = now
                self._read_again(self._accounts)
            return self._found.get(user, "")

    def _read_again(self, accounts: Accounts) -> None:
        try:
            version = accounts.version
            if version != self._version:
                self._found = accounts.list_classes()
                self._version = version
        except sqlite3.Error:  # locked, or closed with the service: the classes of before hold
            return
