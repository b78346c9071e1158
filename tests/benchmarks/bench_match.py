"""Cross-matches within 5 arcsec by jobs of Skyhouse, STILTS, SciPy, astropy, DuckDB and LSDB, on the same rows.

    python -m tests.benchmarks.bench_match [--rows 500000] [--skies random,tycho] [--kinds counted,listed]
        [--peers stilts,lsdb] [--rounds 1] [--cold] [--folder FOLDER]

Two tables a and b have the same number of rows (id, ra, dec). Half of b is a, moved by an arcsecond. ``random`` is
spread over the whole sky; ``tycho`` has the densities of Tycho-2, whose stars are repeated with jitter: those in the
demo, or those in ``tycho2.parquet`` of ``BENCH_DATA=folder``. ``small`` matches 10,000 positions with 2 M rows,
whatever N.

Each match runs in a new process, which reads the files of its program: the service its table (``skyhouse load``, then
``skyhouse rebuild``), LSDB the export of it, STILTS columns in FITS, all others Parquet. The time ends with the
number or the file of pairs; it excludes the start of Python, imports and the start of the service, but includes the
start of Java. The page cache has the files, unless ``--cold``. All must find the same pairs, otherwise the benchmark
fails. Rounds take turns, and figures are medians. Without options it takes about ten minutes.

``read`` is the bytes read by system calls; STILTS maps its files, which is not counted. ``columns`` is what a job
reports (bytes without compression), ``of the engine`` its peak of memory.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from tests.benchmarks.matches.match_data import SKIES, MatchData, make_data
from tests.benchmarks.matches.match_kinds import KINDS
from tests.benchmarks.matches.match_table import HEADER, format_row
from tests.benchmarks.matches.measured_match import MeasuredMatch, OutOfMemoryError
from tests.benchmarks.matches.page_cache import cool_files, warm_files
from tests.benchmarks.matches.peer_process import PEERS, can_match, measure_peer
from tests.benchmarks.matches.service_match import measure_service
from tests.support.environment import ROOT

SKYHOUSE = "skyhouse"
TITLES = {SKYHOUSE: "Skyhouse", **PEERS}


def measure(program: str, kind: str, data: MatchData) -> MeasuredMatch:
    return measure_service(kind, data) if program == SKYHOUSE else measure_peer(program, kind, data)


def compare(data: MatchData, kind: str, peers: list[str], rounds: int, is_cold: bool) -> None:
    """Measure a kind of match by all programs in turns, and print a row for each."""
    programs = [SKYHOUSE, *(peer for peer in peers if can_match(peer, kind))]
    taken: dict[str, list[MeasuredMatch]] = {program: [] for program in programs}
    failed = set()
    for _ in range(rounds):
        for program in programs:
            if program not in failed:
                (cool_files if is_cold else warm_files)(data.list_inputs(program, kind))
                try:
                    taken[program].append(measure(program, kind, data))
                except OutOfMemoryError:
                    failed.add(program)
    found = {program: {each.found for each in measures} for program, measures in taken.items()}
    if len(set().union(*found.values())) > 1:
        raise AssertionError(f"{kind}: the programs have found different pairs: {found}")
    for program in programs:
        print(format_row(kind, TITLES[program], data.count_rows(kind), taken[program]), flush=True)


def read_names(known: list[str], text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(known)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000, help="rows of each of both tables")
    for option, known in (("skies", list(SKIES)), ("kinds", list(KINDS)), ("peers", list(PEERS))):
        parser.add_argument(
            f"--{option}", type=partial(read_names, known), default=known, metavar="NAME,...", help=", ".join(known)
        )
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cold", action="store_true", help="drop the files from the page cache before each match")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "matches", help="where the tables stay")
    options = parser.parse_args()
    for sky in options.skies:
        data = make_data(options.folder, sky, options.rows)
        print(f"\n{sky}: {options.rows:,} + {options.rows:,} rows\n\n{HEADER}", flush=True)
        for kind in options.kinds:
            compare(data, kind, options.peers, options.rounds, options.cold)


if __name__ == "__main__":
    main()
