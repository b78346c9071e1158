"""Draw the panels of compose/monitoring/dashboard.json from scrapes of a service under load: docs/dashboard.png.

    skyhouse demo --data FOLDER --port 8471
    python -m tests.benchmarks.dashboard_picture http://127.0.0.1:8471 --seconds 300

Grafana draws them in a nicer way; the values are the same. Needs matplotlib (the extra `plots`).
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from tests.support.environment import ROOT
from tests.tap_service.monitoring import promql

SCRAPE_SECONDS = 5.0
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_MOST_LINES = 8

#: a third of a thousand million pairs
_HEAVY = (
    "SELECT COUNT(*) FROM tycho2.bright AS a JOIN tycho2.bright AS b ON a.vt_mag < b.vt_mag AND a.ra < b.dec + {} "
    "WHERE a.hip < 3000"
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "dashboard.png")
    arguments = parser.parse_args()
    until = time.monotonic() + arguments.seconds
    for work in (ask_light, ask_light, ask_cones, ask_downloads, ask_wrongly, ask_heavy, run_jobs, upload, browse):
        threading.Thread(target=repeat, args=(work, arguments.url, until), daemon=True).start()
    scrapes = []
    while time.monotonic() < until:
        scrapes.append(scrape(arguments.url))
        time.sleep(SCRAPE_SECONDS)
    draw(scrapes, arguments.out)


def scrape(url: str) -> promql.Scrape:
    with urlopen(f"{url}/metrics") as answer:
        text = answer.read().decode()
    samples = {}
    for name, labels, value in _SAMPLE.findall(text):
        added = [("instance", "127.0.0.1:8000"), ("job", "skyhouse")]
        samples[name, tuple(sorted([*_LABEL.findall(labels), *added]))] = float(value)
    return time.time(), samples


# --- the load


def repeat(work: Callable[[str, random.Random], None], url: str, until: float) -> None:
    chance = random.Random(work.__name__)
    while time.monotonic() < until:
        work(url, chance)


def send(url: str, data: dict[str, Any] | None = None, headers: dict[str, str] | None = None) -> None:
    body = None if data is None else urlencode({"LANG": "ADQL", **data}).encode()
    post(Request(url, body, headers or {}))


def post(request: Request) -> None:
    try:
        with urlopen(request, timeout=100) as answer:
            answer.read()
    except HTTPError:
        return


def ask_light(url: str, chance: random.Random) -> None:
    send(f"{url}/tap/sync", {"QUERY": f"SELECT * FROM tycho2.bright WHERE hip = {chance.randrange(100_000)}"})
    time.sleep(0.02 + 0.3 * (math.sin(time.time() / 20) > 0))


def ask_cones(url: str, chance: random.Random) -> None:
    ra, dec = chance.uniform(0, 360), chance.uniform(-80, 80)
    circle = f"CONTAINS(POINT(ra, dec), CIRCLE({ra:.3f}, {dec:.3f}, {chance.uniform(0.1, 5):.2f}))"
    send(f"{url}/tap/sync", {"QUERY": f"SELECT * FROM tycho2.bright WHERE 1 = {circle}"})
    time.sleep(0.2)


def ask_downloads(url: str, chance: random.Random) -> None:
    send(f"{url}/tap/sync", {"QUERY": "SELECT * FROM tycho2.bright", "FORMAT": chance.choice(["csv", "votable"])})
    time.sleep(8)


def ask_wrongly(url: str, chance: random.Random) -> None:
    query = chance.choice(
        ["SELECT nothing FROM tycho2.bright", "SELEC 1", "SELECT CAST('x' AS INTEGER) + hip FROM tycho2.bright"]
    )
    send(f"{url}/tap/sync", {"QUERY": query})
    send(f"{url}/tap/tables", headers={"Authorization": "Bearer wrong"} if chance.random() < 0.2 else {})
    time.sleep(2)


def ask_heavy(url: str, chance: random.Random) -> None:
    threads = [
        threading.Thread(target=send, args=(f"{url}/tap/sync", {"QUERY": _HEAVY.format(chance.random())}))
        for _ in range(chance.randrange(1, 5))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(15)


def run_jobs(url: str, chance: random.Random) -> None:
    for _ in range(chance.randrange(1, 6)):
        send(f"{url}/tap/async", {"QUERY": _HEAVY.format(chance.random()), "PHASE": "RUN"})
    time.sleep(30)


def upload(url: str, chance: random.Random) -> None:
    """Upload a table as a file, sometimes one that cannot be read."""
    text = "ra,dec\n1,2\n" if chance.random() < 0.8 else "\x00"
    fields = {"LANG": "ADQL", "QUERY": "SELECT * FROM TAP_UPLOAD.t", "UPLOAD": "t,param:f"}
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    ]
    disposition = 'Content-Disposition: form-data; name="f"; filename="t.csv"\r\nContent-Type: text/csv'
    parts.append(f"--b\r\n{disposition}\r\n\r\n{text}\r\n--b--\r\n")
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    post(Request(f"{url}/tap/sync", "".join(parts).encode(), headers))
    time.sleep(5)


def browse(url: str, chance: random.Random) -> None:
    send(f"{url}{chance.choice(['/', '/tap/availability', '/tap/capabilities', '/tap/examples', '/robots.txt'])}")
    time.sleep(0.5)


# --- the picture


def draw(scrapes: list[promql.Scrape], out: Path) -> None:
    panels = [
        panel
        for panel in json.loads((ROOT / "compose" / "monitoring" / "dashboard.json").read_text())["panels"]
        if panel["type"] != "row"
    ]
    n_rows = math.ceil(len(panels) / 4)
    figure, grid = plt.subplots(n_rows, 4, figsize=(20, 3.3 * n_rows), layout="constrained")
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw_panel(axes, panel, scrapes)
    for axes in list(grid.flat)[len(panels) :]:
        axes.axis("off")
    figure.savefig(out, dpi=70)


def draw_panel(axes: Any, panel: dict[str, Any], scrapes: list[promql.Scrape]) -> None:
    lines: dict[str, list[tuple[float, float]]] = {}
    for target in panel["targets"]:
        tree = promql.parse(target["expr"])
        for at, _ in scrapes[2:]:
            for labels, value in promql.evaluate(tree, scrapes, at).items():
                named = dict(labels)
                legend = re.sub(
                    r"{{(\w+)}}", lambda match, named=named: named.get(match[1], ""), target["legendFormat"]
                )
                lines.setdefault(legend.strip() or "value", []).append((at - scrapes[0][0], value))
    most = sorted(lines, key=lambda legend: -max((y for _, y in lines[legend] if not math.isnan(y)), default=0.0))
    for legend in most[:_MOST_LINES]:
        axes.plot(*zip(*lines[legend], strict=True), label=legend, linewidth=1.2)
    axes.set_title(panel["title"], fontsize=10, loc="left")
    unit = panel["fieldConfig"]["defaults"]["unit"]
    axes.set_ylabel({"short": "", "reqps": "1/s"}.get(unit, unit), fontsize=8)
    axes.set_ylim(bottom=0)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3)
    if lines:
        axes.legend(fontsize=6, loc="upper left", ncols=2)


if __name__ == "__main__":
    main()
