"""Start child processes that have no secrets of the service, and end them with their parent."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys

#: the settings of the service are left out because they contain passwords
_ENVIRONMENT_KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "HOME")
#: thread pools reserve more address space than they use, which children limit
_ENVIRONMENT_SET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def start_child(module: str, connection: socket.socket, **environment: str) -> subprocess.Popen[bytes]:
    """Start ``python -m module FD``.

    Parameters
    ----------
    module : str
        The module to run.
    connection : socket.socket
        The socket whose file descriptor the child inherits, as FD. The caller closes it.
    environment : str
        Additional environment variables.

    Returns
    -------
    subprocess.Popen
        The process, for which the caller waits. Its standard input is empty.
    """
    kept = {name: os.environ[name] for name in _ENVIRONMENT_KEPT if name in os.environ}
    return subprocess.Popen(  # noqa: S603  no part comes from a client
        [sys.executable, "-W", "ignore", "-m", module, str(connection.fileno())],
        stdin=subprocess.DEVNULL,
        pass_fds=[connection.fileno()],
        env={**kept, **_ENVIRONMENT_SET, **environment},
    )


def end_with_parent(parent: int, signal_number: int) -> None:
    """Make the kernel send a signal to this process when its parent ends, for any reason.

    The kernel sends the signal when the thread ends that started this process, so that thread must last as long as the
    parent.

    Parameters
    ----------
    parent : int
        The process id of the parent.
    signal_number : int
        The signal.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent:  # the parent ended before the call
        os._exit(1)
