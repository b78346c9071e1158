"""Finds the class of a user, and the limits of a client's requests.

The file of users contains the classes that the operator has assigned; a change takes effect within a second.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Mapping

from tap_service.config import Config
from tap_service.models.client import Client
from tap_service.settings.client_limits import ANONYMOUS, USERS, ClientLimit
from tap_service.storage.accounts import Accounts

_LOOK_SECONDS = 0.5


class ClientDirectory:
    """The classes and limits of clients. Thread-safe.

    Parameters
    ----------
    config : Config
        The limits of classes and clients.
    accounts : Accounts or None
        The file of users; without it, no user has a class.
    """

    def __init__(self, config: Config, accounts: Accounts | None) -> None:
        self._limits = config.client_limits
        self._default = ClientLimit(config.client_running_queries, config.client_waiting_queries)
        self._accounts = accounts
        self._lock = threading.Lock()
        self._classes: Mapping[str, str] = {}
        self._version: int | None = None
        self._looked_at = 0.0

    def find_client(self, address: str, name: str | None) -> Client:
        """Return the client of a request, with its class and its limits.

        The limit of a user comes from the user's name, otherwise from the class, from ``@users`` or from the default.

        Parameters
        ----------
        address : str
            The address of the client.
        name : str or None
            The user; None for an anonymous client.

        Returns
        -------
        Client
            The client. Its class is '' for anonymous clients and for users without a class.
        """
        user_class = self._find_class(name)
        names = (ANONYMOUS,) if name is None else (name, user_class, USERS)
        limits = next((self._limits[name] for name in names if name in self._limits), self._default)
        return Client(address, name, user_class, limits)

    def _find_class(self, name: str | None) -> str:
        if self._accounts is None or name is None:
            return ""
        with self._lock:
            now = time.monotonic()
            if self._version is None or now - self._looked_at >= _LOOK_SECONDS:
                self._looked_at = now
                self._read_classes(self._accounts)
            return self._classes.get(name, "")

    def _read_classes(self, accounts: Accounts) -> None:
        try:
            version = accounts.version
            if version != self._version:
                self._classes = accounts.list_classes()
                self._version = version
        except sqlite3.Error:  # the file is locked, or closed with the service: the previous classes remain valid
            return
