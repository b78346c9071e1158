"""Watches with jobs in Redis and workers: the workers run them, and several services do not run them twice."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.running_service import RunningService
from tests.tap_service.watches.alerts import add_alerts, alerts_table
from tests.tap_service.watches.watcher import BRIGHT, Watcher


def test_workers_do_the_runs(serve_cluster: Callable[..., RunningService], accounts: Path, tmp_path: Path) -> None:
    service = serve_cluster(accounts=accounts)
    with alerts_table(service.engine, tmp_path):
        service.refresh()
        alice = Watcher(service, "alice")
        watch = alice.watch(name="bright", query=BRIGHT)
        for number in range(3):
            add_alerts(service.engine, tmp_path, 1000 * (number + 1), 10)
        with ThreadPoolExecutor(4) as services:  # services that do rounds at the same time
            for _ in range(8):
                services.submit(alice.rounds.run_round)
        done = alice.wait(watch, "DONE", "DONE", "DONE")
        assert alice.ids("mydb.bright") == [1000, 1001, 2000, 2001, 3000, 3001]
        assert (done["rows"], done["runs_done"]) == (6, 3)
        alice.remove_all()
