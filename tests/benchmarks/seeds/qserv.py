"""Seed 000, Qserv: its low, high and super high volume queries, and its mixes of them.

LV2, LV3, HV1 to HV3 have the meaning of the seed's SQL; ``chunkId`` is a HEALPix cell of 3.4 square degrees,
``qserv_angSep`` is ``scisql_angSep``. Of the seed's 1,200 cores SHV1 can have kept 176 to 320 busy (22 to 40 nodes of
eight), SHV2 264, the others all.
"""

from __future__ import annotations

from tests.benchmarks.seeds import qserv_shards, qserv_streams
from tests.benchmarks.seeds.qserv_queries import (
    ask_count,
    ask_extreme_colours,
    ask_forced_match,
    ask_groups,
    ask_object,
    ask_pairs,
    ask_sources,
    ask_stars_in_box,
)
from tests.benchmarks.seeds.qserv_tables import BOX_OBJECT, FIELD, OBJECT, OBJECT_WIDE, SOURCE
from tests.benchmarks.seeds.seed_workload import Activity, Measure, SeedWorkload

_NODES = "150 nodes"
_CORES = 1200

WORKLOAD = SeedWorkload(
    number="000",
    title="Qserv: 150 nodes of eight cores",
    source=(
        "Wang et al. 2011 (SC '11, doi 10.1145/2063348.2063364), section 6: 1.7 G objects, 55 G sources, 150 nodes with two"
        " quad-core X5355, 16 GB and one disk."
    ),
    measures=(
        Measure(
            "LV1", "an object of 250 columns by its id", ask_object, 0.050, f"4 s, {_NODES}; 9 s with others; 8 s cold",
            count=200, is_cold=True, cold_aim=0.300, tables=(OBJECT_WIDE,),
        ),
        Measure(
            "LV2", "the sources of an object", ask_sources, 0.050, f"4 s, {_NODES}",
            count=200, is_cold=True, cold_aim=0.300, tables=(SOURCE,),
        ),
        Measure(
            "LV3", "objects of some colours in a square degree", ask_stars_in_box, 0.050, f"4 s, {_NODES}",
            count=200, is_cold=True, cold_aim=0.300, tables=(OBJECT,),
        ),
        Measure("HV1", "count of the objects", ask_count, 0.050, f"20 to 30 s, {_NODES}", 20.0 * _CORES, tables=(OBJECT,)),
        Measure(
            "HV2", "colours of all objects", ask_extreme_colours, 4, f"150 to 180 s cached, 420 s not, {_NODES}",
            150.0 * _CORES, format="votable", is_cold=True, tables=(OBJECT,),
        ),
        Measure("HV3", "means in each cell", ask_groups, 7, f"below HV2; 240 s, {_NODES}", 150.0 * _CORES, tables=(OBJECT,)),
        Measure(
            "SHV1", "pairs within 0.1 degrees", ask_pairs, 130, "660 s, 22 to 40 busy nodes, 30 % of the pairs lost",
            660.0 * 22 * 8, is_job=True, tables=(FIELD,),
        ),
        Measure(
            "SHV2", "sources away from their objects", ask_forced_match, 60, "7,600 to 19,200 s, 33 busy nodes",
            7600.0 * 33 * 8, is_job=True, format="votable", tables=(BOX_OBJECT, SOURCE),
        ),
        Activity(
            "Fig. 14", "two streams of HV2, one of LV1, one of LV2", qserv_streams.run_four_streams,
            "LV 30 s and stuck; HV2 2.0 times as long as alone", tables=(OBJECT, OBJECT_WIDE, SOURCE),
        ),
        Activity(
            "Figs 8 to 13", "the same rows a shard, processor time of a server", qserv_shards.run_shards,
            "LV flat, HV1 with the chunks, SHV not perfect, on 40, 100 and 150 nodes",
        ),
        Activity(
            "2.1", "50 light clients, 20 scans, all pairs", qserv_streams.run_mixed_users,
            "wanted: 50 under 10 s, 20 under an hour, 1 under 10 days", tables=(OBJECT, OBJECT_WIDE, SOURCE, FIELD),
        ),
    ),
)  # fmt: skip
