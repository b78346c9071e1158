"""The frame of the portal: pages, policy, size; on a laptop, on a phone, behind a proxy, without the service."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tap_service.models.timestamps import parse_instant
from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService
from tests.tap_service.nginx import behind_nginx

PAGES = {
    "home": "Sky",
    "query": "Query",
    "tables": "Tables",
    "examples": "Examples",
    "jobs": "Jobs",
    "uploads": "Upload",
}
#: bytes of the first page with all that it needs, compressed by gzip
FIRST_LOAD = {"": 210_000, "#/query": 260_000}


def open_settled(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_load_state("networkidle")


def check_widths(page: Page) -> None:
    """Check that nothing but scrolling elements is wider than the screen, once the layout has settled."""
    width = page.viewport_size["width"]
    for part in ("document.documentElement", "document.getElementById('main')"):
        page.wait_for_function(f"() => {part}.scrollWidth <= {width}")


class TestPages:
    def test_each_is_a_click_away(self, page: Page, portal_url: str) -> None:
        page.goto(portal_url + "#/query")
        links = page.get_by_role("navigation", name="Pages").get_by_role("link")
        expect(links).to_have_text(list(PAGES.values()))
        for name, title in PAGES.items():
            links.filter(has_text=title).click()
            expect(page).to_have_url(f"{portal_url}#/{name}")
            expect(page).to_have_title(f"{title} · Skyhouse")
            expect(links.and_(page.locator("[aria-current=page]"))).to_have_text(title)
        page.go_back()
        expect(page).to_have_title("Jobs · Skyhouse")

    def test_an_address_of_no_page(self, page: Page, portal_url: str) -> None:
        page.goto(f"{portal_url}#/nowhere")
        expect(page.get_by_text("Page not found.")).to_be_visible()
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()

    def test_announcements_stand_above_each(
        self, page: Page, portal: RunningService, portal_url: str, accessible: Callable[[Page], None]
    ) -> None:
        announcements = portal.server.config.app.state.services.announcements
        note = announcements.add_note("new <b>tables</b>")
        start, end = parse_instant("2099-03-01T06:00"), parse_instant("2099-03-01T12:30")
        downtime = announcements.add_downtime(start, end, "disks")
        page.goto(f"{portal_url}#/tables")
        shown = page.get_by_role("region", name="Announcements of this service")
        expect(shown).to_contain_text("Downtime from 2099-03-01 06:00 to 2099-03-01 12:30 UTC: disks")
        expect(shown).to_contain_text("new <b>tables</b>")
        accessible(page)
        announcements.remove_note(note.note_id)
        announcements.remove_downtime(downtime.downtime_id)
        page.reload()
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
        expect(shown).to_have_count(0)

    @pytest.mark.parametrize("name", PAGES)
    def test_looks_and_accessibility(
        self, page: Page, portal_url: str, name: str, shot: Shot, accessible: Callable[[Page], None]
    ) -> None:
        """In light, dark and phone size; each has one heading of the first level."""
        open_settled(page, f"{portal_url}#/{name}")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            shot(page, f"shell-{name}-{colours}")
            accessible(page)
        page.set_viewport_size({"width": 390, "height": 844})
        check_widths(page)
        accessible(page)

    def test_on_a_phone(self, phone: Page, portal_url: str, shot: Shot) -> None:
        """One tap to each page."""
        phone.goto(portal_url + "#/query")
        for name, title in PAGES.items():
            link = phone.get_by_role("navigation", name="Pages").get_by_role("link", name=title)
            link.tap()
            expect(phone).to_have_title(f"{title} · Skyhouse")
            assert link.bounding_box()["height"] >= 24
            phone.wait_for_load_state("networkidle")
            check_widths(phone)
            shot(phone, f"shell-{name}-phone")


class TestKeyboard:
    def test_skips_the_navigation(self, page: Page, portal_url: str) -> None:
        page.goto(f"{portal_url}#/tables")
        skip = page.get_by_role("link", name="Skip to content")
        expect(skip).not_to_be_in_viewport()
        page.keyboard.press("Tab")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()
        expect(page).to_have_url(f"{portal_url}#/tables")

    def test_goes_through_the_pages(self, page: Page, portal_url: str) -> None:
        page.goto(portal_url + "#/query")
        link = page.get_by_role("link", name="Examples", exact=True)
        for _ in range(10):
            page.keyboard.press("Tab")
            if link.evaluate("link => link === document.activeElement"):
                break
        assert link.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{portal_url}#/examples")


class TestColours:
    GROUND = "getComputedStyle(document.body).backgroundColor"

    def brightness(self, page: Page) -> int:
        return sum(map(int, re.findall(r"\d+", page.evaluate(self.GROUND))[:3]))

    def test_those_of_the_system(self, page: Page, portal_url: str) -> None:
        page.goto(portal_url + "#/query")
        light = self.brightness(page)
        page.emulate_media(color_scheme="dark")
        assert self.brightness(page) < 150 < 600 < light

    def test_those_that_are_chosen_stay(self, page: Page, portal_url: str) -> None:
        page.goto(portal_url + "#/query")
        page.get_by_role("combobox", name="Theme").select_option("dark")
        assert self.brightness(page) < 150
        page.reload()
        assert self.brightness(page) < 150
        expect(page.get_by_role("combobox", name="Theme")).to_have_value("dark")


#: attacks that the policy must stop if somebody's text gets into the page as markup
ATTACKS = {
    "a script in the page": """() => {
        const script = document.createElement('script');
        script.textContent = 'window.attacked = true';
        document.body.append(script);
        return window.attacked ?? false;
    }""",
    "an event handler": """async () => {
        const host = document.createElement('div');
        host.innerHTML = '<img src="data:," onerror="window.attacked = true">';
        document.body.append(host);
        await new Promise((resolve) => setTimeout(resolve, 300));
        return window.attacked ?? false;
    }""",
    "a script of another host": """() => new Promise((resolve) => {
        const script = document.createElement('script');
        script.src = 'http://localhost:9/evil.js';
        script.onerror = () => resolve(false);
        script.onload = () => resolve(true);
        document.body.append(script);
        document.addEventListener('securitypolicyviolation', () => resolve(false));
    })""",
    "an inline style": """() => {
        const host = document.createElement('div');
        host.innerHTML = '<p style="color: rgb(1, 2, 3)">x</p>';
        document.body.append(host);
        return getComputedStyle(host.firstChild).color === 'rgb(1, 2, 3)';
    }""",
    "words sent elsewhere": """() => fetch('http://localhost:9/?secret').then(() => true, () => false)""",
    "a picture of another host": """() => new Promise((resolve) => {
        const image = new Image();
        image.onload = () => resolve(true);
        image.onerror = () => resolve(false);
        image.src = 'http://localhost:9/?secret';
    })""",
    "another base": """() => {
        const base = document.createElement('base');
        base.href = 'http://localhost:9/';
        document.head.prepend(base);
        return document.baseURI.includes(':9');
    }""",
}


class TestPolicy:
    def test_is_in_force(self, browser: Browser, portal_url: str) -> None:
        """The browser refuses each attack and reports the policy."""
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(portal_url + "#/query")
            page.evaluate("document.addEventListener('securitypolicyviolation', () => window.refused++)")
            for name, attack in ATTACKS.items():
                page.evaluate("window.refused = 0")
                assert page.evaluate(attack) is False, name
                page.wait_for_function("() => window.refused > 0")

    def test_no_other_site_can_frame_it(self, browser: Browser, portal_url: str) -> None:
        with browser.new_context() as context:
            page = context.new_page()
            with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
                page.set_content(f'<iframe src="{portal_url}"></iframe>')


@pytest.mark.parametrize("address", FIRST_LOAD)
def test_the_first_load_is_small(page: Page, portal_url: str, address: str) -> None:
    """Files and answers of the first page, and of the query page as the first, compressed by gzip."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_settled(page, portal_url + address)
    sizes = {}
    for url in asked:
        if urlsplit(url).scheme == "http":
            with httpx.stream("GET", url, headers={"Accept-Encoding": "gzip"}) as answer:
                sizes[url] = len(b"".join(answer.iter_raw()))
    assert any(url.endswith(".js") for url in sizes)
    assert sum(sizes.values()) < FIRST_LOAD[address], sizes


@pytest.mark.parametrize("name", ["tables", "examples"])
def test_without_the_service(
    page: Page, portal_url: str, name: str, no_service: Callable[[Page], AbstractContextManager[None]], shot: Shot
) -> None:
    """A message, and the page works again when the service is back."""
    with no_service(page):
        open_settled(page, f"{portal_url}#/{name}")
        expect(page.get_by_text("The service does not answer.").filter(visible=True).first).to_be_visible()
        shot(page, f"shell-{name}-down")
        page.get_by_role("link", name="Query", exact=True).click()
        expect(page).to_have_title("Query · Skyhouse")
    open_settled(page, f"{portal_url}#/{name}")
    page.reload()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_text("The service does not answer.")).to_have_count(0)


def test_behind_a_proxy(
    open_page: Callable[..., Page], portal: RunningService, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Files and requests under a path prefix, with TLS."""
    folder: Path = tmp_path_factory.mktemp("nginx")
    with behind_nginx(folder, portal.url) as (url, _):
        page = open_page(host=urlsplit(url).netloc, ignore_https_errors=True)
        asked: list[str] = []
        page.on("response", lambda response: asked.append(f"{response.status} {urlsplit(response.url).path}"))
        open_settled(page, f"{url}/#/tables")
        expect(page.get_by_text("tycho2").filter(visible=True).first).to_be_visible()
        assert all(path.startswith("200 /archive/") for path in asked), asked
        assert any(path.startswith("200 /archive/tap/") for path in asked)
