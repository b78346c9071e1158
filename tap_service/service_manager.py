"""Notify systemd of the state of a process, by sd_notify; without a service manager, do nothing."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

#: the service accepts requests, or a worker accepts jobs
READY = "READY=1"
STOPPING = "STOPPING=1"
#: the event loop is alive
ALIVE = "WATCHDOG=1"

#: maximum number of seconds for which a busy manager may block the event loop
_TIMEOUT_SECONDS = 1.0


def notify_manager(state: str) -> None:
    """Send the state of this process to the service manager, if there is one.

    Errors, such as a manager that has ended, are ignored.

    Parameters
    ----------
    state : str
        Lines ``NAME=value`` of sd_notify(3), such as ``READY=1``.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection, suppress(OSError):
        connection.settimeout(_TIMEOUT_SECONDS)
        connection.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def find_alive_interval() -> float | None:
    """Return the interval of ALIVE notifications in seconds, half of the manager's limit; None if it expects none."""
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 2e6 if microseconds.isdigit() and int(microseconds) else None
