"""Brushes, folds and areas of the sky in plots of the portal, compared with the service's answers."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_plots import CURVE, STARS, choose_kind, plot_picture, plot_query, read_drawn
from tests.support.running_service import RunningService


def count_rows(portal: RunningService, condition: str) -> int:
    query = f"SELECT COUNT(*) FROM tycho2.bright WHERE {condition}"
    answer = httpx.post(f"{portal.url}/tap/sync", data={"LANG": "ADQL", "QUERY": query, "FORMAT": "csv"}, timeout=30)
    assert answer.status_code == 200, answer.text
    return int(answer.text.split()[1])


def chosen_count(page: Page) -> int:
    """Return the number of chosen rows that the layer above the picture shows; 0 if there is none."""
    return int(page.locator("canvas.chosen").locator("visible=true").get_attribute("data-drawn") or 0)


def press_at(page: Page, left: float, top: float) -> tuple[float, float]:
    """Press the mouse button at a position of the picture, in fractions. Return it in pixels."""
    box = plot_picture(page).bounding_box()
    assert box
    x, y = box["x"] + left * box["width"], box["y"] + top * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    return x, y


def test_brush_is_live_and_an_area_of_the_sky_is_adql(
    page: Page, portal_url: str, portal: RunningService, shot: Shot
) -> None:
    plot_query(page, portal_url, STARS)
    page.get_by_role("button", name="Box", exact=True).click()
    x, y = press_at(page, 0.4, 0.4)
    page.mouse.move(x + 30, y + 30)
    page.mouse.move(x + 40, y + 40)
    page.wait_for_function("() => Number(document.querySelector('canvas.chosen')?.dataset.drawn) > 0")
    small = chosen_count(page)
    size = plot_picture(page).bounding_box()
    page.mouse.move(x + 120, y + 70)
    page.wait_for_function(f"() => Number(document.querySelector('canvas.chosen').dataset.drawn) > {small}")
    # a picture that changes its size would move below the pointer
    assert plot_picture(page).bounding_box() == size
    page.mouse.up()
    code = page.locator("code").filter(has_text="POLYGON")
    expect(code).to_contain_text("CONTAINS(POINT(ra, dec), POLYGON(")
    chosen = chosen_count(page)
    found = count_rows(portal, code.inner_text())
    assert chosen > 100
    # stars within half a pixel of the sides may differ
    assert abs(found - chosen) <= max(3, 0.02 * chosen)
    shot(page, "sky-area-as-adql")


def test_fold_has_an_epoch(page: Page, portal_url: str, shot: Shot) -> None:
    plot_query(page, portal_url, CURVE)
    choose_kind(page, "Light curve")
    summary = page.locator("summary").filter(has_text="Axes and options").locator("visible=true")
    if summary.count():
        summary.click()
    page.get_by_label("Fold by, days").fill("2.5")
    page.get_by_label("Fold by, days").press("Enter")
    zero = page.get_by_label("Phase 0 at")
    zero.fill("tomorrow")
    zero.press("Tab")
    assert "MJD or JD" in zero.evaluate("(input) => input.validationMessage")
    zero.fill("2016-01-01T12:00")
    zero.press("Tab")
    expect(zero).to_have_value("57388.5")
    read_drawn(page)
    expect(page.get_by_role("application").locator("visible=true")).to_have_attribute(
        "aria-label", re.compile("0 at MJD 57388.5")
    )
    shot(page, "folded-with-epoch")
