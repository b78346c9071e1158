"""Wait for sockets with data, whatever their numbers: select() accepts none above 1023."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from selectors import EVENT_READ, DefaultSelector


def find_readable(sockets: Iterable[socket.socket]) -> list[socket.socket]:
    """Return the sockets that have bytes or are closed, without waiting."""
    with DefaultSelector() as selector:
        for each in sockets:
            selector.register(each, EVENT_READ, each)
        return [key.data for key, _ in selector.select(0)]
