"""STILTS tmatch2 from FITS in columns, on all cores; its results are FITS too."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.benchmarks.matches.match_kinds import ARCSEC, KINDS, LEFT_ID, NO_PARTNER, RIGHT_ID
from tests.benchmarks.matches.peers.peer import MatchTask, Peer

#: join, find
_PARAMETERS = {
    "counted": ("1and2", "all"),
    "listed": ("1and2", "all"),
    "without": ("1not2", "all"),
    "left": ("all1", "all"),
    "nearest": ("1and2", "best1"),
    "small": ("1and2", "all"),
}
#: the part of the memory that the heap of Java may use
_HEAP = 0.9


class StiltsPeer(Peer):
    def find(self, task: MatchTask) -> int | Path:
        kind = KINDS[task.kind]
        join, find = _PARAMETERS[task.kind]
        command = [
            "stilts",
            f"-J-Xmx{int(task.memory * _HEAP) >> 20}m",
            "tmatch2",
            "matcher=sky",
            f"params={ARCSEC}",
            f"join={join}",
            f"find={find}",
            "runner=parallel-all",
            "progress=none",
            "fixcols=all",
        ]
        for number, name in ((1, kind.left), (2, kind.right)):
            command += [f"in{number}={task.data.fits(name)}", f"ifmt{number}=colfits-basic", f"values{number}=ra dec"]
        if not kind.is_list:
            return _read_count(_run([*command, "omode=count"]))
        partner = f"NULL_id_2 ? {NO_PARTNER}L : id_2" if join == "all1" else "id_2"
        columns = f'keepcols "id_1 id_2"; colmeta -name {LEFT_ID} id_1; addcol {RIGHT_ID} "{partner}"; delcols id_2'
        result = task.result.with_suffix(".fits")
        _run([*command, f"ocmd={columns}", f"out={result}", "ofmt=fits-basic"])
        return result


def _run(command: list[str]) -> str:
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        raise RuntimeError(process.stderr)
    return process.stdout


def _read_count(said: str) -> int:
    found = re.search(r"rows:\s*(\d+)", said)
    assert found is not None, said
    return int(found[1])
