"""Matches of peers, each in a separate process."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.matches.match_data import MatchData
from tests.benchmarks.matches.match_kinds import Found, read_pairs
from tests.benchmarks.matches.measured_match import MeasuredMatch, OutOfMemoryError
from tests.benchmarks.process_tree import measure_tree
from tests.support.environment import ROOT

PEERS = {
    "stilts": "STILTS `tmatch2`",
    "scipy": "SciPy `cKDTree`",
    "astropy": "astropy",
    "duckdb": "DuckDB",
    "lsdb": "LSDB `crossmatch`",
}
#: the part of the available memory that a peer may use
_MEMORY = 0.9


def can_match(peer: str, kind: str) -> bool:
    """Return whether a peer is installed and has this kind of match."""
    return peer != "stilts" or (shutil.which("stilts") is not None and kind != "summed")


def measure_peer(peer: str, kind: str, data: MatchData) -> MeasuredMatch:
    """Match once in a new process, from the files to the result; imports are not measured."""
    with tempfile.TemporaryDirectory(dir=data.folder) as scratch, (data.folder / f"{peer}.log").open("wb") as log:
        module = "tests.benchmarks.matches.run_peer"
        memory = str(int(_read_available_memory() * _MEMORY))
        process = subprocess.Popen(
            [sys.executable, "-m", module, peer, kind, str(data.folder), scratch, memory],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            if process.stdout.readline() != b"ready\n":
                raise _explain_end(peer, process, Path(log.name))
            with measure_tree(process.pid) as usage:
                process.stdin.write(b"\n")
                process.stdin.flush()
                said = process.stdout.readline()
            if not said:
                raise _explain_end(peer, process, Path(log.name))
            found = json.loads(said)["found"]
            process.stdin.close()
        return MeasuredMatch(usage[0], Found(found) if isinstance(found, int) else read_pairs(Path(found)))


def _read_available_memory() -> int:
    (line,) = (each for each in Path("/proc/meminfo").read_text().splitlines() if each.startswith("MemAvailable"))
    return int(line.split()[1]) * 1024


def _explain_end(peer: str, process: subprocess.Popen[bytes], log: Path) -> Exception:
    """Return why a peer ended without a result."""
    said = log.read_text(errors="replace")
    code = process.wait()
    signs = ("MemoryError", "OutOfMemory", "Out of Memory", "bad_alloc", "heap space", "KilledWorker", "Killed")
    if code == -signal.SIGKILL or any(sign in said for sign in signs):
        return OutOfMemoryError(peer)
    return RuntimeError(f"{peer} ended with {code}: {said[-2000:]}")
