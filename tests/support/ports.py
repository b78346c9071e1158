"""Ports of 127.0.0.1 that belong to one test process, on a machine where other tests may run."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.audited.sitecustomize import name_reservation

#: browsers refuse some lower ports, such as 10080
_FIRST = 11_000

#: the range of ports that the system uses for outgoing connections
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """Return a free port that the system does not use for outgoing connections; no other test gets it.

    A bound abstract Unix socket reserves the port: its name is unique on the machine, also among users, and the
    kernel removes it when this process ends.
    """
    first_outgoing = int(_OUTGOING.read_text().split()[0])
    # the range of the system may contain all ports
    ports = range(_FIRST, first_outgoing) or range(_FIRST, 65_536)
    for port in random.Random().sample(ports, len(ports)):
        with suppress(OSError), socket.socket(socket.AF_UNIX) as reservation:
            reservation.bind(name_reservation(port))
            socket.create_server(("127.0.0.1", port)).close()
            reservation.detach()  # open until this process ends
            return port
    raise RuntimeError(f"no free port from {ports.start} to {ports.stop - 1}")


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port that refuses connections: this socket is bound to it and does not listen."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", free_port()))
        yield holder.getsockname()[1]
