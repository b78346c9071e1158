"""The workloads of the systems that Skyhouse continues, measured through the service.

    python -m tests.benchmarks.seeds --size S|M|F [--seed 000] [--only NAME]... [--folder build/seeds] [--report]

Tables are made once, in the folder; a killed run can be continued. ``--report`` prints the figures as the table of
docs/benchmarks.md; ``--delete`` deletes the tables of a seed and keeps its figures.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.benchmarks.seeds.figures_report import format_report
from tests.benchmarks.seeds.measuring import FiguresFile, run_measures
from tests.benchmarks.seeds.seed_service import delete_data, open_seed_service
from tests.benchmarks.seeds.seed_workload import SIZES
from tests.benchmarks.seeds.workloads import WORKLOADS
from tests.support.environment import ROOT


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.seeds")
    parser.add_argument("--size", choices=SIZES, default="M")
    parser.add_argument("--seed", choices=tuple(WORKLOADS), action="append")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "seeds")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--delete", action="store_true")
    given = parser.parse_args()
    for number in given.seed or WORKLOADS:
        workload = WORKLOADS[number]
        folder = given.folder.resolve() / f"{number}-{given.size}"
        folder.mkdir(parents=True, exist_ok=True)
        file = FiguresFile(folder / "figures.jsonl")
        if given.report:
            print(format_report(workload, file.read_figures()))
        elif given.delete:
            delete_data(folder)
        else:
            with open_seed_service(folder, given.size) as service:
                run_measures(service, workload, file, set(given.only))


if __name__ == "__main__":
    main()
