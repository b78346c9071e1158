"""Quoting, DDL, the catalogue and TAP_SCHEMA in a real engine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables import catalogue_log, density_table, engine_setup
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from clickhouse_schema.tap_schema import TAP_SCHEMA
from tap_service.storage.engine.engine import Engine

OBJECTS = Table(
    name="Objects",
    description="It's a table",
    columns=(
        Column(name="id", datatype="long", nullable=False, description="key; `quoted` 'text' \\ and more"),
        Column(name="ra", datatype="double", unit="deg", ucd="pos.eq.ra;meta.main"),
        Column(name="dec", datatype="double", unit="deg", ucd="pos.eq.dec;meta.main"),
        Column(name="size", datatype="float"),
        Column(name="band", datatype="string", length=20),
        Column(name="spectrum", datatype="double", arraysize="*"),
        Column(name="seen", datatype="timestamp"),
    ),
    layout=Layout(position=("ra", "dec"), id=("id",)),
)
SURVEY = Schema(name="survey", description="A survey", tables=(OBJECTS,))


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
def test_a_quoted_text_is_read_unchanged(text: str, engine: Engine) -> None:
    assert engine.fetch_table(f"SELECT {quote_string(text)} AS {quote_identifier('a`b' + chr(92))}").column(
        0
    ).to_pylist() == [text]


@pytest.fixture
def survey(engine: Engine) -> Engine:
    """An engine with one table that is in the catalogue."""
    engine_setup.prepare_engine(engine)
    engine.execute("CREATE DATABASE IF NOT EXISTS survey")
    engine.execute("DROP TABLE IF EXISTS survey.`Objects` SYNC")
    engine.execute(create_table_sql(OBJECTS, "survey.`Objects`"))
    engine.execute(
        "INSERT INTO survey.`Objects` (id, ra, dec) SELECT number, number % 360, number % 180 - 90 FROM numbers(1000)"
    )
    engine.execute("INSERT INTO survey.`Objects` (id, ra, dec) VALUES (1000, NULL, 1), (1001, nan, 1)")
    catalogue_log.register_table(engine, SURVEY, OBJECTS)
    return engine


def test_the_catalogue_is_read_back_unchanged(survey: Engine) -> None:
    catalogue = catalogue_log.read_catalogue(survey)
    assert catalogue.schemas[0] == TAP_SCHEMA
    assert [s for s in catalogue.schemas if s.name == "survey"] == [SURVEY]


def test_each_change_gives_a_new_version(survey: Engine) -> None:
    before = catalogue_log.read_catalogue_version(survey)
    catalogue_log.unregister_table(survey, "survey", "Objects")
    assert catalogue_log.read_catalogue_version(survey) > before
    assert "survey" not in {entry.schema.name for entry in catalogue_log.read_catalogue(survey).entries}
    assert survey.fetch_table("SELECT 1 FROM TAP_SCHEMA.tables WHERE table_name LIKE 'survey%'").num_rows == 0


def test_tap_schema_describes_tables_and_itself(survey: Engine) -> None:
    sql = "SELECT column_name, datatype, arraysize, xtype, unit, ucd, indexed FROM TAP_SCHEMA.columns WHERE table_name = 'survey.Objects' ORDER BY column_index"
    rows = [tuple(r.values()) for r in survey.fetch_table(sql).to_pylist()]
    assert rows == [
        ("id", "long", None, None, None, None, 1),
        ("ra", "double", None, None, "deg", "pos.eq.ra;meta.main", 1),
        ("dec", "double", None, None, "deg", "pos.eq.dec;meta.main", 1),
        ('"size"', "float", None, None, None, None, 0),
        ("band", "char", "20*", None, None, None, 0),
        ("spectrum", "double", "*", None, None, None, 0),
        ("seen", "char", "*", "timestamp", None, None, 0),
    ]
    own = survey.fetch_table(
        "SELECT count() AS n FROM TAP_SCHEMA.columns WHERE startsWith(table_name, 'TAP_SCHEMA.')"
    ).to_pylist()
    assert own == [{"n": sum(len(t.columns) for t in TAP_SCHEMA.tables)}]


def test_preparing_the_engine_repairs_an_outdated_tap_schema(survey: Engine) -> None:
    survey.execute("TRUNCATE TABLE TAP_SCHEMA.columns")
    engine_setup.prepare_engine(survey)
    assert survey.fetch_table("SELECT 1 FROM TAP_SCHEMA.columns WHERE table_name = 'survey.Objects'").num_rows == len(
        OBJECTS.columns
    )


def test_the_catalogue_knows_the_local_density_of_a_table(survey: Engine) -> None:
    survey.execute("INSERT INTO survey.`Objects` (id, ra, dec) SELECT number, 45.5, 0.5 FROM numbers(1002)")
    density_table.update_density(survey, "survey", OBJECTS)
    [entry] = [e for e in catalogue_log.read_catalogue(survey).entries if e.qualified_name == "survey.Objects"]
    assert entry.rows == 2004
    cell = 41252.96 / (12 * 4**OBJECTS.layout.healpix_order)
    # half of the rows are in one cell, the others are nearly alone in their cells
    assert entry.local_density == pytest.approx(0.5 * 1002 / cell, rel=0.02)


def test_the_density_counts_each_row_once(survey: Engine) -> None:
    for _ in range(2):
        density_table.update_density(survey, "survey", OBJECTS)
    density = density_table.read_density(survey, "survey", "Objects")
    cells = density["cell"].to_pylist()
    assert len(cells) == len(set(cells))
    assert sum(density["rows"].to_pylist()) == 1002
    assert dict(zip(cells, density["rows"].to_pylist(), strict=True))[12 * 4**OBJECTS.layout.healpix_order] == 2
    assert sum(density["bytes"].to_pylist()) > 0


def test_a_look_up_by_id_uses_the_projection(survey: Engine) -> None:
    assert "by_id" in survey.explain_query("SELECT ra FROM survey.`Objects` WHERE id = 7")


def test_names_are_found_by_the_rules_of_case() -> None:
    catalogue = Catalogue((TAP_SCHEMA, SURVEY))
    assert len(catalogue.find_tables("OBJECTS", False)) == 1
    assert len(catalogue.find_tables("Objects", True, "Survey", False)) == 1
    assert not catalogue.find_tables("OBJECTS", True)
    assert not catalogue.find_tables("objects", False, "Survey", True)
    assert catalogue.find_tables("objects", False)[0].qualified_name == "survey.Objects"


def test_the_layout_determines_the_cells_in_which_rows_are_counted(survey: Engine) -> None:
    coarse = OBJECTS.model_copy(update={"layout": OBJECTS.layout.model_copy(update={"healpix_order": 0})})
    density_table.update_density(survey, "survey", coarse)
    density = density_table.read_density(survey, "survey", "Objects")
    assert set(density["cell"].to_pylist()) <= set(range(13))
    assert sum(density["rows"].to_pylist()) == 1002
