"""A command after a killed one of another kind: it is refused with instructions, or the killed one has left nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import loaders.pipeline.load_table
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.failpoints import Failpoint
from clickhouse_schema.shard_map import LOCAL, OVERLAP, SHARD_COLUMN
from loaders.cluster import rebalance
from loaders.load_error import LoadError
from loaders.pipeline import chunk_reader
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.load_table import load_files
from loaders.tables.drop_table import drop_table
from loaders.tables.schema_apply import apply_schema
from loaders.tables.table_list import list_tables
from loaders.tables.verify_table import verify_table
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.cluster.night_schema import SCHEMA, cluster, folder, loaded, request, rows_table, states
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import execute_everywhere, fetch_everywhere, prepared_engine, running_cluster

__all__ = ["cluster", "folder", "loaded", "states"]  # fixtures

WIDER = SCHEMA.replace(
    "{name: name, datatype: unicode}", "{name: name, datatype: unicode}\n  - {name: mag, datatype: float}"
)


@pytest.fixture(scope="module")
def cluster_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Engine]]:
    """Yield a separate cluster for these tests, because they move its shards."""
    with running_cluster(tmp_path_factory.mktemp("stopped"), 3) as servers, prepared_engine(servers) as engine:
        yield lambda shards: engine


def stored(engine: Engine) -> list[str]:
    names = fetch_everywhere(engine, "SELECT name FROM system.tables WHERE database = 'night'").column(0).to_pylist()
    return sorted({*names})


@pytest.mark.usefixtures("loaded")
def test_rows_with_missing_values_are_compared_too(cluster: Engine, folder: Path) -> None:
    copies, last = rows_table(cluster, OVERLAP), cluster.require_servers()[2]
    for part in (LOCAL, OVERLAP):
        for change in ("MODIFY COLUMN name Nullable(String)", "UPDATE name = NULL WHERE 1"):
            execute_everywhere(cluster, f"ALTER TABLE {rows_table(cluster, part)} {change}", {"mutations_sync": 2})
    verify_table(cluster, "night.stars", Recorder())
    values = f"min(id) + 1000000, any(ra), any(dec), NULL, any({SHARD_COLUMN})"
    one = f"SELECT {values} FROM {copies} WHERE id = (SELECT min(id) FROM {copies} WHERE id > 10) LIMIT 1"
    last.execute(f"INSERT INTO {copies} (id, ra, dec, name, {SHARD_COLUMN}) {one}")
    with pytest.raises(LoadError, match="has 1 rows that do not belong there"):
        verify_table(cluster, "night.stars", Recorder())


@pytest.mark.usefixtures("loaded")
def test_an_addition_that_was_stopped_is_finished_before_the_table_changes(
    cluster: Engine, folder: Path, tmp_path: Path
) -> None:
    with killed_at(cluster, Failpoint.SHARDS_SEND_COPIES) as dying:
        load_files(dying, request(folder, "few", "append"), Recorder())
    wider = tmp_path / "wider.yaml"
    wider.write_text(WIDER)
    with pytest.raises(LoadError, match=r"few\.parquet to night\.stars was stopped: any load into it finishes it"):
        apply_schema(cluster, wider, Recorder())
    with pytest.raises(
        LoadError, match=r"a load into night\.stars has not ended, .*: any load into the table finishes it"
    ):
        rebalance.move_shards(cluster, 2, Recorder())
    load_files(cluster, request(folder, "few", "append"), Recorder())
    verify_table(cluster, "night.stars", Recorder())
    apply_schema(cluster, wider, Recorder())
    verify_table(cluster, "night.stars", Recorder())


def test_a_first_load_that_was_stopped_is_no_table_to_change(cluster: Engine, folder: Path) -> None:
    with killed_at(cluster, Failpoint.SHARDS_SEND) as dying:
        load_files(dying, request(folder), Recorder())
    with pytest.raises(LoadError, match=r"a load or drop of .* was stopped: .*, or skyhouse drop night\.stars"):
        apply_schema(cluster, folder / "night.yaml", Recorder())
    recorder = Recorder()
    list_tables(cluster, recorder)
    assert recorder.reports[0].endswith("start it again, or skyhouse drop night.stars")
    drop_table(cluster, "night.stars", Recorder())
    assert stored(cluster) == []


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(
    ("point", "count"), [(Failpoint.GATEWAY_DROP, 1), (Failpoint.TABLE_DROP, 1), (Failpoint.TABLE_DROP, 7)]
)
def test_a_drop_that_was_stopped_leaves_no_dead_end(
    cluster: Engine, folder: Path, point: Failpoint, count: int
) -> None:
    """The table was replaced, so its names have a number."""
    load_files(cluster, request(folder, "many", "replace"), Recorder())
    with killed_at(cluster, point, count) as dying:
        drop_table(dying, "night.stars", Recorder())
    left = stored(cluster)
    assert left
    assert not any(entry.schema.name == "night" for entry in catalogue_log.read_catalogue(cluster).entries)
    with pytest.raises(LoadError, match=r"skyhouse drop night\.stars"):
        apply_schema(cluster, folder / "night.yaml", Recorder())
    if (point, count) == (Failpoint.TABLE_DROP, 1):
        load_files(cluster, request(folder), Recorder())
        assert not any("__0_1" in name for name in stored(cluster))
        verify_table(cluster, "night.stars", Recorder())
    drop_table(cluster, "night.stars", Recorder())
    assert stored(cluster) == []


@pytest.mark.usefixtures("loaded")
def test_what_drop_says_of_a_load_of_an_existing_table(cluster: Engine, folder: Path) -> None:
    """Dropping would delete the table too."""
    with killed_at(cluster, Failpoint.SHARDS_SEND) as dying:
        load_files(dying, request(folder, "many", "replace"), Recorder())
    recorder = Recorder()
    list_tables(cluster, recorder)
    assert recorder.reports[0].endswith("a load that was stopped: start it again")


@pytest.mark.usefixtures("loaded")
def test_what_a_stopped_move_leaves_is_no_load(cluster: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebalance, "LINGER_SECONDS", 0)
    with killed_at(cluster, Failpoint.MOVE_DESCRIBE, 3) as dying:
        rebalance.move_shards(dying, 2, Recorder())
    recorder = Recorder()
    list_tables(cluster, recorder)
    assert recorder.reports[0].endswith("  a move, load or drop that was stopped: start it again")
    drop_table(cluster, "night.stars", Recorder())
    assert stored(cluster) == []


def test_a_child_without_its_parents_leaves_nothing(cluster: Engine, folder: Path) -> None:
    (folder / "sources.csv").write_text("number,star,ra,dec,mjd\n")
    lonely = LoadRequest(
        files=(folder / "sources.csv",), table="night.sources", rejects=folder / "r", schema_file=folder / "night.yaml"
    )
    with pytest.raises(LoadError, match="load that table first"):
        load_files(cluster, lonely, Recorder())
    assert stored(cluster) == []


@pytest.mark.parametrize("sets", [[("stars",), ("few",)], [("stars", "few")], [("many",), ("stars", "few")]])
def test_files_that_are_in_already_are_not_added_among_others(
    sets: list[tuple[str, ...]], cluster: Engine, folder: Path
) -> None:
    """Added separately, loaded together, or appended together."""

    def take(names: tuple[str, ...], recorder: Recorder) -> None:
        files = tuple(folder / f"{name}.parquet" for name in names)
        is_new = not stored(cluster)
        mode, schema = ("create", folder / "night.yaml") if is_new else ("append", None)
        load_files(
            cluster,
            LoadRequest(files=files, table="night.stars", rejects=folder / "r", schema_file=schema, mode=mode),
            recorder,
        )  # type: ignore[arg-type]

    for names in sets:
        take(names, Recorder())
    for names in (("few",), ("few", "stars")):
        take(names, recorder := Recorder())
        assert recorder.reports[-1].startswith("already loaded: night.stars holds these files (")
    with pytest.raises(LoadError, match=r"already in night\.stars: .*/few\.parquet\. Append only the other files"):
        take(("other", "few"), Recorder())
    verify_table(cluster, "night.stars", Recorder())


@pytest.mark.usefixtures("loaded")
def test_shards_that_move_while_a_file_is_read(cluster: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows would be inserted into the old tables, and be dropped with them."""
    monkeypatch.setattr(rebalance, "LINGER_SECONDS", 0)
    read = chunk_reader.read_chunks

    def moving(*given: Any, **named: Any) -> Iterator[chunk_reader.Chunk]:
        rebalance.move_shards(cluster, 2, Recorder())
        return read(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(loaders.pipeline.load_table, "read_chunks", moving)
        with pytest.raises(LoadError, match="the shards were moved during the load"):
            load_files(cluster, request(folder, "few", "append"), Recorder())
    load_files(cluster, request(folder, "few", "append"), Recorder())
    verify_table(cluster, "night.stars", Recorder())
    rebalance.move_shards(cluster, 3, Recorder())
