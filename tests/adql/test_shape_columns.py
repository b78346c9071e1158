"""Columns of shapes compared with the same shapes as constants: circles, polygons, regions, MOCs, in all relations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adql.errors import AdqlError
from adql.regions import Cone, Moc, Polygon, Range, Region, make_box, region_relations, stcs
from adql.regions.region import find_cover
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.shape_cover import cover_column, shape_column
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.readers import shape_columns
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import DIFFICULT_POSITIONS, separation
from tests.support.adql_rows import Rows, query_rows

COUNT = 72

OBS = Table(
    name="obs",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        Column(name="x", datatype="double", arraysize="2", xtype="point"),
        Column(name="c", datatype="double", arraysize="3", xtype="circle"),
        Column(name="v", datatype="double", arraysize="*", xtype="polygon"),
        Column(name="s_region", datatype="string", xtype="adql:REGION"),
        Column(name="r", datatype="double", arraysize="4", xtype="range"),
        Column(name="sh", datatype="string", xtype="shape"),
        Column(name="ms", datatype="string", xtype="multishape"),
        Column(name="m", datatype="string", xtype="moc"),
    ),
    layout=Layout(id=("id",)),
)


class Sky:
    """The rows' shapes by column."""

    def __init__(self) -> None:
        rng = np.random.default_rng(8)
        self.rows: dict[str, list[Any]] = {name: [] for name in ("x", "c", "v", "s_region", "r", "sh", "ms", "m")}
        self.regions: dict[str, list[Region | None]] = {name: [] for name in self.rows}
        for i in range(COUNT):
            lon, lat = (
                DIFFICULT_POSITIONS[i % len(DIFFICULT_POSITIONS)]
                if i % 3
                else (rng.uniform(0, 360), rng.uniform(-90, 90))
            )
            size = float(10 ** rng.uniform(-5, 1.5))
            lon = float(lon + size * rng.uniform(-1, 1)) % 360
            lat = float(np.clip(lat + size * rng.uniform(-1, 1), -89.9, 89.9))
            polygon = make_box(lon, lat, size, size * 0.7)
            other = Cone((lon + 2 * size) % 360, -lat / 2, size)
            self._add("x", [lon, lat], Cone(lon, lat, 0))
            self._add("c", [lon, lat, size], Cone(lon, lat, size))
            self._add("v", [n for vertex in polygon.vertices for n in vertex], polygon)
            vertices = " ".join(repr(n) for vertex in polygon.vertices for n in vertex)
            text = [
                f"Difference (Circle {lon!r} {lat!r} {size!r} Polygon {vertices})",
                f"Union (PositionInterval {lon!r} {max(lat - size / 9, -90)!r} {lon + size!r} {min(lat + size / 9, 90)!r} Position 45 41.8)",
                f"Not (Union (Circle {lon!r} {lat!r} {size + 60!r} Circle {other.lon!r} {other.lat!r} {size!r}))",
                f"Intersection (Circle {lon!r} {lat!r} {size!r} Circle {lon!r} {lat!r} {size * 0.8!r} Polygon {vertices})",
                f"Union (Polygon {vertices} Circle {lon!r} {lat!r} {size / 2!r} Box {lon!r} {lat!r} {size / 3!r} {size!r})",
                f"Circle ICRS {lon!r} {lat!r} {size!r}",
                f"polygon {vertices}",
                f"Union ICRS (Polygon {vertices} Circle {other.lon!r} {other.lat!r} {size!r})",
            ][i % 8]
            self._add("s_region", text, stcs.parse_region(text))
            box = Range(lon, (lon + size) % 360, max(lat - size, -90), min(lat + size / 2, 90))
            self._add("r", [box.west, box.east, box.south, box.north], box)
            numbers = " ".join(map(repr, self.rows["r"][-1]))
            shapes = [f"circle {lon!r} {lat!r} {size!r}", f"range {numbers}", f"polygon {vertices}"]
            self._add("sh", shapes[i % 3], stcs.parse_region(shapes[i % 3]))
            several = f"{shapes[(i + 1) % 3]} circle {other.lon!r} {other.lat!r} {size!r}"
            self._add("ms", several, stcs.parse_region(several))
            moc = Moc.from_cells(find_cover(Cone(lon, lat, size), 30).all)
            self._add("m", str(moc), moc)
        for values in self.rows.values():
            values.append(None)

    def _add(self, name: str, value: Any, region: Region) -> None:
        self.rows[name].append(value)
        self.regions[name].append(region)


@pytest.fixture(scope="session")
def shapes_of() -> Sky:
    return Sky()


@pytest.fixture(scope="session")
def obs(engine: Engine, shapes_of: Sky) -> Catalogue:
    engine.execute("CREATE DATABASE IF NOT EXISTS footprints")
    engine.execute(create_table_sql(OBS, "footprints.obs") + ", index_granularity = 16")
    columns: dict[str, pa.Array] = {"id": pa.array(range(COUNT + 1), pa.int32())}
    for column in OBS.columns[1:]:
        values = [v if v is not None or column.type.is_text else [] for v in shapes_of.rows[column.name]]
        columns[column.name] = pa.array(values, column.type.arrow)
        assert not shape_columns.find_bad_shapes(column.type, columns[column.name])
        if column.type.has_stored_shapes:
            shape, number, bad = shape_columns.read_regions(column.type, columns[column.name])
            assert not bad
            columns |= {shape_column(column.name): shape, cover_column(column.name): number}
    engine.insert_batches("footprints.obs", pa.table(columns).to_batches())
    return Catalogue((Schema(name="footprints", tables=(OBS,)),))


@pytest.fixture(scope="session")
def ask(engine: Engine, obs: Catalogue) -> Callable[[str], Rows]:
    return lambda query: query_rows(engine, obs, query)


CONSTANTS: list[tuple[str, Region]] = [
    ("POINT(45, 41.8)", Cone(45, 41.8, 0)),
    ("CIRCLE(0.2, 0.3, 1.5)", Cone(0.2, 0.3, 1.5)),
    ("CIRCLE(10, 88, 30)", Cone(10, 88, 30)),
    ("CIRCLE(100, 0, 170)", Cone(100, 0, 170)),
    ("BOX(45, 0, 3, 8)", make_box(45, 0, 3, 8)),
    ("POLYGON(40, 41, 45, 35, 50, 41, 45, 50, 44, 42)", Polygon(((40, 41), (45, 35), (50, 41), (45, 50), (44, 42)))),
    *((f"REGION('{text}')", stcs.parse_region(text)) for text in (
        "Union (Circle 0 90 1 Box 45 0 9 9)",
        "Union (Circle 45 41 12 Circle 50 45 9)",
        "PositionInterval 40 -10 50 50",
        "Range GALACTIC 350 10 -60 60",
        "Intersection (Circle 45 41 9 Circle 47 41 9 Not (Circle 46 41 0.5))",
        "Not (Circle 0 0 100)",
        "Difference (AllSky Box 45 0 9 9)",
        "Convex 0 0 1 0.5 0 1 0 0",
        "AllSky",
    )),
]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "text", "region"),
    [
        (column, *constant)
        for column, some in (
            ("c", CONSTANTS[::3]),
            ("v", CONSTANTS[1::3]),
            ("s_region", CONSTANTS[2::3]),
            ("r", CONSTANTS[1::4]),
            ("sh", CONSTANTS[2::4]),
            ("ms", CONSTANTS[3::4]),
        )
        for constant in some
    ],
)
def test_relations_with_a_constant_equal_those_of_constants(
    column: str, text: str, region: Region, ask: Callable[[str], Rows], shapes_of: Sky
) -> None:
    """Test INTERSECTS and CONTAINS both ways as values, and one as a condition, which prunes."""
    known = [r for r in shapes_of.regions[column] if r is not None]
    expected = {f"INTERSECTS({column}, {text})": [region_relations.is_intersecting(r, region) for r in known]}
    expected[f"CONTAINS({text}, {column})"] = [region_relations.is_inside(region, r) for r in known]
    if not text.startswith("POINT"):
        expected[f"CONTAINS({column}, {text})"] = [region_relations.is_inside(r, region) for r in known]
    rows = ask(f"SELECT {', '.join(expected)} FROM obs ORDER BY id")
    for (relation, answers), values in zip(expected.items(), zip(*rows, strict=True), strict=True):
        assert list(values) == [*map(int, answers), None], relation
    relation, answers = min(expected.items())
    found = [i for (i,) in ask(f"SELECT id FROM obs WHERE 1 = {relation} ORDER BY id")]
    assert found == np.flatnonzero(answers).tolist()


def test_relations_of_two_columns_of_a_row(ask: Callable[[str], Rows], shapes_of: Sky) -> None:
    """Test regions of several shapes, polygons and circles, which share borders."""
    pairs = [("c", "v"), ("v", "s_region"), ("c", "s_region"), ("s_region", "c"), ("s_region", "v")]
    pairs += [("s_region", "s_region"), ("r", "c"), ("v", "r"), ("sh", "ms"), ("s_region", "r")]
    for a, b in pairs:
        rows = ask(f"SELECT INTERSECTS({a}, {b}), CONTAINS({a}, {b}) FROM obs WHERE id < 48 ORDER BY id")
        assert len(rows) == 48
        for i, (meets, contained) in enumerate(rows):
            one, other = shapes_of.regions[a][i], shapes_of.regions[b][i]
            assert one is not None
            assert other is not None
            assert meets == region_relations.is_intersecting(one, other), (i, a, b)
            assert contained == region_relations.is_inside(one, other), (i, a, b)


def test_regions_of_two_rows(ask: Callable[[str], Rows], shapes_of: Sky) -> None:
    """Test regions of several shapes, complements and unions too; no pair touches by chance."""
    some = range(0, COUNT, 5)
    rows = ask(
        "SELECT a.id, b.id, INTERSECTS(a.s_region, b.s_region), CONTAINS(a.s_region, b.s_region) FROM obs AS a, obs AS b"
        f" WHERE MOD(a.id, 5) = 0 AND MOD(b.id, 5) = 0 AND a.id <> b.id AND a.id < {COUNT} AND b.id < {COUNT}"
    )
    assert len(rows) == len(some) * (len(some) - 1)
    regions = shapes_of.regions["s_region"]
    for a, b, meets, contained in rows:
        one, other = regions[a], regions[b]
        assert one is not None
        assert other is not None
        assert (meets, contained) == (
            region_relations.is_intersecting(one, other),
            region_relations.is_inside(one, other),
        ), (
            a,
            b,
        )
    assert {(meets, contained) for _, _, meets, contained in rows} == {(0, 0), (1, 0), (1, 1)}


def test_columns_in_the_other_functions(ask: Callable[[str], Rows], obs: Catalogue, shapes_of: Sky) -> None:
    """Values equal the stored values, measures equal the measures of constants, and NULL remains NULL."""
    query = (
        "SELECT x, c, v, COORD1(x), COORD2(x), DISTANCE(x, POINT(10, 20)), AREA(c), AREA(v), COORD2(CENTROID(c)), "
        "COORD2(CENTROID(v)), COORDSYS(c), CAST(x AS VARCHAR) FROM obs ORDER BY id"
    )
    *rows, last = ask(query)
    assert last == ([], [], [], None, None, None, None, None, None, None, "ICRS", None)
    for i, (x, c, v, lon, lat, apart, of_circle, of_polygon, middle, centroid, _, text) in enumerate(rows):
        assert (x, c, v) == tuple(shapes_of.rows[name][i] for name in "xcv")
        assert [lon, lat] == x == [float(word) for word in text.split()]
        assert apart == pytest.approx(float(separation(lon, lat, 10, 20)), abs=1e-12)
        circle, polygon = shapes_of.regions["c"][i], shapes_of.regions["v"][i]
        assert isinstance(circle, Cone)
        assert isinstance(polygon, Polygon)
        assert of_circle == pytest.approx(circle.area, rel=1e-12)
        assert of_polygon == pytest.approx(polygon.area, rel=1e-9)
        assert middle == pytest.approx(circle.lat, abs=1e-12)
        assert centroid == pytest.approx(polygon.centroid[1], abs=1e-9)
    assert ask("SELECT id FROM obs WHERE c IS NULL AND v IS NULL AND x IS NULL AND s_region IS NULL") == [(COUNT,)]
    turned = "ivo_geom_transform('ICRS', 'GALACTIC', v)"
    back = f"ivo_geom_transform('GALACTIC', 'ICRS', {turned})"
    assert ask(f"SELECT COUNT(*) FROM obs WHERE ABS(AREA({turned}) - AREA(v)) > 1e-9 OR {back}[2] - v[2] > 1e-9") == [
        (0,)
    ]


@pytest.mark.parametrize(
    "text",
    ["POINT(45, 41.8)", "CIRCLE(0.2, 0.3, 1.5)", "REGION('4/0-40 6/9000')", "MOC"],
)
def test_mocs(text: str, ask: Callable[[str], Rows], shapes_of: Sky) -> None:
    """Test a point, a shape (by the cells that it touches), a MOC, and MOCs of the same row."""
    mocs = [m for m in shapes_of.regions["m"] if isinstance(m, Moc)]
    if text == "MOC":
        assert ask("SELECT COUNT(*) FROM obs WHERE CONTAINS(m, m) = 1 AND INTERSECTS(m, m) = 1") == [(COUNT,)]
        return
    if text.startswith("POINT"):
        expected = [bool(m.contains(Cone(45, 41.8, 0).centre)[0]) for m in mocs]
        assert any(expected)
        found = ask(f"SELECT id FROM obs WHERE 1 = CONTAINS({text}, m) ORDER BY id")
    else:
        region = (
            stcs.parse_region("4/0-40 6/9000")
            if "REGION" in text
            else Moc.from_cells(find_cover(Cone(0.2, 0.3, 1.5), 2000).all)
        )
        assert isinstance(region, Moc)
        expected = [bool(len(m.intersection(region).ranges)) for m in mocs]
        found = ask(f"SELECT id FROM obs WHERE 1 = INTERSECTS({text}, m) ORDER BY id")
        inside = [i for (i,) in ask(f"SELECT id FROM obs WHERE 1 = CONTAINS(m, {text}) ORDER BY id")]
        assert inside == [i for i, m in enumerate(mocs) if not len(m.intersection(region.complement()).ranges)]
    assert [i for (i,) in found] == np.flatnonzero(expected).tolist()


def test_unions_and_intersections_of_mocs(ask: Callable[[str], Rows], shapes_of: Sky) -> None:
    """Test texts, areas and searches: with a constant, with another row's MOC, and of a MOC with itself."""
    mocs = [m for m in shapes_of.regions["m"] if isinstance(m, Moc)]
    other = Moc.parse_ascii("3/100-300 5/7000-7009")
    for name, combine in (("gavo_mocunion", Moc.union), ("gavo_mocintersect", Moc.intersection)):
        made = f"{name}(m, REGION('{other}'))"
        rows = ask(f"SELECT {made}, AREA({made}), {name}(m, m) FROM obs ORDER BY id")
        expected = [combine(m, other) for m in mocs]
        assert [text for text, _, _ in rows] == [*map(str, expected), None]
        assert [a for _, a, _ in rows[:-1]] == pytest.approx([m.area for m in expected])
        assert [text for _, _, text in rows] == [*map(str, mocs), None]
        found = ask(f"SELECT id FROM obs WHERE 1 = CONTAINS(POINT(45, 41.8), {made}) ORDER BY id")
        here = Cone(45, 41.8, 0).centre
        assert [i for (i,) in found] == [i for i, m in enumerate(expected) if m.contains(here)[0]]
    pairs = ask("SELECT a.id, b.id, gavo_mocunion(a.m, b.m) FROM obs AS a, obs AS b WHERE a.id < 9 AND b.id < 9")
    assert all(Moc.parse_ascii(text).ranges.tolist() == mocs[a].union(mocs[b]).ranges.tolist() for a, b, text in pairs)
    assert len(pairs) == 81
    assert ask("SELECT gavo_mocintersect(REGION('3/1'), REGION('3/2')) FROM obs WHERE id = 0") == [("",)]


@pytest.mark.parametrize("column", ["c", "v", "s_region", "r", "sh", "ms", "m"])
def test_points_of_rows_in_shapes_of_rows(column: str, ask: Callable[[str], Rows], shapes_of: Sky) -> None:
    regions, positions = shapes_of.regions[column], shapes_of.regions["x"]
    pairs = ask(f"SELECT a.id, b.id FROM obs AS a JOIN obs AS b ON 1 = CONTAINS(a.x, b.{column}) WHERE a.id < 40")
    vectors = np.concatenate([p.centre for p in positions[:40] if isinstance(p, Cone)])
    expected = {
        (int(a), b) for b, r in enumerate(regions) if r is not None for a in np.flatnonzero(r.contains(vectors))
    }
    assert set(pairs) == expected
    assert len(pairs) == len(expected)


@pytest.mark.parametrize("column", ["c", "v", "s_region", "r", "m"])
@pytest.mark.parametrize(
    "source",
    [
        "obs",
        "(SELECT * FROM obs) AS o",
        "(SELECT DISTINCT id, {0} FROM obs) AS o",
        "(SELECT {0}, id, COUNT(*) AS n FROM obs GROUP BY {0}, id) AS o",
        "(SELECT {0}, id FROM (SELECT * FROM obs WHERE id > -1) AS p) AS o",
        "obs AS o JOIN (SELECT id AS other FROM obs) AS p ON o.id = p.other",
        "(SELECT id AS other FROM obs) AS p LEFT JOIN obs AS o ON o.id = p.other",
    ],
)
def test_a_search_prunes_and_finds_the_same_through_derived_tables(
    column: str, source: str, ask: Callable[[str], Rows], obs: Catalogue
) -> None:
    condition = f"1 = INTERSECTS(CIRCLE(45, 41.8, 0.1), {column})"
    query = f"SELECT id FROM {source.format(column)} WHERE {condition} ORDER BY id"
    assert cover_column(column) in translate(query, obs).sql
    plain = ask(f"SELECT id FROM obs WHERE (CASE WHEN {condition} THEN 1 ELSE 0 END) = 1 ORDER BY id")
    assert ask(query) == plain != []


@pytest.fixture(scope="session")
def many(engine: Engine) -> Catalogue:
    """Store circles of 0.1 arcsec to 10 degrees, sorted by another position, or by the first column of shapes."""
    shape = Column(name="c", datatype="double", arraysize="3", xtype="circle")
    position = tuple(Column(name=n, datatype="double") for n in ("ra", "dec"))
    tables = (
        Table(name="placed", columns=(*position, shape), layout=Layout(position=("ra", "dec"))),
        Table(name="unplaced", columns=(shape,)),
    )
    engine.execute("CREATE DATABASE IF NOT EXISTS footprints")
    for table in tables:
        engine.execute(create_table_sql(table, f"footprints.{table.name}") + ", index_granularity = 256")
    position = (
        "cityHash64(number) % 360000 / 1e3 AS ra, degrees(asin(cityHash64(number, 1) % 2000000 / 1e6 - 1)) AS dec"
    )
    circle = "[ra, dec, exp10(cityHash64(number, 2) % 5600 / 1e3 - 4.6)] AS c"
    engine.execute(f"INSERT INTO footprints.placed SELECT {position}, {circle} FROM numbers(60000)")
    engine.execute("INSERT INTO footprints.unplaced SELECT c FROM footprints.placed")
    return Catalogue((Schema(name="footprints", tables=tables),))


@pytest.mark.parametrize("table", ["placed", "unplaced"])
@pytest.mark.parametrize("shape", ["POINT(200, 50)", "CIRCLE(0, 90, 1)", "BOX(45, 0, 2, 2)"])
def test_granules_are_pruned(table: str, shape: str, engine: Engine, many: Catalogue) -> None:
    """The projection of shape covers, or the sort key, prunes."""
    translation = translate(f"SELECT COUNT(*) FROM {table} WHERE 1 = INTERSECTS(c, {shape})", many)
    # ClickHouse uses no projections of tables below a million rows
    settings = translation.settings | {"min_table_rows_to_use_projection_index": 0}
    explained = engine.explain_query(translation.sql, settings)
    every = 60_000 // 256
    marks = [
        int(line.split(":")[1].split("/")[0])
        for line in explained.splitlines()
        if "Granules:" in line or "Marks:" in line
    ]
    assert 0 < min(marks) < every / 4, explained
    value = f"(CASE WHEN 1 = INTERSECTS(c, {shape}) THEN 1 ELSE 0 END) = 1"
    unpruned = query_rows(engine, many, f"SELECT COUNT(*) FROM {table} WHERE {value}")
    assert engine.fetch_table(translation.sql, settings).column(0).to_pylist() == [unpruned[0][0]] != [0]


def test_impossible_comparisons_are_refused(obs: Catalogue) -> None:
    for query, message in (
        ("SELECT id FROM obs WHERE 1 = CONTAINS(c, m)", "a MOC compared with a shape from columns"),
        ("SELECT AREA(s_region) FROM obs", "AREA takes"),
        ("SELECT id FROM obs WHERE 1 = CONTAINS(x, LOWER(s_region))", "CONTAINS takes"),
        ("SELECT id FROM obs WHERE 1 = CONTAINS(x, COALESCE(s_region, s_region))", "a REGION column or literal"),
        ("SELECT id FROM obs WHERE 1 = CONTAINS(x, COALESCE(r, r))", "a RANGE column or literal"),
        ("SELECT id FROM obs WHERE 1 = CONTAINS(x, COALESCE(sh, ms))", "this is CHAR"),
        (
            "SELECT id FROM obs WHERE 1 = CONTAINS(x, REGION(r))",
            "MULTISHAPE, REGION or MOC; this is RANGE",
        ),
        ("SELECT id FROM obs WHERE r = c", "'=' cannot compare RANGE with CIRCLE"),
        (
            "SELECT 1 FROM (SELECT s_region FROM obs UNION SELECT s_region FROM obs) AS o "
            "WHERE 1 = CONTAINS(POINT(1, 2), s_region)",
            "combined or computed rows",
        ),
    ):
        with pytest.raises(AdqlError, match=message):
            translate(query, obs)


def test_hidden_columns_are_not_shown(ask: Callable[[str], Rows], obs: Catalogue) -> None:
    fields = translate("SELECT * FROM obs", obs).fields
    assert [f.name for f in fields] == ["id", "x", "c", "v", "s_region", "r", "sh", "ms", "m"]
    assert [f.type.xtype for f in fields] == [
        "",
        "point",
        "circle",
        "polygon",
        "adql:REGION",
        "range",
        "shape",
        "multishape",
        "moc",
    ]
    with pytest.raises(AdqlError, match="there is no column"):
        translate('SELECT "__cover_c" FROM obs', obs)
