"""Columns in the portal: computed ones, hidden, moved and pinned ones; facets, selections, rows as shown in files and queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet
from astropy.io.votable import parse_single_table
from playwright.sync_api import Locator, Page, expect

from tests.e2e.screenshots import Shot

QUERY = (
    "SELECT TOP 300 name, ra, dec, type, vmag, bmag FROM openngc.objects "
    "WHERE bmag IS NOT NULL AND vmag IS NOT NULL ORDER BY name"
)


def run_query(page: Page, portal_url: str, query: str = QUERY) -> Locator:
    """Run a query at once. Return its table, with its first row there."""
    page.goto(f"{portal_url}#/query?adql={quote(query)}")
    page.get_by_label("Run mode").select_option("at once")
    page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
    expect(cell_at(page, 0, 0)).not_to_be_empty()
    page.get_by_role("tab", name="Table").click()
    return page.get_by_role("grid")


def cell_at(page: Page, index: int, column: int) -> Locator:
    return page.locator(f'[role=gridcell][data-index="{index}"][data-column="{column}"]')


def wait_for_row(page: Page, condition: str) -> None:
    """Wait until the numbers ``c[0]``, ``c[1]`` ... of the first row fulfil a condition: they change one by one."""
    page.wait_for_function(
        f"""() => {{
            const cells = document.querySelectorAll('[role=gridcell][data-index="0"]');
            const c = Object.fromEntries([...cells].map((cell) => [cell.dataset.column, parseFloat(cell.innerText)]));
            return {condition};
        }}"""
    )


def open_downloads(page: Page) -> None:
    page.get_by_role("region", name="Result", exact=True).get_by_role("button", name="Download", exact=True).click()


def list_names(grid: Locator) -> list[str]:
    """The names of the columns, from the left."""
    headers = grid.get_by_role("columnheader").locator("b").all()
    return [header.inner_text() for header in sorted(headers, key=lambda header: (header.bounding_box() or {})["x"])]


def add_column(page: Page, name: str, expression: str, unit: str = "") -> None:
    page.get_by_role("button", name="+ Column").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Expression").fill(expression)
    dialog.get_by_label("Unit of the result").fill(unit)
    dialog.get_by_role("button", name="Add the column").click()
    expect(dialog).to_have_count(0)


def test_computed_columns(page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
    grid = run_query(page, portal_url)
    page.get_by_role("button", name="+ Column").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("colour")
    expression = dialog.get_by_label("Expression")
    expression.fill("bmag + dec")
    expect(dialog.get_by_role("alert")).to_contain_text("one side is in mag, the other in deg")
    expression.fill("bmag - vmga")
    dialog.get_by_role("button", name="Replace with vmag").click()
    expect(expression).to_have_value("bmag - vmag")
    expect(dialog).to_contain_text("In mag.")
    expect(dialog).to_contain_text("First values:")
    expression.fill("bmag - vm")
    dialog.get_by_role("option", name="vmag").click()
    expect(expression).to_have_value("bmag - vmag")
    accessible(page)
    shot(page, "columns-computed")
    dialog.get_by_role("button", name="Add the column").click()

    header = grid.get_by_role("columnheader", name="colour")
    expect(header).to_have_attribute("title", re.compile(r"Computed: bmag - vmag"))
    header.click()
    header.click()
    expect(header).to_have_attribute("aria-sort", "descending")
    wait_for_row(page, "c[6] > 0 && Math.abs(c[6] - (c[5] - c[4])) < 1e-6")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("Filter colour").fill("> 1")
    expect(page.get_by_role("region", name="Result", exact=True)).to_contain_text(re.compile(r"\d+ shown"))
    add_column(page, "arcmin", "dec", "arcmin")
    expect(grid.get_by_role("columnheader", name="arcmin")).to_be_visible()
    wait_for_row(page, "Math.abs(c[7] - 60 * c[2]) < 1e-3")

    grid.get_by_role("columnheader", name="colour").click(button="right")
    page.get_by_role("menuitem", name="Remove").click()
    expect(grid.get_by_role("columnheader", name="colour")).to_have_count(0)
    expect(page.get_by_role("region", name="Result", exact=True)).not_to_contain_text(re.compile(r"\d shown"))
    assert abs(float(cell_at(page, 0, 6).inner_text()) - 60 * float(cell_at(page, 0, 2).inner_text())) < 1e-3


def test_hidden_moved_and_pinned_columns(page: Page, portal_url: str, shot: Shot) -> None:
    page.set_viewport_size({"width": 768, "height": 900})
    grid = run_query(page, portal_url)
    box = grid.get_by_role("columnheader", name="vmag").bounding_box()
    target = grid.get_by_role("columnheader", name="ra", exact=False).first.bounding_box()
    assert box
    assert target
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(target["x"] + 4, target["y"] + 10, steps=4)
    shot(page, "columns-dragged")
    page.mouse.up()
    assert list_names(grid)[:4] == ["name", "vmag", "ra", "dec"]
    assert grid.get_by_role("columnheader", name="vmag").get_attribute("aria-sort") == "none"

    grid.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowLeft")
    assert list_names(grid)[:2] == ["vmag", "name"]
    page.keyboard.press("Alt+ArrowDown")
    menu = page.get_by_role("menu", name="Menu of column vmag")
    expect(menu.get_by_role("menuitem", name="Sort ascending")).to_be_focused()
    menu.get_by_role("menuitem", name="Pin to the left").click()
    grid.evaluate("box => box.scrollBy(400, 0)")
    shot(page, "columns-pinned")
    pinned = grid.get_by_role("columnheader", name="vmag").bounding_box()
    outer = grid.bounding_box()
    assert pinned
    assert outer
    assert pinned["x"] - outer["x"] < 100

    page.get_by_role("button", name="Columns …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Search columns").fill("mag")
    dialog.get_by_label("bmag", exact=False).first.uncheck()
    expect(dialog).to_contain_text("5 of 6 columns shown")
    dialog.get_by_role("button", name="Close").click()
    with page.expect_download() as downloading:
        open_downloads(page)
        page.get_by_role("button", name="300 rows, CSV").click()
    lines = Path(downloading.value.path()).read_text().splitlines()
    assert lines[0] == "vmag,name,ra,dec,type"
    assert len(lines) == 301


def test_facets_and_selections(page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
    run_query(page, portal_url)
    page.get_by_role("button", name="Facets").click()
    facets = page.get_by_role("region", name="Facets")
    result = page.get_by_role("region", name="Result", exact=True)
    value = facets.locator("details").nth(3).locator(".value").first
    kind, number = value.locator(".label").inner_text(), value.locator(".number").inner_text()
    value.click()
    expect(result).to_contain_text(f"{number} shown")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_label("Filter type")).to_have_value(f"= {kind}")

    histogram = facets.get_by_role("img", name="Histogram of dec")
    box = histogram.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 20, steps=5)
    page.mouse.up()
    expect(page.get_by_label("Filter dec")).to_have_value(re.compile(r"\.\."))
    expect(result).not_to_contain_text(f"{number} shown")
    accessible(page)
    shot(page, "columns-facets")
    facets.get_by_role("button", name=f"Exclude {kind}", exact=True).click()
    expect(page.get_by_label("Filter type")).to_have_value(f"!= {kind}")
    facets.get_by_role("button", name="Clear all filters").click()
    expect(result).not_to_contain_text(re.compile(r"\d shown"))

    cell_at(page, 1, 0).click()
    cell_at(page, 3, 0).click(modifiers=["Shift"])
    page.get_by_role("button", name="Selections").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the selection").fill("three")
    dialog.get_by_role("button", name="Keep the chosen rows").click()
    kept = dialog.get_by_role("listitem", name="three")
    dialog.get_by_role("button", name="Choose the others").click()
    expect(dialog).to_contain_text("297 rows chosen now")
    kept.get_by_role("button", name="Add").click()
    expect(dialog).to_contain_text("300 rows chosen now")
    kept.get_by_role("button", name="Without").click()
    expect(dialog).to_contain_text("297 rows chosen now")
    kept.get_by_role("button", name="Common").click()
    expect(dialog).to_contain_text("0 rows chosen now")
    kept.get_by_role("button", name="Choose", exact=True).click()
    kept.get_by_role("button", name="Show only these").click()
    accessible(page)
    shot(page, "columns-selections")
    dialog.get_by_role("button", name="Close").click()
    expect(result).to_contain_text("3 shown")


def test_rows_as_shown_in_files_and_queries(page: Page, portal_url: str, shot: Shot) -> None:
    grid = run_query(page, portal_url)
    add_column(page, "colour", "bmag - vmag")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("Filter colour").fill("0.8..2")
    result = page.get_by_role("region", name="Result", exact=True)
    expect(result).to_contain_text(re.compile(r"\d+ shown"))
    grid.get_by_role("columnheader", name="colour").click()
    shown = int(re.search(r"(\d+) shown", result.inner_text())[1])  # type: ignore[index]

    open_downloads(page)
    page.get_by_role("button", name="Rows as shown or chosen …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Format").select_option(label="VOTable")
    shot(page, "columns-exported")
    with page.expect_download() as downloading:
        dialog.get_by_role("button", name="Download").click()
    table = parse_single_table(BytesIO(Path(downloading.value.path()).read_bytes())).to_table()
    assert len(table) == shown
    assert str(table["colour"].unit) == "mag"
    assert table["colour"].description == "bmag - vmag"
    assert table["ra"].unit == "deg"
    assert table["ra"].meta["ucd"].startswith("pos.eq.ra")
    assert list(table["colour"]) == sorted(table["colour"])
    dialog.get_by_label("Format").select_option(label="Parquet")
    with page.expect_download() as downloading:
        dialog.get_by_role("button", name="Download").click()
    assert pyarrow.parquet.read_table(downloading.value.path()).column_names == table.colnames
    dialog.get_by_role("button", name="Use in queries").click()
    expect(dialog).to_contain_text("TAP_UPLOAD.")

    dialog.get_by_role("button", name="Open as ADQL").click()
    expect(page.locator(".cm-content")).to_contain_text("bmag - vmag AS colour")
    page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
    expect(page.get_by_role("region", name=re.compile("filtered")).first).to_contain_text(f"{shown} rows")
