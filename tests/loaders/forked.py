"""Work in separate processes: forks of a process that has already imported what commands need, which takes seconds."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["pyarrow.parquet", "loaders.control.data_commands", "loaders.control.engine_opener", "tests.loaders.killed_work"]
)

_MAX_SECONDS = 100


@dataclass(frozen=True)
class Ended:
    """How a process ended, and its output."""

    returncode: int
    stdout: str
    stderr: str


def run_forked(work: Callable[..., None], *arguments: Any) -> Ended:
    """Call ``work``, a function of a separate module, in a process that has opened nothing."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / name for name in ("stdout", "stderr")]
        process = _CONTEXT.Process(target=_work, args=(outputs, work, arguments))
        process.start()
        process.join(_MAX_SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
        assert process.exitcode is not None
        return Ended(process.exitcode, *(output.read_text() if output.exists() else "" for output in outputs))


def _work(outputs: list[Path], work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    for number, output in enumerate(outputs, 1):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), number)
    work(*arguments)
