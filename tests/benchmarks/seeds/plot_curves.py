"""Pictures of the growth of times with history, shards and clients, from the figures of runs.

    python -m tests.benchmarks.seeds.plot_curves --size M [--folder build/seeds] [--pictures docs/pictures]

It needs the extra ``plots``.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from tests.benchmarks.seeds.measuring import FiguresFile
from tests.benchmarks.seeds.seed_workload import SIZES
from tests.support.environment import ROOT

Rows = Sequence[dict[str, Any]]

#: Line -> points
Curves = dict[str, list[tuple[float, float]]]


def find_curves(rows: Rows, pattern: str, read_value: Callable[[dict[str, Any]], float]) -> Curves:
    """Return the last warm figures of measures whose name matches, by the group ``line``, at the group ``x``."""
    found: dict[str, dict[float, float]] = defaultdict(dict)
    for row in rows:
        match = re.fullmatch(pattern, row["measure"])
        if match and row.get("state", "warm") == "warm":
            found[match.groupdict().get("line", "")][float(match["x"])] = read_value(row)
    return {line: sorted(points.items()) for line, points in found.items()}


def draw_curves(axes: Axes, curves: Curves) -> None:
    for (line, points), style in zip(curves.items(), ("o-", "s--", "^:", "d-."), strict=False):
        axes.plot(*zip(*points, strict=True), style, label=line)
    if any(curves):
        axes.legend()
    axes.set_ylim(bottom=0)


def plot_visits(rows: Rows, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    curves: Curves = {}
    for state, when in (("", "right after additions"), (" at rest", "one part a year")):
        visits = rf"reads of a visit{state}, (?P<x>[\d.]+) years"
        curves[f"on the clock, {when}"] = find_curves(rows, visits, lambda row: row["figure"]).get("", [])
        times = find_curves(rows, visits, lambda row: row["engine"] + row["service"])
        curves[f"processor, {when}"] = times.get("", [])
    draw_curves(axes, {line: points for line, points in curves.items() if points})
    axes.set(xlabel="years of history", ylabel="seconds to read a visit (189 CCDs, 12 months)")
    figure.savefig(path / "visits.png", dpi=110)


def plot_shards(rows: Rows, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    draw_curves(axes, find_curves(rows, r"Figs 8 to 13: (?P<line>.+), (?P<x>\d+) shards", lambda row: row["figure"]))
    axes.set(xlabel="shards with the same rows each", ylabel="processor time of a server / of one shard")
    figure.savefig(path / "shards.png", dpi=110)


def plot_clients(rows: Rows, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    clients = r"(?P<line>rows by id), (?P<x>\d+) clients?"
    draw_curves(axes, find_curves(rows, clients, lambda row: row["rate"]))
    axes.set(xlabel="clients", ylabel="rows of 100 columns a second")
    figure.savefig(path / "clients.png", dpi=110)


#: Seed -> what is drawn from its figures
_PICTURES = {"000": plot_shards, "001": plot_visits, "004": plot_clients}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.seeds.plot_curves")
    parser.add_argument("--size", choices=SIZES, default="M")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "seeds")
    parser.add_argument("--pictures", type=Path, default=ROOT / "docs" / "pictures")
    given = parser.parse_args()
    mpl.use("Agg")
    for number, plot in _PICTURES.items():
        rows = FiguresFile(given.folder / f"{number}-{given.size}" / "figures.jsonl").read_figures()
        if rows:
            plot(rows, given.pictures)


if __name__ == "__main__":
    main()
