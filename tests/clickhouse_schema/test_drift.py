"""Drift finds what the engine lacks, and its statements add it."""

from __future__ import annotations

import time

import pytest

from clickhouse_schema.cluster_topology import ONE_SERVER
from clickhouse_schema.datatypes import FELIS
from clickhouse_schema.name_columns import NameColumn
from clickhouse_schema.object_names import names_sql
from clickhouse_schema.schema_drift import Drift, find_drift
from clickhouse_schema.schema_model import Column, ForeignKey, Layout, Table
from clickhouse_schema.stored_nulls import allow_nulls_sql, list_changeable, store_plainly
from clickhouse_schema.table_ddl import MERGE_SETTINGS, create_table_sql, index_definitions
from clickhouse_schema.table_index import TableIndex
from tap_service.storage.engine.engine import Engine

SHAPES = (
    Column(name="circle", datatype="double", arraysize="3", xtype="circle"),
    Column(name="region", datatype="string", xtype="adql:REGION"),
    Column(name="moc", datatype="string", xtype="moc"),
)
STARS = Table(
    name="stars",
    columns=(
        Column(name="id", datatype="long", nullable=False, description="it's `the` key \\"),
        Column(name="ra", datatype="double"),
        Column(name="dec", datatype="double"),
        *(Column(name=f"c_{kind}", datatype=kind) for kind in FELIS),
        *(Column(name=f"a_{kind}", datatype=kind, arraysize="*") for kind in ("boolean", "short", "double")),
        *SHAPES,
    ),
    layout=Layout(
        position=("ra", "dec"),
        id=("id",),
        time="c_timestamp",
        row_store=True,
        indexes=(TableIndex(columns=("c_int",)),),
    ),
)


#: One has a name that a folder cannot have
NAMES = (Column(name="name", datatype="unicode"), Column(name="kind/of", datatype="char"))


def _indexes(*by_values: str | tuple[str, ...], **others: str) -> tuple[TableIndex, ...]:
    given = (*by_values, *({name: kind} for name, kind in others.items()))
    return tuple(TableIndex.model_validate(index) for index in given)


def changed(table: Table, **layout: object) -> Table:
    return table.model_copy(update={"layout": table.layout.model_copy(update=layout)})


def with_columns(table: Table, *columns: Column) -> Table:
    return table.model_copy(update={"columns": columns})


@pytest.fixture
def stored(engine: Engine) -> Engine:
    engine.execute("CREATE DATABASE IF NOT EXISTS drifting")
    engine.execute("DROP TABLE IF EXISTS drifting.stars SYNC")
    return engine


def _drift(engine: Engine, table: Table) -> Drift:
    return find_drift(engine, ONE_SERVER, "drifting", table, table.name)


def _taken(engine: Engine, table: Table) -> list[str]:
    """Remove the drift and return its descriptions."""
    found = _drift(engine, table)
    assert not found.obstacles
    for step in found.steps:
        for statement in step.sql:
            engine.execute(statement.sql)
    assert _drift(engine, table) == Drift()
    return [step.description for step in found.steps]


def test_a_new_table_has_no_drift(stored: Engine) -> None:
    for table in (
        STARS,
        changed(STARS, years=True),
        changed(STARS, position=None),
        changed(STARS, position=None, time="", id=("c_text", "id")),
    ):
        stored.execute(create_table_sql(table, "drifting.stars"))
        assert _drift(stored, table) == Drift()
        stored.execute("DROP TABLE drifting.stars SYNC")


def test_a_missing_table_is_created(stored: Engine) -> None:
    assert _taken(stored, STARS) == ["the table drifting.stars is missing"]


def test_columns_indexes_and_comments_are_added_in_order(stored: Engine) -> None:
    first = with_columns(changed(STARS, indexes=(), time=""), *STARS.columns[1:3], STARS.columns[0])
    stored.execute(create_table_sql(first, "drifting.stars"))
    stored.execute("INSERT INTO drifting.stars (id, ra, dec) SELECT number, number, 0 FROM numbers(90)")
    wanted = with_columns(
        changed(STARS, indexes=_indexes("flux"), time=""),
        STARS.columns[1].model_copy(update={"description": "a 'new' comment"}),
        STARS.columns[2],
        Column(name="flux", datatype="float"),
        STARS.columns[0],
    )
    assert _taken(stored, wanted) == [
        "the column flux of drifting.stars is missing",
        "the row store of drifting.stars is missing",
        "drifting.stars has a row store that does not match the file",
        "the comment on drifting.stars.ra differs",
        "the index by_index_flux of drifting.stars is missing",
    ]
    names = stored.fetch_table("SELECT * FROM drifting.stars WHERE id = 3 AND flux IS NULL")
    assert names.column_names == ["ra", "dec", "flux", "id"]
    assert names.num_rows == 1
    stored.execute("INSERT INTO drifting.stars (id, ra, dec, flux) VALUES (100, 1, 1, 5)")
    assert "by_index_flux" in stored.explain_query("SELECT ra FROM drifting.stars WHERE flux = 5")
    assert _taken(stored, changed(wanted, indexes=())) == [
        "the index by_index_flux of drifting.stars is not in the file"
    ]


def test_tables_of_older_versions_get_the_current_settings_for_merges(stored: Engine) -> None:
    """Parts are merged if nothing was added for a while; the values of an operator stay."""
    stored.execute(create_table_sql(STARS, "drifting.stars"))
    for name in MERGE_SETTINGS:
        stored.execute(f"ALTER TABLE drifting.stars RESET SETTING {name}")
    stored.execute("ALTER TABLE drifting.stars MODIFY SETTING min_age_to_force_merge_seconds = 1")
    [found] = _taken(stored, STARS)
    assert "merge_selector_base" in found
    assert "min_age_to_force_merge_seconds" not in found
    for first in (1000, 10, 1):
        stored.execute(f"INSERT INTO drifting.stars (id, ra, dec) SELECT number, 1, 2 FROM numbers({first})")
    parts = "SELECT count() AS n FROM system.parts WHERE active AND database = 'drifting' AND table = 'stars'"
    while stored.fetch_table(parts).to_pylist() != [{"n": 1}]:
        time.sleep(0.1)
    assert stored.fetch_table("SELECT count() AS n FROM drifting.stars").to_pylist() == [{"n": 1011}]


def test_columns_get_the_order_of_the_model(stored: Engine) -> None:
    """Also together with new parts, and without losing rows."""
    stored.execute(create_table_sql(with_columns(STARS, *STARS.columns[3:], *STARS.columns[:3]), "drifting.stars"))
    stored.execute("INSERT INTO drifting.stars (id, ra, dec, c_int) SELECT number, number, 0, 7 FROM numbers(90)")
    wanted = with_columns(STARS, Column(name="flux", datatype="float"), *STARS.columns)
    assert _taken(stored, wanted) == [
        "the column flux of drifting.stars is missing",
        "the row store of drifting.stars is missing",
        "drifting.stars has a row store that does not match the file",
        "the columns of drifting.stars are in another order",
    ]
    stored.execute("RENAME TABLE drifting.stars TO drifting.turned")
    stored.execute(create_table_sql(wanted, "drifting.stars"))
    kinds = "name, type, default_kind, default_expression, comment, compression_codec, is_in_sorting_key"
    made, turned = (
        stored.fetch_table(
            f"SELECT {kinds} FROM system.columns WHERE database = 'drifting' AND table = '{name}' ORDER BY position"
        )
        for name in ("stars", "turned")
    )
    assert turned == made
    assert stored.fetch_table("SELECT sum(id), sum(c_int) FROM drifting.turned WHERE ra < 10").to_pylist() == [
        {"sum(id)": 45, "sum(c_int)": 70}
    ]
    stored.execute("DROP TABLE drifting.turned SYNC")


def test_indexes_of_several_columns_and_of_texts_are_added_to_rows_and_removed(stored: Engine) -> None:
    first = with_columns(changed(STARS, indexes=(), time=""), *STARS.columns[:3], *NAMES)
    stored.execute(create_table_sql(first, "drifting.stars"))
    values = "number, number, 0, concat('Galaxy ', toString(number)), 'two'"
    stored.execute(f"INSERT INTO drifting.stars (id, ra, dec, name, `kind/of`) SELECT {values} FROM numbers(9000)")
    wanted = changed(first, indexes=_indexes(("kind/of", "ra"), "name", name="text"))
    steps = _taken(stored, wanted)
    assert steps[:2] == [f"the index {kind}_name of drifting.stars is missing" for kind in ("pieces", "words")]
    assert len(steps) == 4
    assert "Name: pieces_name" in stored.explain_query(
        "SELECT ra FROM drifting.stars WHERE ilike(ifNull(name, ''), '%GALAXY%')"
    )
    eager = {"min_table_rows_to_use_projection_index": 0}
    assert "Name: by_columns_" in stored.explain_query(
        "SELECT dec FROM drifting.stars WHERE `kind/of` = 'two' AND ra = 7", eager
    )
    assert len(_taken(stored, first)) == 4


def test_names_of_indexes_are_unique_and_fit_a_folder() -> None:
    columns = (("a", "b"), ("a__b",), ("a_", "_b"), ("a_", "b"), ("a", "_b"), ("a/b",), ("\u65e5" * 64, "b" * 64))
    wanted = changed(STARS, indexes=_indexes(*columns, **{"x/y": "text", "z": "text"}))
    projections, texts = (list(index_definitions(wanted)[kind]) for kind in ("PROJECTION", "INDEX"))
    assert len(projections) == len(columns) + len(index_definitions(STARS)["PROJECTION"]) - 1
    assert {"by_columns_a__b", "by_index_a__b", "pieces_z", "words_z"} < {*projections, *texts}
    assert not any("/" in name or len(name.encode()) > 220 for name in (*projections, *texts))


def test_a_column_with_a_text_index_becomes_nullable(stored: Engine) -> None:
    table = with_columns(changed(STARS, indexes=_indexes(name="text"), time=""), *STARS.columns[:3], *NAMES)
    plain = store_plainly(table, {"name"})
    stored.execute(create_table_sql(plain, "drifting.stars"))
    stored.execute("INSERT INTO drifting.stars (id, ra, dec, name) SELECT number, 1, 0, 'some name' FROM numbers(90)")
    stored.execute(f"ALTER TABLE drifting.stars {allow_nulls_sql(table, ['name'])}")
    stored.execute("INSERT INTO drifting.stars (id, ra, dec, name) VALUES (100, 1, 1, NULL)")
    assert _drift(stored, table) == Drift()
    sql = "SELECT count() AS n FROM drifting.stars WHERE like(ifNull(name, ''), '%name%')"
    assert stored.fetch_table(sql)["n"].to_pylist() == [90]
    assert "Name: pieces_name" in stored.explain_query(sql)


def test_the_index_of_names_is_added_and_follows_columns_that_become_nullable(stored: Engine) -> None:
    plain = with_columns(changed(STARS, indexes=(), time=""), *STARS.columns[:3], *NAMES)
    names = (NameColumn(column="name", separator=","), NameColumn(column="id", prefix="HIP"))
    named = plain.model_copy(update={"names": names})
    stored.execute(create_table_sql(store_plainly(named, {"name"}), "drifting.stars"))
    stored.execute("INSERT INTO drifting.stars (id, ra, dec, name) SELECT number, 1, 0, 'NGC 0224' FROM numbers(3)")
    stored.execute(f"ALTER TABLE drifting.stars {allow_nulls_sql(named, ['name'])}")
    stored.execute("INSERT INTO drifting.stars (id, ra, dec, name) VALUES (100, 1, 1, NULL), (101, 1, 1, 'a, Vega')")
    for key, ids in (("ngc224", [0, 1, 2]), ("hip100", [100]), ("vega", [101]), ("hip0", [0]), ("hip", [])):
        sql = f"SELECT id FROM drifting.stars WHERE hasAny({names_sql(named)}, ['{key}']) ORDER BY id"
        assert stored.fetch_table(sql)["id"].to_pylist() == ids
        assert "Name: names_" in stored.explain_query(sql)
    other = plain.model_copy(update={"names": names[:1]})
    assert len(_taken(stored, other)) == 2
    assert len(_taken(stored, plain)) == 1
    [description] = _taken(stored, named)
    assert description.startswith("the index names_")


def test_indexes_are_in_the_same_order_whenever_they_were_created(stored: Engine) -> None:
    """A replica that is created later must be the same as the existing replicas."""
    stored.execute(create_table_sql(changed(STARS, indexes=_indexes("c_short", c_unicode="text")), "drifting.stars"))
    wanted = changed(STARS, indexes=_indexes("c_short", "c_long", "c_char", c_unicode="text", c_char="text"))
    assert len(_taken(stored, wanted)) == 4
    sql = "SELECT create_table_query AS sql FROM system.tables WHERE database = 'drifting' AND name = 'stars'"
    grown = stored.fetch_table(sql).column(0)[0].as_py()
    other = changed(wanted, indexes=_indexes("c_char", "c_short", "c_long", c_char="text", c_unicode="text"))
    for kind, definitions in index_definitions(wanted).items():
        names = [word.split()[0].strip("`") for word in grown.split(f"{kind} ")[1:]]
        assert names == [*definitions] == [*index_definitions(other)[kind]]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            with_columns(STARS, *STARS.columns[:-1]),
            "drifting.stars has a column moc, which the file lacks: add it there",
        ),
        (
            with_columns(
                STARS, STARS.columns[0], STARS.columns[1].model_copy(update={"nullable": False}), *STARS.columns[2:]
            ),
            "drifting.stars.ra is stored as Nullable(Float64), but the file needs Float64",
        ),
        (
            with_columns(STARS, *STARS.columns, Column(name="new", datatype="int", nullable=False)),
            "the column new is not nullable, but rows of drifting.stars have no value",
        ),
        (
            with_columns(STARS, *STARS.columns, Column(name="new", datatype="string", xtype="moc")),
            "the column new holds shapes (moc), whose covers only a load computes",
        ),
        (changed(STARS, years=True), "drifting.stars has one partition for all years"),
        (changed(STARS, time=""), "drifting.stars is in the order of hpx29, c_timestamp, not of hpx29"),
    ],
)
def test_changes_that_require_a_reload_are_reported(wanted: Table, said: str, stored: Engine) -> None:
    stored.execute(create_table_sql(STARS, "drifting.stars"))
    obstacles = _drift(stored, wanted).obstacles
    assert any(obstacle.startswith(said) and "load the table again" in obstacle for obstacle in obstacles), obstacles


def test_children_without_a_position_are_in_the_order_of_their_parents(stored: Engine) -> None:
    key = ForeignKey(name="of", columns=("ra",), referenced_table="drifting.objects", referenced_columns=("id",))
    child = STARS.model_copy(
        update={"keys": (key,), "layout": Layout(parent="of", time="c_timestamp"), "columns": STARS.columns[:-3]}
    )
    stored.execute(create_table_sql(child, "drifting.stars"))
    assert _drift(stored, child) == Drift()
    sql = "SELECT sorting_key FROM system.tables WHERE database = 'drifting' AND name = 'stars'"
    assert stored.fetch_table(sql).column(0).to_pylist() == ["ra, c_timestamp"]


def test_columns_without_nulls_fit_a_file_that_allows_them(stored: Engine) -> None:
    """A load does not make them Nullable."""
    stored.execute(create_table_sql(store_plainly(STARS, list_changeable(STARS)), "drifting.stars"))
    assert _drift(stored, STARS) == Drift()
