"""The open connections of a process: their number for each client, and which ones take too long."""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from tap_service.models.client import find_network
from tap_service.services.site.request_origin import is_within
from tap_service.settings.connection_settings import ConnectionSettings
from tap_service.settings.setting_values import Network

#: interval in seconds at which connections are checked
_SWEEP_SECONDS = 1.0

#: open files for each connection: its socket, and one for the engine, spools and jobs
_FILES_EACH = 2


def raise_file_limit(connections: int) -> int:
    """Raise the process's limit of open files as far as connections need it.

    The embedded engine raises the limit as far as possible, whatever the number of connections.

    Parameters
    ----------
    connections : int
        The wanted number of connections.

    Returns
    -------
    int
        The number of connections that the limit then permits.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections * _FILES_EACH
    if soft < needed:
        soft = min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(connections, soft // _FILES_EACH)


class Connection(Protocol):
    """A connection, as the sweep of late connections sees it."""

    def close_if_late(self, now: float) -> None:
        """Close the connection if it has exceeded a time limit.

        Parameters
        ----------
        now : float
            The time of the event loop, in seconds.
        """


class TooManyConnections(Exception):
    """A new connection is refused, with the HTTP status ``status``."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class OpenConnections:
    """Counts connections and closes late ones. Belongs to one event loop.

    Parameters
    ----------
    settings : ConnectionSettings
        The limits.
    trusted : tuple[Network, ...]
        Networks of proxies, which are not counted by client.
    count_refusal : Callable[[int], None]
        Called with the HTTP status of each refusal, also for requests that reach no route.
    """

    def __init__(
        self, settings: ConnectionSettings, trusted: tuple[Network, ...], count_refusal: Callable[[int], None]
    ) -> None:
        self.settings = settings
        self._trusted = trusted
        self.count_refusal = count_refusal
        self._limit = min(settings.max_connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // _FILES_EACH)
        self._by_network: Counter[str] = Counter()
        self._open: dict[Connection, str] = {}
        self._refused: set[Connection] = set()
        self._sweep: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        return len(self._open)

    def admit_connection(self, connection: Connection, address: str, loop: asyncio.AbstractEventLoop) -> None:
        """Count a new connection.

        Raises
        ------
        TooManyConnections
            The connection is refused, and not counted.
        """
        if len(self._open) >= self._limit:
            raise TooManyConnections("the service has too many open connections; try again later", 503)
        network = "" if is_within(address, self._trusted) else find_network(address)
        if network and self._by_network[network] >= self.settings.client_connections:
            raise TooManyConnections(
                f"{network} has {self._by_network[network]} open connections, the limit for one client: "
                "send the next request on an open connection, or when one is closed",
                429,
            )
        self._open[connection] = network
        self._by_network[network] += 1
        if self._sweep is None:
            self._sweep = loop.call_later(_SWEEP_SECONDS, self._close_late, loop)

    def hold_refused(self, connection: Connection) -> bool:
        """Count a refused connection that waits for its answer; return False if too many already wait."""
        if len(self._refused) >= self._limit // 4:
            return False
        self._refused.add(connection)
        return True

    def forget_connection(self, connection: Connection) -> None:
        """Stop counting a closed connection."""
        self._refused.discard(connection)
        network = self._open.pop(connection, None)
        if network is not None:
            self._by_network[network] -= 1
            if not self._by_network[network]:
                del self._by_network[network]

    def _close_late(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sweep = loop.call_later(_SWEEP_SECONDS, self._close_late, loop) if self._open else None
        for connection in tuple(self._open):
            connection.close_if_late(loop.time())
