"""Ports of 127.0.0.1 that belong to one test process, on a machine where others run tests too."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.audited.sitecustomize import name_reservation

#: browsers refuse some below, such as 10080
_FIRST = 11_000

#: the first and the last port that the system gives to outgoing connections
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """Return a port that nothing listens at and no connection is given by the system; no test is given it again.

    A bound abstract Unix socket reserves it: its name is unique on the machine, also among users, and the kernel removes it
    when this process ends.
    """
    ports = range(_FIRST, int(_OUTGOING.read_text().split()[0])) or range(_FIRST, 65_536)  # it may give them all
    for port in random.Random().sample(ports, len(ports)):
        with suppress(OSError), socket.socket(socket.AF_UNIX) as reservation:
            reservation.bind(name_reservation(port))
            socket.create_server(("127.0.0.1", port)).close()
            reservation.detach()  # open until this process ends
            return port
    raise RuntimeError(f"no free port from {ports.start} to {ports.stop - 1}")


@contextmanager
def closed_port() -> Iterator[int]:
    """A port that refuses connections, for this socket has it and does not listen."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", free_port()))
        yield holder.getsockname()[1]
