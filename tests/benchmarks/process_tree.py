"""The usage of a process and its descendants: processor time, memory, and the bytes that they read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class TreeUsage:
    """``memory`` is the largest sum of resident sets; ``read`` is what read() and pread() returned, cached or not."""

    seconds: float
    processor: float
    memory: int
    read: int


def read_processor_seconds(root: int) -> float:
    """Return the processor time of a process and of all its descendants so far."""
    return sum(_list_processes(root).values()) / _TICKS


@contextmanager
def measure_tree(root: int) -> Iterator[list[TreeUsage]]:
    """Measure a process and its descendants; the yielded list has the usage after the block."""
    usage: list[TreeUsage] = []
    peak, ended = [0], threading.Event()

    def watch_memory() -> None:
        while not ended.is_set():
            peak[0] = max(peak[0], sum(map(_read_resident, _list_processes(root))))
            ended.wait(_POLL_SECONDS)

    watcher = threading.Thread(target=watch_memory)
    read = sum(map(_read_bytes, _list_processes(root)))
    processor, began = read_processor_seconds(root), time.perf_counter()
    watcher.start()
    try:
        yield usage
    finally:
        seconds, used = time.perf_counter() - began, read_processor_seconds(root) - processor
        ended.set()
        watcher.join()
    usage.append(TreeUsage(seconds, used, peak[0], sum(map(_read_bytes, _list_processes(root))) - read))


def _list_processes(root: int) -> dict[int, int]:
    """Return the processor ticks of each process, including its children that have ended."""
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):  # it has ended
                fields = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
                children.setdefault(int(fields[1]), []).append(int(entry))
                ticks[int(entry)] = sum(int(each) for each in fields[11:15])
    found, waiting = {}, [root]
    while waiting:
        pid = waiting.pop()
        found[pid] = ticks.get(pid, 0)
        waiting += children.get(pid, [])
    return found


def _read_resident(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return 0


def _read_bytes(pid: int) -> int:
    """Return the bytes that a process, and its children that have ended, have read."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/io").read_text().split()[1])
    return 0
