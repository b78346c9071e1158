"""A time limit of an exchange with another server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Deadline:
    """Cuts a connection when the time is up. A limit on each read would let a server send single bytes endlessly.

    Parameters
    ----------
    seconds : float
        The time limit, from the creation of the object. The context cuts connections only while it is open.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._watch = threading.Timer(seconds, self._shut_connection)
        self._watch.daemon = True

    def __enter__(self) -> Deadline:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.cancel()

    @property
    def has_passed(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._end

    @property
    def seconds_left(self) -> float:
        """The seconds left. Raises TimeoutError if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    @contextmanager
    def cut_connection(self, connection: socket.socket) -> Iterator[None]:
        """Shut this connection down if the time is up within the context. Raises TimeoutError if it is up already."""
        with self._lock:
            before, self._socket = self._socket, connection
        try:
            if self.has_passed:
                raise TimeoutError
            yield
        finally:
            with self._lock:
                self._socket = before

    def _shut_connection(self) -> None:
        with self._lock:
            if self._socket is not None:
                with suppress(OSError):  # the server may have closed it meanwhile
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)  # for TLS too, without a closing handshake
