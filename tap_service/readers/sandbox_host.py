"""The process that readers are forked from: it has loaded all that they need, and never sees a file itself.

``python -m tap_service.readers.sandbox_host FD``, where FD is a socket (SOCK_SEQPACKET) to whoever started it. Each
message has four files in it: the request, where the answer goes, where what else the reader says goes, and a socket on
which the reader's exit status is told, as ``subprocess`` gives it. Closing that socket kills the reader; closing the
first one kills them all and ends this process.
"""

from __future__ import annotations

import os
import resource
import selectors
import signal
import socket
import sys
import traceback
from dataclasses import dataclass

from tap_service.readers import sandboxed_reader

#: Files in a message
FILES = 4


@dataclass(frozen=True, slots=True)
class _Reader:
    pid: int
    status: socket.socket


class _Host:
    """One thread and no other: a fork has nothing but the thread that forks."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._selector = selectors.DefaultSelector()
        self._readers: dict[int, _Reader] = {}  # by the descriptor that becomes readable when the reader has ended

    def serve(self) -> None:
        self._selector.register(self._requests, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._requests:
                    if not self._start_reader():
                        return self._end_readers()
                elif key.fd in self._readers:
                    self._report_exit(key.fd)
                else:  # nobody waits for it any more
                    os.kill(key.data, signal.SIGKILL)
                    self._selector.unregister(key.fileobj)

    def _start_reader(self) -> bool:
        _, files, _, _ = socket.recv_fds(self._requests, 1, FILES)
        if not files:
            return False
        pid = os.fork()
        if pid == 0:
            _run_reader(files)
        *others, status = files
        for file in others:
            os.close(file)
        reader = _Reader(pid, socket.socket(fileno=status))
        ended = os.pidfd_open(pid)
        self._readers[ended] = reader
        self._selector.register(ended, selectors.EVENT_READ)
        self._selector.register(reader.status, selectors.EVENT_READ, pid)
        return True

    def _report_exit(self, ended: int) -> None:
        reader = self._readers.pop(ended)
        self._selector.unregister(ended)
        os.close(ended)
        if reader.status in self._selector.get_map():
            self._selector.unregister(reader.status)
        _, status = os.waitpid(reader.pid, 0)
        with reader.status:
            try:
                reader.status.send(str(os.waitstatus_to_exitcode(status)).encode())
            except OSError:  # nobody waits for it any more
                return

    def _end_readers(self) -> None:
        for reader in self._readers.values():
            os.kill(reader.pid, signal.SIGKILL)


def _run_reader(files: list[int]) -> None:
    """In the new process: its only files are those of the message."""
    code = 1
    try:
        for number, file in enumerate(files[:3]):
            os.dup2(file, number)
        os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        sandboxed_reader.main()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service is asked to end, and ends this process
    _Host(socket.socket(fileno=int(sys.argv[1]))).serve()
