"""Additions to a watched table of a cluster: each server has all rows of an addition, and a query reads only these."""

from __future__ import annotations

from pathlib import Path

from adql import translate
from clickhouse_schema.engine_tables import addition_record, catalogue_log
from clickhouse_schema.engine_tables.engine_setup import prepare_engine
from clickhouse_schema.failpoints import Failpoint
from loaders.pipeline.load_table import load_files
from tap_service.storage.engine.engine import Engine
from tests.cluster.dying import killed_at
from tests.cluster.night_schema import STARS, cluster, folder, request, states
from tests.loaders.recorder import Recorder
from tests.servers.server_cluster import fetch_everywhere

__all__ = ["cluster", "folder", "states"]  # fixtures

#: the file of each addition, its rows and the failpoint at which its load is killed
ADDITIONS = (
    ("few", 300, Failpoint.ADDITION_INSERT),
    ("many", 2200, Failpoint.ADDITION_INSERT),
    ("other", 20, Failpoint.ADDITIONS_WRITE),
)


def test_additions_are_whole_on_each_server(cluster: Engine, folder: Path) -> None:
    load_files(cluster, request(folder), Recorder())
    addition_record.mark_watched(cluster, "night", "stars", is_watched=True)
    for name, _, death in ADDITIONS:
        with killed_at(cluster, death, 2) as dying:
            load_files(dying, request(folder, name, "append"), Recorder())
        prepare_engine(cluster)  # as every command does
        load_files(cluster, request(folder, name, "append"), Recorder())
    kept = addition_record.read_kept_additions(cluster)
    assert [(each.number, each.rows) for each in kept] == [(at + 1, rows) for at, (_, rows, _) in enumerate(ADDITIONS)]
    catalogue = catalogue_log.read_catalogue(cluster)
    entry = catalogue.find_entry("night", "stars")
    assert entry is not None
    first = STARS
    for addition in kept:
        sql = (
            f"SELECT count() AS n, min(id) AS a, uniqExact(id) AS ids FROM {addition.restrict_entry(entry).storage_sql}"
        )
        found = fetch_everywhere(cluster, sql).to_pylist()
        assert found == [{"n": addition.rows, "a": first, "ids": addition.rows}] * 3
        first += addition.rows
        restricted = catalogue.replace_entries((addition.restrict_entry(entry),))
        query = "SELECT COUNT(*) AS n FROM night.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(180, 0, 180))"
        counted = translate(query, restricted)
        [row] = cluster.fetch_table(counted.sql, counted.settings).to_pylist()
        assert int(next(iter(row.values()))) == addition.rows - 2  # two have no position
    addition_record.drop_rows(cluster, [each.addition_id for each in kept])
    tables = "SELECT count() AS n FROM system.tables WHERE database = 'skyhouse_additions'"
    assert set(fetch_everywhere(cluster, tables)["n"].to_pylist()) == {0}
    addition_record.mark_watched(cluster, "night", "stars", is_watched=False)
