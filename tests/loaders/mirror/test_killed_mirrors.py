"""A mirror that is killed at any failpoint or time and started again has each row once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from clickhouse_schema.failpoints import Failpoint
from loaders.pipeline import startup_cleanup
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.cluster.dying import killed_at, observed
from tests.loaders.forked import Ended, run_forked
from tests.loaders.mirror.gaia_mirror import GaiaMirror, read_rows, sort_rows
from tests.loaders.mirror.killed_mirror import mirror_gaia
from tests.loaders.mirror.origin_files import Row, make_gaia_rows, write_gaia
from tests.servers.origin_server import serving_origin

Files = list[list[Row]]

#: The failpoint at which it is killed, when it reaches it for the n-th time
KILLS = [
    (Failpoint.MIRROR_FETCH, 1),
    (Failpoint.MIRROR_PLAN, 1),
    (Failpoint.MIRROR_FETCH, 3),
    (Failpoint.MIRROR_BEGIN, 1),
    (Failpoint.MIRROR_BEGIN, 3),
    (Failpoint.STAGING_INSERT_BEGIN, 2),
    (Failpoint.STAGING_INSERT, 6),
    (Failpoint.MIRROR_RECORD, 1),
    (Failpoint.MIRROR_RECORD, 4),
    (Failpoint.MIRROR_DELETE, 2),
    (Failpoint.MIRROR_PUBLISH, 1),
    (Failpoint.STAGING_VERIFY, 1),
    (Failpoint.PUBLISH_RENAME, 1),
    (Failpoint.CATALOGUE_WRITE, 1),
]

#: Seconds after the first insert; the last file is loaded after about half a second
DELAYS = [0.01, 0.07, 0.15, 0.25, 0.4]


@pytest.mark.parametrize(("point", "count"), KILLS)
def test_killed_at_any_step_and_started_again(
    gaia: GaiaMirror, gaia_rows: Files, mirror_engine: EmbeddedEngine, point: Failpoint, count: int
) -> None:
    with killed_at(mirror_engine, point, count) as dying:
        gaia.run(dying)
    startup_cleanup.finish_killed_loads(mirror_engine)  # like each command
    gaia.run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_mirror_is_killed_at_each_failpoint_of_mirrors(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    reached: set[Failpoint] = set()
    with observed(reached.add):
        gaia.run(mirror_engine)
    mirrors = {point for point in Failpoint if point.startswith("mirror.")}
    assert {point for point in reached if point in mirrors} == mirrors
    assert mirrors <= {point for point, _ in KILLS}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an origin of 80,000 rows."""
    folder = tmp_path_factory.mktemp("large")
    write_gaia(folder / "origin", make_gaia_rows(20_000))
    with serving_origin(folder / "origin") as server:
        yield server.url


def run(folder: Path, url: str, delay: float = -1) -> Ended:
    return run_forked(mirror_gaia, folder, url, delay)


@pytest.fixture(scope="module")
def undisturbed(large: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    done = run(tmp_path_factory.mktemp("undisturbed"), large)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_killed_at_many_times_and_started_again(large: str, undisturbed: str, tmp_path: Path) -> None:
    for delay in DELAYS:
        killed = run(tmp_path, large, delay)
        assert killed.returncode in (-signal.SIGKILL, 0), killed.stderr
    done = run(tmp_path, large)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == undisturbed
    assert undisturbed.startswith("content [{'n': 80000")
