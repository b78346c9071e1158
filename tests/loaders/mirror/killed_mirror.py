"""The work of processes that tests kill: a mirror into a data directory."""

from __future__ import annotations

from pathlib import Path

from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.engine_opener import open_engine
from loaders.mirror.mirror_load import mirror_table
from loaders.mirror.mirror_request import MirrorRequest
from loaders.pipeline import chunk_reader
from tests.cluster.dying import die_at
from tests.loaders.mirror.gaia_mirror import RECIPE, TABLE


def mirror_gaia(folder: Path, url: str, delay: float) -> None:
    """Mirror in small chunks; the process kills itself ``delay`` seconds after the first insert, if it is positive."""
    chunk_reader.CHUNK_ROWS = 5_000
    recipe = folder / "recipe.yaml"
    recipe.write_text(RECIPE.format(url=url))
    request = MirrorRequest(recipe=str(recipe), table=TABLE, work=folder / "work", rejects=folder / "rejects.csv")
    with open_engine(folder / "data") as engine, ConsoleReporter() as reporter:
        if delay >= 0:
            die_at("staging.insert_begin", 1, delay)
        mirror_table(engine, request, reporter)
        sql = f"SELECT count() AS n, sum(cityHash64(tuple(*, hpx29))) AS s, uniqExact(source_id) AS u FROM {TABLE}"
        print("content", engine.fetch_table(sql).to_pylist())
