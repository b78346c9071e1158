"""The tree of tables with its search, the pages of tables and the examples, compared with pyvo."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import httpx
import pytest
import pyvo
from playwright.sync_api import Locator, Page, expect

from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService
from tests.tap_service.users import USERS, User, temporary_user

TREE = "Schemas, tables and columns"


@pytest.fixture(scope="module")
def tap(portal: RunningService) -> pyvo.dal.TAPService:
    return pyvo.dal.TAPService(portal.tap)


@pytest.fixture
def alice(portal: RunningService) -> Iterator[User]:
    with temporary_user(portal, "alice") as found:
        yield found


def schema_tree(page: Page) -> Locator:
    return page.get_by_role("tree")


def search_box(page: Page) -> Locator:
    return page.get_by_role("searchbox", name=re.compile("^Search names"))


def active_row(page: Page) -> Locator:
    return schema_tree(page).locator("[aria-selected=true]")


def query_editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="ADQL query")


def column_row(page: Page, name: str) -> Locator:
    return page.locator(f'tr[data-column="{name}"]')


def read_bins(page: Page, name: str) -> list[int]:
    """Return the counts of a column's histogram from its bars."""
    bars = column_row(page, name).locator("svg title")
    return [int(title.split(": ")[1].replace(",", "")) for title in bars.all_text_contents()]


class TestTree:
    def test_by_keyboard(self, page: Page, portal_url: str, shot: Shot) -> None:
        """Arrow keys open and move, a letter goes to the next row with that initial, Enter inserts the name."""
        page.goto(portal_url + "#/query")
        expect(query_editor(page)).to_be_visible()
        query_editor(page).click()
        page.keyboard.press("Control+a")
        page.keyboard.type("SELECT ")
        schema_tree(page).focus()
        page.keyboard.press("t")
        expect(active_row(page)).to_have_accessible_name(re.compile("tycho2"))
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        expect(active_row(page)).to_have_attribute("aria-expanded", "true")
        expect(schema_tree(page).get_by_role("treeitem", name="pmdec").first).to_be_visible()
        page.keyboard.press("ArrowRight")
        expect(active_row(page)).to_have_accessible_name("tyc_id")
        expect(active_row(page)).to_have_attribute("aria-level", "3")
        page.keyboard.press("v")
        shot(page, "tree-keyboard")
        page.keyboard.press("Enter")
        expect(query_editor(page)).to_contain_text("SELECT vt_mag")
        schema_tree(page).focus()
        page.keyboard.press("ArrowLeft")
        expect(active_row(page)).to_contain_text("bright")
        page.keyboard.press("ArrowLeft")
        expect(active_row(page)).to_have_attribute("aria-expanded", "false")
        expect(schema_tree(page).get_by_role("treeitem", name="pmdec")).to_have_count(0)
        page.keyboard.press("Shift+Enter")
        expect(page.get_by_role("heading", name="tycho2.bright")).to_be_visible()

    def test_search_by_ucd_unit_and_description(
        self, page: Page, portal_url: str, tap: pyvo.dal.TAPService, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        page.goto(portal_url + "#/query")
        expect(query_editor(page)).to_be_visible()
        search_box(page).fill("pos.pm")
        wanted = tap.search("SELECT column_name FROM TAP_SCHEMA.columns WHERE ucd LIKE '%pos.pm%'")
        items = schema_tree(page).get_by_role("treeitem")
        expect(items).to_have_count(len(wanted))
        expect(items.locator("mark").first).to_have_text("pos.pm")
        search_box(page).fill("mas.yr**-1 error")
        expect(items.locator(".line:first-child .name")).to_have_text(["e_pmra", "e_pmdec"])
        shot(page, "tree-search")
        accessible(page)
        search_box(page).press("Enter")
        expect(query_editor(page)).to_contain_text("e_pmra")
        search_box(page).fill("no such thing anywhere")
        expect(page.get_by_text("Nothing found.")).to_be_visible()
        search_box(page).press("Escape")
        expect(schema_tree(page).get_by_role("treeitem", name="tycho2", exact=True)).to_be_visible()

    def test_a_service_that_is_down(
        self, page: Page, portal_url: str, no_service: Callable[[Page], AbstractContextManager[None]]
    ) -> None:
        page.goto(f"{portal_url}#/jobs")
        with no_service(page):
            page.goto("about:blank")
            page.goto(f"{portal_url}#/tables")
            expect(page.get_by_role("alert")).to_contain_text("The service does not answer.")
        page.get_by_role("button", name="Try again").click()
        expect(schema_tree(page).get_by_role("treeitem", name="tycho2", exact=True)).to_be_visible()


class TestTablePage:
    def test_rows_footprint_and_statistics_are_those_of_adql(
        self, page: Page, portal_url: str, tap: pyvo.dal.TAPService, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        asked = tap.search(
            "SELECT COUNT(*) AS n, COUNT(bt_mag) AS values_, MIN(bt_mag) AS lo, MAX(bt_mag) AS hi, "
            "MIN(num_obs) AS few, MAX(num_obs) AS many FROM tycho2.bright"
        )[0]
        page.goto(f"{portal_url}#/tables/tycho2.bright")
        expect(page.get_by_test_id("rows")).to_have_text(f"{asked['n']:,}")
        footprint = page.get_by_role("region", name="On the sky")
        expect(footprint.locator("canvas")).to_be_visible()
        cells = tap.search("SELECT DISTINCT ivo_healpix_index(5, ra, dec) AS c FROM tycho2.bright", maxrec=100_000)
        expect(footprint.get_by_text(f"Rows in {len(cells):,} cells of HEALPix order 5")).to_be_visible()
        shot(page, "table-page")
        accessible(page)
        bt_mag = column_row(page, "bt_mag")
        bt_mag.scroll_into_view_if_needed()
        expect(bt_mag.get_by_role("img", name="Histogram of bt_mag")).to_be_visible()
        expect(bt_mag).to_contain_text(f"{asked['lo']:.6g} … {asked['hi']:.6g}")
        assert sum(read_bins(page, "bt_mag")) == asked["values_"]
        bt_mag.get_by_role("button").click()
        page.get_by_text(f"{asked['n'] - asked['values_']:,} (").wait_for()
        column_row(page, "num_obs").scroll_into_view_if_needed()
        expect(column_row(page, "num_obs")).to_contain_text(f"{asked['few']} … {asked['many']}")
        shot(page, "table-page-columns")

    def test_histogram_equals_a_query_of_bins(self, page: Page, portal_url: str, tap: pyvo.dal.TAPService) -> None:
        """The position angles of galaxies: whole degrees from 0 to 180, seven in each bin."""
        page.goto(f"{portal_url}#/tables/openngc.objects?column=pa")
        expect(column_row(page, "pa").get_by_role("img")).to_be_visible()
        asked = tap.search(
            "SELECT b, COUNT(*) AS n FROM (SELECT FLOOR(pa / 7.0) AS b FROM openngc.objects WHERE pa IS NOT NULL) AS t "
            "GROUP BY b ORDER BY b"
        )
        assert read_bins(page, "pa") == [int(row["n"]) for row in asked]
        expect(page.get_by_text("NULL", exact=True)).to_be_visible()

    def test_frequent_values(self, page: Page, portal_url: str, tap: pyvo.dal.TAPService) -> None:
        page.goto(f"{portal_url}#/tables/openngc.objects?column=type")
        frequent = page.get_by_role("table", name="Most frequent values").get_by_role("row")
        asked = tap.search("SELECT TOP 6 type, COUNT(*) AS n FROM openngc.objects GROUP BY type ORDER BY n DESC")
        expect(frequent.get_by_role("rowheader")).to_have_text([str(row["type"]) for row in asked])
        expect(frequent.first).to_contain_text(f"{asked[0]['n']:,} rows")

    def test_cone(self, page: Page, portal_url: str, tap: pyvo.dal.TAPService) -> None:
        page.goto(f"{portal_url}#/tables/tycho2.bright")
        form = page.get_by_role("form", name="Search around a position")
        form.get_by_label("Name or position").fill("Nowhere")
        form.get_by_role("button", name="Search").click()
        expect(form.get_by_role("alert")).to_contain_text("No object is called “Nowhere”")
        form.get_by_label("Name or position").fill("03:47:00 +24:07:12")
        form.get_by_label("Radius", exact=True).fill("40")
        form.get_by_label("Unit of the radius").select_option("arcmin")
        form.get_by_role("button", name="Search").click()
        inside = tap.search(
            "SELECT tyc_id FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.12, 40/60.))"
        )
        expect(page.get_by_text(f"{len(inside)} rows", exact=True)).to_be_visible()

    def test_other_programs_and_links(self, page: Page, portal_url: str, portal: RunningService) -> None:
        page.goto(f"{portal_url}#/tables/tycho2.bright")
        programs = page.get_by_role("region", name="In other programs")
        expect(programs.locator("pre")).to_contain_text(portal.tap)
        ran: dict[str, Any] = {}
        exec(programs.locator("pre").inner_text(), ran)
        assert len(ran["rows"]) == 100
        programs.get_by_role("tab", name="TOPCAT").click()
        expect(programs.locator("pre")).to_have_text(portal.tap)
        tied = page.get_by_role("region", name="Keys, links and services")
        expect(tied).to_contain_text("Link of tyc_id: The star in SIMBAD")
        page.goto(f"{portal_url}#/tables/TAP_SCHEMA.columns")
        expect(tied.get_by_role("link", name="TAP_SCHEMA.tables")).to_be_visible()
        expect(page.get_by_text("The table has no positions.")).to_be_visible()

    def test_its_hats_collection(self, page: Page, portal_url: str, portal: RunningService, shot: Shot) -> None:
        page.goto(f"{portal_url}#/tables/tycho2.bright")
        programs = page.get_by_role("region", name="In other programs")
        programs.get_by_role("tab", name="LSDB").click()
        opening = programs.locator("pre").inner_text()
        assert opening == f'import lsdb\n\ncatalog = lsdb.open_catalog("{portal.url}/hats/tycho2.bright")'
        shot(page, "table-hats")
        assert httpx.get(opening.split('"')[1], follow_redirects=True).status_code == 200
        page.goto(f"{portal_url}#/tables/TAP_SCHEMA.tables")
        expect(page.get_by_test_id("rows")).to_have_text(re.compile(r"\d"))
        expect(programs.get_by_role("tab", name="LSDB")).to_have_count(0)

    def test_unknown_table(self, page: Page, portal_url: str, shot: Shot) -> None:
        page.goto(f"{portal_url}#/tables/no.such")
        expect(page.get_by_role("alert")).to_contain_text("there is no table 'no.such'")
        shot(page, "table-unknown")
        schema_tree(page).get_by_role("treeitem", name="objects").first.click()
        expect(page.get_by_role("heading", name="openngc.objects")).to_be_visible()


class TestOwnTables:
    def test_500_columns_of_ones_own(self, page: Page, portal_url: str, alice: User, shot: Shot) -> None:
        """Listed after sign-in; the page loads statistics only for visible columns, and finds a column at once."""
        names = [f"c{number:03d}" for number in range(498)]
        header = ",".join([*names, '"order ""by"" x"', "nothing"])
        rows = [",".join([*(str(row * number) for number in range(499)), "NaN"]) for row in range(20)]
        assert alice.put("mydb.wide", "\n".join([header, *rows])).status_code == 201
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.post_data or "") if "/sync" in request.url else None)
        page.goto(f"{portal_url}#/tables")
        expect(schema_tree(page).get_by_role("treeitem", name="tycho2", exact=True)).to_be_visible()
        expect(schema_tree(page).get_by_text("wide")).to_have_count(0)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("Name", exact=True).fill("alice")
        page.get_by_label("Password", exact=True).fill(USERS["alice"])
        page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
        schema_tree(page).get_by_text("wide", exact=True).click()
        expect(page.get_by_text("Kept until")).to_be_visible()
        expect(page.get_by_test_id("rows")).to_have_text("20")
        column_row(page, "c000").scroll_into_view_if_needed()
        expect(column_row(page, "c002")).to_contain_text("0 … 38")
        shot(page, "table-wide")
        statistics = [body for body in asked if "MIN%28c" in body]
        assert statistics
        assert not any("c250" in body for body in statistics)
        page.get_by_role("searchbox", name="Filter by name").fill("nothing")
        expect(page.get_by_text("1 of 500 columns")).to_be_visible()
        expect(column_row(page, "nothing")).to_contain_text("NaN … NaN")
        page.get_by_role("searchbox", name="Filter by name").fill("order")
        quoted = page.get_by_role("row", name='"order ""by"" x"')
        expect(quoted).to_contain_text("0 … 9462")
        quoted.get_by_role("button").click()
        page.get_by_role("button", name="Distribution as a query").click()
        expect(page.get_by_text("20 rows", exact=True)).to_be_visible()


class TestExamples:
    def test_run_and_plot(self, page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
        page.goto(f"{portal_url}#/examples")
        heading = page.get_by_role("heading", name="Stars around the Pleiades")
        pleiades = page.locator("article.card").filter(has=heading)
        expect(pleiades.first).to_be_visible()
        shot(page, "examples")
        accessible(page)
        pleiades.first.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text(re.compile(r"^\d+ rows$"))).to_be_visible()
        page.goto(f"{portal_url}#/examples")
        page.get_by_role("searchbox", name="Filter examples").fill("colour-magnitude Pleiades")
        page.get_by_role("button", name="Run and plot").first.click()
        expect(page.get_by_role("tab", name="Plot")).to_have_attribute("aria-selected", "true")
        expect(page.get_by_role("region", name="Result").locator("canvas").first).to_be_visible()
        shot(page, "examples-plot")

    def test_every_task_has_an_example(self, page: Page, portal_url: str, tap: pyvo.dal.TAPService) -> None:
        """Each shows what the service lists."""
        page.goto(f"{portal_url}#/examples")
        for task in ("Search around a position", "Colour-magnitude diagram", "Cross-match", "Time series"):
            section = page.get_by_role("region", name=task)
            expect(section.get_by_role("button", name="Run", exact=True).first).to_be_visible()
        queries = page.get_by_role("region", name="By table").locator("pre")
        queries.first.wait_for(state="attached")
        shown = queries.all_text_contents()
        listed = [" ".join(example["QUERY"].split()) for example in tap.examples]
        assert listed
        assert set(listed) <= {" ".join(query.split()) for query in shown}


def test_on_a_phone(phone: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
    """The tree, then the page of a table: they fit the width, in light and dark."""
    phone.goto(f"{portal_url}#/tables")
    expect(schema_tree(phone).get_by_role("treeitem", name="tycho2", exact=True)).to_be_visible()
    shot(phone, "phone-tables")
    schema_tree(phone).get_by_text("bright", exact=True).tap()
    expect(phone.get_by_role("region", name="On the sky").locator("canvas")).to_be_visible()
    shot(phone, "phone-table")
    phone.emulate_media(color_scheme="dark")
    column_row(phone, "vt_mag").scroll_into_view_if_needed()
    expect(column_row(phone, "vt_mag").get_by_role("img")).to_be_visible()
    shot(phone, "phone-columns-dark")
    accessible(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.goto(f"{portal_url}#/examples")
    expect(phone.get_by_role("button", name="Run", exact=True).first).to_be_visible()
    shot(phone, "phone-examples-dark")
    assert phone.evaluate("document.querySelector('main').scrollWidth") <= 390
