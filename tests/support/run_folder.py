"""pytest plugin: a run writes into its own folder, and a run that has written elsewhere fails.

Home, temporary files and settings of all processes of the run are in that folder, before the first import of the code
under test. It is removed at the end, unless a test has failed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.audited import sitecustomize
from tests.support.environment import ROOT

#: variables of this machine that would change tests
_FOREIGN = ("AWS_", "CELERY_", "PYTHON", "REDIS_", "SKYHOUSE_", "SSL_CERT_", "XDG_")
_FOREIGN_ENDS = ("_PROXY", "_proxy")
_KEPT = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")

_ERRORS = pytest.StashKey[list[str]]()
_HAS_PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    if sitecustomize.RUN_FOLDER not in os.environ:  # otherwise this is a worker of a run
        _enter_run(Path(tempfile.mkdtemp(prefix="sky-")).resolve())


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the tests' folders directly into the run's folder: the path of a Unix socket has at most 107 bytes."""
    if not hasattr(config, "workerinput") and not config.option.basetemp:
        config.option.basetemp = _folder() / "t"


def _enter_run(folder: Path) -> None:
    for name in list(os.environ):
        if (name.startswith(_FOREIGN) or name.endswith(_FOREIGN_ENDS)) and name not in _KEPT:
            del os.environ[name]
    for name in ("certificates", "home", "tmp"):
        (folder / name).mkdir(mode=0o700)
    paths = (ROOT, Path(sitecustomize.__file__).parent)
    os.environ |= {
        sitecustomize.RUN_FOLDER: str(folder),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        # an empty file: tests contact only this machine, and httpx would load hundreds of certificates at each call
        "SSL_CERT_DIR": str(folder / "certificates"),
        "SKYHOUSE_CONFIG": "",  # no settings file
        "OPENBLAS_NUM_THREADS": "1",  # numpy would start one thread per core in each process, and nothing uses them
    }
    tempfile.tempdir = None
    sitecustomize.install_audit()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        return
    errors = _find_problems()
    if errors and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    session.config.stash[_ERRORS] = errors
    session.config.stash[_HAS_PASSED] = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if errors := config.stash.get(_ERRORS, []):
        terminalreporter.section("outside the run's folder")
        terminalreporter.write_line("\n".join(errors))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or _HAS_PASSED not in config.stash:
        return
    if config.stash[_HAS_PASSED]:
        shutil.rmtree(_folder(), ignore_errors=True)
    else:
        sys.stderr.write(f"the files of this run are kept: {_folder()}\n")


def _folder() -> Path:
    return Path(os.environ[sitecustomize.RUN_FOLDER])


def _find_problems() -> list[str]:
    """Return a line for each change outside the run's folder, and for a data directory that no test has named."""
    notes = _folder() / sitecustomize.NOTES
    read = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    errors = [f"{note['event']} {note['what']}, in {note['test'] or note['process']}" for note in read]
    chosen = _folder() / "home" / ".local" / "share" / "skyhouse"
    if chosen.exists():
        there = ", ".join(sorted(path.name for path in chosen.iterdir()))
        errors.append(f"a process without SKYHOUSE_DATA made {chosen} with {there}")
    return list(dict.fromkeys(errors))
