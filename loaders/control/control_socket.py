"""The control socket, through which commands reach the process that holds the data directory.

``<data>/control.sock`` (mode 0600). One connection is one command, in lines of JSON:

    to the service    {"command": "load", "table": "survey.stars", ...}    a ``CommandRequest``
    from it           {"output": text} | {"message": text} | {"progress": [rows, fraction]}   any number of them
                      {"exit": code}                                                          the last

A client that disconnects cancels its command; a load that is stopped in this way stays in its staging table.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOCKET_NAME = "control.sock"

#: sockaddr_un holds 108 bytes, on some systems 104, including its final zero.
_MAX_ADDRESS_BYTES = 100


def send_line(connection: socket.socket, document: str) -> None:
    """Send a JSON document of one line. Raises ``OSError``."""
    connection.sendall(document.encode() + b"\n")


@contextmanager
def open_address(path: Path) -> Iterator[str]:
    """Return the socket's address; a long path is reached through a descriptor of its folder."""
    if len(os.fsencode(path)) <= _MAX_ADDRESS_BYTES:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def shut_down(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # not connected any more
        return
