"""The slowest test file starts first, and a run lists the slowest files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support import durations
from tests.support.environment import ROOT


def test_kept_durations_are_of_files_that_exist() -> None:
    assert [name for name in durations.read_durations() if not (ROOT / name).is_file()] == []


def test_the_longest_file_is_first_and_told_first(tmp_path: Path) -> None:
    for name, seconds in (("a", 0), ("b", 0.4), ("c", 0.2)):
        (tmp_path / f"test_{name}.py").write_text(
            f"import time\ndef test_1(): time.sleep({seconds})\ndef test_2(): pass\n"
        )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    kept = tmp_path / "kept.json"
    plugin = f"from tests.support import durations; durations.FILE = __import__('pathlib').Path({str(kept)!r})"
    code = f"import sys, pytest; {plugin}; sys.exit(pytest.main(sys.argv[1:], plugins=[durations]))"

    def run(*options: str) -> list[str]:
        command = [sys.executable, "-c", code, "-v", "-p", "no:cacheprovider", *options, "."]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, ran.stdout
        return ran.stdout.splitlines()

    told = run("--keep-durations")
    begin = next(number for number, line in enumerate(told) if "files that took longest" in line)
    assert [line.split()[1] for line in told[begin + 1 :] if "s test_" in line] == [
        "test_b.py",
        "test_c.py",
        "test_a.py",
    ]
    assert '"test_b.py": 0.4' in kept.read_text()
    order = [line.split()[0] for line in run() if " PASSED " in line]
    assert order == [f"test_{file}.py::test_{number}" for file in "bca" for number in (1, 2)]
