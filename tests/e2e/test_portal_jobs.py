"""Jobs in the portal: created, watched, stopped and deleted, here and by other programs; sign-in."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hats import read_hats
from playwright.sync_api import Locator, Page, expect

from tap_service.storage.accounts import Accounts
from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService
from tests.tap_service import async_client
from tests.tap_service.users import USERS, User, temporary_user

#: pyvo leaves streams open

QUICK = "SELECT type, COUNT(*) AS n\nFROM openngc.objects\nGROUP BY type\nORDER BY n DESC"
#: every pair of stars: more than a minute of work, with rows from the start
LONG = """SELECT a.tyc_id, b.tyc_id AS other
FROM tycho2.bright AS a
JOIN tycho2.bright AS b ON a.vt_mag < b.bt_mag - 3 AND MOD(FLOOR(a.ra * b.dec * 1000), 9700) = 3"""
#: the same for a few stars
SOME = f"{LONG}\nWHERE a.ra < 0.2"
INVALID = "SELECT TOP 5\n  parallax\nFROM tycho2.bright"


def start_job(page: Page, portal_url: str, query: str) -> str:
    """Run a query as a job on the query page and go to the list. Return the job's id."""
    page.goto(f"{portal_url}#/query?adql={quote(query)}")
    page.get_by_label("Run mode").select_option("as a job")
    with page.expect_response(lambda answer: re.search(r"/async/\w+$", answer.url) is not None) as answered:
        page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Jobs").click()
    return answered.value.url.rpartition("/")[2]


def create_job(served: RunningService, query: str, who: User | None = None, **parameters: str) -> str:
    """Create a job as another program. Return its address."""
    return async_client.create_job(served.tap, query, who.auth if who else None, PHASE="RUN", **parameters).url


def stop_job(served: RunningService, job: str) -> None:
    """Stop a job as another program."""
    answer = httpx.post(f"{served.tap}/async/{job}/phase", data={"PHASE": "ABORT"}, verify=False)
    assert answer.status_code == 303, answer.text


def read_remembered(page: Page) -> list[dict[str, Any]]:
    return page.evaluate(
        "Object.entries(localStorage).filter(([key]) => key.startsWith('skyhouse.jobs.')).map(([, job]) => JSON.parse(job))"
    )


def job_rows(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("listitem")


def sign_in(page: Page, name: str, password: str = "") -> None:
    page.get_by_role("banner").get_by_role("button", name="Sign in").click()
    dialog = page.get_by_role("dialog", name="Sign in")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_label("Password", exact=True).fill(password or USERS[name])
    dialog.get_by_role("button", name="Sign in").click()


@pytest.fixture(autouse=True)
def no_jobs(portal: RunningService) -> Iterator[None]:
    """Leave no jobs to the next test. An administrator sees anonymous jobs too."""
    yield
    root = User(portal, "root")
    for job in root.vo.get_job_list():
        assert root.http("DELETE", f"async/{job.jobid}").status_code == 303
    root.session.close()


@pytest.fixture
def alice(portal: RunningService) -> Iterator[User]:
    with temporary_user(portal, "alice") as found:
        yield found


class TestLife:
    def test_a_job_runs_and_its_result_opens(
        self, page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        job = start_job(page, portal_url, QUICK)
        row = job_rows(page)
        expect(row.get_by_text("Completed")).to_be_visible()
        expect(row).to_contain_text("SELECT type, COUNT(*) AS n FROM openngc.objects")
        row.get_by_role("button", name="SELECT type").click()
        expect(row.get_by_text(f"/tap/async/{job}")).to_be_visible()
        expect(row.locator("pre").first).to_have_text(QUICK)
        expect(row).to_contain_text("read 1 column of openngc.objects")
        accessible(page)
        shot(page, "jobs-details")
        row.get_by_role("button", name="Open", exact=True).click()
        expect(page).to_have_url(re.compile("#/query"))
        expect(page.get_by_role("gridcell", name="GPair")).to_be_visible()

    def test_a_job_writes_a_hats_collection(
        self,
        open_page: Callable[..., Page],
        portal_url: str,
        shot: Shot,
        accessible: Callable[[Page], None],
    ) -> None:
        page = open_page(color_scheme="dark")
        page.goto(f"{portal_url}#/query?adql={quote('SELECT tyc_id, ra, dec FROM tycho2.bright WHERE vt_mag < 4')}")
        page.get_by_label("Format of files and jobs").select_option("HATS (LSDB)")
        with page.expect_response(lambda answer: re.search(r"/async/\w+$", answer.url) is not None) as answered:
            page.get_by_role("button", name="Download", exact=True).click()
        job = answered.value.url
        expect(page.get_by_text("A job writes the HATS files")).to_be_visible()
        result = page.get_by_role("region", name="Result", exact=True)
        opening = f'lsdb.open_catalog("{job}/results/hats/")'
        expect(result.get_by_text("The job has written a HATS collection.")).to_be_visible()
        expect(result.get_by_text(opening)).to_be_visible()
        accessible(page)
        shot(page, "query-hats")
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        shot(page, "query-hats-phone")
        page.set_viewport_size({"width": 1440, "height": 900})
        assert (read_hats(f"{job}/results/hats/").main_catalog.catalog_info.total_rows or 0) > 100
        with page.expect_download() as saved:
            result.get_by_role("button", name="Download as ZIP").click()
        assert zipfile.is_zipfile(saved.value.path())
        page.reload()
        expect(result.get_by_text(opening)).to_be_visible()

        result.get_by_role("link", name="Go to the job").click()
        expect(page.locator(".card").get_by_text(opening)).to_be_visible()
        expect(page.get_by_role("button", name="Open", exact=True)).to_have_count(0)
        shot(page, "jobs-hats")
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        shot(page, "jobs-hats-phone")

    def test_a_collection_needs_a_position(self, page: Page, portal_url: str, shot: Shot) -> None:
        page.goto(f"{portal_url}#/query?adql={quote('SELECT TOP 5 vt_mag FROM tycho2.bright')}")
        page.get_by_label("Format of files and jobs").select_option("HATS (LSDB)")
        page.get_by_role("button", name="Download", exact=True).click()
        failed = page.get_by_role("region", name="Result", exact=True).get_by_role("alert")
        expect(failed).to_contain_text("the result has no position")
        shot(page, "query-hats-refused")

    def test_progress_preview_stop_and_delete(
        self, page: Page, portal_url: str, portal: RunningService, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        job = start_job(page, portal_url, LONG)
        row = job_rows(page)
        expect(row).to_contain_text("joining")  # a join has no progress
        expect(row.get_by_role("progressbar")).not_to_have_attribute("value", re.compile(""))
        expect(page.get_by_role("banner").get_by_text("1 job running")).to_be_visible()
        shot(page, "jobs-running")

        row.get_by_role("button", name="Preview").click()
        preview = page.get_by_role("dialog", name="First rows")
        expect(preview.get_by_role("columnheader", name="other")).to_be_visible()
        assert preview.get_by_role("row").count() > 1
        accessible(page)
        shot(page, "jobs-preview")
        preview.get_by_role("button", name="Close").click()

        row.get_by_role("button", name="Stop").click()
        expect(row.get_by_text("Stopped", exact=True)).to_be_visible()
        assert httpx.get(f"{portal.tap}/async/{job}/phase", verify=False).text == "ABORTED"
        expect(page.get_by_role("banner").get_by_text("running")).to_have_count(0)

        row.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(row).to_have_count(1)
        row.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_text("No jobs yet.")).to_be_visible()
        assert httpx.get(f"{portal.tap}/async/{job}", verify=False).status_code == 404
        assert read_remembered(page) == []

    def test_an_end_is_told_on_any_page_and_after_a_reload(
        self, page: Page, portal_url: str, portal: RunningService, shot: Shot
    ) -> None:
        job = start_job(page, portal_url, LONG)
        page.goto(f"{portal_url}#/examples")
        page.reload()
        expect(page.get_by_role("banner").get_by_text("1 job running")).to_be_visible()
        stop_job(portal, job)
        news = page.get_by_role("status", name="Notifications")
        expect(news.get_by_text("“Shared query” has been stopped")).to_be_visible()
        shot(page, "jobs-told")
        assert [one["told"] for one in read_remembered(page)] == [False]
        page.reload()
        news.get_by_role("button", name="Details").click()
        expect(page).to_have_url(f"{portal_url}#/jobs/{job}")
        expect(page.get_by_role("main").get_by_text("Stopped", exact=True)).to_be_visible()
        expect(news.get_by_text("has been stopped")).to_have_count(0)
        assert [(one["id"], one["told"]) for one in read_remembered(page)] == [(job, True)]
        page.reload()
        page.goto(f"{portal_url}#/jobs")
        expect(job_rows(page).get_by_text("Stopped", exact=True)).to_be_visible()
        expect(news.get_by_text("has been stopped")).to_have_count(0)

    def test_a_cut_result_is_told_in_the_list(
        self, page: Page, portal: RunningService, portal_url: str, alice: User
    ) -> None:
        create_job(portal, "SELECT ra FROM openngc.objects", alice, MAXREC="5")
        page.goto(f"{portal_url}#/jobs")
        sign_in(page, "alice")
        expect(job_rows(page).get_by_text("cut at the row limit of 5")).to_be_visible()

    def test_a_failure_has_its_reason_and_position(self, page: Page, portal_url: str, shot: Shot) -> None:
        start_job(page, portal_url, INVALID)
        row = job_rows(page)
        expect(row).to_contain_text("line 2, column 3: there is no column parallax")
        row.get_by_role("button", name="SELECT TOP").click()
        row.get_by_role("link", name="Job page").click()
        expect(page.get_by_role("alert")).to_contain_text("Line 2, column 3 of the query")
        shot(page, "jobs-failed")
        page.get_by_role("button", name="Edit query").click()
        expect(page.locator(".cm-content")).to_contain_text("parallax")

    def test_kept_longer_copied_and_downloaded(self, page: Page, portal_url: str, portal: RunningService) -> None:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        job = start_job(page, portal_url, QUICK)
        page.goto(f"{portal_url}#/jobs/{job}")
        before = httpx.get(f"{portal.tap}/async/{job}/destruction", verify=False).text
        page.get_by_role("button", name="Keep for another week").click()
        expect(page.get_by_text("The job is kept until")).to_be_visible()
        after = httpx.get(f"{portal.tap}/async/{job}/destruction", verify=False).text
        assert after > before
        expect(page.get_by_text(f"The job is kept until {after[:10]}")).to_be_visible()
        page.get_by_role("button", name="Copy address").click()
        expect(page.get_by_text("Copied.")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == f"{portal.tap}/async/{job}"
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").click()
        stored = httpx.get(f"{portal.tap}/async/{job}/results/result", verify=False).content
        assert Path(download.value.path()).read_bytes() == stored


class TestElsewhere:
    def test_deleted_elsewhere(self, page: Page, portal_url: str, portal: RunningService, shot: Shot) -> None:
        """Deleted elsewhere, while running or shown: a message, and it leaves the list."""
        job = start_job(page, portal_url, LONG)
        expect(job_rows(page).get_by_role("progressbar")).to_be_visible()
        assert httpx.delete(f"{portal.tap}/async/{job}", verify=False).status_code == 303
        expect(page.get_by_text(re.compile("is no longer in the list: there is no job"))).to_be_visible()
        expect(job_rows(page)).to_have_count(0)
        shot(page, "jobs-lost")
        page.get_by_role("button", name="Dismiss").click()
        expect(page.get_by_text("is no longer in the list")).to_have_count(0)
        page.goto(f"{portal_url}#/jobs/{job}")
        expect(page.get_by_role("status").filter(has_text="there is no job")).to_be_visible()

    def test_two_tabs_of_the_browser_agree(self, page: Page, portal_url: str) -> None:
        other = page.context.new_page()
        other.goto(f"{portal_url}#/jobs")
        expect(other.get_by_text("No jobs yet.")).to_be_visible()
        start_job(page, portal_url, QUICK)
        expect(job_rows(other).get_by_text("Completed")).to_be_visible()
        job_rows(other).get_by_role("button", name="Delete").click()
        other.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(job_rows(other)).to_have_count(0)
        expect(job_rows(page)).to_have_count(0)
        expect(page.get_by_text("is no longer in the list")).to_have_count(0)

    def test_without_the_service(
        self, page: Page, portal_url: str, shot: Shot, no_service: Callable[[Page], AbstractContextManager[None]]
    ) -> None:
        start_job(page, portal_url, SOME)
        with no_service(page):
            page.reload()
            expect(job_rows(page).get_by_text("The service does not answer.")).to_be_visible()
            shot(page, "jobs-no-service")
        expect(job_rows(page).get_by_text("Completed")).to_be_visible()
        expect(job_rows(page).get_by_text("The service does not answer.")).to_have_count(0)

    def test_a_job_of_another_program_by_its_address(self, page: Page, portal_url: str, portal: RunningService) -> None:
        address = create_job(portal, QUICK)
        page.goto(f"{portal_url}#/jobs/{address.rpartition('/')[2]}")
        expect(page.get_by_role("main").get_by_text("Completed")).to_be_visible()
        expect(page.get_by_role("main").get_by_role("button", name="Open", exact=True)).to_be_visible()
        expect(page.get_by_text("This job was not started in this browser.")).to_be_visible()
        for action in ("Delete", "Stop", "Keep for another week"):
            expect(page.get_by_role("button", name=action, exact=True)).to_have_count(0)


class TestUser:
    def test_wrong_password_and_sign_out(
        self, page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        page.goto(f"{portal_url}#/jobs")
        sign_in(page, "alice", "wrong")
        dialog = page.get_by_role("dialog", name="Sign in")
        expect(dialog.get_by_role("alert")).to_contain_text("the name and password, or the token, are wrong")
        accessible(page)
        shot(page, "sign-in")
        dialog.get_by_label("Password", exact=True).fill(USERS["alice"])
        page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
        expect(page.get_by_role("banner")).to_contain_text("alice")
        page.reload()
        expect(page.get_by_role("banner")).to_contain_text("alice")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("banner")).not_to_contain_text("alice")
        assert page.evaluate("sessionStorage.length") == 0

    def test_a_token(self, page: Page, portal_url: str, portal: RunningService) -> None:
        accounts = Accounts(portal.server.config.app.state.services.config.accounts)
        token = accounts.add_token("bob", "portal", 1)
        accounts.close()
        page.goto(f"{portal_url}#/jobs")
        page.get_by_role("banner").get_by_role("button", name="Sign in").click()
        dialog = page.get_by_role("dialog", name="Sign in")
        dialog.get_by_label("Token").check()
        dialog.get_by_label("Token").and_(dialog.locator("[type=password]")).fill(f" {token}\n")
        dialog.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("banner")).to_contain_text("bob")

    def test_jobs_of_pyvo_are_listed_and_a_result_becomes_a_table(
        self, page: Page, portal_url: str, alice: User, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        theirs = alice.vo.submit_job(QUICK, runid="survey").run()
        page.goto(f"{portal_url}#/jobs")
        sign_in(page, "alice")
        row = job_rows(page).filter(has_text="SELECT type, COUNT(*)")
        expect(row.get_by_text("Completed")).to_be_visible()
        row.get_by_role("button", name="SELECT type").click()
        expect(row).to_contain_text("survey")
        shot(page, "jobs-user")
        with page.expect_download() as download:
            row.get_by_role("button", name="Download").click()
        assert (
            Path(download.value.path()).read_bytes()
            == alice.http("GET", f"async/{theirs.job_id}/results/result").content
        )

        row.get_by_role("button", name="Save as my table").click()
        dialog = page.get_by_role("dialog", name="Save as my table")
        dialog.get_by_label("Name", exact=True).fill("2 types")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("alert")).to_contain_text("This is not a valid table name")
        dialog.get_by_label("Name", exact=True).fill("types")
        accessible(page)
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("mydb.types has been created.")).to_be_visible()
        assert alice.count("mydb.types") == len(alice.rows(QUICK))
        dialog.get_by_role("button", name="Query it").click()
        expect(page.locator(".cm-content")).to_contain_text("FROM mydb.types")

        page.get_by_role("button", name="Sign out").click()
        page.goto(f"{portal_url}#/jobs")
        expect(job_rows(page)).to_have_count(0)

    def test_name_note_and_search(
        self, page: Page, portal_url: str, alice: User, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        first = async_client.create_job(alice.tap, QUICK, alice.auth, PHASE="RUN", RUNID="types")
        second = async_client.create_job(alice.tap, INVALID, alice.auth, PHASE="RUN")
        page.goto(f"{portal_url}#/jobs")
        sign_in(page, "alice")
        expect(job_rows(page)).to_have_count(2)
        row = job_rows(page).filter(has_text="types")
        row.get_by_role("button", name="types").click()
        row.get_by_role("button", name="Edit name and note").click()
        row.get_by_label("Name", exact=True).fill("Kinds of objects")
        row.get_by_label("Note", exact=True).fill("For the <second> paper")
        row.get_by_role("button", name="Save", exact=True).click()
        row = job_rows(page).filter(has_text="Kinds of objects")
        expect(row.get_by_text("For the <second> paper")).to_be_visible()
        assert (first.element_text("runId"), first.info["note"]) == ("Kinds of objects", "For the <second> paper")
        accessible(page)
        shot(page, "jobs-named")

        search = page.get_by_label("Search jobs")
        search.fill("paper objects")
        expect(job_rows(page)).to_have_count(1)
        expect(row).to_be_visible()
        # the page does not know this note, which another program has written: the service finds it
        second.post("/note", NOTE="quasars, again")
        search.fill("quasars")
        expect(job_rows(page).filter(has_text="parallax")).to_contain_text("quasars, again")
        shot(page, "jobs-search")
        page.get_by_label("To", exact=True).fill("2020-01-01")
        expect(page.get_by_text("No matching jobs.")).to_be_visible()
        page.get_by_label("To", exact=True).fill("")
        search.fill("")
        row.get_by_role("button", name="Open", exact=True).click()
        expect(page.get_by_role("tab", name="Kinds of objects")).to_be_visible()

    def test_a_refusal_leads_to_it(self, page: Page, portal_url: str, portal: RunningService, alice: User) -> None:
        """Expired credentials open the sign-in dialog on any page."""
        page.goto(f"{portal_url}#/jobs")
        sign_in(page, "alice")
        expect(page.get_by_role("banner")).to_contain_text("alice")
        page.evaluate("sessionStorage['skyhouse.authorization'] = JSON.stringify('Basic ' + btoa('alice:changed'))")
        page.reload()
        dialog = page.get_by_role("dialog", name="Sign in")
        expect(dialog.get_by_role("status")).to_contain_text("The service asks you to sign in")
        dialog.get_by_role("button", name="Cancel").click()
        with page.expect_response(re.compile("/tap/async")) as answered:
            page.get_by_role("button", name="Refresh").click()
        assert answered.value.status == 401
        expect(page.get_by_role("alert")).to_contain_text("The list of jobs could not be read")
        expect(dialog).to_be_hidden()

    def test_ended_jobs_go_at_once(
        self,
        page: Page,
        portal_url: str,
        portal: RunningService,
        alice: User,
        shot: Shot,
        accessible: Callable[[Page], None],
    ) -> None:
        for number in range(3):
            create_job(portal, f"SELECT {number} AS n FROM TAP_SCHEMA.schemas", alice)
        create_job(portal, INVALID, alice)
        running = create_job(portal, LONG, alice)
        page.goto(f"{portal_url}#/jobs")
        sign_in(page, "alice")
        expect(job_rows(page)).to_have_count(5)
        page.get_by_role("combobox", name="Show").select_option("Failed")
        expect(job_rows(page)).to_have_count(1)
        page.get_by_role("combobox", name="Show").select_option("All")
        expect(page.get_by_role("button", name="Delete finished (4)")).to_be_visible()
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            accessible(page)
            shot(page, f"jobs-list-{colours}")
        page.get_by_role("button", name="Delete finished (4)").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete them").click()
        expect(job_rows(page)).to_have_count(1)
        assert [job.jobid for job in alice.vo.get_job_list()] == [running.rpartition("/")[2]]
        job_rows(page).get_by_role("button", name="Stop").click()
        expect(job_rows(page).get_by_text("Stopped", exact=True)).to_be_visible()


def test_the_browser_notifies(open_page: Callable[..., Page], portal_url: str, portal: RunningService) -> None:
    """A notification at the end of a job, on request, while another page is visible."""
    page = open_page(permissions=["notifications"])
    page.add_init_script(
        "window.told = []; window.Notification = class extends Notification "
        "{ constructor(title, options) { super(title, options); told.push(options.body) } }"
    )
    page.goto(f"{portal_url}#/jobs")
    page.get_by_label("Notify me when jobs end").check()
    job = start_job(page, portal_url, LONG)
    page.evaluate("Object.defineProperty(document, 'visibilityState', { value: 'hidden' })")
    stop_job(portal, job)
    page.wait_for_function("() => told.length > 0")  # a string would be evaluated, which the policy forbids
    assert page.evaluate("told") == ["“Shared query” has been stopped"]


def test_on_a_phone(phone: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
    for query in (QUICK, INVALID, LONG):
        start_job(phone, portal_url, query)
    expect(job_rows(phone)).to_have_count(3)
    expect(job_rows(phone).first.get_by_role("progressbar")).to_be_visible()
    shot(phone, "jobs-phone")
    accessible(phone)
    job_rows(phone).first.get_by_role("button", name="Stop").click()
    job_rows(phone).last.get_by_role("button", name="SELECT type").click()
    assert phone.evaluate("document.getElementById('main').scrollWidth") <= 390
    shot(phone, "jobs-phone-details")
    phone.get_by_role("button", name="Sign in").click()
    expect(phone.get_by_role("dialog", name="Sign in")).to_be_visible()
    accessible(phone)
    shot(phone, "sign-in-phone")
    phone.keyboard.press("Escape")
    phone.get_by_role("banner").get_by_role("button", name="SAMP").click()
    expect(phone.get_by_role("dialog", name="Other programs (SAMP)")).to_be_visible()
    accessible(phone)
    shot(phone, "samp-phone")
