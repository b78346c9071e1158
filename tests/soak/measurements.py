"""The resources of a deployment: memory, open files and threads of its processes, and its files on the disk."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.chaos.processes import Deployment
from tests.tap_service.processes import children, said_by

#: growth from the second to the last quarter of a run that is tolerated
_FLAT = 0.05

#: random variation, by the end of a name: MB, files, threads
_NOISE = {"MB": 6.0, "files": 4.0, "threads": 3.0}

#: files that grow until they are rotated, or that only the run itself writes
_LOGS = (".log", ".jsonl", ".parquet", ".yaml")

_MB = 1e6
_PAGE = os.sysconf("SC_PAGE_SIZE")

Values = dict[str, float]


@dataclass(frozen=True)
class Trend:
    """Medians of a quantity in the second quarter of a run, when the caches are full, and in the last quarter."""

    name: str
    second: float
    last: float

    @property
    def growth(self) -> float:
        return self.last / self.second - 1 if self.second else 0.0

    @property
    def is_flat(self) -> bool:
        return self.growth <= _FLAT or self.last - self.second <= _NOISE[self.name.rpartition(" ")[2]]


class Sampler:
    """Measures a deployment repeatedly in a thread; ``log`` gets the samples, one JSON object per line."""

    def __init__(self, deployment: Deployment, seconds_between: float, log: Path) -> None:
        self.samples: list[tuple[float, Values]] = []
        self._deployment = deployment
        self._seconds_between = seconds_between
        self._log = log
        self._start = time.monotonic()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        with self._log.open("a") as log:
            while not self._is_over.wait(self._seconds_between):
                sample = (time.monotonic() - self._start, measure(self._deployment))
                self.samples.append(sample)
                print(json.dumps({"seconds": round(sample[0], 1), **sample[1]}), file=log, flush=True)


def measure(deployment: Deployment) -> Values:
    """Return memory, files and threads of each component with its child processes, and the size of its files."""
    parts = {
        "service": [deployment.service.pid],
        "workers": [workers.process.pid for workers in deployment.workers],
        "ClickHouse": [server.pid for server in deployment.servers],
        "Redis": [deployment.redis.pid] if deployment.redis else [],
    }
    values: Values = {}
    for name, roots in parts.items():
        if roots:
            family = list(_list_family(roots))
            values[f"{name}: memory, MB"] = round(sum(map(_read_memory, family)) / _MB, 1)
            values[f"{name}: open files"] = sum(_count_entries(f"/proc/{pid}/fd") for pid in family)
            values[f"{name}: threads"] = sum(_count_entries(f"/proc/{pid}/task") for pid in family)
    for folder in sorted(deployment.folder.iterdir()):
        if folder.is_dir():
            values[f"disk: {folder.name}, MB"] = round(_count_bytes(folder) / _MB, 1)
    return values


def find_trends(samples: Sequence[tuple[float, Mapping[str, float]]]) -> list[Trend]:
    """Return a trend for each quantity that was measured in both quarters."""
    end = samples[-1][0]
    second = [values for seconds, values in samples if end / 4 <= seconds < end / 2]
    last = [values for seconds, values in samples if seconds >= end * 3 / 4]
    names = dict.fromkeys(name for values in last for name in values)
    return [
        Trend(name, *(median(values[name] for values in quarter if name in values) for quarter in (second, last)))
        for name in names
        if any(name in values for values in second)
    ]


def _list_family(roots: Sequence[int]) -> Iterator[int]:
    for root in roots:
        yield root
        yield from _list_family(children(root))


def _read_memory(pid: int) -> int:
    """Return the resident memory in bytes, 0 for a process that has ended."""
    found = re.match(rb"\d+ (\d+)", said_by(pid, "statm"))
    return int(found[1]) * _PAGE if found else 0


def _count_entries(folder: str) -> int:
    try:
        return len(os.listdir(folder))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _count_bytes(folder: Path) -> int:
    """Return the disk space of files, each counted once, without logs."""
    taken: dict[int, int] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(_LOGS):
                try:
                    status = os.lstat(os.path.join(parent, name))
                except FileNotFoundError:
                    continue
                taken[status.st_ino] = status.st_blocks * 512
    return sum(taken.values())
