"""The service's end of ``tap_service.readers.sandbox_host``."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

#: what a reader gets of the environment: no setting of the service, for these hold passwords
_KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "HOME")
#: one thread and plain memory: these reserve more address space than they use
_FRUGAL = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}

#: Bytes of an answer that are read
_LONGEST_ANSWER = 32 << 20


class SandboxLost(Exception):
    """The process that readers are forked from has ended, and the reader with it."""


class SandboxTimeout(Exception):
    """The reader took longer than it may, and was killed."""


class SandboxClient:
    """Safe to use from several threads. The process is started when it is first needed, and again when it has died."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._waiting: set[socket.socket] = set()

    def start(self) -> None:
        with self._lock:
            self._ensure_started()

    def close(self) -> None:
        """All readers end; who waits for one gets ``HostLost``."""
        with self._lock:
            for status in self._waiting:
                with suppress(OSError):
                    status.shutdown(socket.SHUT_RDWR)
            self._end_process()

    def run_reader(self, request: str, seconds: float) -> tuple[int, str, str]:
        """Exit status of a reader of this request, its answer, and what it says on standard error.

        Raises HostLost, ReaderLate, and OSError where no process or file can be had.
        """
        with (
            tempfile.TemporaryFile(dir=self._directory) as asked,
            tempfile.TemporaryFile(dir=self._directory) as answer,
            tempfile.TemporaryFile(dir=self._directory) as said,
        ):
            asked.write(request.encode())
            asked.seek(0)
            status = self._wait_for_status([asked.fileno(), answer.fileno(), said.fileno()], seconds)
            answer.seek(0)
            said.seek(0)
            return status, answer.read(_LONGEST_ANSWER).decode(), said.read(_LONGEST_ANSWER).decode(errors="replace")

    def _wait_for_status(self, files: list[int], seconds: float) -> int:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            with self._lock:
                requests = self._ensure_started()
                with suppress(ConnectionError):  # then nothing is told
                    socket.send_fds(requests, [b"\0"], [*files, theirs.fileno()])
                self._waiting.add(ours)
            theirs.close()
            ours.settimeout(seconds)
            try:
                told = ours.recv(16)
            except TimeoutError:
                raise SandboxTimeout from None
            except OSError:
                told = b""
            finally:
                with self._lock:
                    self._waiting.discard(ours)
        if not told:
            with self._lock:
                if self._requests is requests:
                    self._end_process()
            raise SandboxLost
        return int(told)

    def _ensure_started(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self._end_process()
        if self._requests is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = self._start_process(theirs)
            self._requests = ours
        return self._requests

    def _start_process(self, requests: socket.socket) -> subprocess.Popen[bytes]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return subprocess.Popen(  # noqa: S603  nothing of it comes from outside
            [sys.executable, "-W", "ignore", "-m", "tap_service.readers.sandbox_host", str(requests.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[requests.fileno()],
            env={**kept, **_FRUGAL, "TMPDIR": str(self._directory or tempfile.gettempdir())},
        )

    def _end_process(self) -> None:
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
