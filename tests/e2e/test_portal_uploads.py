"""The user's files in the portal: read by the service, shown, matched with stored tables, saved as user tables."""

from __future__ import annotations

import base64
import csv
import io
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy import units as u
from astropy.coordinates import SkyCoord, search_around_sky
from astropy.table import MaskedColumn, Table
from playwright.sync_api import Locator, Page, Request, Route, expect

from loaders.pipeline.match_request import MatchRequest
from loaders.tables.match_admin import drop_match, make_match
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.e2e.screenshots import Shot
from tests.loaders.recorder import Recorder
from tests.support.running_service import RunningService
from tests.tap_service.users import USERS, User, temporary_user

#: astropy warns that it makes IDs for the odd names of these VOTables
pytestmark = pytest.mark.filterwarnings("ignore:.*W03.*")

#: radius of the matches in arcseconds
RADIUS = 3.0

Pairs = set[tuple[str, str]]


@pytest.fixture(scope="module")
def stars(portal: RunningService) -> Table:
    query = "SELECT tyc_id, ra, dec, pmra, pmdec, prox FROM tycho2.bright"
    data = {"LANG": "ADQL", "FORMAT": "csv", "MAXREC": "200000", "QUERY": query}
    answer = httpx.post(f"{portal.tap}/sync", data=data, verify=False, timeout=60)
    assert answer.status_code == 200, answer.text
    return Table.read(answer.text, format="ascii.csv", converters={"tyc_id": str})


@pytest.fixture(scope="module")
def mine(stars: Table) -> Table:
    """Rows near stars, some twice, and elsewhere; the last has no position. Each position is given in five notations."""
    random = np.random.default_rng(7)
    alone = np.flatnonzero(np.unique(np.asarray(stars["ra"]), return_counts=True)[1][_inverse(stars["ra"])] == 1)
    near = random.choice(alone, 150, replace=False)
    near = np.concatenate([near, near[:20]])
    at = SkyCoord(stars["ra"][near], stars["dec"][near], unit="deg")
    at = at.directional_offset_by(
        random.uniform(0, 360, len(near)) * u.deg, random.uniform(0.1, 5, len(near)) * u.arcsec
    )
    ra = np.append(at.ra.deg, random.uniform(0, 360, 40))
    dec = np.append(at.dec.deg, np.degrees(np.arcsin(random.uniform(-1, 1, 40))))
    where, rows = SkyCoord(ra, dec, unit="deg"), len(ra) + 1
    table = Table({"id": np.arange(rows) + 2**60, "ra": np.append(ra, np.nan), "dec": np.append(dec, np.nan)})
    for name, values in (("lon_rad", np.radians(ra)), ("lat_rad", np.radians(dec))):
        table[name] = np.append(values, np.nan) * u.rad
    table["glon"], table["glat"] = (np.append(angle.deg, np.nan) for angle in (where.galactic.l, where.galactic.b))
    table["hms"] = [*where.ra.to_string(u.hour, sep=":", precision=7), ""]
    table["dms"] = [*where.dec.to_string(u.deg, sep=":", precision=6, alwayssign=True), ""]
    table["err"] = random.uniform(500, 3000, rows) * u.mas
    table["my mag, V"] = random.normal(12, 2, rows).astype("f4") * u.mag
    table["size"] = random.integers(0, 9, rows)
    return table


@pytest.fixture(scope="module")
def file(mine: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mine") / "my stars.vot"
    plain = mine.copy()
    plain.write(path, format="votable", tabledata_format="binary2")
    return path


def _inverse(values: Any) -> Any:
    return np.unique(np.asarray(values), return_inverse=True)[1]


def choose_files(page: Page, portal_url: str, *paths: Path) -> Locator:
    """Choose files on the Upload page. Return the section of the last one."""
    page.goto(f"{portal_url}#/uploads")
    page.get_by_label("Choose files").last.set_input_files(paths)
    return page.get_by_role("region", name=paths[-1].name)


def reload_when_kept(page: Page) -> None:
    """Reload when the browser has stored the last change of the files."""
    expect(page.get_by_role("region", name="Files", exact=True)).to_have_attribute("aria-busy", "false")
    page.reload()


def _uploads(request: Request) -> list[str]:
    return [request.url] if "multipart/form-data" in request.headers.get("content-type", "") else []


def read_cells(detail: Locator) -> list[list[str]]:
    rows = detail.get_by_role("region", name="Rows").locator("tbody tr")
    rows.first.wait_for()
    texts: list[list[str]] = rows.evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")
    return texts


@pytest.fixture(name="table")
def make_table() -> Table:
    return Table(
        {
            "source id": np.array([2**53 + 1, -(2**62), 7]),
            "RAJ2000": np.array([10.684708, 83.633, 201.365]) * u.deg,
            "DEJ2000": np.array([41.26875, 22.0145, -43.0191]) * u.deg,
            "mag": MaskedColumn(np.array([3.4, 8.4, 6.84], dtype="f4"), mask=[False, True, False], unit="mag"),
            "name": ["M 31", "M 1", "NGC 5128"],
        }
    )


def as_read(row: list[str]) -> tuple[Any, ...]:
    magnitude = None if row[3] in ("", "NaN") else np.float32(row[3])
    return int(row[0]), float(row[1]), float(row[2]), magnitude, row[4]


class TestFormats:
    def written(self, table: Table, folder: Path, kind: str) -> Path:
        path = folder / f"some objects.{kind}"
        match kind:
            case "vot":
                table.write(path, format="votable")
            case "fits":
                table.write(path, format="fits")
            case "csv":
                table.write(path, format="ascii.csv")
            case "tsv":
                table.write(path, format="ascii.tab")
            case "ecsv":
                table.write(path, format="ascii.ecsv")
            case _:
                columns = {name: pa.array(table[name].tolist()) for name in table.colnames}
                pq.write_table(pa.table(columns), path)
        return path

    def test_the_rows_are_the_files(
        self, page: Page, portal_url: str, table: Table, tmp_path: Path, shot: Shot
    ) -> None:
        kinds = ["vot", "fits", "csv", "tsv", "ecsv", "parquet"]
        choose_files(page, portal_url, *(self.written(table, tmp_path, kind) for kind in kinds))
        for number, kind in enumerate(kinds, start=1):
            name = "some_objects" if number == 1 else f"some_objects_{number}"
            page.get_by_role("button", name=f"{name} some objects.{kind}").click()
            detail = page.get_by_role("region", name=f"some objects.{kind}")
            expect(detail.get_by_label("Name in queries")).to_have_value(name)
            expect(detail.get_by_text("3 rows, 5 columns")).to_be_visible()
            expect(detail.get_by_label("Right ascension", exact=True)).to_have_value("RAJ2000")
            expect(detail.get_by_label("Declination", exact=True)).to_have_value("DEJ2000")
            assert sorted(as_read(row) for row in read_cells(detail)) == [
                (-(2**62), 83.633, 22.0145, None, "M 1"),
                (7, 201.365, -43.0191, np.float32(6.84), "NGC 5128"),
                (2**53 + 1, 10.684708, 41.26875, np.float32(3.4), "M 31"),
            ]
        shot(page, "uploads-formats")

    def test_units_are_shown(self, page: Page, portal_url: str, table: Table, tmp_path: Path) -> None:
        detail = choose_files(page, portal_url, self.written(table, tmp_path, "vot"))
        assert read_cells(detail)
        expect(detail.get_by_role("columnheader", name="RAJ2000 deg")).to_be_visible()
        detail.get_by_role("tab", name="Columns").click()
        expect(detail.get_by_role("row", name="mag float mag")).to_be_visible()

    def test_dropped_on_another_page(self, page: Page, portal_url: str, table: Table, tmp_path: Path) -> None:
        path = self.written(table, tmp_path, "fits")
        page.goto(f"{portal_url}#/examples")
        dragged = page.evaluate_handle(
            """([name, content]) => {
                const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
                const dragged = new DataTransfer();
                dragged.items.add(new File([bytes], name));
                return dragged;
            }""",
            [path.name, base64.b64encode(path.read_bytes()).decode()],
        )
        page.dispatch_event("main", "dragenter", {"dataTransfer": dragged})
        expect(page.get_by_text("Drop the file to use it as a table")).to_be_visible()
        page.dispatch_event("main", "drop", {"dataTransfer": dragged})
        expect(page).to_have_url(f"{portal_url}#/uploads")
        assert "NGC 5128" in [row[4] for row in read_cells(page.get_by_role("region", name=path.name))]
        expect(page.get_by_text("Drop the file to use it as a table")).to_be_hidden()


class TestNoTables:
    def test_a_sentence_and_the_page_goes_on(self, page: Page, portal_url: str, tmp_path: Path, shot: Shot) -> None:
        bad = {
            "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(300), "not a table in a known format"),
            "empty.csv": (b"", "The file is empty."),
            "page.html": (b"<!DOCTYPE html><html><body>404</body></html>", "DOCTYPE"),
            "cut.vot": (b'<VOTABLE><RESOURCE><TABLE><FIELD name="a" datatype="int"/><DATA><TABLEDATA><TR>', "XML"),
            "odd.csv": (b"a,b\n1,2\n3\n", "line 3"),
        }
        for name, (content, _) in bad.items():
            (tmp_path / name).write_bytes(content)
        good = tmp_path / "good.csv"
        good.write_text("ra,dec\n1,2\n")
        detail = choose_files(page, portal_url, *(tmp_path / name for name in bad), good)
        assert read_cells(detail) == [["1", "2"]]
        for name, (_, said) in bad.items():
            page.get_by_role("button", name=name).first.click()
            detail = page.get_by_role("region", name=name)
            expect(detail.get_by_role("alert")).to_contain_text(said)
        shot(page, "uploads-no-tables")
        detail.get_by_role("button", name="Try again").click()
        expect(detail.get_by_role("alert")).to_contain_text("line 3")
        detail.get_by_role("button", name="Remove").click()
        expect(page.get_by_role("button", name="odd.csv")).to_have_count(0)

    def test_one_beyond_the_limit_is_not_sent(self, page: Page, portal_url: str, tmp_path: Path) -> None:
        large = tmp_path / "large.fits"
        with large.open("wb") as file:
            file.truncate((256 << 20) + 1)
        uploads: list[str] = []
        page.on("request", lambda request: uploads.extend(_uploads(request)))
        detail = choose_files(page, portal_url, large)
        expect(detail.get_by_role("alert")).to_contain_text("accepts at most 268 MB")
        expect(page.get_by_text("Up to 268 MB in one query.")).to_be_visible()
        assert not uploads
        small = tmp_path / "small.csv"
        small.write_text("ra,dec\n1,2\n")
        assert read_cells(choose_files(page, portal_url, small))
        assert uploads

    def test_without_the_service(
        self, page: Page, portal_url: str, tmp_path: Path, no_service: Callable[[Page], AbstractContextManager[None]]
    ) -> None:
        path = tmp_path / "good.csv"
        path.write_text("ra,dec\n1,2\n")
        with no_service(page):
            detail = choose_files(page, portal_url, path)
            expect(detail.get_by_role("alert")).to_contain_text("The service does not answer.")
        detail.get_by_role("button", name="Try again").click()
        assert read_cells(detail) == [["1", "2"]]

    def test_names_that_cannot_be(self, page: Page, portal_url: str, tmp_path: Path) -> None:
        one, other = tmp_path / "select.csv", tmp_path / "other.csv"
        for path in (one, other):
            path.write_text("ra,dec\n1,2\n")
        detail = choose_files(page, portal_url, one, other)
        name = detail.get_by_label("Name in queries")
        expect(name).to_have_value("other")
        for wrong, said in (("1a", "a letter, then letters"), ("Select_Table", "Another file is already called")):
            name.fill(wrong)
            name.press("Enter")
            expect(detail.get_by_text(said)).to_be_visible()
        name.fill("mine")
        name.press("Enter")
        expect(page.get_by_role("button", name="mine other.csv")).to_be_visible()


class TestFiles:
    def test_last_over_a_reload(self, page: Page, portal_url: str, file: Path, mine: Table) -> None:
        shown = read_cells(choose_files(page, portal_url, file))
        name = page.get_by_label("Name in queries")
        name.fill("kept")
        name.press("Enter")
        reload_when_kept(page)
        detail = page.get_by_role("region", name=file.name)
        assert read_cells(detail) == shown
        assert {row[0] for row in shown} < {str(value) for value in mine["id"]}
        expect(detail.get_by_label("Name in queries")).to_have_value("kept")
        page.get_by_role("button", name="Remove kept").click()
        expect(detail).to_be_hidden()
        reload_when_kept(page)
        expect(page.get_by_text("No files yet.")).to_be_visible()

    def test_are_queried(self, page: Page, portal_url: str, file: Path, mine: Table) -> None:
        choose_files(page, portal_url, file).get_by_role("button", name="Query it").click()
        expect(page.get_by_role("region", name="Result").get_by_text(f"{len(mine)} rows").first).to_be_visible()

    def test_on_the_sky(self, page: Page, portal_url: str, file: Path, shot: Shot) -> None:
        detail = choose_files(page, portal_url, file)
        detail.get_by_role("button", name="Show on the sky").click()
        expect(detail.get_by_text("210 rows with a position, 1 without")).to_be_visible()
        for form in ("GALACTIC", "ICRS"):
            detail.get_by_label("Frame", exact=True).first.select_option(form)
        detail.get_by_label("Right ascension", exact=True).select_option("hms")
        detail.get_by_label("Declination", exact=True).select_option("dms")
        detail.get_by_role("button", name="Show on the sky").click()
        expect(detail.get_by_text("210 rows with a position, 1 without")).to_be_visible()
        shot(page, "uploads-sky")


class Wizard:
    """Drives the wizard as a user does, and reads its query."""

    def __init__(self, page: Page, portal_url: str, file: Path) -> None:
        self.page = page
        self.file = file
        choose_files(page, portal_url, file).get_by_role("link", name="Cross-match").click()
        self.left = page.get_by_role("group", name="First table")
        self.right = page.get_by_role("group", name="Second table")
        expect(self.left.get_by_label("Table", exact=True)).to_have_value("TAP_UPLOAD.my_stars")
        self.choose(self.right, "tycho2.bright")
        page.get_by_label("Radius, arcsec").fill(str(RADIUS))

    def choose(self, side: Locator, table: str) -> None:
        box = side.get_by_role("combobox", name="Table", exact=True)
        box.fill(table)
        box.press("Enter")
        expect(side.get_by_label("Right ascension", exact=True)).to_be_visible()

    def option(self, label: str, value: str) -> None:
        self.page.get_by_label(label, exact=True).select_option(value)

    def enter_position(self, longitude: str, latitude: str, frame: str = "ICRS") -> None:
        self.left.get_by_label("Frame").select_option(frame)
        axes = ("Right ascension", "Declination") if frame == "ICRS" else ("Longitude", "Latitude")
        for axis, column in zip(axes, (longitude, latitude), strict=True):
            self.left.get_by_label(axis, exact=True).select_option(column)

    @property
    def adql(self) -> str:
        expect(self.page.get_by_text("The service can run this query.")).to_be_visible()
        return self.page.locator("pre").inner_text()

    def rows(self, portal: RunningService) -> list[dict[str, str]]:
        data = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": self.adql, "UPLOAD": "my_stars,param:file"}
        with self.file.open("rb") as part:
            answer = httpx.post(f"{portal.tap}/sync", data=data, files={"file": part}, verify=False, timeout=60)
        assert answer.status_code == 200, answer.text
        return [*csv.DictReader(io.StringIO(answer.text))]

    def pairs(self, portal: RunningService) -> Pairs:
        return {(row["id"], row["tyc_id"]) for row in self.rows(portal)}


@pytest.fixture
def wizard(page: Page, portal_url: str, file: Path) -> Wizard:
    return Wizard(page, portal_url, file)


class Sky:
    """Matches by astropy."""

    def __init__(self, mine: Table, stars: Table) -> None:
        self.ids = [str(value) for value in mine["id"][:-1]]
        self.lost = str(mine["id"][-1])
        self.names = [str(value) for value in stars["tyc_id"]]
        self.mine = SkyCoord(mine["ra"][:-1], mine["dec"][:-1], unit="deg")
        self.stars = SkyCoord(stars["ra"], stars["dec"], unit="deg")

    def nearest(self, stars: SkyCoord | None = None, radius: Any = RADIUS) -> Pairs:
        index, separation, _ = self.mine.match_to_catalog_sky(self.stars if stars is None else stars)
        return {(self.ids[row], self.names[index[row]]) for row in np.flatnonzero(separation.arcsec <= radius)}

    def all(self, radius: float = RADIUS) -> tuple[Any, Any, Any]:
        rows, index, separation, _ = search_around_sky(self.mine, self.stars, radius * u.arcsec)
        return rows, index, separation.arcsec

    def named(self, rows: Any, index: Any) -> Pairs:
        return {(self.ids[row], self.names[star]) for row, star in zip(rows, index, strict=True)}


@pytest.fixture(scope="module")
def sky(mine: Table, stars: Table) -> Sky:
    return Sky(mine, stars)


class TestWizard:
    def test_a_table_may_be_chosen_before_the_tables_are_read(self, page: Page, portal_url: str) -> None:
        """On a slow connection a user types the name of a table, and Enter, while the list is still empty, and goes on."""
        waiting: list[Route] = []
        page.route("**/tap/tables?detail=min", lambda route: waiting.append(route))
        page.goto(f"{portal_url}#/uploads/match")
        side = page.get_by_role("group", name="Second table")
        box = side.get_by_role("combobox", name="Table", exact=True)
        box.fill("tycho2.bright")
        expect(side.get_by_role("listbox")).to_contain_text("Loading")
        box.press("Enter")
        page.get_by_label("Radius, arcsec").fill("60")
        for route in waiting:
            route.continue_()
        expect(side.get_by_label("Right ascension", exact=True)).to_be_visible()

    def test_who_matches_whom(self, wizard: Wizard, portal: RunningService, sky: Sky, shot: Shot) -> None:
        rows = wizard.rows(portal)
        shot(wizard.page, "uploads-wizard")
        nearest = sky.nearest()
        assert len(nearest) > 50
        assert {(row["id"], row["tyc_id"]) for row in rows} == nearest
        _, separation, _ = sky.mine.match_to_catalog_sky(sky.stars)
        expected = dict(zip(sky.ids, separation.arcsec, strict=True))
        assert {row["id"]: float(row["separation_arcsec"]) for row in rows} == pytest.approx(
            {row: expected[row] for row, _ in nearest}, abs=1e-6
        )

        wizard.option("Partners", "all")
        near, index, _ = sky.all()
        assert wizard.pairs(portal) == sky.named(near, index)

        wizard.option("Partners", "mutual")
        back, _, _ = sky.stars.match_to_catalog_sky(sky.mine)
        there, separation, _ = sky.mine.match_to_catalog_sky(sky.stars)
        both = [row for row, star in enumerate(there) if back[star] == row and separation[row].arcsec <= RADIUS]
        assert 0 < len(both) < len(nearest)
        assert wizard.pairs(portal) == sky.named(both, there[both])

    def test_rows_without_a_partner(self, wizard: Wizard, portal: RunningService, sky: Sky) -> None:
        found = sky.nearest()
        alone = {*sky.ids, sky.lost} - {row for row, _ in found}
        wizard.option("Rows", "left")
        expect(wizard.page.get_by_text("Rows without a partner are kept")).to_be_visible()
        assert wizard.pairs(portal) == found | {(row, "") for row in alone}

        wizard.option("Rows", "unmatched")
        expect(wizard.page.get_by_label("Partners", exact=True)).to_be_hidden()
        assert {row["id"] for row in wizard.rows(portal)} == alone

    def test_positions_in_other_forms(self, wizard: Wizard, portal: RunningService, sky: Sky) -> None:
        wizard.option("Rows", "left")
        found = sky.nearest()
        alone = {*sky.ids, sky.lost} - {row for row, _ in found}
        for longitude, latitude, frame in (
            ("lon_rad", "lat_rad", "ICRS"),
            ("hms", "dms", "ICRS"),
            ("glon", "glat", "GALACTIC"),
        ):
            wizard.enter_position(longitude, latitude, frame)
            assert longitude in wizard.adql
            assert wizard.pairs(portal) == found | {(row, "") for row in alone}

    def test_radii_of_errors(self, wizard: Wizard, portal: RunningService, sky: Sky, mine: Table, stars: Table) -> None:
        wizard.option("Radius", "errors")
        expect(wizard.page.get_by_text("Choose the errors of at least one table.")).to_be_visible()
        wizard.option("Error of positions, First table", "err")
        wizard.page.get_by_label("Radius, times").fill("1.5")
        errors = np.asarray(mine["err"])[:-1] / 1000
        found = sky.nearest(radius=1.5 * errors)
        assert 0 < len(found) < len(sky.nearest(radius=10))
        assert wizard.pairs(portal) == found

        wizard.option("Error of positions, Second table", "prox")
        wizard.option("Partners", "all")
        rows, index, separation = sky.all(200)
        prox = np.ma.filled(np.ma.asarray(stars["prox"]), np.nan)
        near = separation <= 1.5 * np.hypot(errors[rows], prox[index])
        assert wizard.pairs(portal) == sky.named(rows[near], index[near])

    def test_proper_motions(self, wizard: Wizard, portal: RunningService, sky: Sky, stars: Table) -> None:
        wizard.page.get_by_label("Move tycho2.bright by pmra and pmdec").check()
        wizard.page.get_by_label("to epoch").fill("2100")
        found = sky.nearest(move_stars(stars, 100))
        assert found != sky.nearest()
        assert wizard.pairs(portal) == found

    def test_swapped_and_with_itself(self, wizard: Wizard, portal: RunningService, sky: Sky) -> None:
        wizard.page.get_by_role("button", name="Swap").click()
        expect(wizard.right.get_by_label("Table", exact=True)).to_have_value("TAP_UPLOAD.my_stars")
        index, separation, _ = sky.stars.match_to_catalog_sky(sky.mine)
        near = np.flatnonzero(separation.arcsec <= RADIUS)
        assert wizard.pairs(portal) == sky.named(index[near], near)

        wizard.choose(wizard.left, "TAP_UPLOAD.my_stars")
        expect(wizard.page.get_by_text("a row is not its own partner")).to_be_visible()
        index, separation, _ = sky.mine.match_to_catalog_sky(sky.mine, nthneighbor=2)
        near = np.flatnonzero(separation.arcsec <= RADIUS)
        assert near.size
        assert {(row["id_1"], row["id_2"]) for row in wizard.rows(portal)} == {
            (sky.ids[row], sky.ids[index[row]]) for row in near
        }

    def test_columns_of_odd_names(self, wizard: Wizard, portal: RunningService) -> None:
        wizard.left.get_by_text("Columns of the result").click()
        wizard.left.get_by_role("button", name="All").click()
        wizard.right.get_by_text("Columns of the result").click()
        wizard.right.get_by_label("Search columns").fill("error of bt")
        wizard.right.get_by_role("checkbox", name="e_bt_mag").check()
        rows = wizard.rows(portal)
        assert {"my mag, V", "size", "ra_1", "ra_2", "dec_1", "dec_2", "e_bt_mag"} <= {*rows[0]}

    def test_run_and_opened(self, wizard: Wizard, sky: Sky) -> None:
        page = wizard.page
        page.get_by_role("button", name="Run", exact=True).click()
        result = page.get_by_role("region", name="Result")
        expect(result.get_by_text(f"{len(sky.nearest())} rows").first).to_be_visible()
        page.get_by_role("tab", name="Table", exact=True).click()
        expect(result.get_by_role("columnheader", name="separation_arcsec")).to_be_visible()

        page.go_back()
        expect(wizard.right.get_by_label("Table", exact=True)).to_have_value("tycho2.bright")
        page.get_by_role("button", name="Open in the editor").click()
        expect(page.locator(".cm-content")).to_contain_text("skyhouse_nearest")

    def test_what_is_missing(self, wizard: Wizard) -> None:
        run = wizard.page.get_by_role("button", name="Run", exact=True)
        for radius in ("", "0", "-1", "700000"):
            wizard.page.get_by_label("Radius, arcsec").fill(radius)
            expect(wizard.page.get_by_text("The radius must be a number of arcseconds")).to_be_visible()
        wizard.page.get_by_label("Radius, arcsec").fill("2")
        expect(run).to_be_enabled()
        wizard.left.get_by_label("Declination", exact=True).select_option("")
        expect(wizard.page.get_by_text("Choose the position columns of TAP_UPLOAD.my_stars")).to_be_visible()
        expect(run).to_be_hidden()


def move_stars(stars: Table, years: float) -> SkyCoord:
    """Move positions by years of linear motion; unknown motions are zero."""
    lon, lat = np.radians(stars["ra"]), np.radians(stars["dec"])
    east = np.array([-np.sin(lon), np.cos(lon), np.zeros_like(lon)])
    north = np.array([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)])
    there = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    motion = [np.radians(np.ma.filled(np.ma.asarray(stars[name]), 0) * years / 3.6e6) for name in ("pmra", "pmdec")]
    return SkyCoord(*(there + motion[0] * east + motion[1] * north), representation_type="cartesian")


@pytest.fixture
def kept_match(demo_engine: EmbeddedEngine, portal: RunningService) -> Iterator[float]:
    """A kept match of openngc.objects and tycho2.bright, known to the service; gives its radius in arcseconds."""
    request = MatchRequest(left="openngc.objects", right="tycho2.bright", table="openngc.stars", radius=600)
    make_match(demo_engine, request, Recorder())
    while not httpx.get(f"{portal.tap}/matches", verify=False).json()["matches"]:
        time.sleep(0.1)
    yield request.radius
    drop_match(demo_engine, request.table, Recorder())


class TestKeptMatch:
    def test_its_pairs_are_read(
        self, kept_match: float, wizard: Wizard, portal: RunningService, stars: Table, shot: Shot
    ) -> None:
        query = "SELECT name, ra, dec FROM openngc.objects"
        answer = httpx.post(f"{portal.tap}/sync", data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query}, verify=False)
        every = Table.read(answer.text, format="ascii.csv")
        objects = every[~np.ma.getmaskarray(every["ra"])]
        positions, index = (SkyCoord(table["ra"], table["dec"], unit="deg") for table in (objects, stars))

        def named(rows: Any, indices: Any) -> Pairs:
            return {(str(objects["name"][row]), str(stars["tyc_id"][i])) for row, i in zip(rows, indices, strict=True)}

        def pairs() -> Pairs:
            assert "openngc.stars AS m" in wizard.adql
            return {(row["name"], row["tyc_id"]) for row in wizard.rows(portal)}

        wizard.choose(wizard.left, "openngc.objects")
        expect(
            wizard.page.get_by_text("openngc.stars has all pairs of these tables within 600 arcsec.")
        ).to_be_visible()
        shot(wizard.page, "uploads-kept-offered")
        wizard.page.get_by_role("button", name="Use it").click()
        radius = wizard.page.get_by_label("Radius, arcsec")
        radius.fill("601")
        expect(wizard.page.get_by_text("at most 600 arcsec, the radius of the kept match")).to_be_visible()
        radius.fill("300")
        expect(wizard.page.get_by_text("The pairs are read from openngc.stars")).to_be_visible()
        _, separation, _ = positions.match_to_catalog_sky(index)  # of several stars at one position it chooses another
        near = separation.arcsec <= 300
        assert near.sum() > 500
        found = {row["name"]: float(row["separation_arcsec"]) for row in wizard.rows(portal)}
        assert found == pytest.approx(dict(zip(objects["name"][near], separation.arcsec[near], strict=True)), abs=1e-6)
        shot(wizard.page, "uploads-kept-used")

        wizard.option("Partners", "all")
        radius.fill(str(kept_match))
        rows, partners, _, _ = search_around_sky(positions, index, kept_match * u.arcsec)
        assert pairs() == named(rows, partners)

        wizard.option("Rows", "unmatched")
        alone = {*map(str, every["name"])} - {name for name, _ in named(rows, partners)}
        assert {row["name"] for row in wizard.rows(portal)} == alone

        wizard.option("Rows", "matched")
        wizard.page.get_by_role("button", name="Swap").click()
        expect(wizard.page.get_by_label("Partners", exact=True).locator("option")).to_have_count(1)
        assert pairs() == named(rows, partners)
        wizard.choose(wizard.right, "tycho2.bright")
        expect(wizard.page.get_by_label("Radius", exact=True)).to_have_value("fixed")


class TestOwnTables:
    def test_saved_queried_and_dropped(
        self, page: Page, portal: RunningService, portal_url: str, file: Path, mine: Table, shot: Shot
    ) -> None:
        page.goto(f"{portal_url}#/uploads")
        expect(page.get_by_text("Sign in to keep tables on the service")).to_be_visible()
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("Name", exact=True).fill("carol")
        page.get_by_label("Password", exact=True).fill(USERS["carol"])
        page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("You have no tables yet.")).to_be_visible()

        detail = choose_files(page, portal_url, file)
        detail.get_by_role("button", name="Save as my table").click()
        dialog = page.get_by_role("dialog", name="Save as your own table")
        dialog.get_by_role("button", name="Save", exact=True).click()
        expect(dialog.get_by_text("Saved as mydb.my_stars.")).to_be_visible()
        dialog.get_by_role("button", name="Save", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("mydb.my_stars")
        dialog.get_by_label("Replace an existing table").check()
        dialog.get_by_role("button", name="Save", exact=True).click()
        expect(dialog.get_by_text("Saved as mydb.my_stars.")).to_be_visible()
        dialog.get_by_role("button", name="Close").click()

        carol = User(portal, "carol")
        assert carol.count("mydb.my_stars") == len(mine)
        own = page.get_by_role("region", name="My tables")
        expect(own.get_by_text(f"{len(mine)} rows")).to_be_visible()
        expect(own.get_by_text("removed if unused until")).to_be_visible()
        shot(page, "uploads-own-tables")

        page.goto(f"{portal_url}#/uploads/match?left=mydb.my_stars&right=tycho2.bright")
        expect(page.get_by_text("The service can run this query.")).to_be_visible()
        expect(page.locator("pre")).to_contain_text("FROM mydb.my_stars AS a")
        assert carol.http("DELETE", "tables/mydb.my_stars").status_code == 204
        page.get_by_label("Radius, arcsec").fill("7")
        expect(page.get_by_role("alert")).to_contain_text("mydb.my_stars")
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
        shot(page, "uploads-wizard-refused")

        page.get_by_role("link", name="Files").click()
        expect(own.get_by_text("You have no tables yet.")).to_be_visible()
        assert carol.put("mydb.small", "a\n1\n").status_code == 201
        page.reload()
        own.get_by_role("button", name="Drop mydb.small").click()
        page.get_by_role("dialog").get_by_role("button", name="Drop mydb.small").click()
        expect(own.get_by_text("You have no tables yet.")).to_be_visible()
        assert carol.tables == {}

    def test_shared_and_revoked(
        self,
        page: Page,
        open_page: Callable[..., Page],
        portal: RunningService,
        portal_url: str,
        shot: Shot,
        accessible: Callable[[Page], None],
    ) -> None:
        def sign_in(tab: Page, name: str, where: str) -> None:
            tab.goto(f"{portal_url}#/{where}")
            tab.get_by_role("button", name="Sign in").click()
            tab.get_by_label("Name", exact=True).fill(name)
            tab.get_by_label("Password", exact=True).fill(USERS[name])
            tab.get_by_role("dialog").get_by_role("button", name="Sign in").click()

        bob = User(portal, "bob")
        with temporary_user(portal, "carol") as carol:
            assert carol.put("mydb.small", "a\n1\n").status_code == 201
            sign_in(page, "carol", "uploads")
            page.get_by_role("button", name="Share mydb.small").click()
            dialog = page.get_by_role("dialog", name="Share mydb.small")
            dialog.get_by_label("Name", exact=True).fill("carol")
            dialog.get_by_role("button", name="Share", exact=True).click()
            expect(dialog.get_by_role("alert")).to_contain_text("the table is yours")
            dialog.get_by_label("Name", exact=True).fill("bob")
            dialog.get_by_role("button", name="Share", exact=True).click()
            expect(dialog.get_by_role("listitem")).to_have_text(re.compile("User bob"))
            expect(dialog.get_by_text("They query it as mydb_carol.small.")).to_be_visible()
            accessible(page)
            shot(page, "uploads-share")
            assert bob.count("mydb_carol.small") == 1

            theirs = open_page()
            sign_in(theirs, "bob", "uploads")
            shared = theirs.get_by_role("region", name="My tables")
            expect(shared.get_by_text("of carol, 1 row")).to_be_visible()
            shot(theirs, "uploads-shared-with-me")
            shared.get_by_role("link", name="mydb_carol.small").click()
            expect(theirs.get_by_role("heading", name="mydb_carol.small")).to_be_visible()
            expect(theirs.get_by_role("treeitem", name="mydb_carol")).to_be_visible()
            shot(theirs, "tables-shared-with-me")

            dialog.get_by_role("button", name="Revoke access of the user bob").click()
            expect(dialog.get_by_text("Nobody else can read it yet.")).to_be_visible()
            assert bob.ask("SELECT * FROM mydb_carol.small").status_code == 400
        bob.session.close()


class TestLooks:
    @pytest.mark.parametrize("size", ["laptop", "phone"])
    def test_accessible_in_both_colours(
        self,
        request: pytest.FixtureRequest,
        portal_url: str,
        file: Path,
        size: str,
        shot: Shot,
        accessible: Callable[[Page], None],
    ) -> None:
        page: Page = request.getfixturevalue("page" if size == "laptop" else "phone")
        wizard = Wizard(page, portal_url, file)
        for view in ("match", "files"):
            if view == "match":
                assert wizard.adql
            else:
                page.get_by_role("link", name="Files").click()
                assert read_cells(page.get_by_role("region", name=file.name))
            for colours in ("light", "dark"):
                page.emulate_media(color_scheme=colours)
                shot(page, f"uploads-{view}-{size}-{colours}")
                accessible(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def test_by_keyboard(self, page: Page, portal_url: str, file: Path) -> None:
        page.on("filechooser", lambda chooser: chooser.set_files(file))
        page.goto(f"{portal_url}#/uploads")
        page.get_by_label("Choose files").last.focus()
        page.keyboard.press("Enter")
        detail = page.get_by_role("region", name=file.name)
        assert read_cells(detail)
        detail.get_by_role("tab", name="Rows").focus()
        page.keyboard.press("ArrowRight")
        expect(detail.get_by_role("rowheader", name="my mag, V")).to_be_visible()
