"""ObsCore tables through the loader: the example, files that lack columns, and rows that the standard does not allow."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from astropy.table import Table

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.obscore import DATA_MODEL, MANDATORY, find_data_models
from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.schema_names import find_example_file, find_schema_file
from loaders.tables.verify_table import verify_table
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.support.adql_rows import query_rows

TABLE = "ivoa.ObsCore"
GOOD = {
    "calib_level": "2",
    "obs_collection": "c",
    "obs_id": "o",
    "obs_publisher_did": "ivo://a/b?1",
    "dataproduct_type": "image",
    "s_ra": "10",
    "s_dec": "20",
    "s_region": "Circle ICRS 10 20 1",
}


@pytest.fixture
def obscore(engine: EmbeddedEngine) -> Iterator[EmbeddedEngine]:
    """The tests' engine, whose ``ivoa.ObsCore`` is dropped afterwards."""
    engine_setup.prepare_engine(engine)
    yield engine
    if catalogue_log.read_catalogue(engine).find_tables("ObsCore", True, "ivoa"):
        drop_table(engine, TABLE, Recorder())


def _request(folder: Path, rows: list[dict[str, str]], name: str = "obs.csv") -> LoadRequest:
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return LoadRequest(
        files=(folder / name,), table=TABLE, rejects=folder / "rejects.csv", schema_file=find_schema_file("obscore")
    )


def _entry(engine: EmbeddedEngine) -> TableEntry:
    [entry] = catalogue_log.read_catalogue(engine).find_tables("ObsCore", True, "ivoa")
    return entry


def _ids(engine: EmbeddedEngine, condition: str) -> list[str]:
    query = f"SELECT obs_id FROM ivoa.ObsCore WHERE {condition} ORDER BY obs_id"
    return [row[0] for row in query_rows(engine, catalogue_log.read_catalogue(engine), query)]


def _column(engine: EmbeddedEngine, name: str) -> list[object]:
    return engine.fetch_table(f"SELECT {name} FROM ivoa.ObsCore ORDER BY obs_id").column(0).to_pylist()


def test_the_example_is_loaded_completely(obscore: EmbeddedEngine, tmp_path: Path) -> None:
    recorder = Recorder()
    files = (find_example_file("obscore"),)
    load_files(
        obscore,
        LoadRequest(
            files=files,
            table=TABLE,
            rejects=tmp_path / "r",
            schema_file=find_schema_file("obscore"),
            strict=True,
            max_errors=0,
        ),
        recorder,
    )
    assert recorder.lines == ["loaded 45 rows into ivoa.ObsCore"]
    assert find_data_models(catalogue_log.read_catalogue(obscore)) == (DATA_MODEL,)
    verify_table(obscore, TABLE, recorder)
    assert "s_region: the shapes and covers of 45 rows checked" in recorder.lines
    names = [column.name for column in _entry(obscore).table.columns]
    assert set(MANDATORY) < set(names)
    assert "obs_title" in names
    assert "em_stat_error" not in names
    assert len(_ids(obscore, "s_region IS NULL AND dataproduct_type IS NOT NULL")) == 2
    assert len(_ids(obscore, "s_ra IS NULL")) == 1
    for example in _entry(obscore).schema.examples:
        assert query_rows(obscore, catalogue_log.read_catalogue(obscore), example.query), example.name
    drop_table(obscore, TABLE, recorder)
    assert find_data_models(catalogue_log.read_catalogue(obscore)) == ()


# --- files that lack columns ------------------------------------------------------------------------------------------


def test_columns_that_files_lack(obscore: EmbeddedEngine, tmp_path: Path) -> None:
    """The second of two files has a title, and an unknown column."""
    first = _request(tmp_path, [GOOD | {"obs_id": "a"}])
    second = _request(tmp_path, [GOOD | {"obs_id": "b", "Obs_Title": "Über", "pol_sates": "/I/"}], "more.csv")
    recorder = Recorder()
    load_files(obscore, first.model_copy(update={"files": first.files + second.files}), recorder)
    filled, left_out, form, unknown = recorder.messages
    assert form.endswith(": CSV, delimiter comma, names in line 1")
    assert filled.startswith("no file has these columns, so they are NULL: target_name, access_url, ")
    assert "pol_states" in filled
    assert left_out.startswith(
        "no file has these columns, so they are left out: dataproduct_subtype, target_class, obs_creation_date"
    )
    assert unknown == f"note: {second.files[0]} has columns that the table lacks: pol_sates; they are not loaded"
    assert _column(obscore, "obs_title") == [None, "Über"]
    assert _column(obscore, "pol_states") == [None, None]
    assert find_data_models(catalogue_log.read_catalogue(obscore)) == (DATA_MODEL,)
    # appended rows have the columns of the table
    third = _request(tmp_path, [GOOD | {"obs_id": "c", "pol_states": "/I/", "proposal_id": "p"}], "third.csv")
    load_files(obscore, third.model_copy(update={"schema_file": None, "mode": "append"}), Recorder())
    assert _column(obscore, "obs_title") == [None, "Über", None]
    assert _column(obscore, "pol_states") == [None, None, "/I/"]
    with pytest.raises(LoadError, match=r"other columns than ivoa\.ObsCore has: leave out --schema"):
        load_files(
            obscore,
            _request(tmp_path, [GOOD | {"obs_id": "d"}], "fourth.csv").model_copy(update={"mode": "append"}),
            Recorder(),
        )
    verify_table(obscore, TABLE, Recorder())


@pytest.mark.parametrize("name", ["calib_level", "obs_collection", "obs_id", "obs_publisher_did"])
def test_columns_that_every_file_has(obscore: EmbeddedEngine, tmp_path: Path, name: str) -> None:
    row = {key: value for key, value in GOOD.items() if key != name}
    with pytest.raises(ReadError, match=f"obs.csv has no column {name} of table ObsCore"):
        load_files(obscore, _request(tmp_path, [row]), Recorder())
    assert find_data_models(catalogue_log.read_catalogue(obscore)) == ()


def test_a_unit_that_differs_from_the_standard_is_reported(obscore: EmbeddedEngine, tmp_path: Path) -> None:
    file = tmp_path / "obs.ecsv"
    table = Table({name: [int(value) if name == "calib_level" else value] for name, value in GOOD.items()})
    table["s_ra"], table["em_min"], table["t_exptime"] = [10.0], [500.0], [3.0]
    table["s_ra"].unit, table["em_min"].unit, table["t_exptime"].unit, table["obs_id"].unit = "deg", "nm", "s", "m"
    table.write(file)
    request = LoadRequest(files=(file,), table=TABLE, rejects=tmp_path / "r", schema_file=find_schema_file("obscore"))
    message = f"em_min is in nm in {file}, but in m in {find_schema_file('obscore')}"
    with pytest.raises(LoadError, match=f"{message}: convert the values, or correct the unit"):
        load_files(obscore, request.model_copy(update={"strict": True}), Recorder())
    recorder = Recorder()
    load_files(obscore, request, recorder)
    assert f"warning: {message}: its values are not converted" in recorder.messages
    assert len([line for line in recorder.messages if line.startswith("warning")]) == 1
    # descriptions that the standard leaves empty stay empty
    assert _entry(obscore).table.get_column("obs_id").unit == ""


def test_blank_words_of_fits_are_null(obscore: EmbeddedEngine, tmp_path: Path) -> None:
    file = tmp_path / "obs.fits"
    rows = [GOOD | {"obs_id": "a", "dataproduct_type": ""}, GOOD | {"obs_id": "b", "dataproduct_type": "cube"}]
    table = Table({name: [row[name] for row in rows] for name in GOOD})
    for name, kind in (("calib_level", int), ("s_ra", float), ("s_dec", float)):
        table[name] = [kind(row[name]) for row in rows]
    table.write(file)
    load_files(
        obscore,
        LoadRequest(
            files=(file,), table=TABLE, rejects=tmp_path / "r", schema_file=find_schema_file("obscore"), max_errors=0
        ),
        Recorder(),
    )
    assert _column(obscore, "dataproduct_type") == [None, "cube"]


# --- rows -------------------------------------------------------------------------------------------------------------

BAD = (
    ("dataproduct_type", "Image", "not one of image, cube, spectrum, sed, timeseries, visibility, event, measurements"),
    ("dataproduct_type", "image#cube", "not one of image, cube"),
    ("calib_level", "5", "not one of 0, 1, 2, 3, 4"),
    ("calib_level", "-1", "not one of 0, 1, 2, 3, 4"),
    ("calib_level", "2.5", "does not fit the type INTEGER"),
    ("calib_level", "", "has no value, but the column is not nullable"),
    ("obs_id", "", "has no value, but the column is not nullable"),
    ("obs_publisher_did", "ivo://a/é", "not ASCII"),
    ("data_rights", "PUBLIC", "not one of public, secure, proprietary"),
    ("s_ra", "360.1", "a longitude outside [0, 360]"),
    ("s_dec", "-90.1", "a latitude outside [-90, 90]"),
    (
        "s_region",
        "Circle ICRS 10 20",
        "not a valid REGION: 2 numbers instead of 3, in the Circle at character 1 of the region",
    ),
    ("s_region", "Polygon ICRS 10 20 11 20", "not a valid REGION: a polygon of 2 distinct vertices"),
    ("s_region", "Polygon 0 0 1 1 0 1 1 0", "not a valid REGION: edges 1 and 3 of the polygon cross"),
    ("s_region", "Circle ICRS 10 120 1", "not a valid REGION: declination 120 is not between -90 and 90 degrees"),
    ("s_region", "Circle ECLIPTIC_OF_DATE 10 20 1", "not a valid REGION: "),
    ("s_region", "4/30-33", "not a valid REGION: "),
    ("s_region", "Circle ICRS 10 20 1; DROP TABLE x", "not a valid REGION: "),
    ("s_region", "Circle ICRS nan 20 1", "not a valid REGION: "),
    ("s_region", "Union ICRS (Circle 1 2 3", "not a valid REGION: "),
    ("t_min", "2024-01-01", "does not fit the type DOUBLE"),
)


def test_rows_that_the_standard_does_not_allow_are_rejected(obscore: EmbeddedEngine, tmp_path: Path) -> None:
    rows = [GOOD | {"data_rights": "", "t_min": ""} | {column: value} for column, value, _ in BAD]
    rows.append(rows[0] | {"dataproduct_type": "image"})
    recorder = Recorder()
    load_files(obscore, _request(tmp_path, rows), recorder)
    assert recorder.lines == [f"loaded 1 rows into {TABLE}; {len(BAD)} bad rows are in {tmp_path / 'rejects.csv'}"]
    with (tmp_path / "rejects.csv").open(newline="") as file:
        found = [tuple(row[2:]) for row in csv.reader(file)][1:]
    for (column, value, reason), (wanted, given, message) in zip(found, BAD, strict=True):
        assert (column, value) == (wanted, given)
        assert reason.startswith(message), reason


REGIONS = {
    "circle": "Circle ICRS 10 20 1",
    "frameless": "circle 10 20 1",
    "polygon": "Polygon ICRS 9 19 11 19 11 21 9 21",
    "union": "Union ICRS (Circle 100 -20 1 Circle 10 20 1)",
    "hole": "Difference ICRS (Circle 10 20 3 Circle 10 20.5 0.4)",
    "galactic": "Circle GALACTIC 118.2774 -42.3796 1",
    "position": "Position ICRS 10 20",
    "everywhere": "AllSky",
    "null": "",
    "blank": "   ",
    "elsewhere": "Circle ICRS 10 -20 1",
}


def test_regions_of_all_kinds_are_found(obscore: EmbeddedEngine, tmp_path: Path) -> None:
    rows = [GOOD | {"obs_id": name, "s_region": text} for name, text in REGIONS.items()]
    rows[-1] |= {"s_ra": "", "s_dec": ""}
    load_files(obscore, _request(tmp_path, rows).model_copy(update={"max_errors": 0}), Recorder())
    verify_table(obscore, TABLE, Recorder())
    near = sorted(set(REGIONS) - {"null", "blank", "elsewhere"})
    assert _ids(obscore, "1 = CONTAINS(POINT(10, 20), s_region)") == near
    assert _ids(obscore, "1 = INTERSECTS(s_region, CIRCLE(10.2, 20, 0.3))") == near
    assert _ids(obscore, "1 = CONTAINS(POINT(10, 20.5), s_region)") == sorted(set(near) - {"hole", "position"})
    assert _ids(obscore, "1 = CONTAINS(POINT(10, -20), s_region)") == ["elsewhere", "everywhere"]
    assert _ids(obscore, "1 = CONTAINS(POINT(s_ra, s_dec), CIRCLE(10, 20, 1))") == sorted(set(REGIONS) - {"elsewhere"})
    assert _ids(obscore, "s_region IS NULL OR s_region = '   '") == ["blank", "null"]
