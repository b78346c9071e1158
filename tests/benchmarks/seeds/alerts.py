"""Seeds 001 and 002, the alert database on SQL servers and on Cassandra: reads of visits, and what they store."""

from __future__ import annotations

from tests.benchmarks.seeds import alerts_stores, alerts_visits
from tests.benchmarks.seeds.alerts_tables import DIA_OBJECT, FORCED_SOURCE, OBJECT_LAST, SOURCE
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
        Activity(
            "storing visits", "sources, forced sources, versions", alerts_stores.store_visits,
            "15 s (MySQL, PostgreSQL), 100 s on disks, 7 s a CCD (Cassandra)", tables=(DIA_OBJECT, OBJECT_LAST, SOURCE, FORCED_SOURCE),
        ),
        Activity("a night", "sources and forced sources at once", alerts_stores.append_night, "within 24 hours (PPDB)", tables=(SOURCE, FORCED_SOURCE)),
        Activity("corrections", "reassigned objects, times of withdrawal", alerts_stores.correct_sources, "each night (PPDB), no figure", tables=(SOURCE,)),
    ),
)  # fmt: skip
