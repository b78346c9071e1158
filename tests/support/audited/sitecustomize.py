"""Records what a Python process of a test run changes outside the run's folder. Python imports this file at each
start.

The run's environment names this file's folder in PYTHONPATH, so each process that a test starts is audited, with the
events of ``sys.addaudithook``. Programs in other languages have the run's folder as their home and for temporary
files.
"""

import json
import os
import socket
import sys
from urllib.parse import unquote, urlsplit

#: the folder of the run, in the environment of all its processes
RUN_FOLDER = "TESTS_RUN_FOLDER"

#: the file of the records, in the run's folder: one JSON object per line
NOTES = "outside.jsonl"

_ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))

#: folders of the checkout that tools write, and file systems without files
_CACHES = (".hypothesis/", ".pytest_cache/", "pytest-cache-files-", ".venv/", "build/")
_NO_FILES = ("/dev/", "/proc/", "/sys/fs/cgroup/")

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

#: events, each with the indexes of the changed paths among its arguments and of the folders to which they are relative
_CHANGES = {
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
}

#: settings of a service on this machine, which tests must not read
_SETTINGS = "/etc/skyhouse"


class _Audit:
    def __init__(self, folder: str) -> None:
        self._notes = os.path.join(folder, NOTES)
        self._allowed = (folder + "/", *(f"{_ROOT}/{name}" for name in _CACHES), *_NO_FILES)

    def hear(self, event: str, arguments: tuple) -> None:
        if event == "open":
            self._hear_open(*arguments)
        elif event in _CHANGES:
            for path, base in _CHANGES[event]:
                self._check_path(event, arguments[path], -1 if base is None else arguments[base])
        elif event == "socket.bind":
            self._hear_bind(*arguments)
        elif event == "sqlite3.connect":
            self._hear_database(*arguments)

    def _hear_open(self, path: object, _mode: object, flags: int) -> None:
        if flags & _WRITING:
            self._check_path("open", path)
        elif isinstance(path, str) and path.startswith(_SETTINGS):
            self._note("reads", path)

    def _hear_bind(self, bound: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[1] and not _is_reserved(address[1]):
            self._note("binds", f"port {address[1]}")
        elif isinstance(address, str) and address and not address.startswith("\0"):
            self._check_path("bind", address)

    def _hear_database(self, database: object) -> None:
        name = os.fsdecode(database) if isinstance(database, (str, bytes, os.PathLike)) else ""
        if name.startswith("file:"):
            name = unquote(urlsplit(name).path)
        if name and name != ":memory:":
            self._check_path("sqlite3.connect", name)

    def _check_path(self, event: str, path: object, base: int = -1) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return  # an open file
        named = os.fsdecode(path)
        if base != -1 and not os.path.isabs(named):
            named = os.path.join(os.readlink(f"/proc/self/fd/{base}"), named)
        folder, name = os.path.split(os.path.abspath(named))
        real = os.path.join(os.path.realpath(folder), name)
        if (real + "/").startswith(self._allowed) or "/__pycache__/" in real + "/":
            return
        changes_nothing = {"os.mkdir": os.path.lexists, "os.remove": _is_missing, "os.rmdir": _is_missing}.get(event)
        if changes_nothing is None or not changes_nothing(real):
            self._note(event, real)

    def _note(self, event: str, what: str) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        line = json.dumps({"event": event, "what": what, "test": test, "process": sys.orig_argv}) + "\n"
        file = os.open(self._notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(file, line.encode())
        os.close(file)


def _is_missing(path: str) -> bool:
    return not os.path.lexists(path)


def name_reservation(port: int) -> str:
    """Return the abstract Unix socket that reserves a port: ``tests.support.ports`` binds it."""
    return f"\0skyhouse-tests-port-{port}"


def _is_reserved(port: int) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.bind(name_reservation(port))
        except OSError:
            return True
    return False


def install_audit() -> None:
    """Audit this process from now on, if it belongs to a test run. A process is audited once."""
    folder = os.environ.get(RUN_FOLDER)
    if folder and not hasattr(sys, "_run_audit"):
        sys._run_audit = _Audit(folder)  # type: ignore[attr-defined]
        sys.addaudithook(sys._run_audit.hear)  # type: ignore[attr-defined]


install_audit()
