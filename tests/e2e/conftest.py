"""Fixtures for the portal in a real browser, against a real service with the demo's tables.

``--portal PATH`` tests another build than web/dist, ``--browser firefox`` in Debian's Firefox instead of its Chromium. Screenshots
are kept in build/screenshots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.e2e.accessibility import check_accessibility
from tests.e2e.browsers import BROWSERS, BrowserDriver, launch_firefox
from tests.e2e.page_errors import list_complaints, list_errors, list_foreign_requests
from tests.e2e.screenshots import Shot, save_screenshot
from tests.support.running_service import RunningService, running_service
from tests.tap_service.users import remove_user_tables, write_accounts

_LAPTOP = {"width": 1440, "height": 900}
_PHONE = {"width": 390, "height": 844}


# generous, for busy machines
expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def dist(request: pytest.FixtureRequest) -> Path:
    """The build of the portal under test."""
    folder: Path = request.config.getoption("--portal").absolute()
    assert (folder / "index.html").is_file(), f"there is no build of the portal in {folder}: make portal"
    return folder


@pytest.fixture(scope="module")
def portal(
    dist: Path, demo_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """The service with the portal; alice, bob and the others of ``tests.tap_service.users`` may sign in."""
    folder = tmp_path_factory.mktemp("portal")
    paths = {"jobs_path": folder / "jobs", "hats_path": folder / "hats"}
    config = Config(query_log="", accounts=write_accounts(folder / "accounts.sqlite"), **paths)
    with running_service(config, demo_engine, portal=dist) as service:
        yield service
    remove_user_tables(demo_engine)


@pytest.fixture(scope="module")
def portal_url(portal: RunningService) -> str:
    """The portal's address, with a slash at its end: pages are at ``portal_url + "#/tables"``."""
    return portal.url + "/"


@pytest.fixture(scope="session")
def _driver() -> Iterator[BrowserDriver]:
    with sync_playwright() as playwright, closing(BrowserDriver(playwright)) as driver:
        yield driver


@pytest.fixture(scope="session")
def samp_port(_driver: BrowserDriver) -> int:
    """The port of a test's SAMP hub: pages in Chromium reach it at port 21012."""
    return _driver.samp_port


@pytest.fixture(scope="module")
def playwright(_driver: BrowserDriver) -> Iterator[Playwright]:
    with _driver.used() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(
    request: pytest.FixtureRequest,
    _driver: BrowserDriver,
    playwright: Playwright,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Browser]:
    """The browser of ``--browser``; a file may ask for both with ``parametrize("browser", BOTH_BROWSERS, indirect=True)``."""
    if getattr(request, "param", request.config.getoption("--browser")) == "firefox":
        with launch_firefox(playwright, tmp_path_factory.mktemp("firefox")) as firefox:
            yield firefox
    else:
        yield _driver.chromium


@pytest.fixture
def open_page(browser: Browser, _driver: BrowserDriver, portal: RunningService) -> Iterator[Callable[..., Page]]:
    """Open a page in a new browser profile, with these options of Playwright's contexts.

    A page that is permitted something is in the browser with windows. Console errors, failing scripts and requests to hosts other than ``host`` (default: the service's) and ``others``
    fail the test at its end.
    """
    errors: list[str] = []
    contexts = []
    browsers = ExitStack()

    def opened(*, host: str = "", others: Sequence[str] = (), **options: Any) -> Page:
        own = host or urlsplit(portal.url).netloc
        used = browsers.enter_context(_driver.launch(BROWSERS)) if options.get("permissions") else browser
        context = used.new_context(**{"viewport": _LAPTOP, "reduced_motion": "reduce", **options})
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.extend(list_complaints(message, others)))
        page.on("pageerror", lambda error: errors.extend(list_errors(error)))
        context.on("request", lambda request: errors.extend(list_foreign_requests(request, (own, *others))))
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

    return save_screenshot


@pytest.fixture(scope="session")
def accessible() -> Callable[[Page], None]:
    return check_accessibility


@pytest.fixture(scope="session")
def no_service() -> Callable[[Page], AbstractContextManager[None]]:
    """A context in which requests below /tap get no answer."""

    @contextmanager
    def down(page: Page) -> Iterator[None]:
        page.route("**/tap/**", lambda route: route.abort("connectionrefused"))
        yield
        page.unroute("**/tap/**")

    return down
