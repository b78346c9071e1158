"""The page of an object: rows of all tables around a position, light curve with its period, spectrum, finding chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from clickhouse_schema.engine_tables.catalogue_log import register_table
from clickhouse_schema.engine_tables.density_table import update_density
from clickhouse_schema.schema_model import ForeignKey, Schema
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.e2e.screenshots import Shot
from tests.support.running_service import RunningService, running_service

#: a star of the Pleiades, Alcyone
POSITION = (56.871152, 24.105136)
#: days
PERIOD = 2.3456
_SCHEMA = {
    "name": "variables",
    "tables": [
        {
            "name": "objects",
            "columns": [
                {"name": "id", "datatype": "long", "nullable": False, "ivoa:ucd": "meta.id;meta.main"},
                {"name": "ra", "datatype": "double", "ivoa:unit": "deg", "ivoa:ucd": "pos.eq.ra;meta.main"},
                {"name": "dec", "datatype": "double", "ivoa:unit": "deg", "ivoa:ucd": "pos.eq.dec;meta.main"},
            ],
            "skyhouse:layout": {"position": ["ra", "dec"], "id": ["id"]},
        },
        {
            "name": "sources",
            "columns": [
                {"name": "id", "datatype": "long", "nullable": False, "ivoa:ucd": "meta.id"},
                {"name": "mjd", "datatype": "double", "ivoa:unit": "d", "ivoa:ucd": "time.epoch"},
                {"name": "mag", "datatype": "double", "ivoa:unit": "mag", "ivoa:ucd": "phot.mag"},
                {"name": "mag_err", "datatype": "double", "ivoa:unit": "mag", "ivoa:ucd": "stat.error;phot.mag"},
                {"name": "band", "datatype": "char", "length": 4, "ivoa:ucd": "meta.code;instr.bandpass"},
            ],
            "skyhouse:layout": {"id": ["id"]},
        },
    ],
}


@pytest.fixture(scope="module")
def portal(
    dist: Path, demo_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """The demo with a variable star and its light curve in two bands."""
    schema = Schema.model_validate(_SCHEMA, strict=False)
    demo_engine.execute("CREATE DATABASE variables")
    key = ForeignKey(name="of", columns=("id",), referenced_table="variables.objects", referenced_columns=("id",))
    objects, sources = schema.tables
    schema = schema.model_copy(update={"tables": (objects, sources.model_copy(update={"keys": (key,)}))})
    for table in schema.tables:
        demo_engine.execute(create_table_sql(table, f"`variables`.`{table.name}`"))
    random = np.random.default_rng(3)
    times = 58000 + np.sort(random.uniform(0, 90, 150))
    values = 9 + 0.5 * np.sin(2 * np.pi * times / PERIOD) + random.normal(0, 0.05, 150)
    demo_engine.execute(f"INSERT INTO variables.objects (id, ra, dec) VALUES (17, {POSITION[0]}, {POSITION[1]})")
    points = list(zip(times.tolist(), values.tolist(), strict=True))
    rows = [(17, time, value, 0.05, "r") for time, value in points]
    rows += [(17, time, value + 1, 0.05, "g") for time, value in points[:40]]
    rows += [(18, 58000.0, 3.0, 0.1, "r")]
    demo_engine.execute(f"INSERT INTO variables.sources (id, mjd, mag, mag_err, band) VALUES {str(rows)[1:-1]}")
    for table in schema.tables:
        update_density(demo_engine, "variables", table)
        register_table(demo_engine, schema, table)
    folder = tmp_path_factory.mktemp("portal")
    with running_service(Config(query_log="", jobs_path=folder / "jobs"), demo_engine, portal=dist) as service:
        yield service


def test_an_object_with_its_light_curve(
    page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    page.goto(f"{portal_url}#/object?position={POSITION[0]},{POSITION[1]}&radius=0.1")
    expect(page.get_by_role("heading", level=1)).to_contain_text("56.87")
    expect(page.get_by_text("03:47:29.076 +24:06:18.49")).to_be_visible()
    stars = page.get_by_role("region", name="tycho2.bright")
    expect(stars).to_contain_text("nearest at")
    expect(page.get_by_role("region", name="openngc.objects")).to_contain_text("row")
    curve = page.get_by_role("region", name="Light curve from variables.sources")
    expect(curve).to_contain_text("150 points")
    curve.get_by_role("button", name="Find the period").click()
    period = curve.get_by_label("Period (days)", exact=True)
    expect(period).not_to_have_value("")
    assert float(period.input_value()) == pytest.approx(PERIOD, rel=2e-3)
    expect(curve.get_by_role("img", name="folded by")).to_be_visible()
    curve.get_by_label("Band").select_option("g")
    expect(curve).to_contain_text("40 points")
    expect(page.get_by_role("img", name="Finding chart")).to_be_visible()
    expect(page.get_by_role("region", name="Spectral energy distribution")).to_contain_text("Jy")
    accessible(page)
    shot(page, "object")
    page.set_viewport_size({"width": 1366, "height": 2400})
    shot(page, "object-tall")
    curve.get_by_role("button", name="Open query").click()
    expect(page.get_by_role("textbox", name="ADQL query")).to_contain_text("FROM variables.sources")


def test_a_name_or_a_position_is_typed(page: Page, portal_url: str, shot: Shot) -> None:
    page.goto(f"{portal_url}#/object")
    main = page.get_by_role("main")
    box = main.get_by_label("Name or position")
    box.fill("Nowhere Nebula")
    page.get_by_role("button", name="Show").click()
    expect(main.get_by_role("alert")).to_contain_text("No object is called “Nowhere Nebula”")
    box.fill("Andromda")
    page.get_by_role("button", name="Show").click()
    expect(main.get_by_role("alert")).to_contain_text("Did you mean Andromeda Galaxy?")
    main.get_by_role("link", name="Andromeda Galaxy").click()
    expect(page.get_by_role("heading", level=1, name="Andromeda Galaxy")).to_be_visible()
    expect(main.get_by_text("NGC0224 in openngc.objects")).to_be_visible()
    expect(page.get_by_role("region", name="openngc.objects")).to_contain_text("NGC0224")
    page.set_viewport_size({"width": 1366, "height": 768})
    page.emulate_media(color_scheme="dark")
    shot(page, "object-m31-dark")
    box.fill("5:34:30.9 -22:00:53")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", level=1, name="5:34:30.9")).to_be_visible()
    expect(page.get_by_role("region", name="tycho2.bright")).to_contain_text("No row within 1′")
    box.fill("Eastern Veil")
    page.get_by_role("button", name="Show").click()
    expect(main.get_by_text("Several objects are called")).to_be_visible()
    main.get_by_role("link", name="NGC6995").click()
    expect(page.get_by_role("region", name="openngc.objects")).to_contain_text("NGC6995")


def test_names_are_completed_on_every_page(page: Page, portal_url: str, shot: Shot) -> None:
    page.goto(f"{portal_url}#/examples")
    box = page.get_by_role("combobox", name="Find an object")
    box.press_sequentially("betelg")
    expect(page.get_by_role("option", name="Betelgeuse")).to_be_visible()
    shot(page, "object-names")
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Betelgeuse")).to_be_visible()
    expect(page.get_by_role("region", name="tycho2.star_names")).to_contain_text("Betelgeuse")
    expect(page).to_have_url(f"{portal_url}#/object?name=Betelgeuse")


def test_names_are_completed_in_queries(page: Page, portal_url: str, shot: Shot) -> None:
    page.goto(f"{portal_url}#/query")
    editor = page.get_by_role("textbox", name="ADQL query")
    editor.fill("")
    editor.press_sequentially("SELECT skyhouse_resolve('barn", delay=30)
    star = page.get_by_role("option", name="Barnard's star")
    expect(star).to_be_visible()
    shot(page, "object-query")
    star.click()
    expect(editor).to_contain_text("SELECT skyhouse_resolve('Barnard''s star')")


def test_on_a_phone(phone: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]) -> None:
    phone.goto(f"{portal_url}#/object?position={POSITION[0]},{POSITION[1]}")
    expect(phone.get_by_role("region", name="tycho2.bright")).to_contain_text("nearest at")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    accessible(phone)
    shot(phone, "object-phone")
