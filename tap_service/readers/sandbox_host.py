"""The process that forks sandboxed readers: it imports all their modules, and reads no file itself.

``python -m tap_service.readers.sandbox_host FD``: FD is a socket (SOCK_SEQPACKET) to the parent process. Each message
carries four file descriptors: standard input, output and error of the reader (request, answer, log) and a socket for
its exit status, encoded as by ``subprocess``. Closing the status socket kills the reader; closing FD kills all readers
and ends this process.
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

#: File descriptors in a message
FILES = 4


@dataclass(frozen=True, slots=True)
class _Reader:
    pid: int
    status: socket.socket


class _Host:
    """The event loop, in a single thread: a fork copies only the thread that calls it."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._selector = selectors.DefaultSelector()
        self._readers: dict[int, _Reader] = {}  # by pidfd, which becomes readable when the reader ends

    def serve(self) -> None:
        self._selector.register(self._requests, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._requests:
                    if not self._start_reader():
                        return self._end_readers()
                elif key.fd in self._readers:
                    self._report_exit(key.fd)
                else:  # the client has closed the status socket
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
            except OSError:  # the client has closed the status socket
                return

    def _end_readers(self) -> None:
        for reader in self._readers.values():
            os.kill(reader.pid, signal.SIGKILL)


def _run_reader(files: list[int]) -> None:
    """Run the reader in the forked process, with only the file descriptors of the message open."""
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service handles it, and ends this process
    _Host(socket.socket(fileno=int(sys.argv[1]))).serve()
