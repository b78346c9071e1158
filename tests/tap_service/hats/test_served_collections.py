"""/hats: a table that LSDB, hats, pyarrow and plain HTTP read as a collection, by the rights of TAP."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest
from astropy.io.votable import parse

from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import RunningService, running_service


@pytest.fixture(scope="module")
def service(svc_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("hats")
    config = Config(
        query_log="", jobs_path=folder / "jobs", hats_path=folder / "hats", client_hats_selections_per_minute=8
    )
    with running_service(config, svc_engine) as running:
        yield running


@pytest.fixture
def url(service: RunningService) -> str:
    return f"{service.url}/hats/svc.stars"


@pytest.fixture(scope="module")
def by_lsdb(service: RunningService) -> dict[str, Any]:
    """Return what LSDB reads, in a separate process, since it leaves sockets open."""
    script = Path(__file__).with_name("lsdb_reader.py")
    ran = subprocess.run([sys.executable, script, f"{service.url}/hats/svc.stars"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_lsdb_reads_all_rows(by_lsdb, service):
    asked = service.ask("SELECT id, ra, dec, mag, name FROM svc.stars ORDER BY id", FORMAT="parquet")

    assert by_lsdb["rows"] == pq.read_table(io.BytesIO(asked.content)).to_pydict()
    assert by_lsdb["total"] == 360 * 179


def test_a_cone_of_lsdb_agrees_with_adql(by_lsdb, service):
    asked = "SELECT id FROM svc.stars WHERE DISTANCE(POINT(ra, dec), POINT(10, 20)) < 3.9 ORDER BY id"

    assert by_lsdb["cone"] == [*map(int, service.ask(asked, FORMAT="csv").text.split()[1:])]


def test_lsdb_finds_an_id_by_the_index(by_lsdb):
    assert by_lsdb["named"] == ["Stérn 4242"]


def test_lsdb_gets_the_requested_columns_and_rows(by_lsdb):
    assert by_lsdb["bright"] == {"columns": ["mag", "ra", "dec"], "mags": [0, 1, 2, 3, 4]}


def test_pyarrow_reads_the_footers_of_all_partitions(url):
    footer = pq.read_metadata(io.BytesIO(httpx.get(f"{url}/stars/dataset/_metadata").content))

    assert footer.num_rows == 360 * 179
    assert footer.schema.to_arrow_schema().field("mag").metadata[b"unit"] == b"mag"


def _find_partition(url: str) -> str:
    norder, npix = httpx.get(f"{url}/stars/partition_info.csv").text.split()[1].split(",")
    return f"{url}/stars/dataset/Norder={norder}/Dir=0/Npix={npix}.parquet"


def test_files_have_ranges_heads_and_entity_tags(url):
    partition = _find_partition(url)
    whole = httpx.get(partition)
    head = httpx.head(partition, headers={"Range": "bytes=-8"})  # a range is for GET alone
    part = httpx.get(partition, headers={"Range": "bytes=-8"})

    assert pq.read_metadata(io.BytesIO(whole.content)).num_rows > 0
    assert (head.status_code, int(head.headers["content-length"])) == (200, len(whole.content))
    assert (part.status_code, part.content) == (206, whole.content[-8:])
    assert head.headers["etag"] == whole.headers["etag"] == part.headers["etag"]
    assert httpx.get(partition, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304
    assert httpx.get(partition, headers={"If-Match": '"other"'}).status_code == 412


def test_a_partition_has_only_the_requested_columns(url):
    partition = _find_partition(url)
    fewer = httpx.get(partition, params={"columns": "id,_healpix_29", "filters": "id<1000"})

    schema = pq.read_schema(io.BytesIO(fewer.content))
    described = parse(io.BytesIO(schema.metadata[b"IVOA.VOTable-Parquet.content"])).get_first_table()
    assert schema.names == [field.name for field in described.fields] == ["_healpix_29", "id"]
    assert len(fewer.content) < len(httpx.get(partition).content) / 2


def test_bytes_of_files_of_rows_are_counted(service, url, monkeypatch, eventually):
    counted: list[tuple[int, int]] = []
    usage = service.server.config.app.state.services.hats._usage
    monkeypatch.setattr(usage, "count_query", lambda report, *_, **__: counted.append((report.rows, report.bytes)))
    partition = _find_partition(url)  # by a file that depends only on the plan
    whole = httpx.get(partition).content
    ids = pq.read_table(io.BytesIO(whole))["id"].to_pylist()
    middle = sorted(ids)[len(ids) // 2]
    selections = [{"columns": "id", "filters": filters} for filters in (f"id<{middle}", f"id<{middle}", "id<0")]
    others = ["stars/dataset/_metadata", "stars_id/dataset/_metadata", "stars_id/dataset/index/part.0.parquet"]
    sent = [
        whole,
        *(httpx.get(partition, params=each).content for each in selections),
        *(httpx.get(f"{url}/{name}").content for name in others),
        httpx.get(f"{url}/{others[0]}", headers={"Range": "bytes=-8"}).content,
    ]

    below = sum(id_ < middle for id_ in ids)
    assert 0 < below < len(ids)
    rows = [len(ids), below, below, 0, 0, 0, 0, 0]
    eventually(lambda: counted == list(zip(rows, map(len, sent), strict=True)))


def test_a_client_reads_all_partitions_with_one_selection_and_few_selections_a_minute(svc_engine, tmp_path):
    """As LSDB does, several at once. Few files are kept, and none is truncated."""
    folders = {"jobs_path": tmp_path / "jobs", "hats_path": tmp_path / "hats"}
    config = Config(query_log="", hats_files=3, client_hats_selections_per_minute=1, **folders)
    with running_service(config, svc_engine) as service, httpx.Client(timeout=60) as client:
        url = f"{service.url}/hats/svc.stars"
        margins = client.get(f"{url}/stars_10arcs/partition_info.csv").text.split()[1:]
        pixels = [line.split(",") for line in margins]
        paths = [f"{url}/stars_10arcs/dataset/Norder={order}/Dir=0/Npix={pixel}.parquet" for order, pixel in pixels]
        paths.append(_find_partition(url))
        assert len(paths) > 4

        def count_rows(path: str, **selection: str) -> int:
            answer = client.get(path, params=selection)
            assert answer.status_code == 200, answer.text
            return pq.read_metadata(io.BytesIO(answer.content)).num_rows

        whole = [count_rows(path) for path in paths]
        with ThreadPoolExecutor(8) as pool:
            assert [*pool.map(partial(count_rows, columns="id,mag"), paths)] == whole
        for method in ("GET", "HEAD"):
            refused = client.request(method, paths[0], params={"columns": "id,mag", "filters": "id<7"})
            assert (refused.status_code, 0 < int(refused.headers["retry-after"]) <= 60) == (429, True)
        said = client.get(paths[0], params={"columns": "mag"}).text
        assert "the number of new selections of columns and filters is limited to 1 per minute: wait" in said
        assert [count_rows(path, columns="id,mag") for path in paths] == whole  # deleted files are made again
        assert [count_rows(path) for path in paths] == whole
        assert sum(path.is_file() for path in (tmp_path / "hats").rglob("*")) <= 3


def test_folders_are_pages_of_links(service, url):
    assert 'href="svc.stars/"' in httpx.get(f"{service.url}/hats/").text
    assert "svc.numbers" not in httpx.get(f"{service.url}/hats/").text
    page = httpx.get(url, follow_redirects=True)
    assert str(page.url) == f"{url}/"
    assert 'href="stars/"' in page.text
    assert 'href="Norder=' in httpx.get(f"{url}/stars/dataset/").text


def test_only_the_path_names_a_file(url):
    answer = httpx.get(url, params={"path": "collection.properties"})

    assert (answer.status_code, answer.headers["location"]) == (307, "svc.stars/")


def test_the_density_of_a_table_names_its_collection(service, url):
    assert httpx.get(f"{service.tap}/tables/svc.stars/density").json()["hats"] == url
    assert "hats" not in httpx.get(f"{service.tap}/tables/svc.numbers/density").json()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("svc.numbers/", "no stored position"),
        ("svc.nothing/", "there is no table"),
        ("svc.stars/stars/dataset/Norder=9/Dir=0/Npix=3.parquet", "has no"),
        ("svc.stars/../../etc/passwd", "there is nothing at"),
        ("svc.stars/%2e%2e/%2e%2e/etc/passwd", "has no"),
        ("TAP_SCHEMA.columns/", "no stored position"),
    ],
)
def test_missing_files_are_reported(service, path, said):
    answer = httpx.get(f"{service.url}/hats/{path}")

    assert answer.status_code == 404
    assert said in answer.text
