"""Linked panels over a whole table: filters by dragging, their exact count compared with ADQL's, samples and addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import pyvo
from playwright.sync_api import Locator, Page, expect

from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService

TABLE = "tycho2.bright"


@pytest.fixture(scope="module")
def tap(portal: RunningService) -> pyvo.dal.TAPService:
    return pyvo.dal.TAPService(portal.tap)


def open_explorer(page: Page, portal_url: str, parameters: str = "") -> None:
    page.goto(f"{portal_url}#/explore/{TABLE}{parameters}")
    expect(page.get_by_test_id("samples")).to_contain_text("Panels:")


def drag(page: Page, panel: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag between two positions of a panel's picture, as parts of its width and height."""
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box
    pixels = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*pixels[0])
    page.mouse.down()
    page.mouse.move(*pixels[1], steps=5)
    page.mouse.up()


def shown_query(page: Page) -> str:
    return page.locator("section pre").inner_text()


def expect_exact(page: Page, tap: pyvo.dal.TAPService) -> int:
    """Wait for the exact count; it is the count of the query that the page shows."""
    expect(page.get_by_test_id("precision")).to_have_text("counted exactly")
    shown = int(page.get_by_test_id("kept").inner_text().replace(",", ""))
    [row] = tap.search(shown_query(page).replace("SELECT *", "SELECT COUNT(*) AS n"))
    assert shown == row["n"]
    return shown


def address(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(urlsplit(page.url).fragment).query)


def test_filters_by_dragging_in_all_panels(
    page: Page, portal_url: str, tap: pyvo.dal.TAPService, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    page.goto(f"{portal_url}#/tables/{TABLE}")
    page.get_by_role("link", name="Explore", exact=True).click()
    expect(page.get_by_role("heading", name=f"Explore {TABLE}")).to_be_visible()
    expect(page.get_by_test_id("samples")).to_contain_text("Panels: all")
    whole = expect_exact(page, tap)
    shot(page, "explore")
    drag(page, page.get_by_role("img", name="Histogram of vt_mag"), (0.5, 0.5), (0.8, 0.5))
    fewer = expect_exact(page, tap)
    drag(page, page.get_by_role("img", name=re.compile("^Density of vt_mag against")), (0.4, 0.3), (0.7, 0.8))
    boxed = expect_exact(page, tap)
    assert shown_query(page).count("BETWEEN") == 2
    drag(page, page.get_by_role("img", name=re.compile("on the sky$")), (0.5, 0.5), (0.6, 0.6))
    inside = expect_exact(page, tap)
    assert "CONTAINS(POINT(ra, dec), CIRCLE(" in shown_query(page)
    assert whole > fewer > boxed > inside > 0
    shot(page, "explore-filtered")
    accessible(page)

    query = shown_query(page)
    page.reload()
    assert expect_exact(page, tap) == inside
    assert shown_query(page) == query
    page.get_by_role("button", name="Remove the filter of Sky").click()
    assert expect_exact(page, tap) == boxed
    page.get_by_label("Least vt_mag").fill("5")
    page.get_by_label("Least vt_mag").press("Enter")
    expect_exact(page, tap)
    page.get_by_role("button", name="Remove all filters").click()
    assert expect_exact(page, tap) == whole


def test_a_sample_is_told_scaled_and_refined(page: Page, portal_url: str, tap: pyvo.dal.TAPService, shot: Shot) -> None:
    """A sixth of the rows is sampled; of a rare corner all rows are."""
    open_explorer(page, portal_url, "?panel=vt_mag&panel=bt_mag-vt_mag&sample=20000")
    expect(page.get_by_test_id("samples")).to_contain_text("scaled to the table")
    requests: list[Any] = []
    page.on("request", lambda request: requests.append(request.post_data or ""))
    drag(page, page.get_by_role("img", name="Histogram of vt_mag"), (0.2, 0.5), (0.35, 0.5))
    rare = expect_exact(page, tap)
    expect(page.get_by_test_id("samples")).to_contain_text(f"Rows that remain: all {rare:,}.")
    assert any("TABLESAMPLE" not in sent and "q0" in sent for sent in requests)
    page.get_by_label("Zoom to the filters").check()
    shot(page, "explore-rare")
    # a narrower choice is within the finer sample, which has all of its rows: nothing is asked
    requests.clear()
    page.get_by_label("Greatest bt_mag - vt_mag").fill("0.5")
    page.get_by_label("Greatest bt_mag - vt_mag").press("Enter")
    assert 0 < expect_exact(page, tap) < rare
    assert requests == []
    assert address(page)["sample"] == ["20000"]
    assert address(page)["range"][1] == "bt_mag - vt_mag,-Infinity,0.5"


def test_rows_are_fetched_last(page: Page, portal_url: str, tap: pyvo.dal.TAPService) -> None:
    open_explorer(page, portal_url, "?range=vt_mag,1,4&circle=83.8,-1.2,15&panel=no_such")
    expect(page.get_by_text("The table has no such numeric columns, so they are ignored: no_such")).to_be_visible()
    rows = expect_exact(page, tap)
    page.get_by_role("button", name="Get these rows").click()
    expect(page.get_by_role("tab", name=f"Rows of {TABLE}")).to_be_visible()
    expect(page.get_by_role("region", name="Result").get_by_text(f"{rows} rows")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1366, 768), (1920, 1080)])
def test_sizes_and_themes(open_page: Callable[..., Page], portal_url: str, width: int, height: int, shot: Shot) -> None:
    page = open_page(viewport={"width": width, "height": height}, color_scheme="dark" if width != 1366 else "light")
    open_explorer(page, portal_url, "?range=vt_mag,7,9")
    expect(page.get_by_test_id("precision")).to_have_text("counted exactly")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shot(page, f"explore-{width}")
