"""The portal in each browser that it supports: a query, its table and its plots."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browsers import BOTH_BROWSERS
from tests.e2e.screenshots import Shot

QUERY = "SELECT tyc_id, ra, dec, bt_mag - vt_mag AS colour, vt_mag FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.12, 1))"


@pytest.mark.parametrize("browser", BOTH_BROWSERS, indirect=True, scope="module")
def test_a_query_its_table_and_its_plot(page: Page, portal_url: str, shot: Shot, browser: object) -> None:
    page.goto(portal_url + "#/query")
    editor = page.get_by_role("textbox", name="ADQL query")
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(QUERY)
    page.keyboard.press("Control+Enter")
    result = page.get_by_role("region", name="Result", exact=True)
    expect(result.get_by_text("rows").first).to_be_visible()
    expect(result.get_by_role("gridcell").first).to_be_visible()
    shot(page, f"query-{page.context.browser and page.context.browser.browser_type.name}")
