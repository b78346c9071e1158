"""Rows in the portal: the row panel, LINKs and DataLink, filters on floats, the download menu."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from clickhouse_schema.engine_tables.catalogue_log import register_table, unregister_table
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.e2e.screenshots import Shot

DATALINK = "application/x-votable+xml;content=datalink"
_PIXEL = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="teal"/></svg>'
)
_COLUMNS = ("ID", "access_url", "error_message", "description", "semantics", "content_type", "content_length")


@pytest.fixture(scope="module", autouse=True)
def linked(demo_engine: EmbeddedEngine) -> Iterator[None]:
    """A table whose texts have a LINK that takes two columns."""
    href = "https://archive.example.org/page?id=${did}&v=${version}"
    columns = [
        {"name": "version", "datatype": "int", "nullable": False},
        {"name": "note", "datatype": "string", "nullable": False, "description": "What was seen"},
        {"name": "speed", "datatype": "float", "nullable": False, "ivoa:unit": "mas.yr**-1"},
        {"name": "did", "datatype": "string", "nullable": False, "skyhouse:links": [{"href": href, "title": "Page"}]},
    ]
    schema = Schema.model_validate_json(json.dumps({"name": "dl", "tables": [{"name": "seen", "columns": columns}]}))
    table = schema.tables[0]
    demo_engine.execute("CREATE DATABASE dl")
    demo_engine.execute(create_table_sql(table, "dl.seen"))
    long = "a long remark " * 40
    rows = ", ".join(f"({n}, '{long}{n}', {n} + 0.115, 'ivo://x/?{n} b')" for n in range(1, 41))
    demo_engine.execute(f"INSERT INTO dl.seen (version, note, speed, did) VALUES {rows}")
    register_table(demo_engine, schema, table)
    yield
    unregister_table(demo_engine, "dl", "seen")
    demo_engine.execute("DROP DATABASE dl")


def run_query(page: Page, portal_url: str, query: str) -> Locator:
    """Run a query at once. Return its table, with its first row there."""
    page.goto(f"{portal_url}#/query?adql={quote(query)}")
    page.get_by_label("Run mode").select_option("at once")
    page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
    expect(cell_at(page, 0, 0)).not_to_be_empty()
    return page.get_by_role("grid")


def cell_at(page: Page, index: int, column: int) -> Locator:
    return page.locator(f'[role=gridcell][data-index="{index}"][data-column="{column}"]')


def test_the_row_panel(page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
    grid = run_query(page, portal_url, "SELECT version, note, speed, did FROM dl.seen ORDER BY version DESC")
    link = cell_at(page, 0, 3).get_by_role("link")
    expect(link).to_have_attribute("href", "https://archive.example.org/page?id=ivo%3A%2F%2Fx%2F%3F40%20b&v=40")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(grid.get_by_role("columnheader", name="speed")).to_contain_text("mas/yr")
    assert "remark 40" in (cell_at(page, 0, 1).get_attribute("title") or "")

    grid.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("region", name=re.compile(r"^Row \d+$"))
    expect(panel.get_by_role("heading")).to_have_text("Row 1")
    expect(panel).to_contain_text("a long remark 40")
    expect(panel).to_contain_text("What was seen")
    expect(panel).to_contain_text("40.115 mas/yr")
    expect(panel.get_by_role("link", name="Page")).to_have_attribute("href", re.compile(r"v=40$"))
    page.keyboard.press("ArrowDown")
    expect(panel.get_by_role("heading")).to_have_text("Row 2")
    expect(panel).to_contain_text("a long remark 39")
    panel.get_by_role("button", name="Next row").click()
    panel.get_by_role("button", name="Next row").press("ArrowRight")
    expect(panel.get_by_role("heading")).to_have_text("Row 4")
    expect(panel).to_contain_text("a long remark 37")
    panel.get_by_label("Search columns").fill("what was")
    expect(panel.locator("dt")).to_have_count(1)
    accessible(page)
    shot(page, "rows-panel")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    cell_at(page, 5, 0).dblclick()
    expect(panel.get_by_role("heading")).to_have_text("Row 6")


def test_datalink_rows_are_listed(page: Page, portal_url: str, shot: Shot) -> None:
    rows = (
        ("1", f"{portal_url}preview.svg", "", "Look", "#preview", "image/svg+xml", ""),
        ("1", "https://archive.example.org/1.fits", "", "Spectrum", "#this", "application/fits", "2880000"),
        ("1", "", "NotFoundError: no auxiliary file", "", "#auxiliary", "", ""),
        ("1", "javascript:alert(1)", "", "Trap", "#this", "text/html", ""),
    )
    cells = "".join("<TR>" + "".join(f"<TD>{value}</TD>" for value in row) + "</TR>" for row in rows)
    fields = "".join(f'<FIELD name="{name}" datatype="char" arraysize="*"/>' for name in _COLUMNS)
    document = (
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE type="results">'
        f"<TABLE>{fields}<DATA><TABLEDATA>{cells}</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
    )
    page.route("**/links?ID=1", lambda route: route.fulfill(body=document, content_type=DATALINK))
    page.route("**/preview.svg", lambda route: route.fulfill(body=_PIXEL, content_type="image/svg+xml"))
    run_query(
        page,
        portal_url,
        f"SELECT TOP 1 id, '{portal_url}links?ID=1' AS access_url, '{DATALINK}' AS access_format FROM openngc.objects",
    )
    page.get_by_role("button", name="Open row 1").click()
    page.get_by_role("button", name="Show its files and links").click()
    products = page.get_by_role("list", name="Files and links")
    expect(products.get_by_role("img", name="Preview: Look")).to_be_visible()
    expect(products.get_by_role("link", name="Spectrum")).to_have_attribute(
        "href", "https://archive.example.org/1.fits"
    )
    expect(products).to_contain_text("this · application/fits · 2.88 MB")
    expect(products).to_contain_text("no auxiliary file")
    expect(products).not_to_contain_text("Trap")
    shot(page, "rows-datalink")


def test_floats_are_filtered_as_shown(page: Page, portal_url: str) -> None:
    run_query(page, portal_url, "SELECT version, speed FROM dl.seen ORDER BY version")
    expect(cell_at(page, 0, 1)).to_have_text("1.115")
    page.get_by_role("button", name="Filter", exact=True).click()
    condition = page.get_by_label("Filter speed")
    condition.fill("= 1.115")
    expect(page.get_by_text("1 shown")).to_be_visible()
    condition.fill("> 39.115")
    expect(page.get_by_text("1 shown")).to_be_visible()
    expect(cell_at(page, 0, 1)).to_have_text("40.115")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024)])
def test_on_small_screens(open_page: Callable[..., Page], portal_url: str, shot: Shot, width: int, height: int) -> None:
    page = open_page(viewport={"width": width, "height": height}, color_scheme="dark")
    run_query(page, portal_url, "SELECT version, note, speed, did FROM dl.seen ORDER BY version")
    page.get_by_role("region", name="Result", exact=True).get_by_role("button", name="Download", exact=True).click()
    box = page.get_by_role("button", name="Parquet").locator("xpath=..").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    expect(page.get_by_text("A spreadsheet may run them")).to_be_attached()
    shot(page, f"rows-download-{width}")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open row 1", exact=True).click()
    expect(page.get_by_role("region", name="Row 1")).to_be_in_viewport()
    shot(page, f"rows-panel-{width}")
