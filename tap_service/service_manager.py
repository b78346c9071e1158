"""Notifies systemd of the state of a process, by sd_notify. Does nothing where no service manager listens."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

#: the service takes requests, or a worker jobs
READY = "READY=1"
STOPPING = "STOPPING=1"
#: the event loop is alive
ALIVE = "WATCHDOG=1"

#: how long a manager that is busy may keep the event loop waiting, in seconds
_TIMEOUT_SECONDS = 1.0


def notify_manager(state: str) -> None:
    """Tell the service manager a state. A manager that does not listen any more is no fault of the service."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection, suppress(OSError):
        connection.settimeout(_TIMEOUT_SECONDS)
        connection.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def find_alive_interval() -> float | None:
    """Return the seconds between two signs of life, half of what the manager waits; None if it wants none."""
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 2e6 if microseconds.isdigit() and int(microseconds) else None
