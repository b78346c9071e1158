"""A million rows in the portal, in Chromium, compared with the bare download of the same Arrow stream.

    python -m tests.benchmarks.bench_portal [rows]

The service is a separate process; the table has an id, a position, three magnitudes and a name. Each round downloads
and drops the stream within the page, and then runs the query there: from the click until the first row is shown,
until the table is complete, and from the click on "Plot" until the scatter plot of all points is drawn. Then the plot
is zoomed and moved, and the time of each frame is measured. Memory is what the page's process holds privately in
addition, including workers, compared with the size of the stream. The figures to quote are the ratios.
"""

from __future__ import annotations

import json
import multiprocessing
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from clickhouse_schema.engine_tables.catalogue_log import register_table
from clickhouse_schema.engine_tables.density_table import update_density
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import running_service

ROWS = 1_000_000
ROUNDS = 5
QUERY = "SELECT * FROM bench.stars"
_SCHEMA = {
    "name": "bench",
    "tables": [
        {
            "name": "stars",
            "columns": [
                {"name": "id", "datatype": "long", "nullable": False, "ivoa:ucd": "meta.id;meta.main"},
                {"name": "ra", "datatype": "double", "ivoa:unit": "deg", "ivoa:ucd": "pos.eq.ra;meta.main"},
                {"name": "dec", "datatype": "double", "ivoa:unit": "deg", "ivoa:ucd": "pos.eq.dec;meta.main"},
                {"name": "g", "datatype": "float", "ivoa:unit": "mag", "ivoa:ucd": "phot.mag;em.opt.V"},
                {"name": "bp", "datatype": "float", "ivoa:unit": "mag", "ivoa:ucd": "phot.mag;em.opt.B"},
                {"name": "rp", "datatype": "float", "ivoa:unit": "mag", "ivoa:ucd": "phot.mag;em.opt.R"},
                {"name": "name", "datatype": "string", "length": 20},
            ],
            "skyhouse:layout": {"position": ["ra", "dec"], "id": ["id"]},
        }
    ],
}
_FILL = """INSERT INTO bench.stars (id, ra, dec, g, bp, rp, name)
    SELECT number, rand(1) / 11930464.7, asin(rand(2) / 2147483647.5 - 1) * 57.29577951, 20 - 4 * log10(1 + rand(3) / 1e9) AS g,
    g + 0.3 + rand(4) / 4e9, g - 0.4 - rand(5) / 8e9, concat('star ', toString(number)) FROM numbers({rows})"""

#: when the page shows what, in milliseconds since the click, checked before each frame of the browser
_WATCH = """(rows) => {
    const words = `${rows.toLocaleString('en')} rows`;
    window.seen = {};
    window.began = performance.now();
    const look = () => {
        const passed = performance.now() - window.began;
        const shown = document.querySelector('[role=grid] [role=gridcell]');
        if (shown?.textContent) window.seen.first ??= passed;
        const bar = [...document.querySelectorAll('b')].find((each) => each.textContent === words);
        if (bar && !document.querySelector('progress')) window.seen.whole ??= passed;
        window.done = window.seen.first !== undefined && window.seen.whole !== undefined;
        if (!window.done) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
_DOWNLOAD = """async ([query, rows]) => {
    const began = performance.now();
    const body = new URLSearchParams({LANG: 'ADQL', QUERY: query, FORMAT: 'arrow', MAXREC: rows});
    const reader = (await fetch('tap/sync', {method: 'POST', body})).body.getReader();
    let bytes = 0, first = 0;
    for (;;) {
        const {done, value} = await reader.read();
        if (done) return {first, whole: performance.now() - began, bytes};
        first ||= performance.now() - began;
        bytes += value.length;
    }
}"""


def serve(folder: str, rows: int, pipe: Connection) -> None:
    engine = EmbeddedEngine(Path(folder))
    prepare_engine(engine)
    schema = Schema.model_validate(_SCHEMA, strict=False)
    table = schema.tables[0]
    engine.execute("CREATE DATABASE bench")
    engine.execute(create_table_sql(table, "`bench`.`stars`"))
    engine.execute(_FILL.format(rows=rows))
    update_density(engine, "bench", table)
    register_table(engine, schema, table)
    with running_service(Config(query_log="", jobs_path=engine.data_path / "jobs", sync_seconds=600), engine) as server:
        pipe.send(f"{server.url}/")
        with suppress(EOFError):
            pipe.recv()
    engine.close()


@contextmanager
def service(rows: int) -> Iterator[str]:
    """The address of a service whose table has ``rows`` rows, with a final slash."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(folder, rows, theirs))
        process.start()
        theirs.close()
        try:
            yield ours.recv()
        finally:
            ours.close()
            process.join()


def memory(browser: Browser) -> int:
    """Return the private bytes of the browser's pages (Linux)."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    pages = [Path(f"/proc/{process['id']}/status").read_text() for process in found if process["type"] == "renderer"]
    return sum(int(line.split()[1]) * 1024 for text in pages for line in text.splitlines() if "RssAnon" in line)


def opened(browser: Browser, url: str) -> Page:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(300_000)
    page.goto(f"{url}#/query?adql={quote(QUERY)}")
    page.get_by_role("status", name="Estimate").get_by_text("Reads").wait_for()
    return page


def round_(browser: Browser, url: str, rows: int) -> dict[str, float]:
    page = opened(browser, url)
    bare = page.evaluate(_DOWNLOAD, [QUERY, str(rows)])
    page.close()  # with what it holds
    page = opened(browser, url)
    page.get_by_role("spinbutton", name="Row limit").fill(str(rows))
    page.get_by_role("combobox", name="Run mode").select_option(label="at once")
    page.wait_for_load_state("networkidle")
    before = memory(browser)
    page.evaluate(_WATCH, rows)
    page.get_by_role("button", name="▶ Run").click()
    page.wait_for_function("() => window.done")
    seen = page.evaluate("window.seen")
    figures = {
        "download": bare["whole"],
        "first bytes": bare["first"],
        "stream": bare["bytes"],
        "first row": seen["first"],
        "whole": seen["whole"],
        "memory": memory(browser) - before,
        **plot(page, rows),
    }
    figures["memory with plot"] = memory(browser) - before
    page.close()
    return figures


def plot(page: Page, rows: int) -> dict[str, float]:
    """Return the milliseconds until all points are drawn, and of each frame while the plot is zoomed and moved."""
    began = time.perf_counter()
    page.get_by_role("tab", name="Plot").click()
    page.get_by_role("button", name="Scatter").click()
    canvas = page.locator("canvas.picture")
    page.wait_for_function(
        "(rows) => JSON.parse(document.querySelector('canvas.picture')?.dataset.drawn ?? '{}').points === rows",
        arg=rows,
    )
    drawn = (time.perf_counter() - began) * 1000
    box = canvas.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    took = []
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(30):
        page.mouse.move(x + 4 * step, y + 2 * step)
        page.evaluate("new Promise(requestAnimationFrame)")
        took.append(json.loads(canvas.get_attribute("data-drawn") or "")["took"])
    page.mouse.up()
    return {"plot": drawn, "picture": statistics.median(took), "slowest picture": max(took)}


def report(rows: int, rounds: list[dict[str, float]]) -> None:
    median: dict[str, Any] = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    ratio = statistics.median(each["whole"] / each["download"] for each in rounds)
    held = statistics.median(each["memory"] / each["stream"] for each in rounds)
    print(f"{rows} rows in the portal; an Arrow stream of {median['stream'] / 1e6:.0f} MB")
    print(f"bare download by the browser  {median['download']:6.0f} ms, first bytes {median['first bytes']:.0f} ms")
    print(f"first row seen                {median['first row']:6.0f} ms")
    print(f"table whole                   {median['whole']:6.0f} ms, {ratio:.2f} of the bare download")
    print(f"from there to the plot        {median['plot']:6.0f} ms")
    print(f"a picture while it is moved   {median['picture']:6.1f} ms, the slowest {median['slowest picture']:.1f} ms")
    print(
        f"memory of the page            {median['memory'] / 1e6:6.0f} MB, {held:.2f} of the stream; "
        f"{median['memory with plot'] / 1e6:.0f} MB with the plot"
    )


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    program = shutil.which("chromium")
    assert program, "this benchmark needs Debian's chromium: apt-get install chromium"
    with service(rows) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        rounds = []
        for number in range(ROUNDS):
            rounds.append(round_(browser, url, rows))
            print(
                f"round {number + 1} of {ROUNDS}",
                {name: round(value) for name, value in rounds[-1].items()},
                flush=True,
            )
        report(rows, rounds)
        browser.close()


if __name__ == "__main__":
    main()
