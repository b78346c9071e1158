"""/proc can be read while processes end and files are closed."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from tests.tap_service.processes import children, open_files, said_by


def test_what_vanishes_while_it_is_read(tmp_path: Path) -> None:
    kept = (tmp_path / "kept").open("w")
    over = threading.Event()

    def open_and_close() -> None:
        while not over.is_set():
            for file in [(tmp_path / str(number)).open("w") for number in range(20)]:
                file.close()

    def start_and_end() -> None:
        while not over.is_set():
            subprocess.run(["true"], check=True)

    threads = [_started(work) for work in (open_and_close, open_and_close, open_and_close, start_and_end)]
    try:
        for _ in range(60):
            assert 1 <= open_files(tmp_path) <= 61
            for child in children(os.getpid()):
                assert said_by(child, "status") is not None
    finally:
        over.set()
        for thread in threads:
            thread.join()
        kept.close()
    assert open_files(tmp_path) == 0


def _started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread
