"""The query page: completion, marked errors, runs at once and as a job, tabs, history, links."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_jobs import sign_in
from tests.support.running_service import RunningService
from tests.tap_service.users import User, temporary_user

#: every pair of stars: a minute of work, and estimated so
ENDLESS = "SELECT COUNT(*) AS n FROM tycho2.bright AS a, tycho2.bright AS b WHERE a.ra + b.dec > 3"
#: estimated to sort every pair of stars, but few stars are this bright
LONG = """SELECT TOP 5 a.tyc_id, b.tyc_id AS other FROM tycho2.bright AS a, tycho2.bright AS b
WHERE a.vt_mag < 0 AND b.vt_mag < 0.1 ORDER BY other, a.tyc_id"""


@pytest.fixture
def query(page: Page, portal_url: str) -> Page:
    """The query page with its editor loaded."""
    page.goto(portal_url + "#/query")
    expect(query_editor(page)).to_be_visible()
    return page


def query_editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="ADQL query")


def type_query(page: Page, adql: str) -> None:
    """Replace the text key by key, each of which takes 10 ms of processor time."""
    query_editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.type(adql)
    page.keyboard.press("Escape")  # completions


def write_query(page: Page, adql: str) -> None:
    """Replace the text at once, as if pasted."""
    query_editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(adql)
    page.keyboard.press("Escape")  # completions


def take_completion(page: Page) -> None:
    """Accept the chosen completion; wait first, because a new one is not accepted at once."""
    page.wait_for_timeout(200)
    page.keyboard.press("Enter")


def read_query(page: Page) -> str:
    return "\n".join(page.locator(".cm-line").all_inner_texts())


def estimate_line(page: Page) -> Locator:
    return page.get_by_label("Estimate", exact=True)


def result_section(page: Page) -> Locator:
    return page.get_by_role("region", name="Result", exact=True)


def run_query(page: Page) -> None:
    page.get_by_role("button", name="▶ Run").click()


def row_count(page: Page, count: str) -> Locator:
    """Return the number of rows of the complete result."""
    return result_section(page).get_by_text(re.compile(rf"^{count}\b")).first


def query_tabs(page: Page) -> Locator:
    return page.get_by_role("tablist", name="Queries").get_by_role("tab")


class TestWriting:
    def test_columns_are_completed_through_an_alias(self, query: Page, shot: Shot) -> None:
        type_query(query, "SELECT s. FROM tycho2.bright AS s JOIN openngc.objects AS o ON s.ra = o.ra")
        query.keyboard.press("Home")
        for _ in "SELECT s.":
            query.keyboard.press("ArrowRight")
        query.keyboard.type("vt")
        option = query.get_by_role("option", name="vt_mag").first
        expect(option).to_contain_text("mag")
        info = query.locator(".cm-completionInfo")
        expect(info).to_contain_text("phot.mag;em.opt.V")
        expect(info).to_contain_text("magnitude")
        shot(query, "query-completion")
        expect(query.get_by_role("option", name="commonnames")).to_have_count(0)
        take_completion(query)
        assert read_query(query).startswith("SELECT s.vt_mag FROM")

    def test_tables_are_completed_and_columns_of_with_tables(self, query: Page) -> None:
        type_query(query, "WITH w AS (SELECT tyc_id AS star, 2 * vt_mag AS double FROM bri")
        query.keyboard.press("Control+Space")
        query.get_by_role("option", name="tycho2.bright").click()
        query.keyboard.type(") SELECT w.")
        options = query.get_by_role("listbox").get_by_role("option")
        expect(options).to_have_text(["star"], use_inner_text=True)
        options.click()
        query.keyboard.type(" FROM w")
        query.keyboard.press("Escape")
        assert read_query(query).endswith("FROM tycho2.bright) SELECT w.star FROM w")

    def test_enter_begins_a_line_after_a_whole_word(self, query: Page) -> None:
        type_query(query, "SELECT ra")
        expect(query.locator(".cm-tooltip-autocomplete")).to_have_count(0)
        query.keyboard.type(" from tycho2.bright")
        expect(query.get_by_role("option", name="bright")).to_be_visible()
        take_completion(query)
        query.keyboard.type("WHERE")
        assert read_query(query) == "SELECT ra from tycho2.bright\nWHERE"

    def test_functions_bring_their_signatures(self, query: Page) -> None:
        type_query(query, "SELECT ivo_healpix_ind")
        query.keyboard.press("Control+Space")
        option = query.get_by_role("option", name=re.compile("^ivo_healpix_index"))
        expect(option).to_have_count(1)
        expect(query.locator(".cm-completionInfo")).to_contain_text("NESTED")
        take_completion(query)
        tip = query.locator(".cm-tip")
        expect(tip).to_contain_text("ivo_healpix_index(hpxOrder INTEGER, long REAL, lat REAL) -> BIGINT")
        expect(tip.locator(".cm-tip-here").first).to_have_text("hpxOrder INTEGER")
        query.keyboard.type("6, ra, ")
        expect(tip.locator(".cm-tip-here")).to_have_text("lat REAL")

    def test_an_error_is_underlined_with_its_hint(self, query: Page, shot: Shot) -> None:
        type_query(query, "SELECT ra, vt_magg\nFROM tycho2.bright")
        underlined = query.locator(".cm-lintRange-error")
        expect(underlined).to_have_text("vt_magg")
        expect(query.get_by_text("did you mean vt_mag")).to_be_visible()
        query.get_by_role("button", name="Line 1, column 12").click()
        query.keyboard.type("vt_mag")
        expect(underlined).to_have_count(0)
        expect(query.get_by_role("button", name=re.compile("^Change to"))).to_have_count(0)
        expect(estimate_line(query)).to_contain_text("120,521 rows")
        query.keyboard.press("End")
        query.keyboard.type(",")
        expect(query.get_by_text("there is an extra comma")).to_be_visible()
        shot(query, "query-error")

    def test_did_you_mean_is_a_button(self, query: Page, shot: Shot) -> None:
        """Fixes in the list, in the tip and by key; each can be undone and keeps the cursor."""
        wrong = "SELECT DISTNCE(ra, dec, 10, 20) AS d, '😀' AS s,\nvt_magg FROM tycho2.bright"
        right = wrong.replace("DISTNCE", "DISTANCE").replace("vt_magg", "vt_mag")
        type_query(query, wrong)
        button = query.get_by_role("button", name="Change to DISTANCE")
        button.press("Enter")
        expect(query_editor(query)).to_be_focused()
        assert read_query(query) == wrong.replace("DISTNCE", "DISTANCE")
        query.keyboard.press("Control+z")
        assert read_query(query) == wrong
        query.get_by_role("button", name="Change to vt_mag").click()
        assert read_query(query) == wrong.replace("vt_magg", "vt_mag")
        expect(query.locator(".cm-lintRange-error")).to_have_count(1)  # after the next estimate
        query.locator(".cm-lintRange-error").hover()
        query.locator(".cm-tooltip").get_by_role("button", name="Change to DISTANCE").click()
        assert read_query(query) == right
        query.keyboard.press("Control+z")
        expect(button).to_be_enabled()
        query.get_by_role("button", name="Line 1, column 8").click()
        query.keyboard.press("Alt+Enter")
        assert read_query(query) == right
        expect(estimate_line(query)).to_contain_text("120,521 rows")
        shot(query, "query-corrected")

    def test_a_click_in_the_tree_inserts(self, query: Page) -> None:
        type_query(query, "SELECT ra FROM ")
        query.get_by_role("tree").get_by_text("bright", exact=True).click()
        expect(query_editor(query)).to_have_text("SELECT ra FROM tycho2.bright")
        expect(estimate_line(query)).to_contain_text("120,521 rows")

    def test_is_laid_out(self, query: Page) -> None:
        type_query(query, "select ra from tycho2.bright where vt_mag<6 and dec>0")
        query.keyboard.press("Shift+Alt+F")
        assert read_query(query) == "SELECT ra\nFROM tycho2.bright\nWHERE vt_mag < 6\n    AND dec > 0"
        query.keyboard.press("Control+z")
        assert read_query(query).startswith("select ra")

    def test_keys_are_told(self, query: Page) -> None:
        query.keyboard.press("F1")
        expect(query.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Ctrl+Space")


class TestRunning:
    def test_the_estimate_comes_first(self, query: Page) -> None:
        write_query(
            query, "SELECT tyc_id FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.12, 1))"
        )
        expect(estimate_line(query)).to_contain_text(re.compile(r"Reads \d?,?\d{3} rows"))
        query.get_by_role("button", name="runs at once").click()
        expect(query.get_by_role("dialog")).to_contain_text("columns of tycho2.bright")

    def test_at_once(self, query: Page, shot: Shot) -> None:
        write_query(query, "SELECT TOP 250 * FROM tycho2.bright ORDER BY vt_mag")
        query.keyboard.press("Control+Enter")
        expect(row_count(query, "250 rows")).to_be_visible()
        expect(result_section(query).get_by_text("tyc_id", exact=True).first).to_be_visible()
        shot(query, "query-result")

    def test_the_selected_text(self, query: Page) -> None:
        write_query(query, "SELECT TOP 7 ra FROM tycho2.bright; nonsense")
        query.keyboard.press("Control+Home")
        for _ in "SELECT TOP 7 ra FROM tycho2.bright":
            query.keyboard.press("Shift+ArrowRight")
        query.get_by_role("button", name="Run selected").click()
        expect(row_count(query, "7 rows")).to_be_visible()

    def test_errors_are_shown_instead_of_a_result(self, query: Page) -> None:
        # no estimate comes, after which the result would refer to the editor's list; a run at once asks for none
        query.route("**/tap/estimate", lambda route: None)
        query.get_by_label("Run mode").select_option("at once")
        write_query(query, "SELECT nothing FROM tycho2.bright")
        run_query(query)
        expect(result_section(query).get_by_role("alert")).to_contain_text("nothing")

    def test_the_row_limit(self, query: Page) -> None:
        write_query(query, "SELECT ra FROM tycho2.bright")
        query.get_by_role("spinbutton", name="Row limit").fill("12")
        run_query(query)
        expect(row_count(query, "12 rows")).to_be_visible()

    def test_what_the_row_limit_cuts_is_said(self, query: Page, shot: Shot, accessible: Callable[[Page], None]) -> None:
        """The warning before the run and in every view of the result; a sample and a higher limit are one click away."""
        write_query(query, "SELECT ra, dec FROM tycho2.bright AS b")
        will_cut = query.get_by_text("120,521 rows: the row limit of 100,000 will cut the result.")
        expect(will_cut).to_contain_text("parts of the sky would be missing")
        shot(query, "query-cut-foreseen")
        run_query(query)
        was_cut = query.get_by_text("The row limit cut the result at 100,000 of 120,521 rows.")
        expect(was_cut).to_contain_text("parts of the sky are missing")
        expect(will_cut).to_be_hidden()
        result_section(query).get_by_role("tab", name="Plot").click()
        expect(was_cut).to_be_visible()
        part = "Only the first 100,000 rows of the result"
        expect(result_section(query).get_by_role("application")).to_have_attribute("aria-label", re.compile(part))
        result_section(query).get_by_role("button", name="Save", exact=True).click()
        with query.expect_download() as picture:
            query.get_by_role("button", name="SVG").click()
        assert part in Path(picture.value.path()).read_text(encoding="utf-8")
        accessible(query)
        shot(query, "query-cut")
        query.get_by_role("button", name="Run a sample of 82 %, from the whole sky").click()
        assert read_query(query) == "SELECT ra, dec FROM tycho2.bright AS b TABLESAMPLE (82)"
        expect(row_count(query, r"9\d,\d{3} rows")).to_be_visible()
        expect(was_cut).to_be_hidden()
        query_editor(query).press("Control+z")
        query.get_by_role("button", name="Run with all 120,521 rows").click()
        expect(row_count(query, "120,521 rows")).to_be_visible()
        expect(query.get_by_role("spinbutton", name="Row limit")).to_have_value("120521")
        expect(was_cut).to_be_hidden()

    def test_what_the_service_warns_of_is_said_before_and_after(self, query: Page, shot: Shot) -> None:
        write_query(query, "SELECT TOP 3 CONTAINS(CIRCLE(10, 10, 1), POINT(10, 10)) AS c, ra FROM tycho2.bright")
        warning = query.get_by_role("status").filter(has_text="is 1 only if the shape has no extent")
        expect(warning).to_be_visible()
        run_query(query)
        expect(row_count(query, "3 rows")).to_be_visible()
        expect(warning).to_be_visible()
        shot(query, "query-warning")

    def test_stops_at_once(self, query: Page, portal_url: str) -> None:
        write_query(query, ENDLESS)
        query.get_by_label("Run mode").select_option("at once")
        run_query(query)
        query.get_by_role("button", name="Stop").click()
        expect(result_section(query).get_by_text("Stopped.")).to_be_visible()
        expect(query.get_by_role("button", name="▶ Run")).to_be_enabled()

    def test_what_is_foreseen_to_be_long_is_a_job(self, query: Page, shot: Shot) -> None:
        write_query(query, LONG)
        expect(query.get_by_role("button", name="runs as a job")).to_be_visible()
        run_query(query)
        expect(row_count(query, "5 rows")).to_be_visible()
        shot(query, "query-job")
        query.reload()
        expect(row_count(query, "5 rows")).to_be_visible()
        query.get_by_role("button", name="History").click()
        expect(query.get_by_role("dialog").get_by_text(re.compile("job · complete · 5 rows"))).to_be_visible()

    def test_a_job_is_stopped(self, query: Page) -> None:
        write_query(query, ENDLESS)
        expect(query.get_by_role("button", name="runs as a job")).to_be_visible()
        run_query(query)
        expect(result_section(query).get_by_role("link", name="Go to the job")).to_be_visible()
        query.get_by_role("button", name="Stop").click()
        expect(
            result_section(query).get_by_role("status").filter(has_text=re.compile("[Ss]top|ABORT|abort"))
        ).to_be_visible()

    def test_a_file(self, query: Page) -> None:
        write_query(query, "SELECT TOP 3 ra, dec FROM tycho2.bright")
        expect(query.get_by_role("button", name="runs at once")).to_be_visible()
        query.get_by_label("Format of files").select_option("CSV")
        with query.expect_download() as download:
            query.get_by_role("button", name="Download", exact=True).first.click()
        assert download.value.suggested_filename == "Query_1.csv"
        assert len(download.value.path().read_text().splitlines()) == 4

    def test_of_a_file_of_the_users(self, query: Page) -> None:
        query.get_by_role("link", name="Upload", exact=True).click()
        file = {
            "name": "mine.csv",
            "mimeType": "text/csv",
            "buffer": b"ra,dec,label\n56.75,24.12,Pleiades\n10.68,41.27,M31\n",
        }
        query.locator("input[type=file]").first.set_input_files([file, {**file, "name": "bright.csv"}])
        expect(query.get_by_role("region", name="bright.csv")).to_be_visible()
        query.get_by_role("link", name="Query", exact=True).click()
        write_query(query, "SELECT m.label FROM TAP_UPLOAD.mine AS m")
        expect(query.get_by_text("sends mine")).to_be_visible()
        run_query(query)
        expect(row_count(query, "2 rows")).to_be_visible()
        expect(result_section(query).get_by_text("Pleiades")).to_be_visible()

        # without the schema too, unless a table of the service has the name
        write_query(query, "SELECT TOP 7 m.label, b.vt_mag FROM mine AS m CROSS JOIN bright AS b")
        expect(query.get_by_text("sends mine", exact=True)).to_be_visible()
        run_query(query)
        expect(row_count(query, "7 rows")).to_be_visible()


class TestTabs:
    def test_outlive_the_page(self, query: Page) -> None:
        write_query(query, "SELECT 'first' FROM tycho2.bright")
        query.get_by_role("button", name="New query").click()
        write_query(query, "SELECT 'second' FROM tycho2.bright")
        query.get_by_role("spinbutton", name="Row limit").fill("55")
        query_tabs(query).nth(1).dblclick()
        query.get_by_label("Tab name").fill("My stars")
        query.keyboard.press("Enter")
        expect(query_tabs(query)).to_have_text(["Query 1", "My stars"])
        query.reload()
        expect(query_tabs(query)).to_have_text(["Query 1", "My stars"])
        expect(query_editor(query)).to_contain_text("second")
        expect(query.get_by_role("spinbutton", name="Row limit")).to_have_value("55")
        query_tabs(query).first.click()
        expect(query_editor(query)).to_contain_text("first")

    def test_by_keys(self, query: Page) -> None:
        query_editor(query).click()
        query.keyboard.press("Shift+Alt+N")
        query.keyboard.press("Shift+Alt+N")
        expect(query_tabs(query)).to_have_text(["Query 1", "Query 2", "Query 3"])
        query.keyboard.press("Shift+Alt+ArrowLeft")
        expect(query_tabs(query).nth(1)).to_have_attribute("aria-selected", "true")
        query_tabs(query).nth(1).focus()
        query.keyboard.press("ArrowLeft")
        expect(query_tabs(query).first).to_be_focused()
        query.keyboard.press("F2")
        query.keyboard.type("One")
        query.keyboard.press("Enter")
        query.keyboard.press("End")
        query.keyboard.press("Delete")
        expect(query_tabs(query)).to_have_text(["One", "Query 2"])
        expect(query_tabs(query).nth(1)).to_be_focused()

    def test_each_has_its_result_and_what_can_be_undone(self, query: Page) -> None:
        write_query(query, "SELECT TOP 11 ra FROM tycho2.bright")
        run_query(query)
        expect(row_count(query, "11 rows")).to_be_visible()
        query.get_by_role("button", name="New query").click()
        write_query(query, "SELECT TOP 13 ra FROM tycho2.bright")
        run_query(query)
        expect(row_count(query, "13 rows")).to_be_visible()
        query_tabs(query).first.click()
        expect(result_section(query).get_by_text(re.compile(r"\b11 rows\b")).first).to_be_visible()
        query_editor(query).click()
        query.keyboard.press("Control+z")
        assert "TOP 13" not in read_query(query)

    def test_the_last_one_is_followed_by_an_empty_one(self, query: Page) -> None:
        query_editor(query).click()
        query.keyboard.press("Shift+Alt+W")
        expect(query_tabs(query)).to_have_count(1)
        expect(query.get_by_role("button", name="▶ Run")).to_be_disabled()


def fill_history(user: User) -> None:
    """60 queries at once, one of a job that is deleted, one with an error."""
    for number in range(60):
        user.rows(f"SELECT {number} AS n FROM tycho2.bright WHERE tyc_id = '1-1-1'")
    job = user.job("async", LANG="ADQL", QUERY="SELECT TOP 3 ra, dec FROM tycho2.bright", RUNID="Bright stars").run()
    assert job.wait_for_end() == "COMPLETED", job.message
    assert user.http("DELETE", f"async/{job.url.rpartition('/')[2]}").status_code == 303
    assert user.ask("SELECT parallax FROM tycho2.bright").status_code == 400


def open_table_page(page: Page) -> None:
    """Open the page of a table, which runs its own queries, and come back."""
    portal = page.url.split("#")[0]
    with page.expect_response(lambda answer: "principal" in (answer.request.post_data or "")):
        page.goto(f"{portal}#/tables/tycho2.bright")
    page.goto(f"{portal}#/query")


class TestHistory:
    def test_is_searched_and_run_again(self, query: Page, shot: Shot) -> None:
        for number in (21, 22):
            write_query(query, f"SELECT TOP {number} ra FROM tycho2.bright")
            run_query(query)
            expect(row_count(query, f"{number} rows")).to_be_visible()
        query.reload()
        query.get_by_role("button", name="History").click()
        dialog = query.get_by_role("dialog", name="Query history")
        expect(dialog.get_by_role("listitem")).to_have_count(2)
        expect(dialog.get_by_text(re.compile(r"at once · complete · 22 rows · \d"))).to_be_visible()
        dialog.get_by_label("Search history").fill("top 21")
        expect(dialog.get_by_role("listitem")).to_have_count(1)
        expect(dialog.get_by_role("mark")).to_have_text(["TOP", "21"])
        dialog.get_by_label("To", exact=True).fill("2020-01-01")
        expect(dialog.get_by_text("No query in this period contains these words.")).to_be_visible()
        dialog.get_by_label("To", exact=True).fill("")
        shot(query, "query-history")
        dialog.get_by_role("button", name="Run again").click()
        expect(row_count(query, "21 rows")).to_be_visible()
        expect(query_tabs(query)).to_have_count(2)
        query.get_by_role("button", name="History").click()
        dialog.get_by_role("button", name="Clear all").click()
        expect(dialog.get_by_role("listitem")).to_have_count(0)
        expect(dialog.get_by_role("tab")).to_have_count(0)

    def test_of_the_account_has_the_queries_of_other_programs(
        self,
        query: Page,
        portal: RunningService,
        shot: Shot,
        accessible: Callable[[Page], None],
        no_service: Callable[[Page], AbstractContextManager[None]],
    ) -> None:
        with temporary_user(portal, "bob") as bob:
            fill_history(bob)
            sign_in(query, "bob")
            open_table_page(query)
            query.get_by_role("button", name="History").click()
            dialog = query.get_by_role("dialog", name="Query history")
            items = dialog.get_by_role("listitem")
            expect(dialog.get_by_text("No queries have been run here yet.")).to_be_visible()
            dialog.get_by_role("tab", name="Your account").click()
            expect(items).to_have_count(50)
            expect(dialog.get_by_role("status").filter(has_text="50+")).to_be_visible()
            expect(items.first).to_contain_text("there is no column parallax")
            expect(items.nth(1)).to_contain_text("Bright stars")
            expect(items.nth(1)).to_contain_text(re.compile(r"job · complete · 3 rows · \d"))
            dialog.get_by_role("button", name="Show older queries").click()
            expect(items).to_have_count(62)
            accessible(query)
            dialog.get_by_role("tab", name="Your account").scroll_into_view_if_needed()
            shot(query, "query-history-account")
            query.emulate_media(color_scheme="dark")
            query.set_viewport_size({"width": 390, "height": 844})
            assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
            accessible(query)
            shot(query, "query-history-account-phone")
            query.set_viewport_size({"width": 1440, "height": 900})

            dialog.get_by_label("Search history").fill("bright stars")
            expect(items).to_have_count(1)
            dialog.get_by_label("To", exact=True).fill("2020-01-01")
            expect(dialog.get_by_text("No query in this period contains these words.")).to_be_visible()
            dialog.get_by_label("To", exact=True).fill("")
            expect(items).to_have_count(1)
            with no_service(query):
                dialog.get_by_label("Search history").fill("top")
                expect(dialog.get_by_role("alert")).to_have_text(re.compile("The service does not answer."))
            dialog.get_by_label("Search history").fill("top 3")
            expect(items).to_have_count(1)
            dialog.get_by_role("button", name="Run again").click()
            expect(row_count(query, "3 rows")).to_be_visible()
            expect(query_tabs(query)).to_have_text(["Query 1", "Bright stars"])

            query.get_by_role("button", name="History").click()
            dialog.get_by_role("button", name="Delete all").click()
            question = query.get_by_role("dialog", name="Delete your query history")
            shot(query, "query-history-forget")
            question.get_by_role("button", name="Cancel").click()
            expect(items).to_have_count(2)
            dialog.get_by_role("button", name="Delete all").click()
            question.get_by_role("button", name="Delete them").click()
            expect(items).to_have_count(0)
            assert bob.http("GET", "history").json()["queries"] == []
            dialog.get_by_role("tab", name="This browser").click()
            expect(items).to_have_count(1)


class TestLinks:
    @pytest.mark.parametrize("terms", [1, 1500])
    def test_bring_the_query_and_do_not_run_it(self, query: Page, open_page: Callable[..., Page], terms: int) -> None:
        adql = f'SELECT ra -- 100 % of "it"\nFROM tycho2.bright\nWHERE vt_mag IN ({", ".join(map(str, range(terms)))})'
        query.evaluate("localStorage.clear()")
        query.goto(f"{query.url.split('#')[0]}#/query?{'adql=' + query.evaluate('encodeURIComponent', adql)}")
        query.get_by_role("button", name="Share").click()
        link = query.get_by_label("Link", exact=True)
        expect(link).to_have_value(re.compile("#/query"))
        address = link.input_value()
        assert ("z=" in address) == (terms > 1000)
        other = open_page()
        other.goto(address)
        expect(query_tabs(other)).to_have_text(["Query 1", "Shared query"])
        expect(query_editor(other)).to_contain_text('SELECT ra -- 100 % of "it"')
        expect(estimate_line(other)).to_contain_text("Reads")
        expect(result_section(other)).to_contain_text("Run the query to see its rows here.")
        assert "?" not in other.url
        other.reload()
        expect(query_tabs(other)).to_have_text(["Query 1", "Shared query"])

    def test_damaged(self, query: Page, portal_url: str) -> None:
        query.goto(f"{portal_url}#/query?z=AAAA")
        expect(query.get_by_role("alert")).to_have_text("The link is damaged: it contains no query.")


class TestErrors:
    def test_the_service_is_down(self, query: Page, no_service: Callable[[Page], AbstractContextManager[None]]) -> None:
        with no_service(query):
            write_query(query, "SELECT TOP 4 ra FROM tycho2.bright")
            expect(estimate_line(query)).to_contain_text("The service does not answer.")
            run_query(query)
            expect(result_section(query).get_by_role("alert")).to_contain_text("The service does not answer.")
        run_query(query)
        expect(row_count(query, "4 rows")).to_be_visible()

    def test_a_job_that_was_deleted_elsewhere(self, query: Page) -> None:
        write_query(query, "SELECT TOP 5 ra FROM tycho2.bright")
        query.get_by_label("Run mode").select_option("as a job")
        with query.expect_response(re.compile(r"/tap/async/[^/?]+$")) as made:
            run_query(query)
        expect(row_count(query, "5 rows")).to_be_visible()
        assert query.request.delete(made.value.url).ok
        query.reload()
        expect(result_section(query).get_by_role("alert")).to_be_visible()
        run_query(query)
        expect(row_count(query, "5 rows")).to_be_visible()

    def test_no_rows(self, query: Page) -> None:
        write_query(query, "SELECT ra FROM tycho2.bright WHERE vt_mag > 99")
        run_query(query)
        expect(row_count(query, "0 rows")).to_be_visible()


class TestLooks:
    @pytest.mark.parametrize("colours", ["light", "dark"])
    def test_on_a_laptop(self, query: Page, shot: Shot, accessible: Callable[[Page], None], colours: str) -> None:
        query.emulate_media(color_scheme=colours)
        write_query(
            query, "SELECT tyc_id, ra, dec, vt_mag, bt_mag - vt_mag AS colour\nFROM tycho2.bright\nWHERE vt_mag < 5"
        )
        run_query(query)
        expect(result_section(query).get_by_text("tyc_id", exact=True).first).to_be_visible()
        shot(query, f"query-laptop-{colours}")
        accessible(query)
        write_query(query, "SELECT tyc_id, nothing FROM tycho2.bright")
        expect(query.locator(".cm-lintRange-error")).to_be_visible()
        accessible(query)

    def test_the_parts_are_resized(self, query: Page) -> None:
        tree = query.get_by_role("complementary", name="Tables")
        width = tree.bounding_box()["width"]
        query.get_by_role("separator", name="Width of the tables").focus()
        query.keyboard.press("ArrowRight")
        assert tree.bounding_box()["width"] == width + 16
        line = query.get_by_role("separator", name="Height of the editor")
        before = line.bounding_box()
        query.mouse.move(before["x"] + 200, before["y"] + 3)
        query.mouse.down()
        query.mouse.move(before["x"] + 200, before["y"] + 103)
        query.mouse.up()
        assert line.bounding_box()["y"] == before["y"] + 100
        query.get_by_role("button", name="Tables").click()
        expect(tree).to_be_hidden()
        query.reload()
        expect(line).to_be_visible()
        assert line.bounding_box()["y"] == before["y"] + 100
        expect(tree).to_be_hidden()

    def test_on_a_phone(self, phone: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
        phone.goto(portal_url + "#/query")
        write_query(phone, "SELECT TOP 40 * FROM ")
        phone.get_by_role("button", name="Tables").click()
        phone.get_by_role("tree").get_by_text("bright", exact=True).click()
        expect(query_editor(phone)).to_contain_text("tycho2.bright")
        run_query(phone)
        expect(row_count(phone, "40 rows")).to_be_visible()
        shot(phone, "query-phone")
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        accessible(phone)
