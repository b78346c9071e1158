"""``skyhouse attach``: the same answers as from the loaded catalogue; changed and wrong files, and other commands."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from astropy import units
from astropy.coordinates import Latitude, Longitude
from cdshealpix import lonlat_to_healpix

from adql import Division, divide_query, translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_content_stamps
from clickhouse_schema.engine_tables.density_table import read_density
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from loaders.export.export_file import export_file
from loaders.export.export_hats import export_hats
from loaders.export.export_request import ExportRequest
from loaders.load_error import LoadError
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.attach_table import attach_catalogue
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.table_list import list_tables
from loaders.tables.table_rebuild import rebuild_table
from loaders.tables.verify_catalogue import verify_catalogue
from loaders.tables.verify_table import verify_table
from tap_service.hats.gateway import file_gateway
from tap_service.hats.gateway.file_gateway import FileGateway
from tap_service.hats.reading.catalogue_check import check_catalogue, check_positions
from tap_service.hats.reading.catalogue_folder import open_folder
from tap_service.hats.reading.hats_catalogue import open_catalogue
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import FilesUnavailable
from tests.loaders.recorder import Recorder
from tests.tap_service.hats.hats_files import make_rows, write_catalogue, write_properties
from tests.tap_service.hats.survey import ROWS, write_survey

Ask = Callable[..., pa.Table]


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory, engine: EmbeddedEngine) -> Iterator[Path]:
    """The catalogue, loaded as ``att.stored`` and attached as ``att.lying``."""
    prepare_engine(engine)
    folder = write_survey(tmp_path_factory.mktemp("hats"))
    load_files(engine, LoadRequest(files=(folder,), table="att.stored", rejects=folder / "rejects.csv"), Recorder())
    attach_catalogue(engine, AttachRequest(address=str(folder), table="att.lying"), Recorder())
    yield folder
    drop_table(engine, "att.stored", Recorder())
    drop_table(engine, "att.lying", Recorder())


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileGateway]:
    gateway = FileGateway("127.0.0.1", tmp_path_factory.mktemp("cache"), 1 << 20)
    yield gateway
    gateway.close()


@pytest.fixture(scope="module")
def ask(engine: EmbeddedEngine, gateway: FileGateway) -> Ask:
    def ask(query: str, catalogue: Catalogue | None = None) -> pa.Table:
        translation = translate(query, gateway.publish(catalogue or read_catalogue(engine)))
        return engine.fetch_table(translation.sql, translation.settings)

    return ask


QUERIES = """
SELECT COUNT(*), SUM(id), MIN(name), MAX(observed), AVG(mag), SUM(big), COUNT(error), COUNT(flag), COUNT(band) FROM {0}
SELECT * FROM {0} ORDER BY id
SELECT * FROM {0} WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 1)) ORDER BY id
SELECT id, curve FROM {0} WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(8, 18, 12, 18.5, 11, 21)) AND error > 3 ORDER BY id
SELECT id FROM {0} WHERE DISTANCE(ra, dec, 359.9, -30) < 20 ORDER BY id
SELECT id FROM {0} WHERE ra BETWEEN 0 AND 9 AND dec > 19 ORDER BY id
SELECT id FROM {0} WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, .3)) OR DISTANCE(ra, dec, 200, -60) < 9 ORDER BY id
SELECT id FROM {0} WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 1)) AND DISTANCE(ra, dec, 200, -60) < 9
SELECT id FROM {0} WHERE NOT (error > 3 OR flag IS NULL OR name = '') ORDER BY id
SELECT id, name FROM {0} WHERE name IS NULL OR name LIKE 'Stérn 1_' ORDER BY id
SELECT band, COUNT(*), AVG(error) FROM {0} GROUP BY band ORDER BY band
SELECT TOP 7 id, mag FROM {0} WHERE mag > 0 ORDER BY mag DESC
SELECT id FROM {0} WHERE id IN (5, 17, 2999, 4000) ORDER BY id
SELECT id FROM {0} WHERE observed BETWEEN '2020-06-01T00:00:00' AND '2020-07-01T00:00:00' ORDER BY id
SELECT a.id, b.id FROM {0} AS a JOIN {0} AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < .1 AND a.id < b.id ORDER BY 1, 2
SELECT a.id, b.id FROM {0} AS a JOIN att.stored AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < .05 ORDER BY a.id, b.id
SELECT a.id, b.id FROM att.stored AS a LEFT JOIN {0} AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < .05 AND a.id <> b.id ORDER BY a.id, b.id
SELECT a.id, b.id FROM att.stored AS a LEFT JOIN {0} AS b ON a.id = b.id AND DISTANCE(b.ra, b.dec, 10, 20) < 1 ORDER BY a.id
SELECT a.id, b.id FROM {0} AS a FULL JOIN {0} AS b ON a.id = b.id + 5 AND DISTANCE(b.ra, b.dec, 10, 20) < 1 ORDER BY a.id, b.id
SELECT a.id, b.mag FROM {0} AS a JOIN {0} AS b ON a.id = b.id WHERE DISTANCE(a.ra, a.dec, 10, 20) < 1 ORDER BY a.id
SELECT id FROM att.stored WHERE id IN (SELECT id FROM {0} WHERE DISTANCE(ra, dec, 10, 20) < 1) ORDER BY id
SELECT id FROM {0} AS a WHERE EXISTS (SELECT 1 FROM {0} AS b WHERE b.id = a.id + 1 AND DISTANCE(b.ra, b.dec, 10, 20) < 1) ORDER BY id
SELECT id FROM {0} AS a WHERE NOT EXISTS (SELECT 1 FROM {0} AS b WHERE DISTANCE(a.ra, a.dec, b.ra, b.dec) < .2 AND a.id <> b.id) ORDER BY id
SELECT id FROM {0} WHERE DISTANCE(ra, dec, 10, 20) < 1 UNION SELECT id FROM {0} WHERE DISTANCE(ra, dec, 11, 20) < 1 ORDER BY id
SELECT ivo_healpix_index(3, ra, dec) AS cell, COUNT(*) FROM {0} GROUP BY cell ORDER BY cell
"""


@pytest.mark.parametrize("query", QUERIES.strip().splitlines())
def test_the_answers_are_the_same_as_from_the_loaded_table(survey: Path, ask: Ask, query: str) -> None:
    stored, lying = ask(query.format("att.stored")), ask(query.format("att.lying"))
    assert _round(lying.to_pylist()) == _round(stored.to_pylist())
    assert lying.schema.names == stored.schema.names


def test_random_regions_have_the_rows_of_the_loaded_table(survey: Path, ask: Ask) -> None:
    random = np.random.default_rng(3)
    shapes = [
        "CIRCLE({0}, {1}, {2})",
        "POLYGON({0}, {1}, {0} + {2}, {1}, {0}, {1} + {2} / 2)",
        "BOX({0}, {1}, {2}, {2})",
    ]
    columns = ["id", "mag", "error", "name", "flag", "band", "big", "observed", "curve", "counts"]
    for shape in random.choice(shapes, 25):
        ra, dec = random.uniform(0, 359), random.uniform(-80, 75)
        if random.random() < 0.6:
            ra, dec = random.uniform(0, 25), random.uniform(10, 30)
        region = shape.format(f"{ra:.6f}", f"{dec:.6f}", f"{random.choice([0.5, 3, 12, 40]):g}")
        chosen = ", ".join(random.choice(columns, 3, replace=False))
        query = f"SELECT id AS i, {chosen} FROM att.{{0}} WHERE 1 = CONTAINS(POINT(ra, dec), {region}) ORDER BY i"
        stored, lying = ask(query.format("stored")), ask(query.format("lying"))
        assert _round(lying.to_pylist()) == _round(stored.to_pylist()), query


def test_a_cone_reads_the_files_of_its_cells(survey: Path, engine: EmbeddedEngine) -> None:
    catalogue = read_catalogue(engine)
    cone = "SELECT id FROM att.lying WHERE DISTANCE(ra, dec, 200, -60) < .1"
    [number] = re.findall(r"/([^/]+)\.parquet", translate(cone, catalogue).sql)
    entry = catalogue.find_entry("att", "lying")
    assert entry is not None
    assert entry.attached is not None
    [cell] = lonlat_to_healpix(Longitude([200], units.deg), Latitude([-60], units.deg), 29)
    pixel = entry.attached.attachment.files[int(number)].pixel
    assert pixel.first_cell <= cell < pixel.end_cell
    every = translate("SELECT id FROM att.lying", catalogue).sql
    files = len(list(survey.rglob("Npix=*.parquet")))
    assert f"/{{0..{files - 1}}}.parquet" in every
    nowhere = translate(f"{cone} AND DISTANCE(ra, dec, 10, 20) < .1", catalogue).sql
    assert "null('" in nowhere
    assert "url(" not in nowhere


def test_a_job_can_run_its_query_in_another_process(
    survey: Path, engine: EmbeddedEngine, gateway: FileGateway, tmp_path: Path
) -> None:
    """Jobs resume, and results are reused, if the same query reads the same files."""
    query = "SELECT a.id FROM att.lying AS a JOIN att.stored AS b ON a.id = b.id"
    known = read_catalogue(engine)
    other = FileGateway("127.0.0.1", tmp_path, 1 << 20)
    first, second = (translate(query, each.publish(known)) for each in (gateway, other))
    other.close()
    assert first.sql != second.sql
    assert first.portable_sql == second.portable_sql != translate("SELECT id FROM att.lying", known).portable_sql
    attachment = known.attachments["att", "lying"]
    changed = replace(attachment, files=(attachment.files[0]._replace(tag="new"), *attachment.files[1:]))
    attachments = {("att", "lying"): changed}
    catalogue = gateway.publish(Catalogue(known.schemas, known.counts, attachments=attachments))
    assert translate(query, catalogue).portable_sql != first.portable_sql


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, mag FROM att.lying",
        "SELECT a.id, b.id FROM att.lying AS a JOIN att.stored AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < .05",
        "SELECT band, COUNT(*) FROM att.lying GROUP BY band",
    ],
)
def test_a_piece_of_a_job_reads_the_files_of_its_cells(survey: Path, engine: EmbeddedEngine, query: str) -> None:
    bound = translate(query, read_catalogue(engine)).bound
    assert bound is not None
    division = divide_query(bound)
    assert isinstance(division, Division)
    borders = tuple(number * 4**29 for number in (3, 6, 9))
    statements = [division.make_statement(piece) for piece in division.make_pieces(borders)[:4]]
    read = [re.findall(r"/([^/]+)\.parquet", statement.sql) for statement in statements]
    files = len(list(survey.rglob("Npix=*.parquet")))
    numbers = [number for [named] in read for number in _list_numbers(named)]
    assert sorted(numbers) == [*range(files)]


def _list_numbers(pattern: str) -> list[int]:
    first, _, last = pattern.strip("{}").partition("..")
    return [*range(int(first), int(last) + 1)] if last else [int(number) for number in first.split(",")]


def test_a_small_side_chooses_the_files(survey: Path, engine: EmbeddedEngine, ask: Ask) -> None:
    """As if the catalogue were large: then only the cells around the rows of a small side are read."""
    few = "(SELECT TOP 4 id, ra, dec FROM att.stored WHERE DISTANCE(ra, dec, 200, -60) < 30 ORDER BY id)"
    query = (
        f"SELECT a.id, b.id FROM {few} AS a JOIN att.{{0}} AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 3 ORDER BY 1, 2"
    )
    with counted_requests() as requests:
        lying = ask(query.format("lying"), make_large(read_catalogue(engine)))
    assert lying.num_rows >= 4
    assert _round(lying.to_pylist()) == _round(ask(query.format("stored")).to_pylist())
    read = {path.rpartition("/")[2] for path in requests}
    assert 1 <= len(read) < len(list(survey.rglob("Npix=*.parquet"))) / 2


def make_large(known: Catalogue) -> Catalogue:
    """The same tables, as if they had very many rows."""
    return Catalogue(
        known.schemas,
        dict.fromkeys(known.counts, 10**9),
        dict.fromkeys(known.local_densities, 1e6),
        attachments=known.attachments,
    )


@contextmanager
def counted_requests() -> Iterator[list[str]]:
    """The paths that the engine requests from gateways."""
    paths: list[str] = []
    answer = file_gateway._Handler._answer

    def note(handler: file_gateway._Handler, *, has_body: bool) -> None:
        paths.append(handler.path)
        answer(handler, has_body=has_body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_gateway._Handler, "_answer", note)
        yield paths


def test_what_the_catalogue_knows(survey: Path, engine: EmbeddedEngine) -> None:
    reporter = Recorder()
    list_tables(engine, reporter)
    [line] = [line for line in reporter.lines if line.startswith("att.lying")]
    assert f"{ROWS:,} rows" in line
    assert line.endswith(f"attached: {survey}")
    assert sum(read_density(engine, "att", "lying")["rows"].to_pylist()) == ROWS
    catalogue = read_catalogue(engine)
    stored, lying = (catalogue.find_entry("att", name) for name in ("stored", "lying"))
    assert stored is not None
    assert lying is not None
    assert lying.rows == stored.rows == ROWS
    assert lying.fields == stored.fields
    described = "SELECT column_name, datatype, arraysize, xtype, unit, ucd FROM TAP_SCHEMA.columns WHERE table_name = "
    columns = [
        engine.fetch_table(translate(f"{described}'att.{name}'", catalogue).sql).to_pylist()
        for name in ("stored", "lying")
    ]
    assert columns[0] == columns[1] != []


@pytest.mark.parametrize("format", ["parquet", "hats"])
def test_it_is_exported_like_a_stored_table(survey: Path, engine: EmbeddedEngine, tmp_path: Path, format: str) -> None:
    rows = []
    for table in ("stored", "lying"):
        target = tmp_path / f"{table}.{format}"
        request = ExportRequest(source=f"att.{table}", target=str(target), format=format)
        (export_hats if format == "hats" else export_file)(engine, request, Recorder())
        files = [target] if format == "parquet" else sorted((target / table).rglob("Npix=*.parquet"))
        rows.append(pa.concat_tables(pq.ParquetFile(file).read() for file in files).sort_by("id").to_pylist())
    assert len(rows[0]) == ROWS
    assert _round(rows[0]) == _round(rows[1])


def test_commands_for_stored_rows_reject_it(survey: Path, engine: EmbeddedEngine) -> None:
    request = LoadRequest(files=(survey,), table="att.lying", rejects=survey / "rejects.csv", mode="replace")
    with pytest.raises(LoadError, match=r"att\.lying is attached, so its rows are in the files of"):
        load_files(engine, request, Recorder())
    with pytest.raises(LoadError, match=r"att\.lying is attached"):
        rebuild_table(engine, "att.lying", Recorder())
    with pytest.raises(LoadError, match=r"att\.stored exists"):
        attach_catalogue(engine, AttachRequest(address=str(survey), table="att.stored"), Recorder())
    with pytest.raises(LoadError, match=r"there is no attached table att\.stored"):
        attach_catalogue(engine, AttachRequest(address="", table="att.stored", refresh=True), Recorder())


def test_verify(survey: Path, engine: EmbeddedEngine) -> None:
    reporter = Recorder()
    verify_table(engine, "att.lying", reporter)
    assert any("none has changed since they were attached" in line for line in reporter.lines)
    assert any(f"read: {ROWS:,} rows" in line for line in reporter.lines)


def test_verify_compares_all_positions(tmp_path: Path) -> None:
    """Only the first rows are compared when a catalogue is attached."""
    for error, reason in (("pixel", "in the partition's pixel"), ("index", "where the index _healpix_29 says")):
        rows = make_rows(30_000)
        number = 15_500  # in the middle of a pixel
        moved = rows["ra"].to_numpy().copy()
        moved[number] = (moved[number] + (90 if error == "pixel" else 0.001)) % 360
        folder = write_catalogue(tmp_path / error, rows.set_column(2, "ra", pa.array(moved)))
        check_positions(check_catalogue(open_catalogue(open_folder(str(folder)))))
        with pytest.raises(ReadError, match=rf"row [\d,]+: the positions of this row and of 0 more.*are not {reason}"):
            verify_catalogue(str(folder), Recorder(), with_rows=True)


SCHEMA = """
name: changing
tables:
- name: stars
  columns:
  - {name: id, datatype: long}
  - {name: ra, datatype: double, ivoa:ucd: pos.eq.ra;meta.main}
  - {name: dec, datatype: double, ivoa:ucd: pos.eq.dec;meta.main}
  - {name: mag, datatype: float, nullable: false}
  skyhouse:layout: {position: [ra, dec], id: [id]}
"""


@pytest.fixture
def stars(tmp_path: Path, engine: EmbeddedEngine) -> Iterator[Path]:
    """A catalogue of a schema file, attached as changing.stars; its folder."""
    prepare_engine(engine)
    (tmp_path / "stars.yaml").write_text(SCHEMA)
    folder = write_catalogue(tmp_path / "stars")
    reporter = Recorder()
    request = AttachRequest(address=str(folder), table="changing.stars", schema_file=tmp_path / "stars.yaml")
    attach_catalogue(engine, request, reporter)
    assert "mag may be NULL in the files, so it is nullable" in reporter.messages
    assert "without stored rows these keys of skyhouse:layout have no effect: id" in reporter.messages
    yield folder
    drop_table(engine, "changing.stars", Recorder())
    assert next(folder.rglob("Npix=*.parquet"))


def test_a_default_layout_causes_no_message(tmp_path: Path, engine: EmbeddedEngine) -> None:
    prepare_engine(engine)
    rows = make_rows()
    identity = rows.schema.field("id").with_metadata({"ucd": "meta.id;meta.main"})
    folder = write_catalogue(
        tmp_path / "stars", rows.cast(rows.schema.set(rows.schema.get_field_index("id"), identity))
    )
    reporter = Recorder()
    attach_catalogue(engine, AttachRequest(address=str(folder), table="asked.nothing"), reporter)
    drop_table(engine, "asked.nothing", Recorder())
    assert not any("skyhouse:layout" in message for message in reporter.messages)


def test_changed_files_are_an_error_until_they_are_attached_again(
    stars: Path, ask: Ask, engine: EmbeddedEngine, tmp_path: Path
) -> None:
    count = "SELECT COUNT(id) AS n, MAX(mag) AS m FROM changing.stars WHERE mag > -99"
    before = ask(count)
    stamps = read_content_stamps(engine, [("changing", "stars")])
    shutil.rmtree(stars)
    write_catalogue(stars, make_rows(900))
    with pytest.raises(
        FilesUnavailable, match=r"the files of the table changing\.stars have changed since they were attached"
    ) as caught:
        ask(count)
    assert str(tmp_path) not in str(caught.value)
    with pytest.raises(
        LoadError, match=r"changing.stars does not match its files: dataset/.*Npix=0.parquet has changed"
    ):
        verify_table(engine, "changing.stars", Recorder())
    old = read_catalogue(engine)
    attach_catalogue(engine, AttachRequest(address="", table="changing.stars", refresh=True), Recorder())
    assert (before.column(0)[0].as_py(), ask(count).column(0)[0].as_py()) == (1200, 900)
    assert read_content_stamps(engine, [("changing", "stars")]) != stamps
    with pytest.raises(FilesUnavailable, match="have changed since they were attached"):
        ask(count, old)
    reporter = Recorder()
    attach_catalogue(engine, AttachRequest(address="", table="changing.stars", refresh=True), reporter)
    assert reporter.lines == ["changing.stars is up to date: its 12 files have not changed"]


@pytest.mark.parametrize(
    ("move", "properties", "reason"),
    [
        (90.0, {}, r"positions are not in the partition's pixel.*NESTED, in ICRS"),
        (
            90.0,
            {"hats_col_healpix": "coarse", "hats_col_healpix_order": "0"},
            r"positions are not in the partition's pixel",
        ),
        (0.01, {}, r"the index _healpix_29 of \d+ of the first \d+ rows does not belong to ra, dec"),
    ],
)
def test_positions_outside_the_pixel_of_their_file(
    engine: EmbeddedEngine, tmp_path: Path, move: float, properties: dict[str, str], reason: str
) -> None:
    """Such rows would be missing from cones."""
    prepare_engine(engine)
    rows = make_rows()
    moved = rows.set_column(2, "ra", pc.add(rows["ra"], move))
    coarse = pc.shift_right(rows["_healpix_29"], 58)
    folder = write_catalogue(tmp_path / "moved", moved.append_column("coarse", coarse), order=1)
    write_properties(folder, **properties)
    with pytest.raises(ReadError, match=reason):
        attach_catalogue(engine, AttachRequest(address=str(folder), table="moved.stars"), Recorder())
    assert read_catalogue(engine).find_entry("moved", "stars") is None


def test_a_missing_file_is_an_error(stars: Path, ask: Ask) -> None:
    (stars / "dataset" / "Norder=0" / "Dir=0" / "Npix=7.parquet").unlink()
    with pytest.raises(FilesUnavailable, match="or some are missing"):
        ask("SELECT SUM(id) FROM changing.stars")
    cone = "SELECT COUNT(*) FROM changing.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(45, 42, 9)) AND mag > 0"
    assert ask(cone).column(0)[0].as_py() > 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("datatype: float", "datatype: double"), "it is REAL in the files and DOUBLE in the schema file"),
        (("name: mag", "name: magnitude"), "has no column magnitude"),
        (("nullable: false", "skyhouse:if_missing: fill"), "applies to loaded rows"),
        (("position: [ra, dec]", "position: [mag, dec]"), "the catalogue is partitioned by ra, dec"),
    ],
)
def test_options_that_only_a_load_has(
    stars: Path, engine: EmbeddedEngine, tmp_path: Path, change: tuple[str, str], reason: str
) -> None:
    (tmp_path / "other.yaml").write_text(SCHEMA.replace(*change).replace("name: changing", "name: other"))
    with pytest.raises((LoadError, ReadError), match=reason):
        attach_catalogue(
            engine,
            AttachRequest(address=str(stars), table="other.stars", schema_file=tmp_path / "other.yaml"),
            Recorder(),
        )
    assert read_catalogue(engine).find_entry("other", "stars") is None


def test_properties_without_a_position(stars: Path, engine: EmbeddedEngine, tmp_path: Path) -> None:
    write_properties(stars, hats_col_ra=None, hats_col_dec=None)
    (tmp_path / "other.yaml").write_text(SCHEMA.replace("name: changing", "name: other"))
    with pytest.raises(LoadError, match="have no hats_col_ra and no hats_col_dec, so it is not known"):
        attach_catalogue(
            engine,
            AttachRequest(address=str(stars), table="other.stars", schema_file=tmp_path / "other.yaml"),
            Recorder(),
        )


def test_an_index_without_statistics_is_not_trusted(
    engine: EmbeddedEngine, gateway: FileGateway, tmp_path: Path
) -> None:
    prepare_engine(engine)
    folder = write_catalogue(tmp_path / "stars")
    file = next(folder.rglob("Npix=*.parquet"))
    pq.write_table(pq.read_table(file, partitioning=None), file, write_statistics=False)
    reporter = Recorder()
    attach_catalogue(engine, AttachRequest(address=str(folder), table="untold.stars"), reporter)
    assert any("1 of 12 files have no statistics of _healpix_29" in line for line in reporter.messages)
    sql = translate("SELECT id FROM untold.stars", gateway.publish(read_catalogue(engine))).sql
    drop_table(engine, "untold.stars", Recorder())
    assert "_healpix_29" not in sql


@pytest.fixture(params=[True, False], ids=["index", "no index"])
def unplaced(request: pytest.FixtureRequest, tmp_path: Path, engine: EmbeddedEngine) -> Iterator[None]:
    """unplaced.stars has no index, a row outside the pixel of its file by rounding, and rows without a position."""
    prepare_engine(engine)
    rows = make_rows()
    ra, dec = rows["ra"].to_numpy().copy(), rows["dec"].to_numpy().copy()
    ra[::17], dec[::23] = np.nan, np.nan
    if not request.param:
        ra[5], dec[5] = 90 + 1e-11, 60  # pixel 0 of order 0 ends at 90 degrees
    rows = rows.set_column(2, "ra", pa.array(ra, from_pandas=True)).set_column(3, "dec", pa.array(dec))
    folder = write_catalogue(tmp_path / "stars", rows)
    if not request.param:
        for file in folder.rglob("Npix=*.parquet"):
            pq.write_table(pq.read_table(file, partitioning=None).drop(["_healpix_29"]), file)
        pq.write_metadata(rows.schema.remove(0), folder / "dataset" / "_common_metadata")
        write_properties(folder, hats_col_healpix=None, hats_col_healpix_order=None)
    attach_catalogue(engine, AttachRequest(address=str(folder), table="unplaced.stars"), Recorder())
    yield
    drop_table(engine, "unplaced.stars", Recorder())


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, mag FROM unplaced.stars",
        "SELECT id FROM unplaced.stars WHERE dec > 0 OR dec IS NULL OR ra IS NULL",
        "SELECT a.id, b.id FROM unplaced.stars AS a JOIN unplaced.stars AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 3",
        "SELECT a.id, b.id FROM unplaced.stars AS a LEFT JOIN att.stored AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 3",
    ],
)
def test_pieces_have_all_rows_of_attached_files(
    survey: Path, unplaced: None, gateway: FileGateway, engine: EmbeddedEngine, query: str
) -> None:
    translation = translate(query, gateway.publish(read_catalogue(engine)))
    assert translation.bound is not None
    division = divide_query(translation.bound)
    assert isinstance(division, Division)
    assert division.scan.entry.schema.name == "unplaced"
    whole = engine.fetch_table(translation.sql, translation.settings)
    pieces = division.make_pieces(tuple(number * 4**28 for number in range(1, 40, 2)))
    assert len(pieces) > 5
    statements = [division.make_statement(piece) for piece in pieces]
    parts = pa.concat_tables(engine.fetch_table(each.sql, each.settings) for each in statements)
    assert sorted(map(str, parts.to_pylist())) == sorted(map(str, whole.to_pylist())) != []


@pytest.mark.parametrize("is_large", [False, True])
def test_a_row_without_a_position_is_in_no_region(
    unplaced: None, ask: Ask, engine: EmbeddedEngine, is_large: bool
) -> None:
    known = read_catalogue(engine)
    region = "SELECT ra, dec FROM unplaced.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(120, 10, 50))"
    found = ask(region, make_large(known) if is_large else known)
    inside = ask("SELECT ra, dec FROM unplaced.stars WHERE DISTANCE(120, 10, ra + 0, dec + 0) < 50")
    assert found.num_rows == inside.num_rows > 100
    assert found.column(0).null_count == found.column(1).null_count == 0


def _round(value: object) -> object:
    """Return rows with rounded numbers, because sums depend on the order of rows, and with NaN as text."""
    if isinstance(value, dict):
        return {key: _round(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_round(part) for part in value]
    return f"{value:.12g}" if isinstance(value, float) else value
