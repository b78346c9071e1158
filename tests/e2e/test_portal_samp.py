"""Exchange of tables and positions with another program, over a real SAMP hub with the Web Profile."""

from __future__ import annotations

import gc
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from astropy.io.votable import parse_single_table
from astropy.table import Table
from playwright.sync_api import Locator, Page, expect
from pyvo.samp import SAMPHubServer, SAMPIntegratedClient, SAMPProxyError, WebProfileDialog

from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job

QUERY = "SELECT TOP 20 tyc_id, ra, dec, vt_mag FROM tycho2.bright ORDER BY vt_mag, tyc_id"
MESSAGES = ("table.load.votable", "coord.pointAt.sky", "table.select.rowList", "table.highlight.row")

#: a stopping hub leaves sockets open
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class User(WebProfileDialog):
    """Answers the hub's question whether a page may connect."""

    def __init__(self) -> None:
        self.agrees = True
        self.asked: list[str] = []
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._watched)
        self._watch.start()

    def show_dialog(self, samp_name: str, details: Any, client: Any, origin: str) -> None:
        self.asked.append(f"{samp_name} of {origin}")
        (self.consent if self.agrees else self.reject)()

    def _watched(self) -> None:
        while not self._over.wait(0.02):
            self.handle_queue()

    def leave(self) -> None:
        self._over.set()
        self._watch.join()


class Program(SAMPIntegratedClient):
    """Another program, which accepts and keeps the messages that TOPCAT accepts."""

    def __init__(self, hub: SAMPHubServer) -> None:
        super().__init__(name="Observer", description="A program of the tests")
        self.received: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._hub = hub

    def listen(self) -> None:
        self.connect(hub=self._hub)
        for message in MESSAGES:
            self.bind_receive_call(message, self._called)
            self.bind_receive_notification(message, self._notified)

    def _called(self, key: str, sender: str, call: str, kind: str, given: dict[str, Any], extra: Any) -> None:
        self.received.put((kind, given))
        # pyvo's hub passes a call on before it waits for the answer, and loses one that comes earlier
        while "samp::sync::call" in call and call not in self._hub._sync_msg_ids_heap:
            time.sleep(0.001)
        self.reply(call, {"samp.status": "samp.ok", "samp.result": {}})

    def _notified(self, key: str, sender: str, kind: str, given: dict[str, Any], extra: Any) -> None:
        self.received.put((kind, given))

    def next(self, kind: str) -> dict[str, Any]:
        """Return the next message of this kind."""
        while True:
            found, given = self.received.get(timeout=20)
            if found == kind:
                return given

    @property
    def others(self) -> dict[str, str]:
        """Return the other programs by name, but for one that leaves meanwhile."""
        found = {}
        for each in self.get_registered_clients():
            with suppress(SAMPProxyError):
                found[self.get_metadata(each).get("samp.name", "")] = each
        return found

    def wait_until_gone(self, name: str) -> None:
        while name in self.others:  # the test's time limit ends this
            time.sleep(0.02)


@pytest.fixture
def who() -> Iterator[User]:
    found = User()
    yield found
    found.leave()


@pytest.fixture
def hub(who: User, samp_port: int, tmp_path: Path) -> Iterator[SAMPHubServer]:
    web = {"web_profile": True, "web_profile_dialog": who, "web_port": samp_port}
    server = SAMPHubServer(**web, lockfile=str(tmp_path / "hub"), mode="multiple")
    server.start()
    server._web_port = 21012  # in the addresses that it gives to pages
    yield server
    if server.is_running:
        server.stop()
    del server
    gc.collect()


@pytest.fixture
def program(hub: SAMPHubServer) -> Iterator[Program]:
    client = Program(hub)
    client.listen()
    yield client
    if hub.is_running:
        client.disconnect()


def samp_dialog(page: Page) -> Locator:
    page.get_by_role("banner").get_by_role("button", name="SAMP").click()
    return page.get_by_role("dialog", name="Other programs (SAMP)")


def connect_page(page: Page, url: str) -> None:
    page.goto(url)
    dialog = samp_dialog(page)
    dialog.get_by_role("button", name="Connect", exact=True).click()
    expect(dialog.get_by_text("Observer")).to_be_visible()
    page.keyboard.press("Escape")


def run_job(portal: RunningService, query: str) -> str:
    job = create_job(portal.tap, query, PHASE="RUN")
    assert job.wait_for_end() == "COMPLETED", job.message
    return job.url


def test_a_result_goes_to_a_program_and_rows_are_marked_in_both(
    page: Page, portal_url: str, portal: RunningService, program: Program, who: User, shot: Shot
) -> None:
    address = run_job(portal, QUERY)
    page.goto(f"{portal_url}#/jobs/{address.rpartition('/')[2]}")
    page.get_by_role("button", name="Open", exact=True).click()
    result = page.get_by_role("region", name="Result")
    result.get_by_role("button", name="Send to …").click()
    dialog = page.get_by_role("dialog", name="Other programs (SAMP)")
    expect(dialog.get_by_role("option", name="Observer")).to_be_attached()
    assert who.asked == [f"Skyhouse of {portal.url}"]
    dialog.get_by_role("combobox", name="Send to").select_option("Observer")
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog.get_by_text("to Observer.")).to_be_visible()
    shot(page, "samp-sent")
    sent = program.next("table.load.votable")
    assert sent["url"] == f"{address}/results/result"
    table = parse_single_table(BytesIO(httpx.get(sent["url"], verify=False).content)).to_table()
    assert (len(table), table.colnames) == (20, ["tyc_id", "ra", "dec", "vt_mag"])
    page.keyboard.press("Escape")

    other = program.others["Skyhouse"]
    rows = {"table-id": sent["table-id"], "row-list": ["1", "3"]}
    program.notify(other, {"samp.mtype": "table.select.rowList", "samp.params": rows})
    expect(result.get_by_text("· 2 chosen", exact=True)).to_be_visible()
    expect(result.get_by_role("row", selected=True)).to_have_text([re.compile("^.?2"), re.compile("^.?4")])
    shot(page, "samp-chosen")
    result.get_by_role("button", name="Choose none").click()
    assert program.next("table.select.rowList") == {"table-id": sent["url"], "url": sent["url"], "row-list": []}
    result.get_by_role("rowheader", name=re.compile(r"\b5$")).hover()
    while program.next("table.highlight.row") != {"table-id": sent["url"], "url": sent["url"], "row": "4"}:
        pass


def test_a_query_goes_to_all_programs_and_rows_are_linked(
    page: Page, portal_url: str, program: Program, shot: Shot
) -> None:
    """The rows are stored as they are shown, sorted and filtered: their indexes are the indexes of the sent rows."""
    connect_page(page, f"{portal_url}#/query?adql={quote(QUERY)}")
    page.get_by_role("button", name="▶ Run").click()
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_role("gridcell").first).not_to_be_empty()
    head = result.get_by_role("columnheader", name="vt_mag")
    head.click()
    head.click()
    expect(head).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Send to …").click()
    dialog = page.get_by_role("dialog", name="Other programs (SAMP)")
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog.get_by_text("to Observer.")).to_be_visible()
    sent = program.next("table.load.votable")
    table = parse_single_table(BytesIO(httpx.get(sent["url"], verify=False, timeout=60).content)).to_table()
    assert (len(table), table.colnames) == (20, ["tyc_id", "ra", "dec", "vt_mag"])
    assert table["vt_mag"].unit == "mag"
    assert list(table["vt_mag"]) == sorted(table["vt_mag"], reverse=True)
    page.keyboard.press("Escape")

    rows = {"table-id": sent["table-id"], "row-list": ["0", "3"]}
    program.notify(program.others["Skyhouse"], {"samp.mtype": "table.select.rowList", "samp.params": rows})
    expect(result.get_by_text("· 2 chosen", exact=True)).to_be_visible()
    for index in (0, 3):
        chosen = result.get_by_role("row", selected=True).filter(has_text=str(table["tyc_id"][index]))
        expect(chosen).to_be_attached()
    shot(page, "samp-query-linked")
    result.get_by_role("button", name="Choose none").click()
    assert program.next("table.select.rowList")["row-list"] == []
    result.get_by_role("gridcell", name=str(table["tyc_id"][2]), exact=True).hover()
    while program.next("table.highlight.row")["row"] != "2":
        pass


def test_a_table_of_the_service_is_sent(page: Page, portal_url: str, program: Program) -> None:
    connect_page(page, f"{portal_url}#/tables/openngc.objects")
    page.get_by_role("button", name="Send to …").click()
    dialog = page.get_by_role("dialog", name="Other programs (SAMP)")
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog.get_by_text("Sent openngc.objects to Observer.")).to_be_visible()
    sent = program.next("table.load.votable")
    few = httpx.get(httpx.URL(sent["url"]).copy_merge_params({"MAXREC": "3"}), verify=False)
    assert len(parse_single_table(BytesIO(few.content)).to_table()) == 3


def test_a_table_comes_from_a_program(
    page: Page, portal_url: str, program: Program, tmp_path: Path, shot: Shot
) -> None:
    connect_page(page, f"{portal_url}#/tables")
    path = tmp_path / "my & own.vot"
    Table({"id": [1, 2, 3], "ra": [10.5, 11.5, 12.5], "name": ["Mizar", "Alcor", "Alioth"]}).write(
        path, format="votable"
    )
    sent = {"url": path.as_uri(), "table-id": "t1", "name": "Mine & yours"}
    program.call_and_wait(program.others["Skyhouse"], {"samp.mtype": "table.load.votable", "samp.params": sent}, "20")
    expect(page.get_by_role("tab", name="Mine & yours")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("gridcell", name="Alioth")).to_be_visible()
    expect(page.get_by_role("status", name="Notifications")).to_contain_text("Table Mine & yours from Observer")
    shot(page, "samp-received")

    gone = {"url": (tmp_path / "gone.vot").as_uri(), "table-id": "t2", "name": "Gone"}
    program.call_and_wait(program.others["Skyhouse"], {"samp.mtype": "table.load.votable", "samp.params": gone}, "20")
    expect(samp_dialog(page).get_by_role("status")).to_contain_text("The table Gone could not be fetched")


def test_a_position_offers_a_search_around_it(
    page: Page, portal_url: str, program: Program, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    query = "SELECT TOP 1 tyc_id FROM tycho2.bright ORDER BY DISTANCE(ra, dec, 56.75, 24.12)"
    form = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": query}
    nearest = httpx.post(f"{portal_url}tap/sync", data=form, verify=False, timeout=60).text.split()[-1]
    connect_page(page, f"{portal_url}#/examples")
    at = {"ra": "56.75", "dec": "24.12"}
    program.notify_all({"samp.mtype": "coord.pointAt.sky", "samp.params": at})
    news = page.get_by_role("status", name="Notifications")
    expect(news).to_contain_text("Position 56.75000, 24.12000 from Observer")
    news.get_by_role("button", name="Search around it").click()
    news.get_by_label("Table").select_option("tycho2.bright")
    news.get_by_label("Radius in degrees").fill("0.5")
    accessible(page)
    shot(page, "samp-position")
    news.get_by_role("button", name="Search").click()
    expect(page.get_by_role("tab", name="Around 56.750, 24.120")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("gridcell", name=nearest, exact=True)).to_be_visible()
    expect(news).not_to_contain_text("Position")


def test_the_page_says_who_is_there_and_leaves(page: Page, portal_url: str, program: Program, shot: Shot) -> None:
    connect_page(page, f"{portal_url}#/jobs")
    other = program.others["Skyhouse"]
    assert set(MESSAGES) <= set(program.get_subscriptions(other))
    dialog = samp_dialog(page)
    expect(dialog.get_by_role("listitem")).to_have_text("Observer accepts tables accepts positions")
    shot(page, "samp-panel")
    dialog.get_by_role("button", name="Disconnect").click()
    expect(dialog.get_by_text("Not connected.")).to_be_visible()
    expect(page.get_by_role("banner").get_by_role("button", name="SAMP: not connected")).to_be_attached()
    page.keyboard.press("Escape")
    program.wait_until_gone("Skyhouse")

    connect_page(page, f"{portal_url}#/jobs")
    assert "Skyhouse" in program.others
    page.reload()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    program.wait_until_gone("Skyhouse")


def test_a_hub_that_refuses_and_one_that_ends(
    page: Page, portal_url: str, program: Program, hub: SAMPHubServer, who: User
) -> None:
    who.agrees = False
    page.goto(f"{portal_url}#/jobs")
    dialog = samp_dialog(page)
    dialog.get_by_role("button", name="Connect", exact=True).click()
    expect(dialog.get_by_text("The hub refused the connection.")).to_be_visible()
    who.agrees = True
    dialog.get_by_role("button", name="Connect", exact=True).click()
    expect(dialog.get_by_text("Observer")).to_be_visible()
    program.disconnect()
    expect(dialog.get_by_text("No other program is connected.")).to_be_visible()
    hub.stop()
    expect(dialog.get_by_text("The hub closed the connection.")).to_be_visible()


def test_without_a_hub(page: Page, portal_url: str, shot: Shot) -> None:
    page.goto(f"{portal_url}#/jobs")
    dialog = samp_dialog(page)
    dialog.get_by_role("button", name="Connect", exact=True).click()
    expect(dialog.get_by_text("No SAMP hub answers on this computer. Start TOPCAT or Aladin")).to_be_visible()
    shot(page, "samp-no-hub")
