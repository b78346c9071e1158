"""Seeds 001 and 002, the alert database on SQL servers and on Cassandra: reads of visits, and what they store."""

from __future__ import annotations

from tests.benchmarks.seeds import alerts_visits
from tests.benchmarks.seeds.alerts_tables import FORCED_SOURCE, OBJECT_LAST, SOURCE
from tests.benchmarks.seeds.seed_workload import Activity, Measure, SeedWorkload

_SEED = "10 s a visit: Oracle, 48 cores, after 30,000 visits; Cassandra, 92 cores, after 180,000 (half the history)"

WORKLOAD = SeedWorkload(
    number="001",
    title="The alert database: twelve months of history at each visit",
    source=(
        "DMTN-113 and DMTN-156: 189 CCDs, each with a client; sources, forced sources and objects near it. A patch of the sky"
        " with the whole density and cadence, all columns of apdb 10.0.0."
    ),
    measures=(
        Activity(
            "reads of a visit", "189 CCDs, three tables, eight clients", alerts_visits.read_visits, _SEED,
        ),
        *(
            Measure(
                f"a CCD of {table.name}", "all columns, twelve months", alerts_visits.ask_random_ccd(table.name), aim,
                "", count=100, format="arrow", tables=(table,),
            )
            for table, aim in ((OBJECT_LAST, 0.05), (SOURCE, 0.15), (FORCED_SOURCE, 0.1))
        ),
    ),
)  # fmt: skip
