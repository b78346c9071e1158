"""Results in the portal: a million rows sorted, filtered, chosen, copied, saved; incomplete results; results of jobs."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import astropy.io.votable
import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import pyvo
import requests
from astropy.io import fits
from playwright.sync_api import Locator, Page, expect

from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService, running_service
from tests.tap_service.users import USERS, temporary_user

#: OpenNGC's ids are 1 to 14033: row n has the ids (n - 1) % 14033 + 1 and (n - 1) // 14033 + 1
OBJECTS = 14033
MILLION = """SELECT a.id, a.name, a.ra, a.dec, a.bmag, a.type, b.id AS other, b.ra AS ra2, b.dec AS dec2, b.const AS const2
FROM openngc.objects AS a JOIN openngc.objects AS b ON b.id <= 72
ORDER BY b.id, a.id"""
GALAXIES = "SELECT id, name, ra, dec, vmag, type, notngc FROM openngc.objects WHERE ra < 60 ORDER BY id"


def run_query(page: Page, portal_url: str, query: str, maxrec: int | None = None) -> Locator:
    """Run a query at once on the query page. Return its table."""
    page.goto(f"{portal_url}#/query?adql={quote(query)}")
    page.get_by_label("Run mode").select_option("at once")
    if maxrec is not None:
        page.get_by_role("spinbutton", name="Row limit").fill(str(maxrec))
    page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
    return page.get_by_role("grid")


def cell_at(page: Page, index: int, column: int) -> Locator:
    """Return the cell at an index and column, both from 0."""
    return page.locator(f'[role=gridcell][data-index="{index}"][data-column="{column}"]')


def row_status(page: Page) -> Locator:
    """Return the page's text about its rows."""
    return page.locator(".rows").filter(has=page.locator("b")).first


def query_rows(portal: RunningService, query: str) -> list[tuple]:
    """Return pyvo's rows, with NULL and NaN as None."""
    with requests.Session() as session:
        table = pyvo.dal.TAPService(portal.tap, session=session).search(query, maxrec=100_000).to_table()
    return [tuple(None if value is None or value != value else value for value in row) for row in _plain(table)]


def _plain(table) -> Iterator[list]:
    columns = [[None if value is None else value for value in table[name].tolist()] for name in table.colnames]
    return map(list, zip(*columns, strict=True))


def copy_rows(page: Page, how: str) -> list[list[str]]:
    """Copy rows from the menu and return them from the clipboard."""
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_role("button", name=re.compile(how)).filter(has_text="tab-separated").click()
    expect(page.get_by_text(re.compile("^Copied "))).to_be_visible()
    text = page.evaluate("() => navigator.clipboard.readText()")
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture(autouse=True)
def clipboard(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])


class OwnService:
    """Its tests have their own service."""

    #: its time limit at /sync
    sync_seconds: ClassVar[float]

    @pytest.fixture
    def portal(self, dist: Path, demo_engine: EmbeddedEngine, tmp_path: Path) -> Iterator[RunningService]:
        config = Config(query_log="", jobs_path=tmp_path, sync_seconds=self.sync_seconds)
        with running_service(config, demo_engine, portal=dist) as service:
            yield service


class TestMillion(OwnService):
    sync_seconds = 90  # enough for a million rows, however busy the machine is

    def test_a_million_rows_scroll_sort_and_filter(self, page: Page, portal: RunningService, shot: Shot) -> None:
        grid = run_query(page, portal.url + "/", MILLION, 1_000_000)
        page.get_by_role("tab", name="Table", exact=True).click()
        expect(page.get_by_text("1,000,000 rows", exact=True)).to_be_visible(timeout=90_000)
        expect(page.get_by_text("The row limit cut the result at 1,000,000 rows; there are more.")).to_be_visible()
        expect(cell_at(page, 0, 0)).to_have_text("1")

        grid.focus()
        page.keyboard.press("Control+End")
        last = 999_999
        expect(cell_at(page, last, 9)).to_be_visible()
        page.keyboard.press("Home")
        expect(cell_at(page, last, 0)).to_have_text(str(last % OBJECTS + 1))
        expect(cell_at(page, last, 6)).to_have_text(str(last // OBJECTS + 1))
        assert cell_at(page, last, 0).locator("..").get_attribute("aria-rowindex") == str(last + 2)
        assert grid.get_attribute("aria-rowcount") == "1000001"
        shot(page, "results-million-end")

        # drag the bar to the middle
        grid.evaluate("element => { element.scrollTop = element.scrollHeight / 2 }")
        middle = page.locator('.line[role=row][aria-rowindex^="500"]').nth(5)
        expect(middle).to_be_visible()
        index = int(middle.get_attribute("aria-rowindex") or 0) - 2
        assert abs(index - 500_000) < 1000
        expect(cell_at(page, index, 0)).to_have_text(str(index % OBJECTS + 1))
        expect(cell_at(page, index, 6)).to_have_text(str(index // OBJECTS + 1))
        # the wheel still moves by pixels
        grid.hover()
        page.mouse.wheel(0, 260)
        expect(cell_at(page, index + 8, 0)).to_be_visible()
        expect(cell_at(page, index - 3, 0)).to_have_count(0)
        # other pages and back: the position is kept
        pages = page.get_by_role("navigation", name="Pages")
        pages.get_by_role("link", name="Examples").click()
        expect(grid).to_be_hidden()
        pages.get_by_role("link", name="Query").click()
        expect(cell_at(page, index + 8, 0)).to_be_visible()
        page.get_by_role("tab", name="Columns").click()
        page.get_by_role("tab", name="Table").click()
        expect(cell_at(page, index + 8, 0)).to_be_visible()

        grid.get_by_role("columnheader", name="other").click()
        grid.get_by_role("columnheader", name="other").click()
        grid.get_by_role("columnheader", name="id").first.click(modifiers=["Shift"])
        page.keyboard.press("Control+Home")
        expect(cell_at(page, 0, 6)).to_have_text("72")
        expect(cell_at(page, 0, 0)).to_have_text("1")
        expect(cell_at(page, 1, 0)).to_have_text("2")
        assert grid.get_by_role("columnheader", name="other").get_attribute("aria-sort") == "descending"

        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_label("Filter id").fill("5..6")
        expect(row_status(page)).to_contain_text("144 shown")
        page.get_by_label("Filter other").fill("> 70")
        expect(row_status(page)).to_contain_text("4 shown")
        expect(cell_at(page, 3, 0)).to_have_text("6")
        expect(cell_at(page, 3, 6)).to_have_text("71")
        shot(page, "results-million-filtered")


class TestRows:
    def test_sort_filter_and_copy_equal_what_pyvo_gets(
        self, page: Page, portal: RunningService, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        grid = run_query(page, portal_url, GALAXIES)
        page.get_by_role("tab", name="Table", exact=True).click()
        rows = query_rows(portal, GALAXIES)
        expect(page.get_by_text(f"{len(rows):,} rows")).to_be_visible()

        by_name = [row[1] for row in rows]
        lines = copy_rows(page, "rows, ")
        assert lines[0] == ["id", "name", "ra", "dec", "vmag", "type", "notngc"]
        assert [line[1] for line in lines[1:]] == by_name
        assert [_read(line) for line in lines[1:]] == rows

        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_label("Filter name").fill("ngc1")
        page.get_by_label("Filter ra").fill("20..50")
        page.get_by_label("Filter notngc").fill("false")
        found = [row for row in rows if "ngc1" in row[1].lower() and 20 <= row[2] <= 50 and not row[6]]
        assert 10 < len(found) < len(rows)
        expect(row_status(page)).to_contain_text(f"{len(found)} shown")
        grid.get_by_role("columnheader", name="type").click()
        grid.get_by_role("columnheader", name="vmag").click(modifiers=["Shift"])
        grid.get_by_role("columnheader", name="vmag").click(modifiers=["Shift"])
        ordered = sorted(found, key=lambda row: (row[5], row[4] is None, -(row[4] or 0)))
        expect(cell_at(page, 0, 1)).to_have_text(ordered[0][1])
        assert [_read(line) for line in copy_rows(page, "rows, ")[1:]] == ordered
        accessible(page)
        shot(page, "results-sorted")

        page.get_by_label("Filter vmag").fill("bright")
        expect(page.get_by_label("Filter vmag")).to_have_attribute("aria-invalid", "true")
        page.get_by_label("Filter name").fill("no such name")
        expect(page.get_by_text("No rows pass the filters.")).to_be_visible()

    def test_rows_and_cells_are_chosen_and_copied_by_mouse_and_keys(
        self, page: Page, portal: RunningService, portal_url: str, shot: Shot
    ) -> None:
        grid = run_query(page, portal_url, GALAXIES)
        rows = query_rows(portal, GALAXIES)
        cell_at(page, 2, 1).click()
        cell_at(page, 5, 1).click(modifiers=["Shift"])
        cell_at(page, 9, 1).click(modifiers=["Control"])
        cell_at(page, 3, 1).click(modifiers=["Control"])
        expect(row_status(page)).to_contain_text("4 chosen")
        assert page.locator("[role=row][aria-selected=true]").count() == 4
        page.keyboard.press("Control+c")
        expect(page.get_by_text("Copied 4 rows.")).to_be_visible()
        assert [_read(line) for line in copy_rows(page, "4 rows chosen")[1:]] == [rows[at] for at in (2, 4, 5, 9)]

        page.get_by_role("button", name="Next chosen").click()
        expect(grid).to_be_focused()
        page.keyboard.press("Escape")
        expect(row_status(page)).not_to_contain_text("chosen")

        # a block of cells
        grid.focus()
        page.keyboard.press("Control+Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowDown")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Control+c")
        expect(page.get_by_text("Copied 4 cells.")).to_be_visible()
        block = page.evaluate("() => navigator.clipboard.readText()").split("\n")
        assert [line.split("\t")[0] for line in block] == [rows[0][1], rows[1][1]]
        assert [float(line.split("\t")[1]) for line in block] == [rows[0][2], rows[1][2]]

        # the header by keys: sort by ra, greatest first
        page.keyboard.press("Control+Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        greatest = max(rows, key=lambda row: row[2])
        expect(cell_at(page, 0, 1)).to_have_text(greatest[1])
        page.keyboard.press("ArrowDown")
        page.keyboard.press(" ")
        expect(page.locator("[role=row][aria-selected=true]")).to_contain_text(greatest[1])
        active = grid.get_attribute("aria-activedescendant")
        assert page.locator(f'[id="{active}"]').get_attribute("data-index") == "0"
        shot(page, "results-chosen")

    def test_columns_units_angles_and_links(
        self, page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        query = """SELECT TOP 3 name, ra, dec, 'https://example.org/' || name AS page, 'javascript:alert(1)' AS bad,
            POINT(ra, dec) AS pos, CAST('2016-01-02T03:04:05.25' AS TIMESTAMP) AS observed
            FROM openngc.objects ORDER BY id"""
        grid = run_query(page, portal_url, query)
        page.get_by_role("tab", name="Table", exact=True).click()
        link = cell_at(page, 0, 3).get_by_role("link")
        expect(link).to_have_attribute("href", re.compile(r"^https://example.org/\w+"))
        expect(link).to_have_attribute("rel", "noopener noreferrer")
        expect(cell_at(page, 0, 4)).to_have_text("javascript:alert(1)")
        expect(cell_at(page, 0, 4).get_by_role("link")).to_have_count(0)
        expect(cell_at(page, 0, 6)).to_have_text("2016-01-02T03:04:05.25")
        header = grid.get_by_role("columnheader", name="ra")
        expect(header).to_contain_text("deg")
        assert "pos.eq.ra;meta.main\nRight ascension" in (header.get_attribute("title") or "")
        page.get_by_role("button", name="h:m:s").click()
        expect(cell_at(page, 0, 1)).to_have_text(re.compile(r"^\d\d:\d\d:\d\d\.\d{3}$"))
        expect(cell_at(page, 0, 2)).to_have_text(re.compile(r"^[+-]\d\d:\d\d:\d\d\.\d\d$"))

        page.get_by_role("tab", name="Columns").click()
        described = page.get_by_role("row").filter(has_text="pos.eq.dec")
        expect(described).to_contain_text("Declination, ICRS, J2000.0")
        expect(page.get_by_role("row").filter(has_text="observed")).to_contain_text("2016-01-02 03:04:05")
        expect(page.get_by_text("CC-BY-SA-4.0")).to_be_visible()
        accessible(page)
        shot(page, "results-columns")

    def test_five_hundred_columns(self, page: Page, portal_url: str, shot: Shot) -> None:
        many = ", ".join(f"id + {number} AS c{number}" for number in range(1, 500))
        grid = run_query(page, portal_url, f"SELECT id, {many} FROM openngc.objects WHERE id <= 50 ORDER BY id")
        expect(cell_at(page, 0, 0)).to_have_text("1")
        assert grid.get_attribute("aria-colcount") == "501"
        grid.focus()
        page.keyboard.press("End")
        expect(cell_at(page, 0, 499)).to_have_text("500")
        assert page.get_by_role("gridcell").count() < 1500
        shot(page, "results-500-columns")
        page.get_by_role("tab", name="Columns").click()
        expect(page.get_by_text("500 columns")).to_be_visible()

    def test_nothing_but_null_and_nan(self, page: Page, portal_url: str, shot: Shot) -> None:
        query = """SELECT TOP 20 CAST(NULL AS DOUBLE PRECISION) AS nothing, CAST('NaN' AS DOUBLE PRECISION) AS nan,
            CASE WHEN name <> name THEN name END AS text FROM openngc.objects"""
        grid = run_query(page, portal_url, query)
        expect(cell_at(page, 0, 0)).to_have_text("NULL")
        expect(cell_at(page, 0, 1)).to_have_text("NaN")
        expect(cell_at(page, 9, 2)).to_have_text("NULL")
        for name in ("nothing", "nan", "text"):
            grid.get_by_role("columnheader", name=name).click()
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_label("Filter nan").fill("> 0")
        expect(page.get_by_text("No rows pass the filters.")).to_be_visible()
        shot(page, "results-null")
        page.get_by_role("tab", name="Columns").click()
        expect(page.get_by_text("20 (100 %)").first).to_be_visible()

    def test_on_a_phone_and_in_the_dark(
        self, phone: Page, open_page: Callable[..., Page], portal_url: str, shot: Shot
    ) -> None:
        run_query(phone, portal_url, GALAXIES)
        expect(cell_at(phone, 0, 0)).to_be_visible()
        phone.get_by_role("grid").scroll_into_view_if_needed()
        width = phone.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 390
        shot(phone, "results-phone")
        for name in ("Download", "Copy"):
            phone.locator(".actions").get_by_role("button", name=name).tap()
            box = phone.locator(".actions .list").bounding_box()
            assert box is not None
            assert 0 <= box["x"] <= 390 - box["width"]
            shot(phone, f"results-phone-{name.lower()}")
            phone.locator(".actions").get_by_role("button", name=name).tap()
        phone.get_by_role("tab", name="Columns").tap()
        expect(phone.get_by_role("cell", name="pos.eq.ra;meta.main")).to_be_visible()
        assert phone.evaluate("() => document.documentElement.scrollWidth") <= 390
        shot(phone, "results-phone-columns")
        dark = open_page(color_scheme="dark")
        run_query(dark, portal_url, GALAXIES)
        cell_at(dark, 3, 2).click()
        shot(dark, "results-dark")


class TestNotWhole:
    def test_an_empty_result_is_said(self, page: Page, portal_url: str, shot: Shot) -> None:
        grid = run_query(page, portal_url, "SELECT id, name FROM openngc.objects WHERE id < 0")
        expect(page.get_by_text("The query returned no rows")).to_be_visible()
        expect(grid.get_by_role("columnheader", name="name")).to_be_visible()
        shot(page, "results-empty")

    def test_overflow_has_a_way_out(self, page: Page, portal: RunningService, portal_url: str) -> None:
        run_query(page, portal_url, "SELECT id FROM openngc.objects", 10)
        expect(page.get_by_text("The row limit cut the result at 10 of 14,033 rows.")).to_be_visible()
        # for a query that has changed, only facts of the result
        page.get_by_role("textbox", name="ADQL query").press("Control+End")
        page.keyboard.type(" ")
        expect(page.get_by_text(re.compile("cut at 10 rows, the row limit of this request"))).to_be_visible()
        page.get_by_role("button", name="Run as a job, up to 10,000,000 rows").click()
        page.wait_for_url(re.compile("#/jobs/"))
        job = page.url.rpartition("/")[2]
        parameters = httpx.get(f"{portal.tap}/async/{job}/parameters", verify=False).text
        assert 'id="MAXREC">10000000<' in parameters


class TestBrokenOff(OwnService):
    sync_seconds = 1000

    def test_the_rows_that_came_stay_and_are_not_called_the_whole(
        self, page: Page, portal: RunningService, shot: Shot
    ) -> None:
        every = "SELECT a.*, b.id AS other FROM openngc.objects AS a, openngc.objects AS b"
        run_query(page, portal.url + "/", every, 10_000_000)
        expect(cell_at(page, 0, 1)).not_to_be_empty()
        portal.set_time_limit(0)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("The connection was lost after")
        expect(alert.get_by_role("button", name="Run as a job")).to_be_visible()
        expect(cell_at(page, 0, 1)).not_to_be_empty()
        shot(page, "results-broken-off")


class TestFiles:
    def test_every_format(self, page: Page, portal: RunningService, portal_url: str) -> None:
        query = "SELECT id, name, ra FROM openngc.objects WHERE id <= 20 ORDER BY id"
        run_query(page, portal_url, query)
        expect(cell_at(page, 0, 0)).to_have_text("1")
        button = page.locator(".actions").get_by_role("button", name="Download")
        button.click()
        formats = page.locator(".actions .list button")
        formats.nth(14).wait_for()  # the list grows
        names = [name for name in formats.all_inner_texts() if not name.endswith("…")]
        assert len(names) >= 15
        found: dict[str, bytes] = {}
        for name in names:
            if page.locator(".actions .list").count() == 0:
                button.click()
            with page.expect_download() as download:
                page.locator(".actions .list").get_by_role("button", name=name, exact=True).click()
            found[f"{name}|{Path(download.value.suggested_filename).suffix}"] = Path(download.value.path()).read_bytes()
        ids = list(range(1, 21))
        for key in ("VOTable|.vot", "VOTable, TABLEDATA (large)|.vot", "VOTable as text/xml|.xml"):
            table = astropy.io.votable.parse_single_table(io.BytesIO(found[key]))
            assert table.array["id"].tolist() == ids
        assert fits.open(io.BytesIO(found["FITS|.fits"]))[1].data["id"].tolist() == ids
        assert pq.read_table(io.BytesIO(found["Parquet|.parquet"]))["id"].to_pylist() == ids
        assert pa.ipc.open_stream(found["Arrow (stream)|.arrows"]).read_all()["id"].to_pylist() == ids
        asked_for = {"LANG": "ADQL", "QUERY": query}
        for key, mime in (("CSV|.csv", "csv"), ("TSV|.tsv", "tsv"), ("Text|.txt", "text")):
            answer = httpx.post(f"{portal.tap}/sync", data={**asked_for, "FORMAT": mime}, verify=False)
            assert found[key] == answer.content
        assert found["20 rows, CSV|.csv"] == found["CSV|.csv"]

    @pytest.mark.parametrize("form", ["votable", "votable/td", "parquet"])
    def test_results_of_jobs_open_whatever_their_format(
        self, page: Page, portal: RunningService, portal_url: str, form: str
    ) -> None:
        query = "SELECT id, name, ra, bmag, notngc FROM openngc.objects WHERE id <= 200"
        data = {"LANG": "ADQL", "QUERY": query, "PHASE": "RUN", "FORMAT": form}
        job = httpx.post(f"{portal.tap}/async", data=data, verify=False).headers["location"]
        httpx.get(f"{job}?WAIT=20", verify=False)
        page.goto(f"{portal_url}#/jobs/{job.rpartition('/')[2]}")
        page.get_by_role("main").get_by_role("button", name="Open").click()
        expect(page.get_by_text("200 rows").first).to_be_visible()
        page.get_by_role("grid").get_by_role("columnheader", name="id").click()
        expect(cell_at(page, 6, 0)).to_have_text("7")
        lines = copy_rows(page, "200 rows, ")
        wanted = query_rows(portal, f"{query} ORDER BY id")
        assert [(int(line[0]), line[1], float(line[2])) for line in lines[1:]] == [row[:3] for row in wanted]
        told = page.get_by_text("the service has read it")
        expect(told).to_have_count(0 if form == "votable" else 1)


class TestMine:
    def test_a_result_is_saved_as_a_table_of_the_user(
        self, page: Page, portal: RunningService, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        with temporary_user(portal, "alice") as alice:
            query = "SELECT TOP 7 id, name, ra, dec FROM openngc.objects"
            made = alice.http("POST", "async", data={"LANG": "ADQL", "QUERY": query, "PHASE": "RUN"})
            job = made.headers["location"].rpartition("/")[2]
            page.goto(portal_url + "#/query")
            page.get_by_role("banner").get_by_role("button", name="Sign in").click()
            dialog = page.get_by_role("dialog", name="Sign in")
            dialog.get_by_label("Name", exact=True).fill("alice")
            dialog.get_by_label("Password", exact=True).fill(USERS["alice"])
            dialog.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("banner").get_by_text("alice")).to_be_visible()
            page.goto(f"{portal_url}#/jobs/{job}")
            page.get_by_role("main").get_by_role("button", name="Open").click()
            expect(page.get_by_text("7 rows").first).to_be_visible()
            page.get_by_role("button", name="Save as my table").click()
            saving = page.get_by_role("dialog", name="Save the result as my table")
            accessible(page)
            shot(page, "results-save")
            saving.get_by_role("textbox").fill("seven")
            saving.get_by_role("button", name="Save").click()
            page.wait_for_url(re.compile("#/jobs/"))
            expect(page.get_by_role("main").get_by_text("Completed").first).to_be_visible()
            assert [table["name"] for table in alice.http("GET", "mydb").json()["tables"]] == ["mydb.seven"]
            assert alice.http("DELETE", "tables/mydb.seven").status_code == 204
            assert alice.http("DELETE", f"async/{job}").status_code == 303


def _read(line: list[str]) -> tuple:
    """Parse a copied row of GALAXIES."""
    ident, name, ra, dec, vmag, kind, notngc = line
    return (int(ident), name, float(ra), float(dec), float(vmag) if vmag else None, kind, notngc == "true")
