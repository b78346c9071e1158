"""Background surveys (HiPS) of the map: only those that the operator allows, at the right position."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from astropy.coordinates import SkyCoord
from playwright.sync_api import Page, Response, expect

from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_home import drawn, sky_map, wait_until_drawn
from tests.servers.survey_server import colour_at, serve_survey
from tests.support.environment import ROOT
from tests.support.ports import closed_port
from tests.support.running_service import RunningService, running_service

_ALADIN = ROOT / "web" / "node_modules" / "aladin-lite" / "dist" / "aladin.js"
#: the pixels around the middle of the map
_MIDDLE = """(map) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 13, height: 13 });
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(map, 6 - map.width / 2, 6 - map.height / 2);
    return btoa(String.fromCharCode(...context.getImageData(0, 0, 13, 13).data));
}"""


@pytest.fixture(scope="module")
def survey() -> Iterator[str]:
    with serve_survey() as address:
        yield address


@pytest.fixture(scope="module")
def closed() -> Iterator[str]:
    """Host and port where nothing answers."""
    with closed_port() as port:
        yield f"127.0.0.1:{port}"


@pytest.fixture(scope="module")
def portal(
    dist: Path, demo_engine: EmbeddedEngine, survey: str, closed: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """The service with two surveys, one of which does not answer, and with Aladin Lite."""
    folder = tmp_path_factory.mktemp("portal")
    surveys = (survey, f"http://{closed}/nothing")
    config = Config(query_log="", jobs_path=folder / "jobs", surveys=surveys, aladin_lite=_ALADIN)
    with running_service(config, demo_engine, portal=dist) as service:
        yield service


def middle_colour(page: Page) -> np.ndarray:
    """Return the median colour in the middle of the map: lines and names are narrower."""
    data = base64.b64decode(sky_map(page).locator("canvas").evaluate(_MIDDLE))
    return np.median(np.frombuffer(data, np.uint8).reshape(-1, 4)[:, :3].astype(float), axis=0)


def expected_colour(page: Page) -> np.ndarray:
    """Return the survey's colour in the middle of the map, by astropy."""
    position = SkyCoord(*drawn(page)["centre"], unit="deg").galactic
    return colour_at(np.asarray(position.l.rad), np.asarray(position.b.rad)).astype(float)


def test_a_survey_lies_behind_the_tables(
    open_page: Callable[..., Page],
    portal_url: str,
    survey: str,
    closed: str,
    shot: Shot,
    accessible: Callable[[Page], None],
) -> None:
    page = open_page(others=(urlsplit(survey).netloc, closed), viewport={"width": 1366, "height": 768})
    page.goto(portal_url)
    table = page.get_by_role("checkbox", name="tycho2.bright")
    expect(table).to_be_checked()
    choice = page.get_by_label("Background")
    expect(choice.locator("option")).to_have_text(["none", "Directions in colours", "nothing"])
    choice.select_option("Directions in colours")
    expect(page.get_by_role("link", name="Example Observatory")).to_have_attribute(
        "href", "https://example.org/licence"
    )
    wait_until_drawn(page, lambda map_: map_.get("survey", 0) > 0)
    page.get_by_role("slider", name="Opacity of tycho2.bright").fill("0.3")
    page.wait_for_timeout(300)
    shot(page, "home-background")
    accessible(page)
    table.uncheck()
    # the whole sky is one picture; away from its parallels, whose labels are in the middle
    sky_map(page).press("ArrowUp")
    page.wait_for_timeout(400)
    assert middle_colour(page) == pytest.approx(expected_colour(page), abs=6)
    # tiles of two orders, and finer than the survey has
    box = page.get_by_role("main").get_by_role("combobox", name="Go to an object")
    for ra, dec, keys in ((266.4, -29, "----------"), (83.8, 85, "-----"), (12.1, -60.3, "")):
        before = drawn(page)["survey"]
        box.fill(f"{ra} {dec}")
        box.press("Enter")
        wait_until_drawn(page, lambda map_, ra=ra: abs(map_["centre"][0] - ra) < 1e-6)
        wait_until_drawn(page, lambda map_, before=before: map_["survey"] > before)
        for key in keys:  # a wider view may have all that it needs
            sky_map(page).press(key)
        wait_until_drawn(page, lambda _: middle_colour(page) == pytest.approx(expected_colour(page), abs=6))
    shot(page, "home-background-near")
    page.reload()
    expect(page.get_by_label("Background")).to_have_value(f"{survey}/")
    page.get_by_label("Background").select_option("nothing")
    expect(page.get_by_role("alert")).to_contain_text(f"{closed} cannot be shown: the host does not answer")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.get_by_label("Background").select_option("none")
    wait_until_drawn(page, lambda map_: map_.get("survey") == 0)


def test_aladin_lite_shows_the_rows_in_view(
    open_page: Callable[..., Page], portal_url: str, survey: str, closed: str, shot: Shot
) -> None:
    page = open_page(others=(urlsplit(survey).netloc, closed))
    page.goto(portal_url)
    expect(page.get_by_role("checkbox", name="tycho2.bright")).to_be_checked()
    box = page.get_by_role("main").get_by_role("combobox", name="Go to an object")
    box.fill("Pleiades")
    box.press("Enter")
    wait_until_drawn(page, lambda map_: map_["degrees"] < 0.006)
    with page.context.expect_page() as opened, page.context.expect_event("response", _is_of_rows) as answered:
        page.get_by_role("link", name="Aladin Lite").click()
    rows = answered.value.json()["data"]
    assert len(rows) > 10
    assert {"tyc_id", "vt_mag"} <= {column["name"] for column in answered.value.json()["columns"]}
    aladin = opened.value
    expect(aladin.locator("#sky canvas").first).to_be_visible()
    expect(aladin.locator("#message")).to_be_empty()
    aladin.wait_for_timeout(500)
    shot(aladin, "aladin-lite")


def _is_of_rows(response: Response) -> bool:
    return response.url.endswith("/tap/sync") and "skyhouse_ra" in (response.request.post_data or "")
