"""Columns of shapes from the file to the answer: their shapes and covers, and rejected rows."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from adql.regions import Cone, Moc
from adql.regions.unit_vectors import positions_to_vectors
from adql.translation import translate
from clickhouse_schema.datatypes import CIRCLE, MOC, POINT, POLYGON, REGION
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.shape_cover import EVERYWHERE, NOWHERE
from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tap_service.readers import shape_columns
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.loaders.test_load import loading

__all__ = ["loading"]

SCHEMA = """
name: loadtests
tables:
- name: obs
  skyhouse:layout: {position: [ra, dec], id: [id]}
  columns:
  - {name: id, datatype: int, nullable: false}
  - {name: ra, datatype: double}
  - {name: dec, datatype: double}
  - {name: c, datatype: double, "votable:arraysize": "3", "votable:xtype": circle}
  - {name: v, datatype: double, "votable:arraysize": "*", "votable:xtype": polygon}
  - {name: s_region, datatype: string, "votable:xtype": "adql:REGION"}
  - {name: m, datatype: string, "votable:xtype": moc}
  - {name: r, datatype: double, "votable:arraysize": "4", "votable:xtype": range}
  - {name: sh, datatype: string, "votable:xtype": shape}
  - {name: ms, datatype: string, "votable:xtype": multishape}
"""

GOOD = [
    (
        1,
        10,
        20,
        "10 20 0.5",
        "9 19 11 19 10 21",
        "Circle ICRS 10 20 0.5",
        "4/30-33 5/8",
        "9 11 19 21",
        "circle 10 20 0.5",
        "circle 1 2 3 circle 10 20 1e-9",
    ),
    (2, 10, 20, "", "", "", "", "", " ", ""),
    (
        3,
        10,
        90,
        "0 90 180",
        "0 80 120 80 240 80",
        "AllSky",
        "0/0-11",
        "0 360 -90 90",
        "range 0 360 80 90",
        "circle 0 90 180",
    ),
    (
        4,
        200,
        -50,
        "200 -50 0",
        "0 0 0 0 1 0 1 1",
        "UNION ICRS (Box 200 -50 1 1 Position 20 5)",
        "29/0",
        "359 1 -1 1",
        "polygon 1 1 2 1 2 2",
        "range 359 1 -1 1  polygon 1 1 2 1 2 2",
    ),
    (
        5,
        0,
        0,
        "0 0 1",
        "40 41 45 35 50 41 45 50 44 42",
        "polygon 1 1 2 1 2 2",
        "0/",
        "20 20 5 5",
        "range 359.5 0.5 -1 1",
        "range 20 20 5 5",
    ),
]

BAD = {
    11: ("c", "10 20 -1", "radius -1 is not between 0 and 180 degrees"),
    12: ("c", "10 20 180.1", "radius 180.1 is not between 0 and 180 degrees"),
    13: ("c", "10 91 1", "declination 91 is not between -90 and 90 degrees"),
    14: ("c", "nan 20 1", "(nan, 20) is not a position"),
    15: ("c", "10 20", "not an array of 3 values"),
    16: ("v", "1 1 2 2", "a polygon of 2 distinct vertices"),
    17: ("v", "0 0 1 1 0 1 1 0", "edges 1 and 3 of the polygon cross"),
    18: ("v", "0 0 1 1 0", "a polygon of 5 numbers, an odd count"),
    19: ("v", "0 0 180 0 0 1", "two neighbouring vertices of the polygon are antipodes"),
    20: ("v", "0 0 1 0 2 0", "the polygon encloses no area"),
    21: (
        "s_region",
        "Circle ICRS 1 2",
        "not a valid REGION: 2 numbers instead of 3, in the Circle at character 1 of the region",
    ),
    22: ("s_region", "Polygon 0 0 1 1 0 1 1 0", "not a valid REGION: edges 1 and 3 of the polygon cross"),
    23: ("s_region", "nonsense", "not a valid REGION: 'nonsense' at character 1 of the region is not a shape"),
    24: ("m", "4/999999", "not a valid MOC: cells '999999' at character 3 of the MOC"),
    25: ("m", "Circle 1 2 3", "not a valid MOC: this is a shape, not a MOC such as '4/30-33 5/8'"),
    26: ("r", "1 2 3", "not an array of 4 values"),
    27: ("r", "1 2 4 3", "not a valid RANGE: southern latitude 4 is above northern latitude 3"),
    28: ("r", "1 2 nan 3", "not a valid RANGE: 'nan' is not a number"),
    29: (
        "sh",
        "Circle ICRS 1 2 3",
        "not a valid SHAPE: 'Circle' is neither a number nor one of circle, polygon, range",
    ),
    30: ("sh", "circle 1 2 3 circle 4 5 6", "not a valid SHAPE: 2 shapes: several shapes need the xtype multishape"),
    31: ("sh", "1 2 3", "not a valid SHAPE: '1' at character 1 of the region is not a shape"),
    32: ("sh", "range 1 2 3", "not a valid SHAPE: 3 numbers instead of 4, in the Range"),
    33: ("ms", "circle 1 2 3 point 4 5", "not a valid MULTISHAPE: 'point' is neither a number"),
    34: ("ms", "circle 1,2,3", "not a valid MULTISHAPE: '1,2,3' is neither a number"),
}


def _write(path: Path) -> LoadRequest:
    names = ["id", "ra", "dec", "c", "v", "s_region", "m", "r", "sh", "ms"]
    with (path / "obs.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        rows.writerows(GOOD)
        for number, (column, value, _) in BAD.items():
            rows.writerow([number, 1, 2, *(value if name == column else "" for name in names[3:])])
    (path / "obs.yaml").write_text(SCHEMA)
    return LoadRequest(
        files=(path / "obs.csv",), table="loadtests.obs", rejects=path / "rejects.csv", schema_file=path / "obs.yaml"
    )


def test_shapes_are_loaded_found_and_verified(loading: EmbeddedEngine, tmp_path: Path) -> None:
    load_files(loading, _write(tmp_path), Recorder())
    names = [line.split(",")[0].split()[-1] for line in SCHEMA.splitlines() if "{name:" in line]
    recorder = Recorder()
    verify_table(loading, "loadtests.obs", recorder)
    assert {f"{name}: the shapes and covers of 5 rows checked" for name in names[3:]} <= set(recorder.lines)
    catalogue = catalogue_log.read_catalogue(loading)
    for condition, expected in (
        ("CONTAINS(POINT(10, 20), c)", [1, 3]),
        ("CONTAINS(POINT(10, 20), v)", [1]),
        ("CONTAINS(POINT(10, 20), s_region)", [1, 3]),
        ("CONTAINS(POINT(20, 5), s_region)", [3, 4]),
        ("CONTAINS(POINT(45, 0.0000000001), m)", [3, 4]),
        ("INTERSECTS(CIRCLE(200, -50, 1), s_region)", [3, 4]),
        ("INTERSECTS(CIRCLE(1, 1, 0.1), s_region)", [3, 5]),
        ("CONTAINS(POINT(10, 20), r)", [1, 3]),
        ("CONTAINS(POINT(0, 0), r)", [3, 4]),
        ("CONTAINS(r, BOX(20, 5, 1, 1))", [5]),
        ("CONTAINS(POINT(10, 20), sh)", [1]),
        ("INTERSECTS(c, sh)", [1, 3, 5]),
        ("CONTAINS(sh, ms)", [3, 4]),
        ("CONTAINS(POINT(10, 20), REGION(ms))", [1, 3]),
        ("INTERSECTS(r, ms)", [1, 3, 4, 5]),
    ):
        sql = translate(f"SELECT id FROM loadtests.obs WHERE 1 = {condition} ORDER BY id", catalogue)
        assert loading.fetch_table(sql.sql, sql.settings).column(0).to_pylist() == expected, condition
    loading.execute("ALTER TABLE loadtests.obs UPDATE `__shape_m` = [1, 2] WHERE id = 1 SETTINGS mutations_sync = 2")
    with pytest.raises(LoadError, match="1 rows with a wrong shape or cover of m"):
        verify_table(loading, "loadtests.obs", Recorder())


def test_rows_without_a_shape_are_rejected(loading: EmbeddedEngine, tmp_path: Path) -> None:
    request = _write(tmp_path)
    load_files(loading, request, Recorder())
    with request.rejects.open(newline="") as file:
        _, *lines = csv.reader(file)
    first = 2 + len(GOOD)
    assert [int(line[1]) for line in lines] == list(range(first, first + len(BAD)))
    for (_, _, column, _, reason), (wanted, _, message) in zip(lines, BAD.values(), strict=True):
        assert column == wanted
        assert reason.startswith(message)


def test_covers_contain_their_shapes(loading: EmbeddedEngine) -> None:
    """Shapes of all sizes, at the poles and elsewhere, are in their covers; shapes ten times as large are not."""
    rng = np.random.default_rng(4)
    for size in 10.0 ** np.arange(-7, 2):
        centre = Cone(float(rng.uniform(0, 360)), float(rng.choice([-90, 0, 41.8, 90])), float(size))
        number = shape_columns.find_cover_number(centre.centre, np.radians([size]))
        assert shape_columns.is_covered(CIRCLE, [centre.lon, centre.lat, size], number)
        assert number == EVERYWHERE or not shape_columns.is_covered(
            CIRCLE, [centre.lon, centre.lat, 10 * size + 1e-5], number
        )
    far = positions_to_vectors(np.array([0.0, 180.0]), np.array([0.0, 0.0]))
    assert shape_columns.find_cover_number(far, np.zeros(2)) == EVERYWHERE
    assert not shape_columns.is_covered(CIRCLE, [], 7)
    assert shape_columns.is_covered(MOC, [], NOWHERE)


def test_texts_and_their_shapes() -> None:
    texts = pa.array(["Circle 1 2 3", None, " ", "Polygon 3", "Union (Circle 1 2 3 Union (Position 5 6 AllSky))"])
    read, covers, bad = shape_columns.read_regions(REGION, texts)
    assert read.to_pylist() == [
        [[0, 1, 1, 2, 3]], [], [], [], [[0, 1, 1, 2, 3], [1, 1, 5, 6, 0], [2, 1, 0, 0, 180]],
    ]  # fmt: skip
    assert covers.to_pylist()[1:] == [NOWHERE, NOWHERE, NOWHERE, EVERYWHERE]
    assert list(bad) == [3]
    mocs, covers, bad = shape_columns.read_regions(MOC, pa.array(["3/0-1", "4/", None]))
    assert mocs.to_pylist() == [Moc.parse_ascii("3/0-1").ranges.ravel().tolist(), [], []]
    assert covers.to_pylist()[1:] == [NOWHERE, NOWHERE]
    assert not bad


def test_plain_texts_are_read_like_all_other_texts() -> None:
    """Compare with 'Union (...)', which the general parser reads."""
    rng = np.random.default_rng(6)
    plain = [f"Circle ICRS {a!r} {b!r} {r!r}" for a, b, r in rng.uniform(0, 60, (50, 3)).tolist()]
    plain += [
        f"polygon {a!r} {b!r} {a + 1!r} {b!r} {a!r}  {b + 2!r} " for a, b in rng.uniform(-60, 60, (50, 2)).tolist()
    ]
    plain += ["POLYGON 40 41 45 35 50 41 45 50 44 42", "circle 1 2 1e1", "Circle 1 2 180", "Circle 0 90 0"]
    wrong = [
        "Circle 1 2 -1",
        "Circle 1 91 1",
        "Polygon 0 0 1 1 0 1 1 0",
        "Polygon 1 2 3",
        "Circle 1 2",
        "Circle 1 2 3 4",
    ]
    shapes_, covers, bad = shape_columns.read_regions(REGION, pa.array(plain + wrong))
    again, same, worse = shape_columns.read_regions(REGION, pa.array([f"Union ({text})" for text in plain + wrong]))
    assert shapes_.to_pylist() == again.to_pylist()
    assert covers.to_pylist() == same.to_pylist()
    assert list(bad) == list(worse) == list(range(len(plain), len(plain) + len(wrong)))


def test_clearly_convex_polygons_and_points_pass_quickly() -> None:
    assert (
        shape_columns.find_bad_shapes(POLYGON, pa.array([[0, 0, 1, 0, 1, 1, 0, 1.0], [], [0, 0, 0, 1, 1.0, 1]])) == {}
    )
    assert shape_columns.find_bad_shapes(POINT, pa.array([[0, 91.0], [0, 90.0], [float("inf"), 0]])).keys() == {0, 2}
    assert shape_columns.find_bad_shapes(REGION, pa.array(["anything"])) == {}
