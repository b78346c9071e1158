"""Watches in the portal: made from a query of the editor and from a file of positions; runs seen, paused, removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_jobs import sign_in
from tests.support.running_service import RunningService
from tests.tap_service.watches.alerts import add_alerts, alerts_table

BRIGHT = "SELECT id, ra, dec, mag FROM sky.alerts WHERE mag < 2"


@pytest.fixture
def alerts(portal: RunningService, tmp_path: Path) -> Iterator[None]:
    with alerts_table(portal.engine, tmp_path):
        portal.refresh()
        yield


@pytest.mark.usefixtures("alerts")
def test_a_query_watches_new_rows(
    page: Page, portal: RunningService, portal_url: str, shot: Shot, accessible: Callable[[Page], None], tmp_path: Path
) -> None:
    page.goto(f"{portal_url}#/watches")
    sign_in(page, "alice")
    page.goto(f"{portal_url}#/watches?adql={BRIGHT}")
    expect(page.get_by_text("You have no watches yet.")).to_be_visible()
    assert page.get_by_role("textbox", name=re.compile("^Name")).input_value() == "new_alerts"
    page.get_by_role("textbox", name=re.compile("^Webhook")).fill("https://example.org/hook")
    page.get_by_role("button", name="Create watch").click()
    made = page.get_by_role("dialog", name="new_alerts is now watching.")
    expect(made.get_by_text("The secret of the webhook’s signatures is shown only once:")).to_be_visible()
    expect(made.get_by_label("Secret", exact=True)).to_be_in_viewport()
    shot(page, "watch-made")
    accessible(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(made).to_be_visible()
    made.get_by_role("button", name="Done").click()
    expect(made).to_be_hidden()

    (tmp_path / "targets.csv").write_text("name,ra,dec\nnear,280.5,11.5\n")
    page.get_by_label("Rows near a list of positions").check()
    page.get_by_label("or a file with positions").set_input_files(tmp_path / "targets.csv")
    page.get_by_role("textbox", name=re.compile("^Name")).fill("near_targets")
    page.get_by_role("textbox", name=re.compile("^Table to watch")).fill("sky.alerts")
    page.get_by_role("button", name="Create watch").click()
    expect(page.get_by_text("near_targets is now watching.")).to_be_visible()

    add_alerts(portal.engine, tmp_path, 4230, 20)
    watch = page.get_by_role("listitem", name="new_alerts")
    expect(watch.get_by_role("link", name=re.compile(r"mydb\.new_alerts: 4 rows in 1 run"))).to_be_visible()
    watch.get_by_text("Last runs").click()
    expect(watch.get_by_text("4 rows of 20 new rows")).to_be_visible()
    matched = page.get_by_role("listitem", name="near_targets")
    expect(matched.get_by_role("link", name=re.compile(r"1 row in 1 run"))).to_be_visible()
    shot(page, "watches")
    accessible(page)

    watch.get_by_role("button", name="Pause new_alerts").click()
    expect(watch.get_by_text("(paused)")).to_be_visible()
    for name in ("new_alerts", "near_targets"):
        page.get_by_role("button", name=f"Remove {name}").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("You have no watches yet.")).to_be_visible()


@pytest.mark.usefixtures("alerts")
def test_the_editor_offers_its_query(page: Page, portal_url: str) -> None:
    page.goto(f"{portal_url}#/watches")
    sign_in(page, "bob")
    page.goto(f"{portal_url}#/query?adql={BRIGHT}")
    page.get_by_role("button", name="Watch", exact=True).click()
    expect(page.get_by_role("textbox", name="Query", exact=True)).to_have_value(BRIGHT)


@pytest.mark.usefixtures("alerts")
def test_an_error_of_the_query(page: Page, portal_url: str, shot: Shot) -> None:
    page.goto(f"{portal_url}#/watches")
    sign_in(page, "carol")
    page.goto(f"{portal_url}#/watches?adql=SELECT id FROM sky.alerts WHERE magnitude < 2")
    page.get_by_role("button", name="Create watch").click()
    error = page.get_by_role("alert").get_by_text("magnitude")
    expect(error).to_have_css("font-family", re.compile("monospace"))
    shot(page, "watch-error")
    page.get_by_label("Rows near a list of positions").check()
    expect(error).to_be_hidden()
