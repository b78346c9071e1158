"""The query page as a workplace: table and plot side by side, two windows, earlier queries, files, what cannot be loaded."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_plots import OBJECTS, drag_over, plot_picture, read_drawn, run_query
from tests.e2e.test_portal_query import (
    query_editor,
    query_tabs,
    read_query,
    result_section,
    row_count,
    type_query,
    write_query,
)

STALE = "This is the result of an earlier query."
CLOSED = "This query was closed in another window."
MINE = {"name": "mine.csv", "mimeType": "text/csv", "buffer": b"ra,dec,label\n56.75,24.12,Pleiades\n10.68,41.27,M31\n"}
PAGES = (
    *("home", "query", "tables", "tables/tycho2.bright", "explore/no.table", "examples", "jobs", "uploads"),
    *("uploads/match", "object", "object?name=M31", "account", "admin", "nowhere"),
)


def open_query(page: Page, portal_url: str) -> Page:
    page.goto(portal_url + "#/query")
    expect(query_editor(page)).to_be_visible()
    return page


def run_here(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()


def menu_button(page: Page, name: str) -> Locator:
    return page.locator(".menu > button", has_text=name).locator("visible=true")


class TestArrangement:
    def test_table_and_plot_stand_side_by_side(
        self, open_page: Callable[..., Page], portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        page = open_page(viewport={"width": 1366, "height": 768})
        run_query(page, portal_url, OBJECTS)
        expect(page.get_by_role("tab", name="Side by side")).to_have_attribute("aria-selected", "true")
        read_drawn(page)
        grid = page.get_by_role("grid").locator("visible=true")
        table, plot = grid.bounding_box(), plot_picture(page).bounding_box()
        assert table
        assert plot
        assert table["x"] + table["width"] <= plot["x"]
        assert plot["y"] + plot["height"] <= 768
        assert plot["height"] >= 160
        shot(page, "workspace-laptop")
        accessible(page)

        # the options open above the picture and leave its size
        page.get_by_text("Options", exact=True).click()
        assert plot_picture(page).bounding_box() == plot
        page.get_by_text("Options", exact=True).click()

        # rows chosen in the plot are marked in the table next to it
        page.get_by_label("Kind of plot").select_option("Scatter")
        read_drawn(page)
        page.get_by_role("button", name="Box", exact=True).click()
        drag_over(page, (0.3, 0.2), (0.45, 0.5))
        page.get_by_role("button", name="Show in the table").click()
        expect(grid.locator("[aria-selected=true]").first).to_be_visible()
        expect(page.get_by_role("tab", name="Side by side")).to_have_attribute("aria-selected", "true")
        shot(page, "workspace-brushed")

        splitter = page.get_by_role("separator", name="Width of Table")
        before = grid.bounding_box()
        splitter.press("Shift+ArrowLeft")
        after = grid.bounding_box()
        assert before
        assert after
        assert after["width"] < before["width"]

    def test_without_room_one_view_is_shown(self, phone: Page, portal_url: str) -> None:
        run_query(phone, portal_url, OBJECTS)
        expect(phone.get_by_role("tab", name=re.compile("^Table$"))).to_have_attribute("aria-selected", "true")
        expect(phone.get_by_role("tab", name="Side by side")).to_have_count(0)


class TestWindows:
    def test_two_windows_share_their_queries_and_lose_none(self, page: Page, portal_url: str, shot: Shot) -> None:
        open_query(page, portal_url)
        type_query(page, "SELECT TOP 7 ra, dec FROM tycho2.bright")
        other = open_query(page.context.new_page(), portal_url)
        expect(query_editor(other)).to_contain_text("TOP 7")

        # both write: each in its own query, and in the same one
        page.get_by_role("button", name="New query").click()
        type_query(page, "SELECT 'one'")
        expect(query_tabs(other)).to_have_text(["Query 1", "Query 2"])
        other.get_by_role("button", name="New query").click()
        type_query(other, "SELECT 'other'")
        expect(query_tabs(page)).to_have_text(["Query 1", "Query 2", "Query 3"])
        query_tabs(other).nth(1).click()
        query_editor(other).click()
        other.keyboard.press("Control+End")
        other.keyboard.type(" AS mine")
        expect(query_editor(page)).to_have_text("SELECT 'one' AS mine")
        # what was typed here can be undone, what came from the other window stays
        query_editor(page).click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("-- 1")
        page.keyboard.press("Enter")
        expect(query_editor(other)).to_have_text("-- 1SELECT 'one' AS mine")
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+z")
        expect(query_editor(other)).to_have_text("SELECT 'one' AS mine")

        # a query that one window closes leaves the other, unless it is in sight there
        query_tabs(page).nth(2).click()
        page.keyboard.press("Shift+Alt+W")
        expect(query_tabs(other)).to_have_text(["Query 1", "Query 2"])
        query_tabs(page).nth(1).click()
        page.keyboard.press("Shift+Alt+W")
        expect(other.get_by_text(CLOSED)).to_be_visible()
        shot(other, "workspace-closed-elsewhere")
        other.get_by_role("button", name="Keep it").click()
        expect(other.get_by_text(CLOSED)).to_have_count(0)
        expect(query_tabs(page)).to_have_text(["Query 1", "Query 2"])

        page.keyboard.press("Shift+Alt+T")
        expect(query_tabs(page)).to_have_text(["Query 1", "Query 2", "Query 3"])
        assert read_query(page) == "SELECT 'other'"
        expect(query_tabs(other)).to_have_text(["Query 1", "Query 2", "Query 3"])
        for window, chosen in ((page, 2), (other, 1)):
            window.reload()
            expect(query_tabs(window)).to_have_text(["Query 1", "Query 2", "Query 3"])
            expect(query_tabs(window).nth(chosen)).to_have_attribute("aria-selected", "true")


class TestEarlierQueries:
    def test_a_result_names_the_query_it_comes_from(
        self, page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        open_query(page, portal_url)
        write_query(page, "SELECT TOP 7 ra, dec FROM tycho2.bright")
        page.get_by_label("Run mode").select_option("as a job")
        run_here(page)
        expect(row_count(page, "7 rows")).to_be_visible()
        mark = result_section(page).get_by_text(STALE)
        page.get_by_role("button", name="Tidy").click()
        expect(mark).to_have_count(0)
        query_editor(page).click()
        page.keyboard.press("Control+End")
        page.keyboard.type(" WHERE dec > 0")
        page.keyboard.press("Escape")
        expect(mark).to_be_visible()
        shot(page, "workspace-stale")
        accessible(page)
        page.keyboard.press("Control+z")
        expect(mark).to_have_count(0)
        page.keyboard.press("Control+y")
        expect(mark).to_be_visible()
        page.reload()
        expect(mark).to_be_visible()

        page.get_by_role("button", name="Show that query").click()
        dialog = page.get_by_role("dialog", name="The query of this result")
        expect(dialog).to_contain_text("FROM tycho2.bright")
        expect(dialog).not_to_contain_text("WHERE")
        dialog.get_by_role("button", name="Back to that query").click()
        expect(mark).to_have_count(0)
        assert "WHERE" not in read_query(page)
        query_editor(page).click()
        page.keyboard.press("Control+z")
        expect(mark).to_be_visible()
        page.get_by_label("Run mode").select_option("at once")
        page.get_by_role("button", name="Run the new query").click()
        expect(mark).to_have_count(0)
        expect(row_count(page, "7 rows")).to_be_visible()
        page.get_by_role("spinbutton", name="Row limit").fill("3")
        page.keyboard.press("Tab")
        expect(result_section(page).get_by_text("This result has a different row limit.")).to_be_visible()

        # an error stands once
        write_query(page, "SELECT decl FROM tycho2.bright")
        run_here(page)
        expect(result_section(page).get_by_role("alert")).to_have_text(re.compile("because of the error listed"))
        expect(page.get_by_text("there is no column decl").locator("visible=true")).to_have_count(1)


class TestFiles:
    def test_are_in_the_tree_and_named_where_a_query_is_shared(
        self, page: Page, open_page: Callable[..., Page], portal_url: str, shot: Shot
    ) -> None:
        second = page.context.new_page()
        for window, name in ((page, "mine.csv"), (second, "other.csv")):
            window.goto(portal_url + "#/uploads")
            window.locator("input[type=file]").first.set_input_files([{**MINE, "name": name}])
            expect(window.get_by_role("heading", name=name)).to_be_visible()
        # neither window has lost the other's file
        for window in (page, second):
            expect(window.locator("button.file")).to_have_count(2)
            expect(window.locator("[aria-busy=true]")).to_have_count(0)
        second.reload()
        expect(second.locator("button.file")).to_have_text([re.compile("mine"), re.compile("other")])
        second.get_by_role("button", name="Remove other").click()
        expect(page.locator("button.file")).to_have_count(1)
        second.close()
        page.get_by_role("link", name="Query", exact=True).click()
        tree = page.get_by_role("tree")
        tree.get_by_role("treeitem", name="mine").locator(".twisty").click()
        write_query(page, "SELECT  FROM TAP_UPLOAD.mine")
        page.keyboard.press("Control+Home")
        for _ in "SELECT ":
            page.keyboard.press("ArrowRight")
        tree.get_by_role("treeitem", name="label").click()
        assert read_query(page).split() == ["SELECT", "label", "FROM", "TAP_UPLOAD.mine"]
        run_here(page)
        expect(row_count(page, "2 rows")).to_be_visible()
        page.get_by_role("searchbox").first.fill("label")
        expect(tree.get_by_role("treeitem").first).to_contain_text("TAP_UPLOAD.mine")
        shot(page, "workspace-uploads")
        page.get_by_role("button", name="Share").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("The link does not contain your files (mine)")).to_be_visible()
        expect(dialog.get_by_role("button", name="Sign in to save them")).to_be_visible()
        shot(page, "workspace-share-uploads")
        with page.expect_download() as download:
            dialog.get_by_role("button", name="Download a notebook").click()
        assert "b64decode" in download.value.path().read_text()
        expect(dialog.get_by_label("Link", exact=True)).to_have_value(re.compile("adql="))
        link = dialog.get_by_label("Link", exact=True).input_value()

        # the reader is told, and adds the file
        reader = open_page()
        reader.goto(link)
        expect(reader.get_by_text("This query reads TAP_UPLOAD.mine")).to_be_visible()
        shot(reader, "workspace-missing-file")
        adds = reader.locator("label", has_text="Add a file as mine").locator("input")
        adds.set_input_files([{**MINE, "name": "theirs.csv"}])
        expect(reader.get_by_text("This query reads TAP_UPLOAD.mine")).to_have_count(0)
        run_here(reader)
        expect(row_count(reader, "2 rows")).to_be_visible()

        # the same link again leads to the same tab
        tabs = ["Query 1", "Shared query"]
        expect(query_tabs(reader)).to_have_text(tabs)
        query_tabs(reader).first.click()
        reader.goto(link)
        expect(query_tabs(reader).nth(1)).to_have_attribute("aria-selected", "true")
        reader.goto("about:blank")
        reader.goto(link)
        expect(query_editor(reader)).to_contain_text("TAP_UPLOAD.mine")
        reader.go_back()
        reader.go_forward()
        expect(query_editor(reader)).to_contain_text("TAP_UPLOAD.mine")
        expect(query_tabs(reader)).to_have_text(tabs)


class TestMenus:
    @pytest.mark.parametrize(("width", "height"), [(768, 1024), (390, 844)])
    def test_stay_within_the_window(
        self, open_page: Callable[..., Page], portal_url: str, shot: Shot, width: int, height: int
    ) -> None:
        page = open_page(viewport={"width": width, "height": height})
        run_query(page, portal_url, OBJECTS)
        expect(menu_button(page, "Download")).to_be_visible()
        page.get_by_role("button", name="New query").click()
        write_query(page, "SELECT 1")
        page.keyboard.press("Shift+Alt+W")
        for name in ("Closed", "Download", "Copy", "Script", "Save"):
            if name == "Save":
                page.get_by_role("tab", name="Plot", exact=True).click()
            menu_button(page, name).click()
            box = page.locator(".menu .list").bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["y"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["y"] + box["height"] <= height
            shot(page, f"workspace-menu-{name.lower()}-{width}")
            page.keyboard.press("Escape")


class TestLoading:
    def test_what_cannot_be_loaded_says_why_and_can_be_loaded_again(
        self, page: Page, portal_url: str, shot: Shot
    ) -> None:
        # its console may tell of requests without an answer
        window = open_query(page.context.new_page(), portal_url)
        window.route("**/assets/PlotPanel*", lambda route: route.fulfill(status=404))
        write_query(window, "SELECT TOP 9 ra, dec FROM tycho2.bright")
        run_here(window)
        expect(row_count(window, "9 rows")).to_be_visible()
        alert = result_section(window).get_by_role("alert")
        expect(alert).to_have_text(re.compile("The browser could not load this part of the portal."))

        def answer_newer(route: Route) -> None:
            answer = route.fetch()
            route.fulfill(response=answer, body=re.sub(r"index-[\w-]+\.js", "index-newer.js", answer.text()))

        window.route(portal_url, answer_newer)
        window.get_by_role("button", name="Try again").click()
        expect(alert).to_have_text(re.compile("The portal has been updated. Reload the page"))
        expect(window.get_by_role("button", name="Reload the page")).to_be_visible()
        shot(window, "workspace-updated")
        window.unroute_all()

        window.get_by_role("tab", name="Table", exact=True).click()
        page.context.set_offline(True)
        window.get_by_role("tab", name="Plot", exact=True).click()
        expect(alert).to_have_text(re.compile("The service does not answer."))
        page.context.set_offline(False)
        window.get_by_role("button", name="Try again").click()
        read_drawn(window)
        # with its styles
        assert plot_picture(window).evaluate("(one) => getComputedStyle(one.parentElement).position") == "relative"


class TestHeadings:
    def test_each_page_has_one_of_the_first_level(self, page: Page, portal_url: str) -> None:
        for name in PAGES:
            page.goto(f"{portal_url}#/{name}")
            heading = page.get_by_role("heading", level=1)
            expect(heading, name).to_have_count(1)
            expect(heading, name).not_to_be_empty()
