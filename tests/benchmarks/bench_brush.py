"""A brush over three plots of a million rows in the portal, in Chromium.

    python -m tests.benchmarks.bench_brush [rows]

The service and the table are the same as in ``bench_portal``. A map, a colour-magnitude diagram and a histogram are
shown next to the table. A box grows over each of the plots in turn, one step per frame of the browser, while the page
records the times of the frames and how often each plot has drawn the selected rows. The report has, for each brushed
plot, the median time between frames, the 90th percentile, and the drawings of each plot per frame.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from itertools import pairwise

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.bench_portal import QUERY, ROWS, opened, service

#: positions of the box's corner
STEPS = 150
ROUNDS = 3
KINDS = ("Scatter", "Histogram")

#: A corner of a box moves across the page, one step per frame. Real presses have begun it.
_DRAG = """([from, to, steps]) => new Promise((end) => {
    const frames = [], drawn = {};
    for (const canvas of document.querySelectorAll('canvas.chosen')) {
        const plot = canvas.closest('section.tile').getAttribute('aria-label').split(':')[0];
        drawn[plot] = 0;
        new MutationObserver(() => drawn[plot]++).observe(canvas, {attributeFilter: ['data-drawn']});
    }
    const frame = document.elementFromPoint(...from).closest('[role=application]');
    const step = (time) => {
        frames.push(time);
        if (frames.length > steps) return end({frames, drawn});
        const [x, y] = from.map((start, axis) => start + ((to[axis] - start) * frames.length) / steps);
        const options = {pointerId: 1, pointerType: 'mouse', buttons: 1, bubbles: true, clientX: x, clientY: y};
        frame.dispatchEvent(new PointerEvent('pointermove', options));
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
})"""


def show_plots(browser: Browser, url: str, rows: int) -> Page:
    """Run the query and add a scatter plot and a histogram to the map."""
    page = opened(browser, url)
    page.get_by_role("spinbutton", name="Row limit").fill(str(rows))
    page.get_by_role("combobox", name="Run mode").select_option(label="at once")
    page.get_by_role("button", name="▶ Run").click()
    page.wait_for_selector("canvas.picture[data-drawn]")
    for kind in KINDS:
        page.get_by_role("button", name="+ Plot").click()
        page.locator(".tabs-end").get_by_role("button", name=kind, exact=True).click()
    page.wait_for_function(
        """(rows) => {
            const canvases = [...document.querySelectorAll('canvas.picture')];
            return canvases.length === 3 && canvases.every((one) => JSON.parse(one.dataset.drawn ?? '{}').points > 0.99 * rows);
        }""",
        arg=rows,
    )
    return page


def brush(page: Page, plot: str) -> tuple[list[float], dict[str, float]]:
    """Return times between frames in milliseconds while a box grows over a plot, and drawings per frame by plot."""
    tile = page.locator(f"section.tile[aria-label^='{plot}']")
    # a small tile has a list of tools
    tools = tile.get_by_role("combobox", name="Drag tool")
    if tools.count():
        tools.select_option("rectangle")
    else:
        tile.get_by_role("button", name="Box", exact=True).click()
    box = tile.locator("canvas.picture").bounding_box()
    assert box
    start = [box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"]]
    end = [box["x"] + 0.8 * box["width"], box["y"] + 0.7 * box["height"]]
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 8, start[1] + 8)
    watched = page.evaluate(_DRAG, [start, end, STEPS])
    page.mouse.up()
    page.keyboard.press("Escape")
    frames = watched["frames"]
    times = [after - before for before, after in pairwise(frames)]
    return times, {name: count / len(times) for name, count in watched["drawn"].items()}


def report(plot: str, times: list[float], drawn: dict[str, float]) -> None:
    deciles = statistics.quantiles(times, n=10)
    others = ", ".join(f"{name} {rate:.2f}" for name, rate in drawn.items())
    print(
        f"{plot:10} median {statistics.median(times):5.1f} ms, nine of ten within {deciles[8]:5.1f} ms "
        f"({len(times)} pictures; drawings for each: {others})",
        flush=True,
    )


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    program = shutil.which("chromium")
    assert program, "this benchmark needs Debian's chromium: apt-get install chromium"
    print(f"{QUERY}: {rows} rows in three plots")
    with service(rows) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        page = show_plots(browser, url, rows)
        for _ in range(ROUNDS):
            for plot in ("Sky", *KINDS):
                report(plot, *brush(page, plot))
        browser.close()


if __name__ == "__main__":
    main()
