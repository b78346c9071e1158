"""The process that forks sandboxed readers: it imports all their modules, and reads no file itself.

``python -m tap_service.readers.sandbox_host FD``: FD is a socket (SOCK_SEQPACKET) to the parent process. Each message
carries four file descriptors: standard input, output and error of the reader (request, answer, log) and a socket for
its exit status, encoded as by ``subprocess``. Closing the status socket kills the reader; closing FD ends this process,
and the kernel then kills its readers.
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

from tap_service.child_processes import end_with_parent
from tap_service.readers import sandboxed_reader
from tap_service.unused_libraries import leave_out_unused_libraries

#: number of file descriptors in a message
FILES = 4


@dataclass(slots=True)
class _Reader:
    pid: int
    #: becomes readable when the reader ends
    pidfd: int
    status: socket.socket
    reported: bool = False


class _Host:
    """The event loop, in a single thread: a fork copies only the thread that calls it."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        self._selector.register(self._requests, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                reader: _Reader | None = key.data
                if reader is None:
                    if not self._start_reader():
                        return
                elif reader.reported:  # earlier in this round; another reader may have its descriptors now
                    continue
                elif key.fileobj is reader.status:  # the client has closed it
                    os.kill(reader.pid, signal.SIGKILL)
                    self._selector.unregister(reader.status)
                else:
                    self._report_exit(reader)

    def _start_reader(self) -> bool:
        _, files, _, _ = socket.recv_fds(self._requests, 1, FILES)
        if not files:
            return False
        host = os.getpid()
        pid = os.fork()
        if pid == 0:
            end_with_parent(host, signal.SIGKILL)
            _run_reader(files)
        *others, status = files
        for file in others:
            os.close(file)
        reader = _Reader(pid, os.pidfd_open(pid), socket.socket(fileno=status))
        self._selector.register(reader.pidfd, selectors.EVENT_READ, reader)
        self._selector.register(reader.status, selectors.EVENT_READ, reader)
        return True

    def _report_exit(self, reader: _Reader) -> None:
        reader.reported = True
        self._selector.unregister(reader.pidfd)
        os.close(reader.pidfd)
        if reader.status in self._selector.get_map():
            self._selector.unregister(reader.status)
        _, status = os.waitpid(reader.pid, 0)
        with reader.status:
            try:
                reader.status.send(str(os.waitstatus_to_exitcode(status)).encode())
            except OSError:  # the client has closed the status socket
                return


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
    leave_out_unused_libraries()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service handles it, and ends this process
    _Host(socket.socket(fileno=int(sys.argv[1]))).serve()
