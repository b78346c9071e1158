"""The map of the first page over a large table: the time until it is drawn, and until finer cells appear.

    python -m tests.benchmarks.bench_home [rows]

The table is the same as in ``bench_portal``. A page that the browser has not loaded before is compared with one that
it has; then the map zooms in twelve steps, and the time until the engine's finer cells have changed the image is
measured.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import time
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.bench_portal import service

ROWS = 100_000_000
ROUNDS = 5
#: when the map was drawn with the rows of the table, in milliseconds since the page began
_WATCH = """() => {
    window.drawn = [];
    const look = () => {
        const canvas = document.querySelector('[role=application] canvas');
        const shown = document.querySelector('[role=application]') && document.querySelector('input[type=checkbox]:checked');
        if (canvas?.dataset.drawn && shown) window.drawn.push(performance.now());
        if (window.drawn.length < 3) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""


def wait_for(page: Page, expression: str) -> Any:
    """Wait for a value that is not null; the page's policy forbids Playwright's method."""
    while (found := page.evaluate(expression)) is None:
        page.wait_for_timeout(10)
    return found


def open_map(browser: Browser, url: str) -> tuple[float, float]:
    """Return the milliseconds until the map is drawn: in a new profile, and when it is opened again."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    page.add_init_script(f"({_WATCH})()")
    took = []
    for _ in range(2):
        page.goto(url)
        took.append(wait_for(page, "window.drawn.length ? window.drawn[0] : null"))
        page.goto("about:blank")
    context.close()
    return took[0], took[1]


def measure_zoom(browser: Browser, url: str) -> None:
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    asked: list[float] = []
    page.on("requestfinished", lambda request: asked.append(time.perf_counter()) if "sync" in request.url else None)
    page.goto(url)
    page.get_by_role("checkbox", name="bench.stars").wait_for()
    page.wait_for_timeout(1000)
    chart = page.get_by_role("application")
    for step in range(1, 13):
        asked.clear()
        began = time.perf_counter()
        chart.press("+")
        page.wait_for_timeout(1500)
        degrees = json.loads(chart.locator("canvas").get_attribute("data-drawn") or "{}")["degrees"]
        last = (
            f"{1000 * (asked[-1] - began):.0f} ms until the last of {len(asked)} answers" if asked else "nothing asked"
        )
        print(f"step {step}: {degrees:.4f} degrees a pixel, {last}", flush=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    program = shutil.which("chromium")
    assert program, "this benchmark needs Debian's chromium: apt-get install chromium"
    with service(rows) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        first, again = zip(*(open_map(browser, url) for _ in range(ROUNDS)), strict=True)
        print(
            f"{rows:,} rows: map drawn after {statistics.median(first):.0f} ms, opened again {statistics.median(again):.0f} ms"
        )
        measure_zoom(browser, url)
        browser.close()


if __name__ == "__main__":
    main()
