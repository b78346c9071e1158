"""Several plots of a result: brushed together, arranged freely, kept over a reload and in links."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_plots import OBJECTS
from tests.e2e.test_portal_query import write_query


def run_query(page: Page) -> None:
    page.get_by_label("Run mode").select_option("at once")
    page.get_by_role("button", name="▶ Run").click()


def tile(page: Page, title: str) -> Locator:
    return page.locator(f"section.tile[aria-label^='{title}']").locator("visible=true")


def titles(page: Page) -> list[str]:
    return [one.get_attribute("aria-label") or "" for one in page.locator("section.tile").locator("visible=true").all()]


def add_plot(page: Page, kind: str) -> None:
    page.get_by_role("button", name="+ Plot").locator("visible=true").click()
    page.locator(".tabs-end").get_by_role("button", name=kind, exact=True).click()
    expect(tile(page, kind).locator("canvas.picture[data-drawn]")).to_be_visible()


def choose_tool(plot: Locator, tool: str) -> None:
    """Choose a tool from the list of a small tile, or by its button."""
    tools = plot.get_by_role("combobox", name="Drag tool")
    if tools.count():
        tools.select_option(label=tool)
    else:
        plot.get_by_role("button", name=tool, exact=True).click()


def brush_box(page: Page, plot: Locator) -> None:
    choose_tool(plot, "Box")
    picture = plot.locator("canvas.picture")
    left, top, width, height = json.loads(picture.get_attribute("data-drawn") or "{}")["box"]
    frame = picture.bounding_box()
    assert frame
    page.mouse.move(frame["x"] + left + 0.2 * width, frame["y"] + top + 0.1 * height)
    page.mouse.down()
    page.mouse.move(frame["x"] + left + 0.7 * width, frame["y"] + top + 0.9 * height, steps=5)
    page.mouse.up()


def chosen_rows(page: Page) -> str:
    counts = page.get_by_text(re.compile(r"^· [\d,]+ chosen$")).locator("visible=true")
    expect(counts).to_be_visible()
    return counts.inner_text()


class TestLayout:
    def test_plots_are_brushed_together_and_come_back(
        self, open_page: Callable[..., Page], portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        page = open_page(viewport={"width": 1366, "height": 768})
        page.goto(f"{portal_url}#/query?adql={quote(OBJECTS)}")
        run_query(page)
        expect(tile(page, "Sky").locator("canvas.picture[data-drawn]")).to_be_visible()
        add_plot(page, "Histogram")
        add_plot(page, "Scatter")
        assert [one.split(":")[0] for one in titles(page)] == ["Table", "Sky", "Scatter", "Histogram"]

        scatter = tile(page, "Scatter")
        scatter.get_by_text("Options", exact=True).click()
        scatter.get_by_role("combobox", name="Colour by").select_option(label="type")
        scatter.get_by_text("Options", exact=True).click()

        # all of it is on the screen
        for one in page.locator("section.tile").all():
            box = one.bounding_box()
            assert box
            assert box["y"] + box["height"] < 769
            assert box["height"] >= 150

        # rows chosen in one plot are marked in all
        brush_box(page, tile(page, "Histogram"))
        chosen = chosen_rows(page)
        number = re.sub(r"\D", "", chosen)
        for kind in ("Sky", "Scatter", "Histogram"):
            expect(tile(page, kind).locator("canvas.chosen")).to_have_attribute("data-drawn", number)
        shot(page, "layout-brushed")
        accessible(page)

        # a tile is moved by its menu and by dragging its head, and fills the result
        table = tile(page, "Table")
        table.get_by_role("button", name="Tile").click()
        table.get_by_role("button", name="Move right").click()
        assert titles(page)[-1] == "Table"
        head = tile(page, "Scatter").locator(".title")
        goal = tile(page, "Sky").bounding_box()
        assert goal
        head.hover()
        page.mouse.down()
        page.mouse.move(goal["x"] + 10, goal["y"] + goal["height"] / 2, steps=4)
        shot(page, "layout-dragged")
        page.mouse.up()
        assert [one.split(":")[0] for one in titles(page)] == ["Scatter", "Sky", "Histogram", "Table"]
        tile(page, "Histogram").get_by_role("button", name="Fill the result").click()
        assert len(titles(page)) == 1
        tile(page, "Histogram").get_by_role("button", name="Show the others again").click()
        arranged = titles(page)

        # after a reload and another run it is as it was
        page.reload()
        run_query(page)
        expect(tile(page, "Histogram").locator("canvas.chosen")).to_have_attribute("data-drawn", number)
        assert titles(page) == arranged
        assert chosen_rows(page) == chosen

        # and in a link, in another browser profile
        page.get_by_role("button", name="Share", exact=True).click()
        link = page.get_by_label("Link", exact=True)
        expect(link).to_have_value(re.compile("layout="))
        other = open_page(viewport={"width": 1366, "height": 768})
        other.goto(link.input_value())
        run_query(other)
        expect(tile(other, "Scatter").locator("canvas.chosen")).to_have_attribute("data-drawn", number)
        assert titles(other) == arranged

        # another query keeps what fits it: the column that coloured the scatter plot is gone
        write_query(other, "SELECT name, ra, dec, vmag FROM openngc.objects")
        run_query(other)
        expect(other.get_by_text("Left out of the layout")).to_contain_text("type")
        assert len(titles(other)) == 4
        expect(other.get_by_text(re.compile("chosen$")).locator("visible=true")).to_have_count(0)

    def test_on_a_phone_each_plot_has_its_tab(self, phone: Page, portal_url: str, shot: Shot) -> None:
        phone.goto(f"{portal_url}#/query?adql={quote(OBJECTS)}")
        run_query(phone)
        phone.get_by_role("tab", name="Plot", exact=True).tap()
        add_plot(phone, "Histogram")
        tab = phone.get_by_role("tab", name=re.compile("^Histogram"))
        expect(tab).to_have_attribute("aria-selected", "true")
        assert len(titles(phone)) == 1
        shot(phone, "layout-phone")
        phone.get_by_role("tab", name=re.compile("^Sky")).tap()
        expect(tile(phone, "Sky")).to_be_visible()
