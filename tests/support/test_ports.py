"""Ports are unique among tests, runs and users."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ports
from tests.support.environment import ROOT
from tests.support.ports import closed_port, free_port

_OTHER_RUN = "from tests.support.ports import free_port; print(free_port(), flush=True); input()"


def test_a_port_can_be_listened_at() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
        pass


def test_no_outgoing_connection_is_given_a_port() -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(1024 < free_port() < first for _ in range(10))


def test_no_port_is_given_to_two_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Until the process that has it ends."""
    command = [sys.executable, "-c", _OTHER_RUN]
    other = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with other:
        assert other.stdout is not None
        port = int(other.stdout.readline())
        _leave_only(port, monkeypatch, tmp_path)
        with pytest.raises(RuntimeError, match=f"no free port from {port} to {port}"):
            free_port()
        other.kill()
    assert free_port() == port
    with pytest.raises(RuntimeError, match="no free port"):
        free_port()


def test_a_port_that_a_server_has_is_not_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        _leave_only(server.getsockname()[1], monkeypatch, tmp_path)
        with pytest.raises(RuntimeError, match="no free port"):
            free_port()


def test_a_closed_port_refuses_and_stays_closed() -> None:
    with closed_port() as port:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        with pytest.raises(OSError, match="already in use"):
            socket.create_server(("127.0.0.1", port))
    socket.create_server(("127.0.0.1", port)).close()


def _leave_only(port: int, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let ``free_port`` choose only this port."""
    outgoing = folder / "outgoing"
    outgoing.write_text(f"{port + 1}\t60999\n")
    monkeypatch.setattr(ports, "_FIRST", port)
    monkeypatch.setattr(ports, "_OUTGOING", outgoing)
