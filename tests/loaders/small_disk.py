"""A small file system with a data directory, and a process that runs commands on it.

It is mounted in the mount namespace of that process, which ends when its input does: nothing of it stays, also when the
tests are killed. Tests reach its files below /proc. Each piece of work is done in a fork of the process, which has
imported what commands need: as a command that is started, without the seconds of that.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Without the right to change priorities, which only counts outside the namespace: the engine would end if it tried
_MOUNT = (
    'mount -t tmpfs -o size="$2",mode=700 none "$1" && '
    'exec setpriv --bounding-set=-sys_nice "$0" -m tests.loaders.small_disk "$1"'
)

#: A request of a command as JSON
Command = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Work:
    """The output: exit codes, the last message of each command, answers to SQL, and the log."""

    codes: list[int]
    messages: list[str]
    rows: list[list[dict[str, Any]]]
    log: str


def can_mount() -> bool:
    """Whether this user may mount a file system in a namespace of a process."""
    probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return not subprocess.run(probe, check=False, capture_output=True).returncode


class SmallDisk:
    """A file system of ``size`` bytes that is mounted on ``folder``."""

    def __init__(self, folder: Path, size: int) -> None:
        self.name = folder
        command = ["unshare", "-rm", "sh", "-c", _MOUNT, sys.executable, str(folder), str(size)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._read()
        #: the file system for this process
        self.path = Path(f"/proc/{self._process.pid}/root{folder}")

    def work(self, *commands: Command, sql: Sequence[str] = (), is_unguarded: bool = False) -> Work:
        """Open the engine, run commands until one fails, and run SQL; ``is_unguarded``: as if there were free space."""
        return Work(**self._ask(commands=commands, sql=sql, is_unguarded=is_unguarded))

    def use_stores(self, rate: str = "", *, is_filled: bool = False) -> int:
        """Open the stores of jobs and of the history, which reads them; write, fill the disk and close them."""
        return int(self._ask(rate=rate, is_filled=is_filled))

    def start_service(self, port: int) -> None:
        """Start ``skyhouse serve``, one at a time."""
        self._ask(port=port)

    def stop_service(self, by: signal.Signals) -> int:
        """Send a signal to the service; return its exit code."""
        return int(self._ask(signal=by))

    def fill(self, free: int = 0) -> None:
        """Fill the disk except for ``free`` bytes. May be called again."""
        _fill(self.path, free)

    def make_room(self) -> None:
        (self.path / "ballast").unlink(missing_ok=True)

    def start_again(self, data: Path) -> None:
        """Reset the file system to a copy of ``data``."""
        for entry in self.path.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.copytree(data, self.path / "data", symlinks=True)

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait()

    def _ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        return json.loads(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process of the small disk has ended"
        return line


def _serve(folder: Path) -> None:
    """In the namespace: do the work of each line in a separate process."""
    import pyarrow.parquet  # noqa: F401  what each fork would import

    import tests.loaders.recorder  # noqa: F401
    from loaders.backup import create_backup  # noqa: F401
    from loaders.cli import serve_command  # noqa: F401
    from loaders.control import data_commands, engine_opener  # noqa: F401
    from loaders.export import export_hats  # noqa: F401

    service = 0
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "port" in request:
            service = _fork_service(folder, request["port"])
            print("0", flush=True)
            continue
        if "signal" in request:
            os.kill(service, request["signal"])
            print(os.waitstatus_to_exitcode(os.waitpid(service, 0)[1]), flush=True)
            service = 0
            continue
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            with os.fdopen(writer, "w") as answer:
                answer.write(
                    json.dumps(_use_stores(folder, **request) if "rate" in request else _do_work(folder, **request))
                )
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as answer:
            text = answer.read()
        os.waitpid(child, 0)
        print(text or json.dumps({"codes": [], "messages": [], "rows": [], "log": "killed"}), flush=True)
    if service:
        os.kill(service, signal.SIGKILL)


def _fork_service(folder: Path, port: int) -> int:
    """Run ``skyhouse serve`` in a separate process; return its id."""
    from loaders.cli.serve_command import run_service
    from tests.loaders.recorder import Recorder

    service = os.fork()
    if service:
        return service
    code = 1
    try:
        with (folder.parent / "service.log").open("w") as log, Path(os.devnull).open() as nothing:
            for stream, number in ((nothing, 0), (log, 1), (log, 2)):
                os.dup2(stream.fileno(), number)
        recorder = Recorder()
        code = run_service(folder / "data", "127.0.0.1", port, recorder)
        print(*recorder.reports, sep="\n", flush=True)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _fill(folder: Path, free: int) -> None:
    room = os.statvfs(folder)
    with (folder / "ballast").open("ab") as ballast:
        if (size := room.f_bavail * room.f_frsize - free) > 0:
            os.posix_fallocate(ballast.fileno(), ballast.tell(), size)


def _use_stores(folder: Path, rate: str, is_filled: bool) -> int:
    from tap_service.storage.history_store import HistoryStore
    from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore

    jobs, history = SqliteJobStore(folder / "data/jobs"), HistoryStore.open("", folder / "data/jobs", 10**9)
    found = len(jobs.read_rates())
    history.list_entries("ana", "", 1)
    if rate:
        jobs.set_rate(rate, 1.0)
    if is_filled:
        _fill(folder, 0)
    jobs.close()
    history.close()
    return found


def _do_work(folder: Path, commands: list[Command], sql: list[str], is_unguarded: bool) -> dict[str, Any]:
    from loaders.control.data_commands import explain_error, run_command
    from loaders.control.engine_opener import open_engine
    from tap_service.storage.engine import definition_files, embedded_engine
    from tap_service.storage.engine.engine import EngineError
    from tests.loaders.built_request import build_request
    from tests.loaders.recorder import Recorder

    log = (folder.parent / "log").open("w+")
    os.dup2(log.fileno(), 2)
    if is_unguarded:
        definition_files.require_room_for_definition = lambda *_: None
        embedded_engine.require_room_for_rows = lambda *_: None
        embedded_engine.choose_part_spare = lambda _: 0
    done: dict[str, Any] = {"codes": [], "messages": [], "rows": []}
    try:
        with open_engine(folder / "data", is_read_only=True) as engine:
            for name, arguments in commands:
                recorder = Recorder()
                done["codes"].append(run_command(engine, build_request(name, arguments), recorder))
                done["messages"].append(recorder.reports[-1] if recorder.reports else "")
                if done["codes"][-1]:
                    break
            done["rows"] = [engine.fetch_table(each).to_pylist() for each in sql]
    except EngineError as error:
        done["messages"].append(explain_error(error))
    sys.stderr.flush()
    log.seek(0)
    return done | {"log": log.read()}


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
