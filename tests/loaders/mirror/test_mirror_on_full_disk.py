"""A disk that becomes full during a mirror: a clear error, nothing visible, and all rows once there is space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loaders.mirror.gaia_mirror import RECIPE
from tests.loaders.mirror.origin_files import make_gaia_rows, write_gaia
from tests.loaders.small_disk import Command, SmallDisk, can_mount
from tests.servers.origin_server import serving_origin

pytestmark = pytest.mark.skipif(not can_mount(), reason="mounting a small disk needs a user namespace")

ROWS_PER_FILE = 20_000

CONTENT = "SELECT count() AS n, uniqExact(source_id) AS ids FROM mirrored.gaia"
VISIBLE = "SELECT count() AS n FROM system.tables WHERE database = 'mirrored' AND NOT endsWith(name, '__loading')"


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path_factory.mktemp("disk"), 32 << 20)
    yield disk
    disk.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("origin")
    write_gaia(folder, make_gaia_rows(ROWS_PER_FILE))
    with serving_origin(folder) as server:
        yield server.url


@pytest.fixture
def mirror(disk: SmallDisk, url: str, tmp_path: Path) -> Command:
    (tmp_path / "recipe.yaml").write_text(RECIPE.format(url=url))
    arguments = {
        "recipe": str(tmp_path / "recipe.yaml"),
        "table": "mirrored.gaia",
        "work": str(disk.name / "data" / "mirrors" / "mirrored.gaia"),
        "rejects": str(tmp_path / "rejects.csv"),
        "columns": [],
    }
    return ("mirror", arguments)


@pytest.mark.parametrize("free", [0, 100_000, 5_000_000, 7_000_000])
def test_a_disk_that_becomes_full_in_the_middle(disk: SmallDisk, mirror: Command, tmp_path: Path, free: int) -> None:
    (tmp_path / "empty").mkdir()
    disk.start_again(tmp_path / "empty")
    disk.work(sql=["SELECT 1"])
    disk.fill(free)
    first = disk.work(mirror)
    assert first.codes == [1], first
    assert "space" in first.messages[0], first
    assert str(disk.name) in first.messages[0], first
    disk.make_room()
    assert disk.work(sql=[VISIBLE]).rows == [[{"n": 0}]]
    again = disk.work(mirror, sql=[CONTENT])
    assert again.codes == [0], again
    assert again.rows == [[{"n": 4 * ROWS_PER_FILE, "ids": 4 * ROWS_PER_FILE}]]
