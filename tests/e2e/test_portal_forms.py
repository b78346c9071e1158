"""Corner plots, plots in three dimensions, and what plots are saved as."""

from __future__ import annotations

import json
import math
import os
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_plots import CURVE, OBJECTS, choose_kind, option_select, plot_query, read_csv, save_plot
from tests.support.environment import ROOT
from tests.web.matplotlib_calls import has_matplotlib

STARS = "SELECT tyc_id, bt_mag, vt_mag, pmra, pmdec, ra, dec FROM tycho2.bright WHERE vt_mag < 6.5 ORDER BY tyc_id"
FEW = "SELECT TOP 60 tyc_id, ra, dec, vt_mag FROM tycho2.bright WHERE vt_mag < 6 AND bt_mag IS NOT NULL ORDER BY vt_mag, tyc_id"
#: the number of pixels of the points' picture that are drawn
DRAWN = """() => {
    const canvas = document.querySelector('canvas.picture');
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    return copy.getImageData(0, 0, canvas.width, canvas.height).data.filter((part, k) => k % 4 === 3 && part > 0).length;
}"""


def show_form(page: Page, name: str) -> dict[str, Any]:
    """Choose a corner plot or a plot in space. Return what is drawn."""
    page.get_by_role("button", name=name, exact=True).click()
    return read_form(page, "corner" if name == "Corner" else "space")


def read_form(page: Page, kind: str) -> dict[str, Any]:
    picture = page.locator("canvas.picture")
    expect(picture).to_have_attribute("data-drawn", re.compile(f'"kind":"{kind}"'))
    expect(page.get_by_role("application")).to_have_attribute("aria-busy", "false")
    page.wait_for_timeout(200)
    return json.loads(picture.get_attribute("data-drawn") or "{}")


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag between two positions of the plot, in CSS pixels."""
    frame = page.get_by_role("application").bounding_box()
    assert frame
    page.mouse.move(frame["x"] + start[0], frame["y"] + start[1])
    page.mouse.down()
    page.mouse.move(frame["x"] + end[0], frame["y"] + end[1], steps=4)
    page.mouse.up()


def count_chosen(page: Page) -> int:
    said = page.get_by_text(re.compile(r"points.* · [\d,]+ chosen")).inner_text()
    return int(re.search(r"([\d,]+) chosen", said)[1].replace(",", ""))  # type: ignore[index]


def test_a_box_in_a_corner_plot_chooses_in_all_panels(
    open_page: Callable[..., Page], portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    page = open_page(viewport={"width": 1366, "height": 768}, color_scheme="dark")
    plot_query(page, portal_url, STARS)
    drawn = show_form(page, "Corner")
    assert [(panel["column"], panel["row"]) for panel in drawn["panels"]] == [
        (column, row) for row in range(4) for column in range(row + 1)
    ]
    rows = read_csv(save_plot(page, "Plotted data"))
    assert len(rows) == drawn["points"] > 4000
    below = next(panel for panel in drawn["panels"] if (panel["column"], panel["row"]) == (2, 3))
    box, view = below["box"], below["view"]
    left, right = box["left"] + 0.3 * box["width"], box["left"] + 0.52 * box["width"]
    top, bottom = box["top"] + 0.25 * box["height"], box["top"] + 0.7 * box["height"]
    drag(page, (round(left), round(top)), (round(right), round(bottom)))
    per_x, per_y = (view["u1"] - view["u0"]) / box["width"], (view["v1"] - view["v0"]) / box["height"]
    x = [view["u0"] + (round(at) - box["left"]) * per_x for at in (left, right)]
    y = [view["v0"] + (box["top"] + box["height"] - round(at)) * per_y for at in (bottom, top)]
    within = [row for row in rows if x[0] <= float(row["pmra"]) <= x[1] and y[0] <= float(row["pmdec"]) <= y[1]]
    # the pointer may be half a pixel off
    assert count_chosen(page) == pytest.approx(len(within), rel=0.05)
    assert len(within) > 100
    shot(page, "plots-corner-dark")
    accessible(page)

    page.get_by_role("button", name="Remove pmra").click()
    assert len(read_form(page, "corner")["panels"]) == 6
    for _ in range(2):
        page.get_by_role("button", name="Add a quantity").click()
    assert len(read_form(page, "corner")["panels"]) == 15
    expect(page.get_by_role("button", name="Add a quantity")).to_have_count(0)
    page.get_by_role("application").press("Escape")
    expect(page.get_by_text(re.compile(r"points.* chosen"))).to_have_count(0)


def nearest_row(
    page: Page, rows: list[dict[str, str]], names: list[str], drawn: dict[str, Any]
) -> tuple[int, float, float]:
    """Return the row nearest to the camera and its position in CSS pixels: a perspective view of the cube of all axes."""
    canvas = page.locator("canvas.picture").bounding_box()
    assert canvas
    spans = {name: [float(row[name]) for row in rows] for name in names}
    scaled = {}
    for name, values in spans.items():
        room = 0.04 * (max(values) - min(values))
        low, high = min(values) - room, max(values) + room
        if "mag" in name:
            low, high = high, low
        scaled[name] = [2 * (value - low) / (high - low) - 1 for value in values]
    camera = drawn["camera"]
    along, up = math.radians(camera["longitude"]), math.radians(camera["latitude"])
    front = (math.cos(up) * math.cos(along), math.cos(up) * math.sin(along), math.sin(up))
    right = (-math.sin(along), math.cos(along), 0.0)
    above = (-math.sin(up) * math.cos(along), -math.sin(up) * math.sin(along), math.cos(up))
    points = list(zip(*(scaled[name] for name in names), strict=True))
    best = max(range(len(points)), key=lambda k: sum(a * b for a, b in zip(points[k], front, strict=True)))
    side = min(canvas["width"], canvas["height"])
    scale = max(0.6 * side, side - 70) / 3.3
    x, y, far = (sum(a * b for a, b in zip(points[best], axis, strict=True)) for axis in (right, above, front))
    far = 1 - far / 5
    return (
        int(rows[best]["row"]),
        canvas["x"] + canvas["width"] / 2 + scale * x / far,
        canvas["y"] + canvas["height"] / 2 - scale * y / far,
    )


def test_three_dimensions(
    open_page: Callable[..., Page], portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    page = open_page(viewport={"width": 1366, "height": 768})
    browser = page.context.browser
    assert browser
    draws = page.evaluate("() => document.createElement('canvas').getContext('webgl2') !== null")
    if browser.browser_type.name == "firefox" and not draws:
        pytest.skip("Firefox has no WebGL on a system without OpenGL")
    assert draws
    plot_query(page, portal_url, FEW)
    first = show_form(page, "3D")
    assert first["points"] == 60
    # positions without distances are on the unit sphere
    expect(page.get_by_role("application")).to_have_attribute("aria-label", re.compile(r"x from −1\.\d+ to 1\.\d+"))
    option_select(page, "Axes").select_option("columns")
    for role, column in (("x", "ra"), ("y", "dec"), ("z", "vt_mag")):
        option_select(page, role).select_option(label=column)
        option_select(page, f"{role}, minus").select_option(label="− none")
    page.get_by_label("Without outliers").uncheck()
    page.get_by_label("Reversed").last.check()
    drawn = read_form(page, "space")
    rows = read_csv(save_plot(page, "Plotted data"))
    row, x, y = nearest_row(page, rows, ["ra", "dec", "vt_mag"], drawn)
    page.mouse.move(x, y)
    expect(page.locator(".hovered")).to_contain_text(f"Row {row} ")
    page.mouse.click(x, y)
    assert count_chosen(page) == 1

    plot = page.get_by_role("application")
    plot.press("ArrowLeft")
    plot.press("+")
    turned = read_form(page, "space")["camera"]
    assert turned["longitude"] != drawn["camera"]["longitude"]
    assert turned["zoom"] > drawn["camera"]["zoom"]
    plot.press("0")
    page.get_by_role("button", name="Box", exact=True).click()
    size = plot.bounding_box()
    assert size
    drag(page, (2, 2), (size["width"] - 2, size["height"] - 2))
    assert count_chosen(page) == 60
    plot.press("Escape")
    option_select(page, "Colour by").select_option(label="vt_mag")
    option_select(page, "Size by").select_option(label="vt_mag")
    read_form(page, "space")
    shot(page, "plots-space")
    accessible(page)

    lit = page.evaluate(DRAWN)
    assert lit > 500
    lose = "canvas => (window.lost = canvas.getContext('webgl2').getExtension('WEBGL_lose_context')).loseContext()"
    page.locator("canvas.picture").evaluate(lose)
    page.evaluate("() => window.lost.restoreContext()")
    page.wait_for_function(f"count => ({DRAWN})() > 0.9 * count", arg=lit)


def test_three_dimensions_without_webgl(open_page: Callable[..., Page], portal_url: str) -> None:
    page = open_page()
    page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext ="
        " function (kind, ...rest) { return kind === 'webgl2' ? null : get.call(this, kind, ...rest); };"
    )
    plot_query(page, portal_url, FEW)
    page.get_by_role("button", name="3D", exact=True).click()
    expect(page.get_by_text("it has no WebGL 2")).to_be_visible()


def run_script(page: Page, folder: Path) -> int:
    """Run the saved script, with matplotlib where it is installed. Return the number of rows drawn."""
    folder.mkdir(exist_ok=True)
    script = Path(save_plot(page, "Python").path())
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.web.matplotlib_calls", script],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "savefig" in script.read_text(encoding="utf-8")
    assert not has_matplotlib() or list(folder.glob("*.pdf"))
    return int(ran.stdout.split()[0])


def test_pictures_of_any_size(open_page: Callable[..., Page], portal_url: str, shot: Shot) -> None:
    page = open_page(viewport={"width": 1366, "height": 768}, color_scheme="dark")
    plot_query(page, portal_url, OBJECTS)
    choose_kind(page, "Scatter")
    option_select(page, "Colour by").select_option(label="type")
    points = choose_kind(page, "Scatter")["points"]
    svg = ElementTree.fromstring(Path(save_plot(page, "SVG").path()).read_text(encoding="utf-8"))
    space = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(f".//{space}path")) == points > 1000
    assert not svg.findall(f".//{space}image")
    pdf = Path(save_plot(page, "PDF").path()).read_bytes()
    assert pdf.startswith(b"%PDF-1.7")
    assert b"/Subtype /Image" not in pdf
    assert b"/BaseFont /Helvetica" in pdf

    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Picture of any size").click()
    dialog = page.get_by_role("dialog", name="Save picture")
    dialog.get_by_role("button", name="One column of a journal").click()
    dialog.get_by_label("Colours").select_option("light")
    expect(dialog.get_by_text("1,039 × 780 pixels")).to_be_visible()
    dialog.get_by_label("Dots per inch").fill("4000")
    expect(dialog.get_by_text("The picture has too many pixels for browsers")).to_be_visible()
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    dialog.get_by_label("Dots per inch").fill("300")
    shot(page, "plots-save-picture")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save", exact=True).click()
    png = Path(download.value.path()).read_bytes()
    assert struct.unpack(">II", png[16:24]) == (1039, 780)
    corner = page.evaluate(
        """async bytes => {
            const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
            const context = new OffscreenCanvas(1, 1).getContext('2d');
            context.drawImage(picture, 0, 0);
            return [...context.getImageData(0, 0, 1, 1).data];
        }""",
        list(png),
    )
    # the page is dark, the picture is not
    assert corner == [255, 255, 255, 255]


def test_scripts_draw_the_same_rows(page: Page, portal_url: str, tmp_path: Path) -> None:
    plot_query(page, portal_url, OBJECTS)
    choose_kind(page, "Scatter")
    option_select(page, "Colour by").select_option(label="type")
    assert run_script(page, tmp_path / "scatter") == choose_kind(page, "Scatter")["points"] > 1000
    points = show_form(page, "Corner")["points"]
    assert run_script(page, tmp_path / "corner") == points > 1000
    plot_query(page, portal_url, CURVE)
    points = choose_kind(page, "Light curve")["points"]
    assert run_script(page, tmp_path / "curve") == points > 100
