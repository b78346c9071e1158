"""The account and the administration in the portal: tokens; running work, jobs of all users, drain, downtimes, notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_jobs import LONG, QUICK, create_job, sign_in
from tests.e2e.test_portal_shell import check_widths
from tests.support.running_service import RunningService
from tests.tap_service.async_client import Job
from tests.tap_service.users import User

NAMES = {"alice", "bob", "root"}


@pytest.fixture(autouse=True)
def nothing_left(portal: RunningService) -> Iterator[None]:
    """Leave no jobs, tokens and announcements to the next test."""
    yield
    root = User(portal, "root")
    for job in root.http("GET", "admin/jobs").json():
        assert root.http("DELETE", f"async/{job['job']}").status_code == 303
    for name in NAMES:
        user = User(portal, name)
        for token in user.http("GET", "tokens").json()["tokens"]:
            assert user.http("DELETE", f"tokens/{token['id']}").status_code == 204
        user.session.close()
    told = root.http("DELETE", "admin/drain").json()
    for kind in ("downtimes", "notes"):
        for each in told[kind]:
            assert root.http("DELETE", f"admin/{kind}/{each['id']}").status_code == 200
    root.session.close()


def look(page: Page, name: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
    """Check a page in light, dark and phone size."""
    size = page.viewport_size
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        shot(page, f"{name}-{colours}")
        accessible(page)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    check_widths(page)
    shot(page, f"{name}-phone")
    page.set_viewport_size(size)


def list_owned(portal: RunningService, token: str) -> httpx.Response:
    return httpx.get(f"{portal.tap}/mydb", headers={"Authorization": f"Bearer {token}"}, verify=False)


def test_a_token_is_shown_once_works_and_is_revoked(
    page: Page, portal: RunningService, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    page.goto(f"{portal_url}#/account")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.get_by_role("dialog", name="Sign in").get_by_role("button", name="Cancel").click()
    sign_in(page, "alice")
    main = page.get_by_role("main")
    expect(main).to_contain_text("You have no tokens.")
    expect(main).to_contain_text("0 of 100 tables")

    main.get_by_role("textbox", name="Name").fill("my <b>laptop</b>")
    page.get_by_label("Valid for").select_option("30 days")
    page.get_by_role("button", name="Create token").click()
    fresh = page.get_by_role("region", name="The token “my <b>laptop</b>”")
    expect(fresh.get_by_role("heading")).to_be_focused()
    token = fresh.locator("code").inner_text()
    assert list_owned(portal, token).json()["owner"] == "alice"
    fresh.get_by_role("button", name="Copy token").click()
    expect(fresh.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == token
    look(page, "account", shot, accessible)

    page.reload()
    expect(main.get_by_role("listitem")).to_contain_text("my <b>laptop</b>")
    assert token not in page.content()
    main.get_by_role("button", name="Revoke my").click()
    question = page.get_by_role("dialog", name="Revoke this token")
    question.get_by_role("button", name="Cancel").click()
    assert list_owned(portal, token).status_code == 200
    main.get_by_role("button", name="Revoke my").click()
    question.get_by_role("button", name="Revoke", exact=True).click()
    expect(main).to_contain_text("You have no tokens.")
    assert list_owned(portal, token).status_code == 401


def test_only_administrators_see_the_page(page: Page, portal_url: str) -> None:
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Administration")
    page.goto(f"{portal_url}#/admin")
    expect(page.get_by_text("Sign in as an administrator to see this page.")).to_be_visible()
    sign_in(page, "alice")
    expect(page.get_by_role("alert")).to_contain_text(
        "only administrators may use this: ask the operator of this service"
    )
    expect(page.get_by_role("heading", name="Drain")).to_have_count(0)
    expect(link).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, "root")
    expect(page.get_by_role("heading", name="Drain")).to_be_visible()
    expect(link).to_be_visible()


def test_work_and_jobs_of_all_users(
    page: Page, portal: RunningService, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    alice, bob = User(portal, "alice"), User(portal, "bob")
    long, short = (Job(create_job(portal, *each)) for each in ((LONG, alice), (QUICK, bob)))
    long.auth, short.auth = alice.auth, bob.auth
    assert short.wait_for_end() == "COMPLETED"
    page.goto(f"{portal_url}#/admin")
    sign_in(page, "root")
    running = page.get_by_role("region", name="Running now")
    work = running.get_by_role("listitem").filter(has_text="tycho2.bright")
    expect(work).to_contain_text("Job by alice")
    expect(work).to_contain_text(re.compile(r"[\d,]+ rows read"))
    jobs = page.get_by_role("region", name="Jobs of all users")
    expect(jobs.get_by_role("listitem").filter(has_text="bob")).to_contain_text("Completed")
    look(page, "admin", shot, accessible)

    work.get_by_role("button", name="Stop").click()
    question = page.get_by_role("dialog", name="Stop this task")
    expect(question).to_contain_text("this task of alice")
    question.get_by_role("button", name="Stop", exact=True).click()
    expect(work).to_have_count(0)
    assert "the operator of this service has stopped it" in long.get("/error").text

    jobs.get_by_label("Phase").select_option("Stopped")
    expect(jobs.get_by_role("listitem")).to_have_count(1)
    expect(jobs.get_by_role("listitem")).to_contain_text("alice")
    jobs.get_by_label("Phase").select_option("All")
    jobs.get_by_label("User").fill("bob")
    page.keyboard.press("Enter")
    expect(jobs.get_by_role("listitem")).to_have_count(1)
    jobs.get_by_role("button", name="Delete job").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(jobs).to_contain_text("No matching jobs.")
    assert short.get().status_code == 404
    for user in (alice, bob):
        user.session.close()


def job_id(job: Job) -> str:
    return job.url.rpartition("/")[2]


def test_announcements_are_made_and_withdrawn(page: Page, portal: RunningService, portal_url: str) -> None:
    def told() -> dict[str, Any]:
        return httpx.get(f"{portal.tap}/announcements", verify=False).json()

    page.goto(f"{portal_url}#/admin")
    sign_in(page, "root")
    shown = page.get_by_role("region", name="Announcements of this service")
    notes = page.get_by_role("region", name="Notes")
    notes.get_by_label("Text").fill("new <b>tables</b>")
    page.keyboard.press("Enter")
    expect(shown).to_contain_text("new <b>tables</b>")
    notes.get_by_role("button", name="Withdraw").click()
    expect(shown).to_have_count(0)

    downtimes = page.get_by_role("region", name="Downtimes")
    downtimes.get_by_label("From").fill("2099-03-01T06:00")
    downtimes.get_by_label("To (UTC)").fill("2099-02-01T06:00")
    downtimes.get_by_role("button", name="Announce").click()
    expect(downtimes.get_by_role("alert")).to_contain_text("a downtime must end after its start")
    downtimes.get_by_label("To (UTC)").fill("2099-03-01T12:00")
    downtimes.get_by_role("button", name="Announce").click()
    expect(shown).to_contain_text("Downtime from 2099-03-01 06:00 to 2099-03-01 12:00 UTC")
    expect(downtimes.get_by_role("alert")).to_have_count(0)
    assert told()["downtimes"][0]["from"].startswith("2099-03-01T06:00")
    downtimes.get_by_role("button", name="End").click()
    expect(shown).to_have_count(0)

    drain = page.get_by_role("region", name="Drain")
    drain.get_by_label("Reason").fill("new disks")
    drain.get_by_role("button", name="Stop accepting queries").click()
    expect(shown).to_contain_text("The service is not accepting new queries: new disks")
    assert told()["draining"] == "new disks"
    drain.get_by_role("button", name="Accept queries again").click()
    expect(shown).to_have_count(0)
    assert told() == {"draining": "", "downtimes": [], "notes": []}


def test_a_job_whose_result_was_removed_runs_again(
    page: Page, portal: RunningService, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    job = Job(create_job(portal, QUICK, MAXREC="3"))
    assert job.wait_for_end() == "COMPLETED"
    stores = portal.server.config.app.state.services.stores
    stores.jobs.archive_job(job_id(job), {"resultDeleted": "deleted at noon to make room: create the job again"})
    page.goto(f"{portal_url}#/jobs/{job_id(job)}")
    main = page.get_by_role("main")
    expect(main).to_contain_text("The result was deleted at noon to make room")
    expect(main.get_by_text("Result deleted")).to_be_visible()
    for name in ("Download", "Open"):
        expect(main.get_by_role("button", name=name, exact=True)).to_have_count(0)
    look(page, "jobs-archived", shot, accessible)
    main.get_by_role("button", name="Run again").click()
    expect(main.get_by_text("Completed")).to_be_visible()
    assert job_id(job) not in page.url
    expect(main).to_contain_text("cut at the row limit of 3")
