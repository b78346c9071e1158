"""The home page: the map of the sky, its names, finer cells, regions with their counts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import pyvo
from playwright.sync_api import Locator, Page, expect

from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService


def sky_map(page: Page) -> Locator:
    return page.get_by_role("application", name="Map of the sky")


def wait_until_drawn(page: Page, holds: Callable[[dict[str, Any]], bool]) -> None:
    """Wait for a drawing of the map; the page's policy forbids Playwright's own way."""
    end = time.monotonic() + 30
    while not holds(drawn(page)):
        assert time.monotonic() < end, f"the map stays {drawn(page)}"
        page.wait_for_timeout(50)


def drawn(page: Page) -> dict[str, Any]:
    text = sky_map(page).locator("canvas").get_attribute("data-drawn")
    return json.loads(text) if text else {}


@pytest.fixture
def home(page: Page, portal_url: str) -> Page:
    page.goto(portal_url)
    expect(page.get_by_role("checkbox", name="tycho2.bright")).to_be_checked()
    wait_until_drawn(page, lambda map_: map_.get("names", 0) > 3)
    return page


@pytest.fixture(scope="module")
def tap(portal: RunningService) -> pyvo.dal.TAPService:
    return pyvo.dal.TAPService(portal.tap)


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag on the map; positions are parts of its width and height."""
    box = sky_map(page).bounding_box()
    assert box
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*at[0])
    page.mouse.down()
    page.mouse.move(*at[1], steps=5)
    page.mouse.up()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_first_sight(
    open_page: Callable[..., Page],
    portal_url: str,
    shot: Shot,
    accessible: Callable[[Page], None],
    scheme: str,
    size: Any,
) -> None:
    page = open_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page.goto(portal_url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Skyhouse")
    expect(page.get_by_role("listitem").filter(has_text="openngc.objects")).to_contain_text("14,033 rows")
    expect(page.get_by_role("link", name="Write a query")).to_be_visible()
    wait_until_drawn(page, lambda map_: map_.get("names", 0) > 3)
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.wait_for_timeout(300)
    shot(page, f"home-{size[0]}-{scheme}")
    if size[0] == 1366:
        accessible(page)


def test_going_to_an_object_and_to_its_neighbours(home: Page, shot: Shot) -> None:
    home.get_by_role("checkbox", name="openngc.objects").check()
    box = home.get_by_role("main").get_by_role("combobox", name="Go to an object")
    box.fill("Pleiades")
    box.press("Enter")
    wait_until_drawn(home, lambda map_: map_["degrees"] < 0.006)
    ra, dec = drawn(home)["centre"]
    assert (ra, dec) == pytest.approx((56.85, 24.1), abs=0.5)
    home.wait_for_timeout(1500)
    shot(home, "home-pleiades")
    sky_map(home).press("-")
    wait_until_drawn(home, lambda map_: map_["degrees"] > 0.006)
    home.get_by_role("button", name="Whole sky").click()
    home.get_by_label("Frame").select_option("galactic")
    home.wait_for_timeout(500)
    shot(home, "home-galactic")


def test_a_circle_is_counted_exactly(home: Page, tap: pyvo.dal.TAPService, shot: Shot) -> None:
    home.get_by_role("button", name="Circle").click()
    drag(home, (0.5, 0.5), (0.55, 0.55))
    region = home.get_by_role("region", name="In this region")
    row = region.get_by_role("listitem").filter(has_text="tycho2.bright")
    expect(row).to_contain_text("rows")
    shown = int(row.get_by_role("status").inner_text().split()[0].replace(",", ""))
    shot(home, "home-circle")
    row.get_by_role("button", name="ADQL").click()
    query = home.get_by_role("textbox", name="ADQL query").inner_text()
    condition = query.partition("WHERE")[2].replace("\n", " ")
    [counted] = tap.search(f"SELECT COUNT(*) AS n FROM tycho2.bright WHERE {condition}")["n"]
    assert 0 < shown == counted


def test_a_moc_is_pasted(home: Page, tap: pyvo.dal.TAPService, shot: Shot) -> None:
    home.get_by_text("Paste a region as a MOC").click()
    text = home.get_by_label("ASCII (6/1-3 7/20)")
    text.fill("3/900")
    home.get_by_role("button", name="Count its rows").click()
    expect(home.get_by_role("alert")).to_contain_text("There is no cell 900 of order 3")
    text.fill('{"3": [100, 101, 102], "5": [12]}')
    home.get_by_role("button", name="Count its rows").click()
    [counted] = tap.search(
        "SELECT COUNT(*) AS n FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), REGION('3/100-102 5/12'))"
    )["n"]
    region = home.get_by_role("region", name="In this region")
    row = region.get_by_role("listitem").filter(has_text="tycho2.bright")
    expect(row).to_contain_text(f"{counted:,} rows")
    shot(home, "home-moc")


def test_a_click_leads_to_the_object(home: Page) -> None:
    sky_map(home).click(position={"x": 300, "y": 250})
    expect(home.get_by_role("heading", level=1)).to_contain_text("Object")


def test_on_a_phone(phone: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
    phone.goto(portal_url)
    expect(phone.get_by_role("checkbox", name="tycho2.bright")).to_be_checked()
    phone.wait_for_timeout(800)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    accessible(phone)
    shot(phone, "home-phone")
