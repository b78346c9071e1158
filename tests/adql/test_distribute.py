"""Which server computes which part of a query, read from its SQL. tests/cluster compares the answers."""

from __future__ import annotations

import re
from dataclasses import replace

import astropy.units as u
import cdshealpix
import numpy as np
import pytest
from astropy.coordinates import SkyCoord

from adql import Division, divide_query
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.healpix import ORDER
from clickhouse_schema.schema_model import Column, ForeignKey, Layout, Schema, Table
from clickhouse_schema.shard_map import CLUSTER_NAME, MAP_ORDER, Sharding, ShardMap

SHARDS = 6

_POSITION = (Column(name="ra", datatype="double"), Column(name="dec", datatype="double"))
_ID = Column(name="id", datatype="long", nullable=False)
_OBJECT = Column(name="object", datatype="long")


def _make_child(name: str, parent: str = "objects", *, is_placed: bool = True) -> Table:
    layout = Layout(id=("id",), time="mjd", overlap_radius=0.01, parent="of")
    return Table(
        name=name,
        columns=(_ID, _OBJECT, *_POSITION, Column(name="mjd", datatype="double")),
        keys=(
            ForeignKey(name="of", columns=("object",), referencedTable=f"s.{parent}", referencedColumns=("id",)),
        ),
        layout=layout.model_copy(update={"position": ("ra", "dec") if is_placed else None}),
    )  # fmt: skip


OBJECTS = Table(
    name="objects",
    columns=(_ID, *_POSITION, Column(name="mag", datatype="float")),
    layout=Layout(position=("ra", "dec"), id=("id",), overlap_radius=0.1),
)
TABLES = (
    OBJECTS,
    OBJECTS.model_copy(update={"name": "wide", "layout": OBJECTS.layout.model_copy(update={"overlap_radius": 1.0})}),
    _make_child("sources"),
    _make_child("forced"),
    _make_child("marks", "sources"),
    _make_child("fluxes", is_placed=False),
    _make_child("flags", "fluxes"),
    Table(name="bands", columns=(_ID, Column(name="name", datatype="string")), layout=Layout(id=("id",))),
)
SCHEMA = Schema(name="s", tables=TABLES)
MINE = Table(name="mine", columns=(_ID, *_POSITION), layout=Layout(position=("ra", "dec")))
UPLOADED = TableEntry(Schema(name="TAP_UPLOAD", tables=(MINE,)), MINE, 100, stored_sql="`skyhouse`.`upload_1`")

#: Each shard has the same part of the sky, in one run of cells
MAP = ShardMap(MAP_ORDER, (*(cell * SHARDS // (12 * 4**MAP_ORDER) for cell in range(12 * 4**MAP_ORDER)), 0))
CATALOGUE = Catalogue((SCHEMA,), sharding=Sharding(CLUSTER_NAME, MAP)).add_entries((UPLOADED,))

NEAR = "DISTANCE(POINT({0}.ra, {0}.dec), POINT({1}.ra, {1}.dec)) < {2}"
CONE = "1 = CONTAINS(POINT({0}.ra, {0}.dec), CIRCLE(200, 30, {1}))"


def make_sql(query: str) -> str:
    return translate(query, CATALOGUE).sql


def list_tables(query: str) -> list[str]:
    """Return the tables in the SQL, in its order."""
    return re.findall(r"`(?:s|skyhouse)`\.`(\w+)`", make_sql(query))


@pytest.mark.parametrize(
    ("query", "tables", "sent"),
    [
        # matches, by radius and overlap of the table on the right
        (f"SELECT a.id FROM objects AS a JOIN wide AS b ON {NEAR.format('a', 'b', 1)}", ["objects__local", "wide__margin"], 0),
        (f"SELECT a.id FROM wide AS a JOIN objects AS b ON {NEAR.format('a', 'b', 1)}", ["objects__local", "wide__margin"], 0),
        (f"SELECT a.id FROM wide AS a LEFT JOIN objects AS b ON {NEAR.format('a', 'b', 1)}", ["wide__local", "objects"], 1),
        (f"SELECT a.id FROM wide AS a LEFT JOIN objects AS b ON {NEAR.format('a', 'b', 0.1)}", ["wide__local", "objects__margin"], 0),
        (f"SELECT a.id FROM wide AS a RIGHT JOIN objects AS b ON {NEAR.format('a', 'b', 1)}", ["objects__local", "wide__margin"], 0),
        # a chain adds up its radii
        (
            f"SELECT a.id FROM objects AS a JOIN wide AS b ON {NEAR.format('a', 'b', 0.5)} LEFT JOIN wide AS c ON"
            f" {NEAR.format('b', 'c', 0.5)}",
            ["objects__local", "wide__margin", "wide__margin"],
            0,
        ),
        (
            f"SELECT a.id FROM objects AS a JOIN wide AS b ON {NEAR.format('a', 'b', 0.5)} LEFT JOIN wide AS c ON"
            f" {NEAR.format('b', 'c', 0.6)}",
            ["objects__local", "wide__margin", "wide"],
            1,
        ),
        # EXISTS
        (
            f"SELECT id FROM objects AS a WHERE NOT EXISTS (SELECT 1 FROM wide AS b WHERE {NEAR.format('a', 'b', 0.5)})",
            ["objects__local", "wide__margin"],
            0,
        ),
        # time series and their objects, and each other
        ("SELECT mjd FROM objects AS o JOIN sources AS s ON o.id = s.object", ["objects", "sources__local"], 0),
        ("SELECT mjd FROM sources AS s JOIN objects AS o ON o.id = s.object", ["sources", "objects__local"], 0),
        ("SELECT s.mjd FROM sources AS s LEFT JOIN forced AS f ON s.object = f.object", ["sources", "forced__local"], 0),
        (
            "SELECT o.id FROM objects AS o JOIN sources AS s ON o.id = s.object LEFT JOIN forced AS f ON f.object = o.id",
            ["objects", "sources__local", "forced__local"],
            0,
        ),
        ("SELECT id FROM objects AS o WHERE EXISTS (SELECT 1 FROM sources AS s WHERE s.object = o.id)", ["objects", "sources__local"], 0),
        # groups and windows of the rows of an object
        (
            "SELECT o.id, n FROM objects AS o LEFT JOIN (SELECT object, COUNT(*) AS n FROM sources GROUP BY object) AS s ON o.id = s.object",
            ["objects", "sources__local"],
            0,
        ),
        (
            "SELECT o.id, i FROM objects AS o JOIN (SELECT object, id AS i, RANK() OVER (PARTITION BY object ORDER BY mjd) AS n FROM"
            " (SELECT * FROM forced WHERE mjd > 60000) AS f) AS s ON o.id = s.object AND n = 1",
            ["objects", "forced__local"],
            0,
        ),
        ("SELECT o.id FROM objects AS o JOIN (SELECT DISTINCT object FROM sources) AS s ON o.id = s.object", ["objects", "sources__local"], 0),
        (
            "SELECT s.id FROM sources AS s WHERE mjd = (SELECT MAX(mjd) FROM sources AS t WHERE t.object = s.object)",
            ["sources", "sources__local"],
            0,
        ),
        (
            "SELECT o.id, n FROM objects AS o JOIN (SELECT MAX(object) AS object, COUNT(*) AS n FROM sources GROUP BY id) AS s ON o.id = s.object",
            ["objects", "sources"],
            1,
        ),
        (
            "SELECT o.id, n FROM objects AS o JOIN (SELECT object, RANK() OVER (ORDER BY mjd) AS n FROM sources) AS s ON o.id = s.object",
            ["objects", "sources"],
            1,
        ),
        (
            "SELECT o.id FROM objects AS o JOIN (SELECT TOP 9 object FROM sources) AS s ON o.id = s.object",
            ["objects", "sources"],
            1,
        ),
        ("SELECT s.mjd FROM sources AS s JOIN forced AS f ON s.id = f.id", ["sources", "forced"], 1),
        ("SELECT a.id FROM objects AS a JOIN wide AS b ON a.id = b.id", ["objects", "wide"], 1),
        # the series of a copied object is on another shard
        (
            f"SELECT s.mjd FROM wide AS a JOIN objects AS b ON {NEAR.format('a', 'b', 0.1)} JOIN sources AS s ON b.id = s.object",
            ["wide__local", "objects__margin", "sources"],
            1,
        ),
        # a row may be as far from its shard's cells as from its parent, plus as far as that may be from its own parent
        (f"SELECT a.id FROM sources AS a JOIN wide AS b ON {NEAR.format('a', 'b', 0.985)}", ["sources__local", "wide__margin"], 0),
        (f"SELECT a.id FROM marks AS a LEFT JOIN wide AS b ON {NEAR.format('a', 'b', 0.98)}", ["marks__local", "wide__margin"], 0),
        (f"SELECT a.id FROM marks AS a LEFT JOIN wide AS b ON {NEAR.format('a', 'b', 0.985)}", ["marks__local", "wide"], 1),
        (f"SELECT a.id FROM flags AS a LEFT JOIN wide AS b ON {NEAR.format('a', 'b', 0.001)}", ["flags__local", "wide"], 1),
        # tables that every server has, and tables of one server
        ("SELECT o.id FROM objects AS o JOIN bands AS b ON b.id = o.id", ["objects", "bands"], 0),
        ("SELECT o.id FROM bands AS b JOIN objects AS o ON b.id = o.id", ["objects", "bands"], 0),
        ("SELECT o.id FROM bands AS b LEFT JOIN objects AS o ON b.id = o.id", ["bands", "objects"], 0),
        ("SELECT o.id FROM mine AS m JOIN objects AS o ON m.id = o.id", ["objects", "upload_1", "upload_1"], 2),
        ("SELECT id FROM objects WHERE id IN (SELECT id FROM mine)", ["objects", "upload_1"], 1),
        ("SELECT id FROM objects WHERE id NOT IN (SELECT object FROM sources)", ["objects", *3 * ["sources"]], 1),
        # joins that shards cannot compute
        ("SELECT a.id FROM objects AS a FULL OUTER JOIN wide AS b ON a.id = b.id", ["objects", "wide"], 0),
    ],
)  # fmt: skip
def test_which_rows_are_sent(query: str, tables: list[str], sent: int) -> None:
    assert (list_tables(query), make_sql(query).count("GLOBAL ")) == (tables, sent)


def test_a_key_may_be_a_shorter_number_than_the_id() -> None:
    columns = tuple(
        c.model_copy(update={"datatype": "int"}) if c.name == "object" else c for c in _make_child("few").columns
    )
    tables = (OBJECTS, _make_child("few").model_copy(update={"columns": columns}))
    catalogue = Catalogue((Schema(name="s", tables=tables),), sharding=CATALOGUE.sharding)
    text = translate("SELECT o.id FROM objects AS o JOIN few AS f ON f.object = o.id", catalogue).sql
    assert "few__local" in text
    assert "GLOBAL" not in text


NEAREST = "SELECT a.id, b.id FROM wide AS a {} wide AS b ON 1 = skyhouse_{}, {})"
OF_LEFT = "nearest(1, POINT(a.ra, a.dec), POINT(b.ra, b.dec)"
OF_RIGHT = "nearest(1, POINT(b.ra, b.dec), POINT(a.ra, a.dec)"
MUTUAL = "mutual(POINT(a.ra, a.dec), POINT(b.ra, b.dec)"


@pytest.mark.parametrize("choice", [OF_LEFT, OF_RIGHT, MUTUAL])
@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "RIGHT JOIN"])
def test_nearest_partners_within_the_overlap_are_on_the_shard(kind: str, choice: str) -> None:
    """Row numbers are per shard, and copies, which differ on each shard, have none."""
    text = make_sql(NEAREST.format(kind, choice, 1))
    assert list_tables(NEAREST.format(kind, choice, 1)) == ["wide__local", "wide__margin"]
    assert "GLOBAL" not in text
    assert re.findall(r"rowNumberInAllBlocks\(\)( \* 65536 \+ shardNum\(\))?", text) == [" * 65536 + shardNum()"]


@pytest.mark.parametrize(("choice", "numbered"), [(OF_LEFT, 1), (MUTUAL, 2)])
def test_nearest_partners_beyond_the_overlap_are_sent(choice: str, numbered: int) -> None:
    text = make_sql(NEAREST.format("LEFT JOIN", choice, 1.1))
    assert "__margin" not in text
    assert "GLOBAL LEFT JOIN" in text
    assert text.count("rowNumberInAllBlocks() * 65536 + shardNum()") == text.count("rowNumberInAllBlocks") == numbered


@pytest.mark.parametrize(
    ("query", "noted"),
    [
        (f"SELECT a.id FROM objects AS a JOIN wide AS b ON {NEAR.format('a', 'b', 1)}", []),
        (f"SELECT a.id FROM objects AS a LEFT JOIN wide AS b ON {NEAR.format('a', 'b', 1.1)}", ["the second one sent to all shards"]),
        ("SELECT o.id FROM bands AS b LEFT JOIN objects AS o ON b.id = o.id", ["both sent to one server"]),
        ("SELECT o.id FROM objects AS o JOIN bands AS b ON b.id = o.id", []),
        ("SELECT a.id FROM objects AS a FULL JOIN wide AS b ON a.id = b.id", ["both sent to one server", "all rows sent to one server"]),
        (NEAREST.format("JOIN", OF_LEFT, 1), ["all rows sent to one server"]),
    ],
)  # fmt: skip
def test_the_plan_names_the_sent_rows(query: str, noted: list[str]) -> None:
    plan = "\n".join(translate(query, CATALOGUE).plan)
    assert re.findall(r"(?:the second one|both|all rows) sent to .*", plan) == noted


def test_first_rows_filter_the_rows_that_are_sent() -> None:
    first = "(SELECT TOP 9 * FROM objects ORDER BY mag) AS a"
    near = make_sql(f"SELECT a.id, b.id FROM {first} LEFT JOIN wide AS b ON {NEAR.format('a', 'b', 2)}")
    assert "`hpx29` AS" in near.split("LEFT JOIN")[1]
    assert near.count("GLOBAL IN") == 1
    assert near.count("ORDER BY t1.`mag` ASC NULLS LAST, t1.`ra` ASC NULLS LAST, t1.`dec` ASC NULLS LAST LIMIT 9") == 2
    equal = make_sql(f"SELECT a.id, b.mjd FROM {first} LEFT JOIN sources AS b ON a.id = b.object")
    assert equal.count("GLOBAL IN") == 1
    assert equal.count("ORDER BY t1.`mag` ASC NULLS LAST, t1.`id` ASC NULLS LAST LIMIT 9") == 2


def test_random_numbers_are_drawn_once() -> None:
    text = make_sql("SELECT a.id FROM objects AS a JOIN wide AS b ON a.id = b.id AND b.mag < RAND() AND b.mag > 3")
    assert (text.count("rand"), text.count("> 3")) == (make_sql("SELECT RAND() FROM objects").count("rand"), 2)


def test_ntile_has_a_constant_argument() -> None:
    assert make_sql("SELECT NTILE(4) OVER (ORDER BY mag) AS n FROM objects").endswith("FROM `s`.`objects` AS t1) AS t2")


def test_windows_of_joined_rows_are_computed_after_the_join() -> None:
    """ClickHouse confuses columns in expressions next to windows on shards with GLOBAL joins."""
    joined = "FROM objects AS a JOIN wide AS b ON a.id = b.id"
    text = make_sql(f"SELECT a.ra - b.dec AS d, RANK() OVER (ORDER BY a.id) AS r {joined}")
    assert re.fullmatch(r"SELECT \(t3.* FROM \(SELECT t1.*GLOBAL INNER JOIN .*\) AS t3", text)
    grouped = make_sql(f"SELECT a.mag, RANK() OVER (ORDER BY COUNT(*)) AS r {joined} GROUP BY a.mag")
    assert "FROM `s`.`objects` AS t1 GLOBAL INNER JOIN" in grouped


def test_derived_tables_that_differ_only_in_names_are_made_distinct() -> None:
    """ClickHouse would merge them."""
    query = "SELECT x FROM (SELECT mag + 1 AS x FROM objects) AS a UNION SELECT x FROM (SELECT mag + 1 AS x FROM objects) AS b"
    first, second = re.findall(r"WHERE (\(\d+ = \d+\))", make_sql(query))
    assert first != second
    twice = (
        f"SELECT b.id FROM (SELECT * FROM objects WHERE mag < 4) AS a FULL JOIN wide AS b ON {NEAR.format('a', 'b', 1.5)}"
        f" WHERE {CONE.format('b', 1)} AND b.id IS NOT NULL"
    )
    counted = Catalogue((SCHEMA,), {("s", "objects"): 30, ("s", "wide"): 10**9}, sharding=CATALOGUE.sharding)
    numbers = re.findall(r"\((\d+) = \1\)", translate(twice, counted).sql)
    assert len(numbers) == len({*numbers}) > 2


# --- shards -----------------------------------------------------------------------------------------------------------


def find_shards(query: str) -> list[set[int]]:
    """Return the shards that each part of a query is sent to."""
    return read_shards(make_sql(query))


def read_shards(text: str) -> list[set[int]]:
    number = r"\(t\d+\.`(?:__shard|c\d+)` IN \((\d[\d, ]*)\)\)"
    return [set(map(int, found.split(", "))) for found in re.findall(number, text)]


def find_cone_shards(ra: float, dec: float, radius: float) -> set[int]:
    """Return the shards of random points in a cone."""
    rng = np.random.default_rng(1)
    points = SkyCoord(ra * u.deg, dec * u.deg).directional_offset_by(
        rng.uniform(0, 360, 500) * u.deg, radius * np.sqrt(rng.uniform(0, 1, 500)) * u.deg
    )
    cells = cdshealpix.nested.lonlat_to_healpix(points.ra, points.dec, MAP_ORDER)
    return {MAP.cells[int(cell)] for cell in cells}


@pytest.mark.parametrize(("ra", "dec"), [(200, 30), (0, 90), (45, 0), (90, 41.8), (0, 0), (359.99, -41.8)])
@pytest.mark.parametrize("radius", [0.01, 1, 20])
def test_a_cone_reads_its_shards(ra: float, dec: float, radius: float) -> None:
    cone = f"1 = CONTAINS(POINT(ra, dec), CIRCLE({ra}, {dec}, {radius}))"
    wanted = find_cone_shards(ra, dec, radius)
    for query in (
        f"SELECT id FROM objects WHERE {cone}",
        f"SELECT i FROM (SELECT id + 1 AS i, ra, dec FROM objects) AS o WHERE {cone}",
    ):
        [asked] = find_shards(query)
        assert wanted <= asked
        assert len(asked) <= len(find_cone_shards(ra, dec, radius + 5))  # covers consist of whole cells


def test_a_time_series_reads_its_objects_shards() -> None:
    """Its rows may be across the border, by up to the overlap radius."""
    ra, dec = _find_border_position()
    cone = f"1 = CONTAINS(POINT(ra, dec), CIRCLE({ra}, {dec}, 0.0001))"
    [of_objects], [of_sources] = (
        find_shards(f"SELECT id FROM objects WHERE {cone}"),
        find_shards(f"SELECT id FROM sources WHERE {cone}"),
    )
    assert len(of_objects) == 1
    assert of_objects < of_sources
    assert find_cone_shards(ra, dec, 0.01) <= of_sources


def test_rows_that_may_be_anywhere_are_read_from_all_shards() -> None:
    """Children of parents without a position may be anywhere."""
    assert find_shards(f"SELECT a.id FROM marks AS a WHERE {CONE.format('a', 1)}") != []
    assert find_shards(f"SELECT a.id FROM flags AS a WHERE {CONE.format('a', 1)}") == []


def _find_border_position() -> tuple[float, float]:
    """Return a position 0.002 degrees from another shard."""
    ra, dec = 200.0, np.arange(-80, 80, 0.001)
    cells = cdshealpix.nested.lonlat_to_healpix(np.full(len(dec), ra) * u.deg, dec * u.deg, MAP_ORDER)
    owners = np.array(MAP.cells)[cells]
    return ra, float(dec[np.flatnonzero(np.diff(owners))[0] - 2])


def test_a_match_reads_the_shards_of_its_left_side() -> None:
    match = (
        f"SELECT a.id FROM objects AS a JOIN objects AS b ON {NEAR.format('a', 'b', 0.05)} WHERE {CONE.format('a', 1)}"
    )
    assert (
        find_shards(match)
        == find_shards(f"SELECT a.id FROM objects AS a WHERE {CONE.format('a', 1)}")
        == [find_cone_shards(200, 30, 1)]
    )


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("SELECT a.id FROM objects AS a WHERE {}", ["objects__local"]),
        ("SELECT COUNT(*) FROM (SELECT id, ra, dec FROM objects) AS a WHERE {}", ["objects__local"]),
        (f"SELECT b.id FROM objects AS a LEFT JOIN wide AS b ON {NEAR.format('a', 'b', 1)} WHERE {{}}", ["objects__local", "wide__margin"]),
        ("SELECT s.id FROM sources AS s JOIN objects AS a ON s.object = a.id WHERE {}", None),  # a source may be on the next shard
        ("SELECT s.id FROM objects AS a JOIN sources AS s ON s.object = a.id WHERE {}", ["objects__local", "sources__local"]),
        ("SELECT b.name FROM bands AS b JOIN objects AS a ON b.id = a.id WHERE {}", ["objects__local", "bands"]),
        (f"SELECT b.id FROM objects AS a LEFT JOIN wide AS b ON {NEAR.format('a', 'b', 1.1)} WHERE {{}}", None),
        ("SELECT m.id FROM objects AS a JOIN mine AS m ON m.id = a.id WHERE {}", None),
        ("SELECT b.name FROM bands AS b LEFT JOIN objects AS a ON b.id = a.id WHERE {}", ["objects__local", "bands"]),
        ("SELECT a.id FROM objects AS a WHERE a.id IN (SELECT id FROM bands) AND {}", None),
        ("SELECT a.id FROM objects AS a WHERE a.mag > 3 OR {}", None),
        ("SELECT a.id FROM objects AS a WHERE {} UNION ALL SELECT id FROM bands", None),
    ],
)  # fmt: skip
def test_joins_within_one_shard(query: str, tables: list[str] | None) -> None:
    found = translate(query.format(CONE.format("a", 0.1)), CATALOGUE).on_shard
    if tables is None:
        assert found is None
        return
    assert found is not None
    assert {found.shard} == find_cone_shards(200, 30, 0.1)
    assert re.findall(r"`(?:s|skyhouse)`\.`(\w+)`", found.sql) == tables
    assert not re.search(r"GLOBAL|cluster\(|__shard", found.sql)


def test_each_side_of_a_union_reads_its_own_shards() -> None:
    north, south = (
        f"SELECT id FROM objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, {dec}, 1))" for dec in (50, -50)
    )
    assert find_shards(f"{north} UNION ALL {south}") == [find_cone_shards(10, 50, 1), find_cone_shards(10, -50, 1)]


def find_piece_shards(query: str, *borders: int) -> list[list[set[int]]]:
    """Return the shards that each piece of a query is sent to; ``borders`` are cells of the map."""
    resolved = translate(query, CATALOGUE).bound
    assert resolved is not None
    division = divide_query(resolved)
    assert isinstance(division, Division)
    found = division.make_pieces([cell * 4 ** (ORDER - MAP_ORDER) for cell in borders])
    return [read_shards(division.make_statement(piece).sql) for piece in found]


def test_a_piece_reads_the_shards_of_its_cells() -> None:
    """Rows without a position have a shard too; they are in the last piece, or in a separate piece."""
    size = 12 * 4**MAP_ORDER // SHARDS
    query = "SELECT a.id FROM objects AS a"
    assert find_piece_shards(query, size, 2 * size + 1, 5 * size) == [[{0}], [{1, 2}], [{2, 3, 4}], [{5, 0}]]
    match = f"SELECT a.id FROM objects AS a JOIN wide AS b ON {NEAR.format('a', 'b', 1)}"
    assert find_piece_shards(match, size, 2 * size + 1, 5 * size) == [[{0}], [{1, 2}], [{2, 3, 4}], [{5}], [{0}]]


def test_a_piece_of_children_reads_the_shards_of_their_parents() -> None:
    """A child at a border may be on the next shard; rows without a position may be on any."""
    size = 12 * 4**MAP_ORDER // SHARDS
    first, *_, last = find_piece_shards("SELECT a.id FROM sources AS a", size, size + 9, 2 * size)
    assert first[0] > {0}
    assert first[0] != set(range(SHARDS))
    assert last == []


def test_nothing_is_distributed_without_a_cluster() -> None:
    plain = replace(CATALOGUE, sharding=None)
    query = f"SELECT a.id FROM objects AS a JOIN wide AS b ON {NEAR.format('a', 'b', 5)} WHERE {CONE.format('a', 1)}"
    translation = translate(query, plain)
    assert not re.search(r"GLOBAL|cluster\(|__", translation.sql)
    assert "distributed_product_mode" not in translation.settings
    assert translate(query, CATALOGUE).settings["distributed_product_mode"] == "deny"


_CROWDED = {("s", "objects"): 1e6}


@pytest.mark.parametrize(
    ("table", "tables"),
    [
        ("TAP_UPLOAD.mine", ["upload_1"] * 4),
        ("s.objects", ["objects__local"] * 2 + ["objects__margin"] * 2),
    ],
)
def test_shards_count_matches_of_their_own_tables_only(table: str, tables: list[str]) -> None:
    crowded = replace(CATALOGUE, local_densities=_CROWDED).add_entries((replace(UPLOADED, local_density=1e6),))
    near = NEAR.format("a", "b", 0.1)
    query = (
        f"SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM {table} AS a JOIN {table} AS b ON {near} GROUP BY a.id) AS c"
    )
    translation = translate(query, crowded)
    assert "in cells of the sky" in "\n".join(translation.plan)
    assert re.findall(r"`(?:s|skyhouse)`\.`(\w+)`", translation.sql) == tables
    assert translation.sql.count("cluster(") == ("__local" in translation.sql)


_LARGE = dict.fromkeys((("s", "objects"), ("s", "wide"), ("s", "sources")), 10**9)


@pytest.mark.parametrize(
    ("tables", "radius", "parts"),
    [
        ("s.objects AS a JOIN s.wide AS b", 0.1, ["objects__local", "wide__margin"]),
        (
            "s.wide AS a JOIN s.objects AS b",
            0.5,
            ["objects__local", "wide__margin"],
        ),  # only wide has an overlap of this radius
        ("s.objects AS a JOIN s.objects AS b", 0.05, ["objects__local", "objects__margin"]),
        ("s.objects AS a JOIN s.objects AS b", 0.5, None),
        ("s.objects AS a LEFT JOIN s.wide AS b", 0.1, None),
    ],
)
def test_shards_merge_their_own_tables_within_the_overlap(tables: str, radius: float, parts: list[str] | None) -> None:
    large = replace(CATALOGUE, counts=_LARGE, local_densities=dict.fromkeys(_LARGE, 0.01))
    translation = translate(f"SELECT COUNT(*), MAX(a.id) FROM {tables} ON {NEAR.format('a', 'b', radius)}", large)
    found = re.findall(r"`s`\.`(\w+)`", translation.sql)
    if parts is None:
        assert "merged in HEALPix order" not in "\n".join(translation.plan)
    else:
        assert "merged in HEALPix order" in "\n".join(translation.plan)
        assert sorted(found) == sorted(parts * 2)
        assert translation.sql.count("cluster(") == 1
