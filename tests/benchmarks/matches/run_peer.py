"""Run one match of one peer in the measured process.

    python -m tests.benchmarks.matches.run_peer PEER KIND DATA SCRATCH MEMORY

The process says when it is ready, waits, and prints the result.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
from pathlib import Path

from tests.benchmarks.matches.match_data import MatchData
from tests.benchmarks.matches.peers.peer import MatchTask, Peer

#: when memory is short, the kernel ends a peer before any other process
_FIRST_TO_END = "1000"


def make_peer(name: str) -> Peer:
    module = importlib.import_module(f"tests.benchmarks.matches.peers.{name}_peer")
    peer = getattr(module, f"{name.capitalize()}Peer")()
    assert isinstance(peer, Peer)
    return peer


def main(name: str, kind: str, data: str, scratch: str, memory: str) -> None:
    Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_END)
    resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    task = MatchTask(kind, MatchData(Path(data)), Path(scratch), int(memory))
    peer = make_peer(name)
    peer.start(task)
    print("ready", flush=True)
    sys.stdin.readline()
    found = peer.find(task)
    print(json.dumps({"found": found if isinstance(found, int) else str(found)}), flush=True)
    sys.stdin.readline()
    peer.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
