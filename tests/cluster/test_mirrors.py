"""A mirror on a cluster of three shards: each row is on its shard once, even if a partly loaded file has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.failpoints import Failpoint
from loaders.pipeline import chunk_reader
from loaders.tables.drop_table import drop_table
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.cluster.night_schema import cluster, folder, loaded, states
from tests.loaders.mirror.gaia_mirror import RECIPE, GaiaMirror
from tests.loaders.mirror.origin_files import make_gaia_rows, write_gaia, write_gaia_file
from tests.loaders.recorder import Recorder
from tests.servers.origin_server import serving_origin

__all__ = ["cluster", "folder", "loaded", "states"]  # fixtures

ROWS_PER_FILE = 300
LIST = """\
  files:
    - {url}/GaiaSource_000000-003111.csv.gz
    - {url}/GaiaSource_003112-005232.csv.gz
"""


def test_a_mirror_that_dies_and_whose_file_changes(
    cluster: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_reader, "CHUNK_ROWS", 60)
    monkeypatch.setattr("tap_service.readers.csv_reader._BLOCK_BYTES", 4000)
    files = make_gaia_rows(ROWS_PER_FILE)[:2]
    paths = write_gaia(tmp_path / "origin", files)
    recipe = RECIPE.replace("  checksums: {url}/_MD5SUM.txt\n  match: GaiaSource_*.csv.gz\n", LIST)
    recipe = recipe.replace("  id: [source_id]\n", "  id: [source_id]\n  overlap_radius: 1.0\n")
    with serving_origin(tmp_path / "origin") as server:
        mirror = GaiaMirror(server, tmp_path, recipe)
        with killed_at(cluster, Failpoint.STAGING_INSERT, 8) as dying:
            mirror.run(dying)
        files[1] = [row | {"dec": -row["dec"]} for row in files[1][::-1]]
        write_gaia_file(paths[1], files[1])
        for fetched in (tmp_path / "work" / "mirror_files").iterdir():
            fetched.unlink()
        mirror.run(cluster)
    (entry,) = catalogue_log.read_catalogue(cluster).find_tables("gaia", True, "mirrored", True)
    found = cluster.fetch_table(f"SELECT source_id, dec FROM {entry.storage_sql} ORDER BY source_id")
    wanted = sorted((row["source_id"], row["dec"]) for rows in files for row in rows)
    assert [(row["source_id"], row["dec"]) for row in found.to_pylist()] == wanted
    recorder = Recorder()
    verify_table(cluster, "mirrored.gaia", recorder)
    drop_table(cluster, "mirrored.gaia", recorder)
