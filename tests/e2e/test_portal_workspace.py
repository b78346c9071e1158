"""The query page as a workplace: table and plot beside each other, within a small screen."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Shot
from tests.e2e.test_portal_plots import OBJECTS, drag_over, plot_picture, read_drawn, run_query


class TestArrangement:
    def test_table_and_plot_stand_beside_each_other(
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

        # rows chosen in the plot are marked in the table beside it
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
