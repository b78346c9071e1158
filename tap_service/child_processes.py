"""Child processes: start one that keeps no secret of the service, and end one with its parent."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys

#: the settings of the service are left out because they hold passwords
_ENVIRONMENT_KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "HOME")
#: thread pools reserve more address space than they use, which children limit
_ENVIRONMENT_SET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def start_child(module: str, connection: socket.socket, **environment: str) -> subprocess.Popen[bytes]:
    """Start ``python -m module FD``, where FD is ``connection``, with these environment variables besides."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT_KEPT if name in os.environ}
    return subprocess.Popen(  # noqa: S603  no part comes from a client
        [sys.executable, "-W", "ignore", "-m", module, str(connection.fileno())],
        stdin=subprocess.DEVNULL,
        pass_fds=[connection.fileno()],
        env={**kept, **_ENVIRONMENT_SET, **environment},
    )


def end_with_parent(parent: int, signal_number: int) -> None:
    """Have the kernel send a signal to this process when the parent, a pid, ends, however it ends.

    A parent that starts children in threads that end must not use this: the kernel goes by the thread.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent:  # it has ended before the call
        os._exit(1)
