"""The client of the sandbox, ``tap_service.readers.sandbox_host``, which forks a reader for each file."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from tap_service.child_processes import start_child

_MODULE = "tap_service.readers.sandbox_host"
#: jemalloc reserves more address space than it uses, which the sandbox limits
_MEMORY_POOL = "system"

_MAX_ANSWER_BYTES = 32 << 20


class SandboxLost(Exception):
    """The sandbox process has ended, and its readers with it."""


class SandboxTimeout(Exception):
    """The reader exceeded its time limit and was killed."""


class SandboxClient:
    """Runs readers in the sandbox process, which starts with the first request, and again if it has died. Thread-safe.

    Parameters
    ----------
    directory : Path or None
        The directory of temporary files; None for the default of the system.
    """

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._waiting: set[socket.socket] = set()

    def start(self) -> None:
        """Start the sandbox process."""
        with self._lock:
            self._ensure_started()

    def close(self) -> None:
        """End all readers; threads that wait for them get SandboxLost."""
        with self._lock:
            for status in self._waiting:
                with suppress(OSError):
                    status.shutdown(socket.SHUT_RDWR)
            self._end_process()

    def run_reader(self, request: str, seconds: float) -> tuple[int, str, str]:
        """Run a reader.

        Parameters
        ----------
        request : str
            The request to the reader.
        seconds : float
            Wall-clock limit.

        Returns
        -------
        (int, str, str)
            The exit status of the reader, its answer and its standard error.

        Raises
        ------
        SandboxLost, SandboxTimeout
            The sandbox process has ended, or the reader exceeded its time limit.
        OSError
            No process or file can be created.
        """
        with (
            tempfile.TemporaryFile(dir=self._directory) as request_file,
            tempfile.TemporaryFile(dir=self._directory) as answer_file,
            tempfile.TemporaryFile(dir=self._directory) as error_file,
        ):
            request_file.write(request.encode())
            request_file.seek(0)
            status = self._wait_for_status([request_file.fileno(), answer_file.fileno(), error_file.fileno()], seconds)
            answer_file.seek(0)
            error_file.seek(0)
            answer = answer_file.read(_MAX_ANSWER_BYTES).decode()
            return status, answer, error_file.read(_MAX_ANSWER_BYTES).decode(errors="replace")

    def _wait_for_status(self, files: list[int], seconds: float) -> int:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            with self._lock:
                requests = self._ensure_started()
                with suppress(ConnectionError):  # recv below then returns nothing
                    socket.send_fds(requests, [b"\0"], [*files, theirs.fileno()])
                self._waiting.add(ours)
            theirs.close()
            ours.settimeout(seconds)
            try:
                status = ours.recv(16)
            except TimeoutError:
                raise SandboxTimeout from None
            except OSError:
                status = b""
            finally:
                with self._lock:
                    self._waiting.discard(ours)
        if not status:
            with self._lock:
                if self._requests is requests:
                    self._end_process()
            raise SandboxLost
        return int(status)

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
        directory = str(self._directory or tempfile.gettempdir())
        return start_child(_MODULE, requests, ARROW_DEFAULT_MEMORY_POOL=_MEMORY_POOL, TMPDIR=directory)

    def _end_process(self) -> None:
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
