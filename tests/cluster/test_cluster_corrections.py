"""Corrections and deletions on three shards: rows, copies and children follow, even after a kill at any step."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.failpoints import Failpoint
from loaders.load_error import LoadError
from loaders.pipeline.correct_rows import correct_rows
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.cluster.night_schema import STARS, cluster, content, entry_of, folder, loaded, request, states
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import fetch_everywhere

__all__ = ["cluster", "folder", "loaded", "states"]  # fixtures


def ask(
    folder: Path, kind: Literal["update", "delete"], columns: dict[str, Any], table: str = "stars"
) -> CorrectionRequest:
    file = folder / f"change{len([*folder.iterdir()])}.parquet"
    pq.write_table(pa.table(columns), file)
    return CorrectionRequest(command=kind, files=(file,), table=f"night.{table}", rejects=folder / "rejects.csv")


def apply(engine: Any, correction: CorrectionRequest) -> Recorder:
    recorder = Recorder()
    correct_rows(engine, correction, recorder)
    return recorder


def fetch(engine: Engine, table: str = "stars") -> list[dict[str, Any]]:
    names = ", ".join(column.name for column in entry_of(engine, table).table.columns)
    sql = f"SELECT {names} FROM {entry_of(engine, table).storage_sql} ORDER BY 1"
    return engine.fetch_table(sql).to_pylist()  # type: ignore[no-any-return]


def verify(engine: Engine, table: str = "stars") -> list[str]:
    recorder = Recorder()
    verify_table(engine, f"night.{table}", recorder)
    return recorder.lines


def load_sources(engine: Engine, folder: Path) -> None:
    stars = pq.read_table(folder / "stars.parquet").slice(2, 500).to_pydict()
    columns = {"number": [*range(500)], "star": stars["id"], "ra": stars["ra"], "dec": stars["dec"]}
    columns["mjd"] = np.random.default_rng(1).uniform(60000, 61000, 500).tolist()
    pq.write_table(pa.table(columns), folder / "sources.parquet")
    load_files(engine, request(folder, "sources", table="night.sources"), Recorder())


CHANGES: list[tuple[Literal["update", "delete"], dict[str, Any]]] = [
    ("update", {"id": [*range(0, STARS, 3)], "name": [None if n % 2 else f"new {n}" for n in range(0, STARS, 3)]}),
    ("update", {"id": [*range(0, STARS, 3)], "ra": [n / 10 for n in range(0, STARS, 3)], "dec": [5.0] * (STARS // 3)}),
    ("delete", {"id": [*range(0, STARS, 3)]}),
]


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(("kind", "change"), CHANGES)
def test_rows_and_copies_are_corrected(cluster: Engine, folder: Path, kind: Any, change: dict[str, Any]) -> None:
    """Verify compares every copy with its row, and the shard of each row with its position."""
    wanted = {row["id"]: row for row in fetch(cluster)}
    verb = "corrected" if kind == "update" else "deleted"
    assert apply(cluster, ask(folder, kind, change)).lines == [f"{verb} {STARS // 3:,} rows of night.stars"]
    for i, key in enumerate(change["id"]):
        if kind == "delete":
            del wanted[key]
        else:
            wanted[key] |= {name: values[i] for name, values in change.items()}
    assert str(fetch(cluster)) == str([*wanted.values()])  # as texts, because NaN differs from NaN
    assert f"{verb}: {STARS // 3:,} rows by 1 inputs" in verify(cluster)
    load_files(cluster, request(folder, "few", "append"), Recorder())
    verify(cluster)


#: in the order in which a correction reaches them
POINTS = [
    (Failpoint.CORRECTION_DROP, 2),
    (Failpoint.STAGING_CREATE, 3),
    (Failpoint.STAGING_ATTACH, 2),
    (Failpoint.STAGING_CHANGE, 2),  # copies are changed, rows are not
    (Failpoint.STAGING_CHANGE, 5),
    (Failpoint.STAGING_VERIFY, 2),
    (Failpoint.PUBLISH_DROP_CHUNKS, 2),
    (Failpoint.DENSITY_WRITE, 1),
]
MOVES = [(Failpoint.SHARDS_SEND_COPIES, 1), (Failpoint.STAGING_CREATE, 10), (Failpoint.SHARDS_SEND, 1)]


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(("kind", "change"), CHANGES[:2])
def test_killed_at_each_step_of_one_correction(
    cluster: Engine, folder: Path, kind: Any, change: dict[str, Any]
) -> None:
    before, wanted = content(cluster), {row["id"]: row for row in fetch(cluster)}
    correction = ask(folder, kind, change)
    for point, count in POINTS[:5] + (MOVES if "ra" in change else []) + POINTS[5:]:
        with killed_at(cluster, point, count) as dying:
            apply(dying, correction)
        assert content(cluster) == before
    with killed_at(cluster, Failpoint.CATALOGUE_WRITE, 3) as dying:
        apply(dying, correction)
    prepare_engine(cluster)  # as every command does
    assert apply(cluster, correction).lines[0].startswith("already applied")
    found = {row["id"]: row for row in fetch(cluster)}
    for i, key in enumerate(change["id"]):
        assert all(found[key][n] == v[i] for n, v in change.items())
    others = wanted.keys() - {*change["id"]}
    assert all(str(found[key]) == str(wanted[key]) for key in others)
    verify(cluster)
    left = "database = 'night' AND NOT startsWith(name, 'stars__0_1') OR startsWith(name, 'correction_')"
    assert fetch_everywhere(cluster, f"SELECT name FROM system.tables WHERE {left}").num_rows == 0


@pytest.mark.usefixtures("loaded")
def test_a_source_with_another_star_moves_to_its_shard(cluster: Engine, folder: Path) -> None:
    load_sources(cluster, folder)
    stars = {row["id"]: row for row in fetch(cluster)}
    targets = [*range(600, 700)]
    change = {"number": [*range(100)], "star": targets}
    far = r"100 rows of .* have no usable parent, the first with star 6[0-9]+: .* beyond overlap_radius .* Nothing"
    with pytest.raises(LoadError, match=far):
        apply(cluster, ask(folder, "update", change, "sources"))
    verify(cluster, "sources")
    change |= {name: [stars[target][name] for target in targets] for name in ("ra", "dec")}
    apply(cluster, ask(folder, "update", change, "sources"))
    assert [row["star"] for row in fetch(cluster, "sources")][:100] == targets
    assert "corrected: 100 rows by 1 inputs" in verify(cluster, "sources")


def test_a_table_that_every_server_has_is_corrected_everywhere(cluster: Engine, folder: Path) -> None:
    (folder / "filters.csv").write_text("id,band\n1,g\n2,r\n3,i\n")
    yaml = folder / "whole.yaml"
    yaml.write_text((folder / "night.yaml").read_text().rstrip() + "\n  skyhouse:layout: {id: [id]}\n")
    load = LoadRequest(
        files=(folder / "filters.csv",), table="night.filters", rejects=folder / "rejects.csv", schema_file=yaml
    )
    load_files(cluster, load, Recorder())
    apply(cluster, ask(folder, "update", {"id": [2], "band": ["z"]}, "filters"))
    apply(cluster, ask(folder, "delete", {"id": [1]}, "filters"))
    _, base = entry_of(cluster, "filters").engine_table
    found = fetch_everywhere(cluster, f"SELECT id, band FROM night.{base} ORDER BY id").to_pylist()
    assert found == [{"id": 2, "band": "z"}, {"id": 3, "band": "i"}] * 3
    verify(cluster, "filters")
