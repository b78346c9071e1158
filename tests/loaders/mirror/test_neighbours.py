"""The crossmatch after a mirror: the pairs of its rows with their neighbours in another table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy import units
from astropy.coordinates import SkyCoord

from clickhouse_schema.engine_tables import catalogue_log
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.mirror.gaia_mirror import RECIPE, GaiaMirror, sort_rows
from tests.loaders.mirror.origin_files import Row
from tests.loaders.recorder import Recorder

CROSSMATCH = RECIPE + "crossmatch: {{table: mirrored.other, radius: 3600, into: mirrored.pairs}}\n"

OTHER = """\
name: mirrored
tables:
- name: other
  columns: [{name: key, datatype: long}, {name: ra, datatype: double}, {name: dec, datatype: double}]
  skyhouse:layout: {position: [ra, dec], id: [key]}
"""


def load_other(engine: EmbeddedEngine, folder: Path, rows: list[Row]) -> list[Row]:
    """Load every fifth source, half a degree farther north, as another table; return its rows."""
    others = [{"key": i, "ra": row["ra"], "dec": min(row["dec"] + 0.5, 90.0)} for i, row in enumerate(rows[::5])]
    pq.write_table(pa.Table.from_pylist(others), folder / "other.parquet")
    (folder / "other.yaml").write_text(OTHER)
    request = LoadRequest(
        files=(folder / "other.parquet",),
        table="mirrored.other",
        rejects=folder / "other.csv",
        schema_file=folder / "other.yaml",
    )
    load_files(engine, request, Recorder())
    return others


def test_pairs_within_the_radius_become_a_table(
    gaia: GaiaMirror, gaia_rows: list[list[Row]], mirror_engine: EmbeddedEngine
) -> None:
    rows = sort_rows(gaia_rows)
    others = load_other(mirror_engine, gaia.folder, rows)
    mirror = GaiaMirror(gaia.server, gaia.folder, CROSSMATCH)
    mirror.run(mirror_engine)
    own, other = (SkyCoord([r["ra"] for r in t], [r["dec"] for r in t], unit="deg") for t in (rows, others))
    found, near, separation, _ = other.search_around_sky(own, 1 * units.deg)
    wanted = {
        (rows[a]["source_id"], others[b]["key"]): float(each)
        for a, b, each in zip(found, near, separation.arcsec, strict=True)
    }
    pairs = mirror_engine.fetch_table("SELECT * FROM mirrored.pairs").to_pylist()
    assert {(pair["gaia_source_id"], pair["other_key"]): pair["separation"] for pair in pairs} == pytest.approx(wanted)
    assert len(pairs) == len(wanted) > 70
    assert not (gaia.folder / "work").exists()


def test_the_next_start_makes_the_pairs_if_the_other_table_comes_later(
    gaia: GaiaMirror, gaia_rows: list[list[Row]], mirror_engine: EmbeddedEngine
) -> None:
    mirror = GaiaMirror(gaia.server, gaia.folder, CROSSMATCH)
    assert (
        "there is no table mirrored.other, so mirrored.pairs is not created" in mirror.run(mirror_engine).messages[-1]
    )
    load_other(mirror_engine, gaia.folder, sort_rows(gaia_rows))
    lines = mirror.run(mirror_engine).lines
    assert lines[0].startswith("already loaded")
    assert lines[1].startswith("loaded ")
    assert lines[1].endswith(" rows into mirrored.pairs")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("into: mirrored.pairs", "into: mirrored.other"), "the pairs of a crossmatch cannot replace mirrored.other"),
        (("into: mirrored.pairs", "into: mirrored.GAIA"), "the pairs of a crossmatch cannot replace mirrored.GAIA"),
        (
            ("mirrored.other, radius: 3600, into: mirrored.pairs", "mirrored.x, radius: 1, into: mirrored.other"),
            "there is a table mirrored.other of another origin",
        ),
        (("  id: [source_id]\n", ""), "a crossmatch needs a table with position and id: name them in the layout of"),
    ],
)
def test_mirrors_that_cannot_have_a_crossmatch_are_rejected_before_a_row_is_loaded(
    gaia: GaiaMirror, gaia_rows: list[list[Row]], mirror_engine: EmbeddedEngine, change: tuple[str, str], said: str
) -> None:
    others = load_other(mirror_engine, gaia.folder, sort_rows(gaia_rows))
    mirror = GaiaMirror(gaia.server, gaia.folder, CROSSMATCH.replace(*change))
    assert said in mirror.fail(mirror_engine)
    assert mirror_engine.fetch_table("SELECT count() AS n FROM mirrored.other").to_pylist() == [{"n": len(others)}]
    assert "mirrored.gaia" not in [e.qualified_name for e in catalogue_log.read_catalogue(mirror_engine).entries]


def test_pairs_are_made_again(gaia: GaiaMirror, gaia_rows: list[list[Row]], mirror_engine: EmbeddedEngine) -> None:
    load_other(mirror_engine, gaia.folder, sort_rows(gaia_rows))
    mirror = GaiaMirror(gaia.server, gaia.folder, CROSSMATCH)
    mirror.run(mirror_engine)
    assert mirror.run(mirror_engine).lines[0].startswith("already loaded")
