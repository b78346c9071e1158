"""The workloads of all seeds, by number."""

from __future__ import annotations

from tests.benchmarks.seeds import alerts, neutral, panda, qserv, skyhook
from tests.benchmarks.seeds.seed_workload import SeedWorkload

WORKLOADS: dict[str, SeedWorkload] = {
    workload.number: workload
    for workload in (qserv.WORKLOAD, alerts.WORKLOAD, skyhook.WORKLOAD, panda.WORKLOAD, neutral.WORKLOAD)
}
