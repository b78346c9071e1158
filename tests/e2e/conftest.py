"""Fixtures for the portal in a real browser, against a real service with the demo's tables.

``--portal PATH`` tests another build than web/dist, ``--browser firefox`` in Debian's Firefox instead of its Chromium. Screenshots
are kept in build/screenshots.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Playwright, Request, expect, sync_playwright

from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.environment import ROOT
from tests.support.ports import free_port
from tests.tap_service.conftest import Served, served
from tests.tap_service.users import remove_user_tables, write_accounts

_AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
#: Its copies of style sheets, which no rule here needs, are inline styles that the page's policy reports. All that passes is much.
_RUN_AXE = """async () => {
    const found = await axe.run({ resultTypes: ['violations'], preload: false });
    return { violations: found.violations, passes: found.passes.length };
}"""
_SHOTS = ROOT / "build" / "screenshots"
_LAPTOP = {"width": 1440, "height": 900}
_PHONE = {"width": 390, "height": 844}
_SAMP = ("127.0.0.1:21012", "localhost:21012")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: Chromium without windows takes a third of the processor time, but has no notifications
_LIGHT_BROWSERS = ("chromium-headless-shell", *_BROWSERS)
_OPTIONS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
_FIREFOX = "firefox-esr"
#: no questions, and no sounds of a first start: updates, recommendations, pages that the browser opens by itself
_FIREFOX_PREFERENCES = {
    "ui.prefersReducedMotion": 1,
    "app.normandy.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
}

#: Console messages of the browser for refusals and missing answers, which the page reports itself. Failures (500) are errors.
_ANSWERED = re.compile(r"Failed to load resource: (the server responded with a status of (4\d\d|503)|net::ERR_)")

#: Without a graphics processor, the browser itself reads what WebGL has drawn into its own picture, and warns that this is slow.
_SOFTWARE_PICTURE = re.compile(r"GL Driver Message .* GPU stall due to ReadPixels")

#: the hash of the style that Playwright adds for a picture; Firefox reports that the page's policy refuses it
_PICTURE_STYLE = "sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA="

# generous, for busy machines
expect.set_options(timeout=20_000)

Shot = Callable[[Page, str], Path]

BOTH_BROWSERS = ("chromium", "firefox")


@pytest.fixture(scope="session")
def dist(request: pytest.FixtureRequest) -> Path:
    """The build of the portal under test."""
    folder: Path = request.config.getoption("--portal").absolute()
    assert (folder / "index.html").is_file(), f"there is no build of the portal in {folder}: make portal"
    return folder


@pytest.fixture(scope="module")
def portal(dist: Path, demo_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The service with the portal; alice, bob and the others of ``tests.tap_service.users`` may sign in."""
    folder = tmp_path_factory.mktemp("portal")
    paths = {"jobs_path": folder / "jobs", "hats_path": folder / "hats"}
    config = Config(query_log="", accounts=write_accounts(folder / "accounts.sqlite"), **paths)
    with served(config, demo_engine, portal=dist) as service:
        yield service
    remove_user_tables(demo_engine)


@pytest.fixture(scope="module")
def portal_url(portal: Served) -> str:
    """The portal's address, with a slash at its end: pages are at ``portal_url + "#/tables"``."""
    return portal.url + "/"


class _Driver:
    """Playwright and its Chromium without windows, for all files: they take most of a second of processor time to start.

    Between its calls Playwright marks its event loop as the running one, which forbids others. ``used`` limits that to a
    file, for tests of other files in this process run their own event loops.
    """

    def __init__(self, playwright: Playwright) -> None:
        self.playwright = playwright
        self._loop = asyncio.get_running_loop()
        self._open = ExitStack()
        #: what pages reach at SAMP's own port, where a hub of this machine's user may be
        self.samp_port = free_port()

    @cached_property
    def chromium(self) -> Browser:
        return self._open.enter_context(self.launch(_LIGHT_BROWSERS))

    @contextmanager
    def launch(self, names: Sequence[str]) -> Iterator[Browser]:
        programs = [program for name in names if (program := shutil.which(name))]
        assert programs, "these tests need Debian's chromium: apt-get install chromium"
        rules = ", ".join(f"MAP {address} 127.0.0.1:{self.samp_port}" for address in _SAMP)
        options = [*_OPTIONS, f"--host-resolver-rules={rules}"]
        browser = self.playwright.chromium.launch(executable_path=programs[0], args=options)
        yield browser
        browser.close()

    @contextmanager
    def used(self) -> Iterator[Playwright]:
        asyncio._set_running_loop(self._loop)
        yield self.playwright
        asyncio._set_running_loop(None)

    def close(self) -> None:
        asyncio._set_running_loop(self._loop)
        self._open.close()


@pytest.fixture(scope="session")
def _driver() -> Iterator[_Driver]:
    with sync_playwright() as playwright, closing(_Driver(playwright)) as driver:
        yield driver


@pytest.fixture(scope="session")
def samp_port(_driver: _Driver) -> int:
    """The port of a test's SAMP hub: pages in Chromium reach it at port 21012."""
    return _driver.samp_port


@pytest.fixture(scope="module")
def playwright(_driver: _Driver) -> Iterator[Playwright]:
    with _driver.used() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(
    request: pytest.FixtureRequest, _driver: _Driver, playwright: Playwright, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """The browser of ``--browser``; a file may ask for both with ``parametrize("browser", BOTH_BROWSERS, indirect=True)``."""
    if getattr(request, "param", request.config.getoption("--browser")) == "firefox":
        with _launch_firefox(playwright, tmp_path_factory.mktemp("firefox")) as firefox:
            yield firefox
    else:
        yield _driver.chromium


@contextmanager
def _launch_firefox(playwright: Playwright, folder: Path) -> Iterator[Browser]:
    """Launch Debian's Firefox through ``firefox_bridge``."""
    if not shutil.which(_FIREFOX):
        pytest.skip(f"this system has no {_FIREFOX}")
    bridge = folder / "firefox"
    bridge.write_text(
        f'#!/bin/sh\ncd {shlex.quote(str(ROOT))}\nexec {shlex.quote(sys.executable)} -m tests.e2e.firefox_bridge "$@"\n'
    )
    bridge.chmod(0o700)
    browser = playwright.firefox.launch(
        executable_path=bridge, channel="moz-firefox", firefox_user_prefs=_FIREFOX_PREFERENCES
    )
    yield browser
    browser.close()


@pytest.fixture
def open_page(browser: Browser, _driver: _Driver, portal: Served) -> Iterator[Callable[..., Page]]:
    """Open a page in a new browser profile, with these options of Playwright's contexts.

    A page that is permitted something is in the browser with windows. Console errors, failing scripts and requests to hosts other than ``host`` (default: the service's) and ``others``
    fail the test at its end.
    """
    errors: list[str] = []
    contexts = []
    browsers = ExitStack()

    def opened(*, host: str = "", others: Sequence[str] = (), **options: Any) -> Page:
        own = host or urlsplit(portal.url).netloc
        used = browsers.enter_context(_driver.launch(_BROWSERS)) if options.get("permissions") else browser
        context = used.new_context(**{"viewport": _LAPTOP, "reduced_motion": "reduce", **options})
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.extend(_list_complaints(message, others)))
        page.on("pageerror", lambda error: errors.extend(_list_errors(error)))
        context.on("request", lambda request: errors.extend(_list_foreign_requests(request, (own, *others))))
        return page

    yield opened
    for context in contexts:
        context.close()
    browsers.close()
    assert not errors, "\n".join(errors)


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    """A laptop-sized page, not yet at the portal."""
    return open_page()


@pytest.fixture
def phone(open_page: Callable[..., Page]) -> Page:
    """A phone-sized page, not yet at the portal."""
    return open_page(viewport=_PHONE, has_touch=True, is_mobile=True, device_scale_factor=2)


@pytest.fixture(scope="session")
def shot() -> Shot:
    """Save a screenshot under a name chosen by the test."""

    def take(page: Page, name: str) -> Path:
        _SHOTS.mkdir(parents=True, exist_ok=True)
        path = _SHOTS / f"{name}.png"
        page.screenshot(path=path)
        return path

    return take


@pytest.fixture(scope="session")
def accessible() -> Callable[[Page], None]:
    """Fail on serious accessibility findings of axe."""
    source = _AXE.read_text(encoding="utf-8")

    def check(page: Page) -> None:
        if not page.evaluate("'axe' in window"):
            page.evaluate(source)
        found = page.evaluate(_RUN_AXE)
        serious = [
            _describe_finding(entry) for entry in found["violations"] if entry["impact"] in ("serious", "critical")
        ]
        assert found["passes"] > 0, "axe has looked at nothing"
        assert not serious, "\n".join(serious)

    return check


@pytest.fixture(scope="session")
def no_service() -> Callable[[Page], AbstractContextManager[None]]:
    """A context in which requests below /tap get no answer."""

    @contextmanager
    def down(page: Page) -> Iterator[None]:
        page.route("**/tap/**", lambda route: route.abort("connectionrefused"))
        yield
        page.unroute("**/tap/**")

    return down


def _list_errors(error: Error) -> Iterator[str]:
    if _PICTURE_STYLE not in error.message:
        yield f"a script failed: {error.stack or error}"


def _list_complaints(message: ConsoleMessage, others: Sequence[str]) -> Iterator[str]:
    where = message.location["url"]
    parts = urlsplit(where)
    is_answer = parts.path.startswith("/tap") or parts.netloc in (*others, *_SAMP)
    is_known = (is_answer and _ANSWERED.match(message.text)) or _SOFTWARE_PICTURE.search(message.text)
    if message.type in ("error", "warning") and not is_known:
        yield f"the console says ({where}): {message.text}"


def _list_foreign_requests(request: Request, allowed: Sequence[str]) -> Iterator[str]:
    parts = urlsplit(request.url)
    if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc not in (*allowed, *_SAMP):
        yield f"the page asks another host: {request.url}"


def _describe_finding(finding: dict[str, Any]) -> str:
    """Describe a finding of axe and where it is."""
    nodes = "\n".join(f"    {node['target']}: {node['html'][:200]}" for node in finding["nodes"])
    return f"{finding['impact']}: {finding['help']} ({finding['id']})\n{nodes}"
