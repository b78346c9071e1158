"""Plots in the portal: pictures are checked by pixels, choices and exports against the service."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import httpx
import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService

OBJECTS = "SELECT id, name, ra, dec, type, bmag, vmag, majax FROM openngc.objects ORDER BY id"
STARS = "SELECT ra, dec, bt_mag, vt_mag FROM tycho2.bright"
#: the demo has no time series: derive times in two bands, with errors
CURVE = """SELECT 57388 + 0.01 * hip AS mjd, vt_mag, e_vt_mag,
CASE WHEN bt_mag - vt_mag > 1 THEN 'red' ELSE 'blue' END AS band
FROM tycho2.bright WHERE vt_mag < 5 AND hip IS NOT NULL"""

#: share of the pixels of a box (in fractions of the plot) that differ from the background
LIT = """([left, top, right, bottom]) => {
    const canvas = [...document.querySelectorAll('canvas.picture')].find((one) => one.clientWidth > 0);
    const [x, y, width, height] = JSON.parse(canvas.dataset.drawn).box.map((part) => part * devicePixelRatio);
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const size = [Math.floor(width * (right - left)), Math.floor(height * (bottom - top))];
    const data = copy.getImageData(Math.ceil(x + width * left), Math.ceil(y + height * top), ...size).data;
    const [ground] = new Uint32Array(copy.getImageData(0, 0, 1, 1).data.buffer);
    const pixels = new Uint32Array(data.buffer);
    return pixels.reduce((sum, pixel) => sum + (pixel !== ground), 0) / pixels.length;
}"""


def plot_query(page: Page, portal_url: str, query: str, maxrec: int = 200_000) -> dict[str, Any]:
    """Run a query and go to its plot. Return what is drawn."""
    page.goto("about:blank")
    page.goto(f"{portal_url}#/query?adql={quote(query)}")
    page.get_by_label("Run mode").select_option("at once")
    page.get_by_role("spinbutton", name="Row limit").fill(str(maxrec))
    page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
    page.get_by_role("tab", name="Plot", exact=True).click()
    expect(page.locator(".rows").locator("visible=true").first).not_to_contain_text("…")
    return read_drawn(page)


def plot_picture(page: Page) -> Locator:
    return page.locator("canvas.picture[data-drawn]").locator("visible=true")


def read_drawn(page: Page) -> dict[str, Any]:
    """Return what the finished picture shows."""
    expect(plot_picture(page)).to_be_visible()
    expect(page.get_by_role("application").locator("visible=true")).to_have_attribute("aria-busy", "false")
    before = None
    for _ in range(200):
        now = json.loads(plot_picture(page).get_attribute("data-drawn") or "{}")
        now.pop("took")
        if now == before:
            return now
        before = now
        page.wait_for_timeout(80)
    raise AssertionError(f"the picture does not come to rest: {before}")


def choose_kind(page: Page, name: str) -> dict[str, Any]:
    """Choose a kind of plot: a button, or where there is little room one of a list."""
    button, kinds = page.get_by_role("button", name=name, exact=True), page.get_by_role("combobox", name="Kind of plot")
    button.or_(kinds).first.wait_for()
    if kinds.count():
        kinds.select_option(name)
    else:
        button.click()
    return read_drawn(page)


def lit_share(page: Page, left: float = 0, top: float = 0, right: float = 1, bottom: float = 1) -> float:
    return page.evaluate(LIT, [left, top, right, bottom])


def drag_over(page: Page, *path: tuple[float, float]) -> None:
    """Drag over the picture, in fractions of the plot's box."""
    left, top, width, height = read_drawn(page)["box"]
    frame = plot_picture(page).bounding_box()
    assert frame
    pixels = [(frame["x"] + left + x * width, frame["y"] + top + y * height) for x, y in path]
    page.mouse.move(*pixels[0])
    page.mouse.down()
    for pixel in pixels[1:]:
        page.mouse.move(*pixel, steps=4)
    page.mouse.up()


def count_chosen(page: Page) -> int:
    status = page.get_by_text(re.compile(r"points.* · [\d,]+ chosen")).locator("visible=true")
    return int(re.search(r"([\d,]+) chosen", status.inner_text())[1].replace(",", ""))  # type: ignore[index]


def option_select(page: Page, label: str) -> Locator:
    return page.get_by_role("combobox", name=label, exact=True)


def choose_axis(page: Page, role: str, column: str, minus: str = "− none") -> None:
    option_select(page, role).select_option(label=column)
    option_select(page, f"{role}, minus").select_option(label=minus)


def save_plot(page: Page, entry: str) -> Download:
    page.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=entry).click()
    return download.value


def read_csv(download: Download) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(Path(download.path()).read_text(encoding="utf-8"), newline="")))


def query_rows(portal: RunningService, query: str) -> list[dict[str, str]]:
    data = {"LANG": "ADQL", "FORMAT": "csv", "MAXREC": "200000", "QUERY": query}
    answer = httpx.post(f"{portal.tap}/sync", data=data, timeout=60)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


class TestSky:
    def test_the_galactic_plane_is_denser(
        self, page: Page, portal_url: str, portal: RunningService, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        assert plot_query(page, portal_url, STARS)["kind"] == "sky"
        shot(page, "plots-sky-equatorial")
        option_select(page, "Frame").select_option("galactic")
        page.get_by_label("Point size").press("Home")
        assert read_drawn(page)["points"] == 120_521
        shot(page, "plots-sky-galactic")
        # the middle of the map, and above and below it: latitudes up to 20 degrees, and above 45
        plane = lit_share(page, 0.3, 0.42, 0.7, 0.58)
        assert plane > 1.3 * lit_share(page, 0.4, 0.1, 0.6, 0.25) > 0
        assert plane > 1.3 * lit_share(page, 0.4, 0.75, 0.6, 0.9) > 0
        # the corners are off the sky
        assert lit_share(page, 0, 0, 0.08, 0.08) == 0

        option_select(page, "Draw").select_option("density")
        read_drawn(page)
        shot(page, "plots-sky-density")
        accessible(page)
        cells = read_csv(save_plot(page, "Plotted data"))
        order = int(re.search(r"order_(\d+)", "".join(cells[0]))[1])  # type: ignore[index]
        index = f"ivo_healpix_index({order}, ra, dec)"
        expected = query_rows(portal, f"SELECT {index} AS cell, COUNT(*) AS n FROM tycho2.bright GROUP BY {index}")
        found = {int(row[f"healpix_nested_icrs_order_{order}"]): int(row["rows"]) for row in cells}
        assert found == {int(row["cell"]): int(row["n"]) for row in expected}

    def test_right_ascension_grows_to_the_left(self, page: Page, portal_url: str) -> None:
        plot_query(page, portal_url, "SELECT ra, dec FROM tycho2.bright WHERE ra BETWEEN 190 AND 260")
        page.get_by_label("Central longitude").fill("180")
        page.keyboard.press("Tab")
        read_drawn(page)
        assert lit_share(page, 0.1, 0.3, 0.45, 0.7) > 3 * lit_share(page, 0.55, 0.3, 0.9, 0.7)


class TestKinds:
    def test_each_is_drawn(
        self, page: Page, portal_url: str, portal: RunningService, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        plot_query(page, portal_url, STARS)
        whole = query_rows(
            portal, "SELECT COUNT(*) AS n FROM tycho2.bright WHERE bt_mag IS NOT NULL AND vt_mag IS NOT NULL"
        )

        scatter = choose_kind(page, "Scatter")
        assert scatter["points"] == int(whole[0]["n"])
        # a colour-magnitude diagram: the magnitudes grow downwards, the faint stars are many
        assert scatter["view"][2] > scatter["view"][3]
        shot(page, "plots-scatter")
        assert lit_share(page, 0, 0.7) > 3 * lit_share(page, 0, 0, 1, 0.2) > 0
        option_select(page, "Colour by").select_option(label="dec")
        read_drawn(page)
        shot(page, "plots-scatter-coloured")

        choose_kind(page, "Density")
        assert lit_share(page, 0, 0.7) > 3 * lit_share(page, 0, 0, 1, 0.2) > 0
        page.emulate_media(color_scheme="dark")
        read_drawn(page)
        shot(page, "plots-density-dark")
        accessible(page)

        choose_kind(page, "Histogram")
        assert lit_share(page, 0.85, 0.3, 0.95, 1) > 0.5 > lit_share(page, 0, 0.3, 0.4, 1)
        bins = read_csv(save_plot(page, "Plotted data"))
        width = float(bins[0]["vt_mag_to"]) - float(bins[0]["vt_mag_from"])
        assert sum(int(row["rows"]) for row in bins) == 120_521
        values = [float(row["vt_mag"]) for row in query_rows(portal, "SELECT vt_mag FROM tycho2.bright")]
        expected = Counter(math.floor(value / width + 1e-6) for value in values)
        found = {round(float(row["vt_mag_from"]) / width): int(row["rows"]) for row in bins if row["rows"] != "0"}
        assert found == expected
        page.get_by_label("Log counts").check()
        read_drawn(page)
        assert lit_share(page, 0.85, 0.5, 0.95, 1) > 0.5
        shot(page, "plots-histogram-dark")

    def test_light_curve(self, page: Page, portal_url: str, shot: Shot) -> None:
        curve = plot_query(page, portal_url, CURVE)
        assert (curve["kind"], curve["view"][2] > curve["view"][3]) == ("curve", True)
        assert lit_share(page) > 0.01
        label = page.get_by_role("application").locator("visible=true")
        expect(label).to_have_attribute("aria-label", re.compile("Light curve of vt_mag"))
        shot(page, "plots-curve")
        page.get_by_label("Dates, not MJD").check()
        read_drawn(page)
        expect(label).to_have_attribute("aria-label", re.compile(r"mjd from 20\d\d-\d\d-\d\dT"))
        shot(page, "plots-curve-dates")
        page.get_by_label("Fold by, days").fill("7.5")
        page.keyboard.press("Tab")
        expect(label).to_have_attribute("aria-label", re.compile(r"Phase \(period 7.5 d\)"))
        folded = read_drawn(page)
        assert folded["points"] == 2 * curve["points"]
        # both cycles are the same
        assert lit_share(page, 0.04, 0, 0.48, 1) == pytest.approx(lit_share(page, 0.52, 0, 0.96, 1), rel=0.05)
        shot(page, "plots-curve-folded")


class TestBrushes:
    def test_a_box_chooses_what_adql_does(
        self, page: Page, portal_url: str, portal: RunningService, shot: Shot
    ) -> None:
        plot_query(page, portal_url, OBJECTS)
        choose_kind(page, "Scatter")
        page.get_by_role("button", name="Box", exact=True).click()
        drag_over(page, (0.3, 0.2), (0.45, 0.5))
        condition = page.locator("code").filter(has_text="BETWEEN").inner_text()
        assert condition.startswith("bmag - vmag BETWEEN")
        expected = query_rows(portal, f"SELECT id FROM openngc.objects WHERE {condition}")
        assert count_chosen(page) == len(expected) > 100
        shot(page, "plots-box")

        # a box of two columns also filters the table, and then the plot
        choose_axis(page, "Horizontal", "bmag")
        read_drawn(page)
        drag_over(page, (0.3, 0.2), (0.5, 0.8))
        condition = page.locator("code").filter(has_text="BETWEEN").inner_text()
        expected = query_rows(portal, f"SELECT id, bmag, vmag FROM openngc.objects WHERE {condition}")
        assert count_chosen(page) == len(expected) > 100
        page.get_by_role("button", name="Filter the table to this box").click()
        expect(plot_picture(page)).to_have_attribute("data-drawn", re.compile(rf'"points":{len(expected)},'))
        exported = read_csv(save_plot(page, "Plotted data"))
        assert sorted((float(row["bmag"]), float(row["vmag"])) for row in exported) == sorted(
            (float(row["bmag"]), float(row["vmag"])) for row in expected
        )
        # OpenNGC's rows are ordered by id, from 1
        assert sorted(int(row["row"]) for row in exported) == sorted(int(row["id"]) for row in expected)

    def test_a_lasso_and_what_shift_and_escape_do(self, page: Page, portal_url: str) -> None:
        plot_query(page, portal_url, OBJECTS)
        choose_kind(page, "Scatter")
        points = [(float(row["bmag − vmag"]), float(row["vmag"])) for row in read_csv(save_plot(page, "Plotted data"))]
        page.get_by_role("button", name="Lasso", exact=True).click()
        triangle = [(0.3, 0.2), (0.6, 0.5), (0.35, 0.85)]
        u0, u1, v0, v1 = read_drawn(page)["view"]
        drag_over(page, *triangle)
        corners = [(u0 + x * (u1 - u0), v1 + y * (v0 - v1)) for x, y in triangle]
        within = sum(_inside(point, corners) for point in points)
        assert within > 100
        # pointer positions are whole pixels
        assert count_chosen(page) == pytest.approx(within, rel=0.03)
        first = count_chosen(page)
        page.keyboard.down("Shift")
        drag_over(page, (0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98))
        page.keyboard.up("Shift")
        assert count_chosen(page) > first
        plot_picture(page).locator("..").press("Escape")
        expect(page.get_by_text(re.compile(r"points.* chosen"))).to_have_count(0)

    def test_a_point_names_its_row_and_shows_it_in_the_table(self, page: Page, portal_url: str, shot: Shot) -> None:
        at = plot_query(page, portal_url, "SELECT id, name, bmag, vmag FROM openngc.objects WHERE vmag < 6 ORDER BY id")
        choose_axis(page, "Horizontal", "bmag")
        at = read_drawn(page)
        last = read_csv(save_plot(page, "Plotted data"))[-1]
        (left, top, width, height), (u0, u1, v0, v1) = at["box"], at["view"]
        frame = plot_picture(page).bounding_box()
        assert frame
        x = frame["x"] + left + (float(last["bmag"]) - u0) / (u1 - u0) * width
        y = frame["y"] + top + (v1 - float(last["vmag"])) / (v1 - v0) * height
        page.mouse.move(x, y)
        hovered = page.locator(".hovered")
        expect(hovered).to_contain_text(re.compile(rf"Row {int(last['row']):,} · \w+"))
        expect(hovered).to_contain_text(f"{float(last['vmag']):g} mag")
        name = re.search(r"· (\S+)", hovered.inner_text())[1]  # type: ignore[index]
        shot(page, "plots-hover")
        page.mouse.click(x, y)
        assert count_chosen(page) == 1
        page.get_by_role("button", name="Show in the table").click()
        expect(page.get_by_role("gridcell", name=name)).to_be_visible()
        # and back: the plot is unchanged
        page.get_by_role("tab", name="Plot", exact=True).click()
        assert read_drawn(page) == at
        expect(option_select(page, "Horizontal")).to_have_value("2")


def _inside(point: tuple[float, float], corners: list[tuple[float, float]]) -> bool:
    """Whether a point is inside a triangle."""
    (u, v), sides = point, zip(corners, corners[1:] + corners[:1], strict=True)
    turns = [(b[0] - a[0]) * (v - a[1]) - (b[1] - a[1]) * (u - a[0]) > 0 for a, b in sides]
    return all(turns) or not any(turns)


class TestLookingAround:
    def test_wheel_keys_drag_and_typed_ranges(self, page: Page, portal_url: str) -> None:
        plot_query(page, portal_url, OBJECTS)
        whole = choose_kind(page, "Scatter")["view"]
        frame = plot_picture(page).locator("..")
        frame.hover()
        page.mouse.wheel(0, -200)
        closer = read_drawn(page)["view"]
        assert closer[1] - closer[0] < 0.7 * (whole[1] - whole[0])
        drag_over(page, (0.5, 0.5), (0.7, 0.5))
        moved = read_drawn(page)["view"]
        assert moved[0] == pytest.approx(closer[0] - 0.2 * (closer[1] - closer[0]), abs=0.02)
        assert moved[2:] == pytest.approx(closer[2:])
        frame.press("0")
        assert read_drawn(page)["view"] == whole
        frame.press("+")
        frame.press("ArrowRight")
        keyed = read_drawn(page)["view"]
        assert keyed[1] - keyed[0] == pytest.approx(0.7 * (whole[1] - whole[0]))
        page.get_by_role("button", name="Show all").click()
        assert read_drawn(page)["view"] == whole
        page.get_by_role("button", name="Zoom", exact=True).click()
        drag_over(page, (0.25, 0.25), (0.75, 0.75))
        assert read_drawn(page)["view"][0] == pytest.approx(0.75 * whole[0] + 0.25 * whole[1], rel=0.05)
        page.get_by_label("Vertical from").fill("8")
        page.get_by_label("Vertical to").fill("12")
        page.keyboard.press("Tab")
        assert read_drawn(page)["view"][2:] == [12, 8]
        page.get_by_label("Log", exact=True).last.check()
        assert read_drawn(page)["view"][3] < 1 < read_drawn(page)["view"][2] < 1.5

    def test_pictures_are_as_large_as_the_screen_shows_them(
        self, open_page: Callable[..., Page], portal_url: str
    ) -> None:
        page = open_page(device_scale_factor=2)
        plot_query(page, portal_url, OBJECTS)
        choose_kind(page, "Scatter")
        size = plot_picture(page).bounding_box()
        assert size
        download = save_plot(page, "PNG")
        assert download.suggested_filename == "skyhouse-scatter.png"
        png = Path(download.path()).read_bytes()
        assert png.startswith(b"\x89PNG")
        assert struct.unpack(">II", png[16:24]) == (round(size["width"] * 2), round(size["height"] * 2))
        svg = ElementTree.fromstring(Path(save_plot(page, "SVG").path()).read_text(encoding="utf-8"))
        assert float(svg.attrib["width"]) == pytest.approx(size["width"], abs=1)
        said = "".join(svg.itertext())
        assert "bmag − vmag [mag]" in said
        assert "vmag [mag]" in said


class TestOnAPhone:
    def test_the_picture_has_room_and_the_options_fold(
        self, phone: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        plot_query(phone, portal_url, OBJECTS)
        choose_kind(phone, "Scatter")
        box = plot_picture(phone).bounding_box()
        assert box
        assert box["width"] > 340
        assert box["height"] > 300
        assert phone.evaluate("() => document.documentElement.scrollWidth") <= 390
        expect(option_select(phone, "Colour by")).to_be_hidden()
        plot_picture(phone).scroll_into_view_if_needed()
        shot(phone, "plots-phone")
        phone.get_by_text("Options", exact=True).click()
        option_select(phone, "Colour by").select_option(label="type")
        read_drawn(phone)
        shot(phone, "plots-phone-options")
        accessible(phone)


class TestBadInput:
    def test_columns_without_values(self, page: Page, portal_url: str, shot: Shot) -> None:
        nothing = ", ".join(f"CASE WHEN ra < 0 THEN ra END AS {name}" for name in "abc")
        page.goto("about:blank")
        run = f"SELECT {nothing}, 5 AS constant, -ra AS negative FROM openngc.objects"
        _plot(page, portal_url, run)
        expect(page.get_by_text("None of the rows has a value in these columns.")).to_be_visible()
        for name in ("Density", "Histogram", "Scatter"):
            page.get_by_role("button", name=name, exact=True).click()
            expect(page.get_by_text("None of the rows has a value in these columns.")).to_be_visible()
        choose_axis(page, "Horizontal", "constant")
        choose_axis(page, "Vertical", "negative")
        read_drawn(page)
        assert lit_share(page, 0.45, 0, 0.55, 1) > 0.01
        page.get_by_label("Log", exact=True).last.check()
        expect(page.get_by_text("No value is above 0")).to_be_visible()
        shot(page, "plots-nothing")

    @pytest.mark.parametrize(
        ("query", "sentence"),
        [
            ("SELECT ra, dec FROM openngc.objects WHERE ra < -1", "There are no rows to plot."),
            ("SELECT name, type FROM openngc.objects", "The result has no column of numbers"),
        ],
    )
    def test_nothing_to_plot(self, page: Page, portal_url: str, query: str, sentence: str) -> None:
        _plot(page, portal_url, query)
        expect(page.get_by_text(sentence)).to_be_visible()

    def test_one_point_and_five_hundred_columns(self, page: Page, portal_url: str) -> None:
        columns = ", ".join(f"vt_mag + {k} AS c{k}" for k in range(500))
        shown = plot_query(page, portal_url, f"SELECT TOP 1 {columns} FROM tycho2.bright WHERE vt_mag > 5")
        assert (shown["kind"], shown["points"]) == ("scatter", 1)
        assert lit_share(page, 0.45, 0.45, 0.55, 0.55) > 0
        choose_axis(page, "Vertical", "c499")
        read_drawn(page)
        assert lit_share(page, 0.45, 0.45, 0.55, 0.55) > 0


def test_a_plot_that_goes_is_not_drawn(page: Page, portal_url: str) -> None:
    """The browser's frames come late: those asked for by a plot that is gone find nothing (``page`` fails at what the console says)."""
    page.add_init_script(
        """const [request, cancel] = [requestAnimationFrame.bind(window), cancelAnimationFrame.bind(window)];
        const held = window.held = new Map();
        window.requestAnimationFrame = (draw) => {
            if (!window.holding) return request(draw);
            const handle = -1 - held.size;
            held.set(handle, draw);
            return handle;
        };
        window.cancelAnimationFrame = (handle) => held.delete(handle) || cancel(handle);"""
    )
    plot_query(page, portal_url, OBJECTS)
    choose_kind(page, "Scatter")
    page.get_by_role("button", name="Box", exact=True).click()
    drag_over(page, (0.3, 0.3), (0.6, 0.6))
    page.evaluate("window.holding = true")
    page.get_by_role("application").press("ArrowLeft")
    page.wait_for_function("window.held.size > 0")
    page.get_by_role("tab", name="Table", exact=True).click()
    expect(plot_picture(page)).to_have_count(0)
    page.evaluate(
        "() => { window.holding = false; for (const draw of [...window.held.values()]) draw(performance.now()); }"
    )


def run_query(page: Page, portal_url: str, query: str) -> None:
    page.goto(f"{portal_url}#/query?adql={quote(query)}")
    page.get_by_label("Run mode").select_option("at once")
    page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()


def _plot(page: Page, portal_url: str, query: str) -> None:
    run_query(page, portal_url, query)
    page.get_by_role("tab", name="Plot", exact=True).click()
