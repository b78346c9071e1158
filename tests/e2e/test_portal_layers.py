"""Layers of plots: what is drawn is computed again from the service's rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_plots import (
    OBJECTS,
    choose_kind,
    count_chosen,
    drag_over,
    lit_share,
    option_select,
    plot_query,
    query_rows,
    read_csv,
    read_drawn,
    save_plot,
)
from tests.support.running_service import RunningService

STARS = "SELECT ra, dec, bt_mag, vt_mag, e_bt_mag, e_vt_mag FROM tycho2.bright WHERE vt_mag < 4 AND bt_mag IS NOT NULL"


def open_layers(page: Page) -> None:
    page.locator("details.layers").locator("visible=true").locator("summary").click()


def wait_for_layers(page: Page, condition: str) -> dict[str, Any]:
    """Wait until the layers that were drawn (``layers``) meet a condition in JavaScript. Return them."""
    shown = "JSON.parse([...document.querySelectorAll('canvas.layers')].find((one) => one.clientWidth).dataset.drawn ?? '{}')"
    page.wait_for_function(f"() => {{ const layers = {shown}; return {condition}; }}")
    found: dict[str, Any] = page.evaluate(shown)
    return found


def test_line_bins_contours_and_error_bars(
    page: Page, portal_url: str, portal: RunningService, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    plot_query(page, portal_url, STARS)
    choose_kind(page, "Scatter")
    open_layers(page)
    page.get_by_label("Fitted line").check()
    rows = query_rows(portal, STARS)
    # the columns are 32-bit floats, which the page subtracts as 64-bit ones
    blue, magnitude, error = (
        np.array([row[name] for row in rows], np.float32).astype(float) for name in ("bt_mag", "vt_mag", "e_vt_mag")
    )
    colour = blue - magnitude
    (slope, intercept), covariance = np.polyfit(colour, magnitude, 1, cov=True)
    fit = wait_for_layers(page, "layers.fit")["fit"]
    assert [fit["intercept"], fit["slope"]] == pytest.approx([intercept, slope], rel=1e-5)
    assert [fit["slopeError"], fit["interceptError"]] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-5)

    thin = lit_share(page)
    option_select(page, "Horizontal errors").select_option("automatic (e_bt_mag, e_vt_mag)")
    option_select(page, "Vertical errors").select_option("automatic (e_vt_mag)")
    weighted = wait_for_layers(page, "layers.fit?.chiSquare")["fit"]
    assert weighted["slope"] == pytest.approx(np.polyfit(colour, magnitude, 1, w=1 / error)[0], rel=1e-5)
    read_drawn(page)
    assert lit_share(page) > thin

    option_select(page, "In bins").select_option("median, 16–84 %")
    option_select(page, "Contours").select_option("of rows enclosed")
    page.get_by_label("Marginal histograms").check()
    layers = wait_for_layers(page, "layers.bins > 5 && layers.contours === 5")
    shot(page, "layers-scatter")
    accessible(page)
    expect(page.get_by_role("application").locator("visible=true")).to_have_attribute(
        "aria-label",
        re.compile("contours that enclose 10, 30, 50, 70 and 90 % of the rows in view.*fitted line vt_mag"),
    )
    saved = read_csv(save_plot(page, "Values in bins (CSV)"))
    assert len(saved) == layers["bins"]
    low, high = float(saved[3]["bt_mag − vt_mag_from"]), float(saved[3]["bt_mag − vt_mag_to"])
    inside = magnitude[(colour >= low - 1e-6) & (colour < high - 1e-6)]
    assert int(saved[3]["rows"]) == inside.size
    assert float(saved[3]["vt_mag_median"]) == pytest.approx(np.median(inside), abs=1e-5)
    line = {row["quantity"]: row["value"] for row in read_csv(save_plot(page, "Fitted line (CSV)"))}
    assert float(line["slope"]) == pytest.approx(weighted["slope"])

    page.get_by_role("button", name="Box", exact=True).click()
    drag_over(page, (0.5, 0.02), (0.98, 0.98))
    chosen = wait_for_layers(page, f"layers.fit?.count === {count_chosen(page)}")["fit"]
    right = colour >= chosen["from"]
    assert chosen["count"] == right.sum()
    assert chosen["slope"] == pytest.approx(
        np.polyfit(colour[right], magnitude[right], 1, w=1 / error[right])[0], rel=1e-4
    )
    svg = save_plot(page, "Picture (SVG)").path().read_text(encoding="utf-8")
    assert "<polygon" in svg
    assert "90 %" in svg


def test_another_result_is_drawn_over_a_map_and_a_plot(page: Page, portal_url: str, shot: Shot) -> None:
    plot_query(page, portal_url, STARS)
    page.goto(f"{portal_url}#/query?adql={quote(OBJECTS)}")
    page.get_by_label("Run mode").locator("visible=true").select_option("at once")
    page.get_by_role("button", name="▶ Run").locator("visible=true").click()
    page.get_by_role("tab", name="Plot", exact=True).locator("visible=true").click()
    plain = read_drawn(page)
    assert plain["kind"] == "sky"
    open_layers(page)
    add = option_select(page, "Add a result").locator("visible=true")
    add.select_option(index=1)
    picture = page.get_by_role("application").locator("visible=true")
    expect(picture).to_have_attribute("aria-label", re.compile(r"points of Shared query on top"))
    shot(page, "layers-sky")
    scatter = choose_kind(page, "Scatter")
    # the stars are brighter than all objects
    assert min(scatter["view"][2:]) < 0
    shot(page, "layers-overlay")
    page.get_by_title("Close Shared query").first.click()
    expect(page.get_by_text("Shared query is closed: its rows are not shown").first).to_be_visible()
    while (view := read_drawn(page)["view"]) == scatter["view"]:
        page.wait_for_timeout(50)
    assert min(view[2:]) > scatter["view"][3]
