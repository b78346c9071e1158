"""The query builder, conditions offered after ON, and matches of open results."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import httpx
from playwright.sync_api import Locator, Page, expect

from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService

GOOD = "The service can run this query."


def choose_table(side: Page | Locator, label: str, words: str) -> None:
    """Find a table by words, and choose the first."""
    box = side.get_by_role("combobox", name=label, exact=True)
    box.fill(words)
    box.press("Enter")


def add_condition(page: Page, column: str, test: str = "") -> Locator:
    page.get_by_role("button", name="Add a condition").click()
    row = page.get_by_role("group", name="Column of the condition", exact=True)
    row.get_by_label("Column of the condition").select_option(label=column)
    added = page.get_by_role("group", name=column, exact=True)
    if test:
        added.get_by_label("Condition", exact=True).select_option(label=test)
    return added


def count_rows(portal: RunningService, query: str) -> int:
    data = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": query}
    answer = httpx.post(f"{portal.tap}/sync", data=data, verify=False, timeout=60)
    assert answer.status_code == 200, answer.text
    return len(answer.text.splitlines()) - 1


def test_the_pleiades_without_adql(
    page: Page, portal: RunningService, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(f"{portal_url}#/tables/tycho2.bright")
    page.get_by_role("link", name="Build a query").click()
    adql = page.locator("pre")
    expect(adql).to_contain_text("SELECT tyc_id, ra, dec, bt_mag, vt_mag")
    page.get_by_label("Region").select_option(label="in a circle")
    page.get_by_role("combobox", name="Name or position of the centre").fill("Pleiades")
    expect(page.get_by_text("RA 56.86917°, Dec +24.10528°")).to_be_visible()
    page.get_by_label("Radius", exact=True).fill("60 arcmin")

    bright = add_condition(page, "vt_mag", "is less than")
    expect(bright.get_by_text("The values are between")).to_be_visible()
    run = page.get_by_role("button", name="Run", exact=True)
    bright.get_by_label("Value").fill("8 arcsec")
    expect(bright.get_by_text("arcsec cannot be converted to it.")).to_be_visible()
    expect(run).to_be_disabled()
    bright.get_by_label("Value").fill("8500 mmag")
    expect(bright.get_by_text("= 8.5 mag")).to_be_visible()
    page.get_by_label("Sort by").select_option(label="vt_mag")
    expect(page.get_by_text(GOOD)).to_be_visible()
    query = adql.inner_text()
    assert "WHERE DISTANCE(POINT(ra, dec), skyhouse_resolve('Pleiades')) <= 1\n" in query
    assert query.endswith("AND vt_mag < 8.5\nORDER BY vt_mag")
    shot(page, "builder")
    accessible(page)
    run.click()
    rows = count_rows(portal, query)
    assert rows > 10
    expect(page.get_by_role("region", name="Result").get_by_text(f"{rows} rows").first).to_be_visible()

    page.goto(f"{portal_url}#/build")
    page.reload()
    expect(adql).to_have_text(query)
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_text("Choose a table.", exact=True)).to_be_visible()
    expect(adql).to_be_hidden()


def test_joins_groups_and_conditions_after_on(page: Page, portal: RunningService, portal_url: str, shot: Shot) -> None:
    page.goto(f"{portal_url}#/build?table=openngc.objects")
    adql = page.locator("pre")
    kinds = add_condition(page, "type", "is")
    kinds.get_by_role("group", name="Values of type").get_by_label("OCl", exact=True).check()
    expect(adql).to_contain_text("WHERE type = 'OCl'")
    choose_table(page, "Join another table", "tycho bright")
    page.get_by_label("Largest separation").fill("3 arcmin")
    expect(adql).to_contain_text("JOIN tycho2.bright AS b ON DISTANCE")
    page.get_by_label("What to return").select_option(label="groups of rows, with summaries")
    expect(page.get_by_text(GOOD)).to_be_visible()
    columns = page.get_by_role("list", name="Columns of openngc.objects")
    columns.get_by_role("checkbox", name="const").check()
    columns.get_by_label("Summary of vmag").select_option(label="least")
    expect(adql).to_contain_text("AVG(b.vt_mag) AS avg_vt_mag, COUNT(*) AS n")
    expect(page.get_by_text(GOOD)).to_be_visible()
    query = adql.inner_text()
    assert "MIN(a.vmag) AS min_vmag" in query
    assert query.endswith("GROUP BY a.const")
    assert "JOIN tycho2.bright AS b ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.05" in query
    assert count_rows(portal, query) > 10
    shot(page, "builder-join")
    page.get_by_role("button", name="Open in the editor").click()

    editor = page.locator(".cm-content")
    expect(editor).to_contain_text("avg_vt_mag")
    page.get_by_role("button", name="New query").click()
    editor.press_sequentially("SELECT s.tyc_id FROM tycho2.bright AS s JOIN openngc.objects AS o ON ")
    offered = page.locator(".cm-tooltip-autocomplete [role=option]").first
    expect(offered).to_contain_text("DISTANCE(s.ra, s.dec, o.ra, o.dec) < 1 / 3600.")
    shot(page, "completion-after-on")
    page.wait_for_timeout(100)  # the editor ignores keys in the first 75 ms of an offer, which were meant for the text
    editor.press("Tab")
    expect(editor).to_contain_text("ON DISTANCE(s.ra, s.dec, o.ra, o.dec) < 1 / 3600.")
    expect(page.get_by_label("Estimate").first).to_contain_text("Reads")


def test_results_are_matched(page: Page, portal: RunningService, portal_url: str, shot: Shot) -> None:
    plain = "SELECT name, ra, dec FROM openngc.objects WHERE type = '*'"
    for query, how in (
        (plain, "its query is repeated within this one."),
        (plain + " ORDER BY ra", "rows are sent with the query, as they are shown."),
    ):
        page.goto(f"{portal_url}#/query?adql={quote(query)}")
        page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
        page.get_by_role("button", name="Match with …").locator("visible=true").click()
        expect(page.get_by_role("group", name="First table").get_by_label("Right ascension", exact=True)).to_have_value(
            "ra"
        )
        choose_table(page.get_by_role("group", name="Second table"), "Table", "tycho2.bright")
        page.get_by_label("Radius, arcsec").fill("20")
        expect(page.get_by_text(how)).to_be_visible()
        expect(page.get_by_text(GOOD)).to_be_visible()
        shot(page, "match-result")
        page.get_by_role("button", name="Run", exact=True).click()
        expected = count_rows(
            portal,
            f"SELECT a.name FROM ({plain}) AS a JOIN tycho2.bright AS b ON 1 = "
            "skyhouse_nearest(1, POINT(a.ra, a.dec), POINT(b.ra, b.dec), 20 / 3600.)",
        )
        assert expected > 0
        result = page.get_by_role("region", name="Result").locator("visible=true")
        expect(result.get_by_text(f"{expected} row").locator("visible=true").first).to_be_visible()


def test_on_a_phone_in_the_dark(
    open_page: Callable[..., Page], portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    phone = open_page(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True, color_scheme="dark")
    phone.goto(f"{portal_url}#/build?table=tycho2.bright")
    expect(phone.get_by_text(GOOD)).to_be_visible()
    add_condition(phone, "vt_mag")
    phone.get_by_label("Region").select_option(label="in a box")
    shot(phone, "builder-phone-dark")
    accessible(phone)
    width = phone.evaluate("document.scrollingElement.scrollWidth")
    assert width <= 390
    phone.get_by_role("combobox", name="Table", exact=True).click()
    phone.get_by_role("option", name="openngc.objects").click()
    expect(phone.locator("pre")).to_contain_text("FROM openngc.objects")
