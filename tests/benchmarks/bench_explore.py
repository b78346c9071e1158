"""Brushing a whole table: compare samples with histograms and cubes by the engine, and measure frames per second.

    python -m tests.benchmarks.bench_explore [rows]

The table is the same as in ``bench_portal``. First come the queries from which the panels could be drawn: a sample
with the position and four quantities, four histograms under a filter, and a cube of all of them; the best of three
runs counts. Then the page with a sample of a million rows is timed: until its panels are drawn, frames while a range
and a box are dragged, until the exact number is shown, and until a sparse corner is refined.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import time

import httpx
from playwright.sync_api import Page, expect, sync_playwright

from tests.benchmarks.bench_portal import service

ROWS = 100_000_000
ROUNDS = 3
SAMPLE = 1_000_000
_TABLE = "bench.stars"
_VALUES = "ra, dec, g, bp - rp AS colour, bp, rp"
_WHERE = "WHERE bp - rp BETWEEN 0.9 AND 1.1 AND g BETWEEN 17 AND 18"
_HISTOGRAMS = ", ".join(
    f"ivo_histogram({name}, {low}, {high}, 80)" for name, low, high in [("g", 5, 25), ("bp - rp", 0, 3), ("bp", 5, 25)]
)
_CUBE = (
    "SELECT FLOOR(g * 4) AS i, FLOOR((bp - rp) * 20) AS j, FLOOR(bp * 4) AS k, ivo_healpix_index(3, ra, dec) AS cell,"
    f" COUNT(*) AS n FROM {_TABLE} GROUP BY i, j, k, cell"
)
#: the intervals between frames, in milliseconds
_FRAMES = """() => {
    window.frames = [];
    let before = performance.now();
    const look = (now) => {
        window.frames.push(now - before);
        before = now;
        window.looking = requestAnimationFrame(look);
    };
    window.looking = requestAnimationFrame(look);
}"""


def _queries(rows: int) -> dict[str, str]:
    def sample(size: int) -> str:
        return f"SELECT {_VALUES} FROM {_TABLE} AS t TABLESAMPLE ({min(100, 100 * size / rows):.8f})"

    return {
        "sample of 1,000,000": sample(SAMPLE),
        "sample of 200,000": sample(SAMPLE // 5),
        "exact count": f"SELECT COUNT(*) AS n FROM {_TABLE} {_WHERE}",
        "count and three histograms": f"SELECT COUNT(*) AS n, {_HISTOGRAMS} FROM {_TABLE} {_WHERE}",
        "three histograms, no filter": f"SELECT {_HISTOGRAMS} FROM {_TABLE}",
        "cube of three and the sky": _CUBE,
        "rare rows, all of them": f"SELECT {_VALUES} FROM {_TABLE} WHERE bp - rp BETWEEN 0.7 AND 0.705",
    }


def measure_queries(url: str, rows: int) -> None:
    for name, query in _queries(rows).items():
        took, size = float("inf"), 0
        for _ in range(ROUNDS):
            began = time.perf_counter()
            form = {"LANG": "ADQL", "FORMAT": "arrow", "MAXREC": "3000000", "QUERY": query}
            answer = httpx.post(f"{url}tap/sync", data=form, verify=False, timeout=600).raise_for_status()
            took, size = min(took, time.perf_counter() - began), len(answer.content)
        print(f"{name:30} {took:6.2f} s {size / 1e6:6.1f} MB", flush=True)


def _drag(page: Page, label: str, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag in a panel, and print the intervals between frames and the time to the exact number."""
    panel = page.get_by_role("img", name=label)
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box
    page.mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
    page.mouse.down()
    page.evaluate(_FRAMES)
    for step in range(1, 61):
        x, y = (one + (other - one) * step / 60 for one, other in zip(start, end, strict=True))
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    page.evaluate("cancelAnimationFrame(window.looking)")
    frames = sorted(page.evaluate("window.frames"))
    page.mouse.up()
    began = time.perf_counter()
    expect(page.get_by_test_id("precision")).to_have_text("counted exactly", timeout=120_000)
    counted = time.perf_counter() - began
    slow = frames[int(0.95 * len(frames))]
    print(
        f"{label}: {len(frames)} pictures, median {statistics.median(frames):.0f} ms, 95 % below {slow:.0f} ms;"
        f" the exact number {page.get_by_test_id('kept').inner_text()} after {counted:.1f} s",
        flush=True,
    )


def measure_page(page: Page, url: str) -> None:
    panels = "&".join(f"panel={name}" for name in ("g", "bp-rp", "bp", "rp"))
    began = time.perf_counter()
    page.goto(f"{url}#/explore/{_TABLE}?{panels}&plane=bp-rp&plane=g&sample={SAMPLE}")
    samples = page.get_by_test_id("samples")
    expect(samples).to_contain_text("Panels:", timeout=300_000)
    print(f"panels of a sample of {SAMPLE:,} rows after {time.perf_counter() - began:.1f} s", flush=True)
    _drag(page, "Histogram of g", (0.5, 0.5), (0.8, 0.5))
    _drag(page, "Density of g against bp - rp", (0.2, 0.2), (0.7, 0.7))
    page.get_by_role("button", name="Remove all filters").click()
    began = time.perf_counter()
    page.get_by_label("Greatest g", exact=True).fill("17.11")
    page.get_by_label("Greatest g", exact=True).press("Enter")
    expect(samples).to_contain_text("Rows that remain", timeout=120_000)
    print(f"a rare corner: {samples.inner_text()} After {time.perf_counter() - began:.1f} s", flush=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    program = shutil.which("chromium")
    assert program, "this benchmark needs Debian's chromium: apt-get install chromium"
    with service(rows) as url, sync_playwright() as playwright:
        measure_queries(url, rows)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        measure_page(browser.new_page(viewport={"width": 1440, "height": 900}), url)
        browser.close()


if __name__ == "__main__":
    main()
