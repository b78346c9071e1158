"""Shares over HTTP, in both deployments: created from jobs, read, compared, deleted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from clickhouse_schema.engine_tables.catalogue_log import register_table, unregister_table
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.models.timestamps import add_seconds, now
from tests.support.running_service import RunningService
from tests.tap_service.async_client import Job, create_job
from tests.tap_service.users import USERS

STARS = "SELECT id, ra, mag, name FROM svc.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 5))"
ALICE, BOB, ROOT = (("alice", USERS["alice"]), ("bob", USERS["bob"]), ("root", USERS["root"]))


@pytest.fixture(scope="module", params=["embedded", "cluster"])
def service(request: pytest.FixtureRequest, serve: Callable[..., RunningService], accounts: Path) -> RunningService:
    start = serve if request.param == "embedded" else request.getfixturevalue("serve_cluster")
    started: RunningService = start(
        accounts=accounts, public_url="https://example.org/archive", title="Archive of Uraniborg"
    )
    return started


def http(service: RunningService, method: str, path: str, **options: Any) -> httpx.Response:
    return httpx.request(method, f"{service.tap}/{path}", verify=False, timeout=60, **options)


def done(service: RunningService, query: str = STARS, auth: tuple[str, str] | None = None, **parameters: str) -> Job:
    job = create_job(service.tap, query, auth, **{"PHASE": "RUN", "CHECKSUM": "true", **parameters})
    job.url = job.url.replace("https://example.org/archive", service.url)
    assert job.wait_for_end() == "COMPLETED", job.message
    return job


def share(
    service: RunningService, job: Job, auth: tuple[str, str] | None = None, status: int = 201, **options: Any
) -> dict[str, Any]:
    data = {"JOB": job.url.rsplit("/", 1)[1], **options.pop("data", {})}
    answer = http(service, "POST", "shares", data=data, auth=auth, **options)
    assert answer.status_code == status, answer.text
    return answer.json() if status == 201 else {"message": answer.text}  # type: ignore[no-any-return]


def rows_checksum(csv: bytes) -> str:
    """Check a share as docs/shares.md describes."""
    lines = sorted(csv.replace(b"\r", b"").splitlines())
    return hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest()


def test_what_a_share_says(service: RunningService) -> None:
    job = done(service, FORMAT="votable")
    made = share(service, job, data={"TITLE": "Stars & <b>dust</b>}", "NOTE": "first\nsecond", "LAYOUT": '{"v": 1}'})
    assert made["url"] == f"https://example.org/archive/tap/shares/{made['id']}"
    assert made["title"] == "Stars & <b>dust</b>}"
    assert (made["layout"], made["creator"], made["overflow"]) == ('{"v": 1}', None, False)
    assert made["rows"] == int(job.info["rowsWritten"] or 0)
    assert made["checksum"] == job.info["checksum"]
    assert made["maxrec"] == 100_000
    assert list(made["tables"]) == ["svc.stars"]
    version = made["tables"]["svc.stars"]
    assert version["rows"] is None  # these tables are not counted
    assert version["changed"].endswith("Z")
    assert version["version"].isdigit()
    read = http(service, "GET", f"shares/{made['id']}")
    assert read.headers["cache-control"] == "private, no-cache"
    assert read.json() == {name: value for name, value in made.items() if name != "key"}
    assert "https://ui.adsabs.harvard.edu/abs/2000A&A...355L..27H" in made["bibtex"]
    assert r"title = {Stars \& <b>dust</b>\textbraceright{}}," in made["bibtex"]
    # the checksum equals the checksum of the CSV that anybody can download
    csv = service.ask(STARS, FORMAT="csv").content
    assert rows_checksum(csv) == made["checksum"]


def test_the_page_of_a_share_shows_texts_as_texts(service: RunningService) -> None:
    hostile = '<script>alert("1")</script>'
    made = share(service, done(service), data={"TITLE": hostile, "NOTE": f"{hostile}\n\n{hostile}"})
    page = http(service, "GET", f"shares/{made['id']}", headers={"Accept": "text/html,*/*"})
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text
    assert page.text.count("&lt;script&gt;") == 5  # title, heading, two lines, BibTeX
    assert f"https://example.org/archive/#/shares/{made['id']}" in page.text
    assert made["checksum"] in page.text
    assert "svc.stars, as of 20" in page.text


def test_the_stored_rows_stay_when_the_job_is_gone(service: RunningService) -> None:
    job = done(service, FORMAT="csv")
    rows = job.rows()
    made = share(service, job)
    job.delete()
    path = f"shares/{made['id']}/result"
    whole = http(service, "GET", path)
    assert whole.text == rows
    assert rows_checksum(whole.content) == made["checksum"]
    etag = whole.headers["etag"]
    job_id = job.url.rsplit("/", 1)[1]  # anybody who knows its id may change and delete an anonymous job
    assert all(
        job_id not in said for said in (*whole.headers.values(), http(service, "GET", f"shares/{made['id']}").text)
    )
    assert whole.headers["content-disposition"] == f'inline; filename="{made["id"]}.csv"'
    part = http(service, "GET", path, headers={"Range": "bytes=3-9"})
    assert (part.status_code, part.content) == (206, rows.encode()[3:10])
    assert http(service, "GET", path, headers={"If-None-Match": etag}).status_code == 304
    assert http(service, "HEAD", path).headers["content-length"] == str(len(rows.encode()))
    service.server.config.app.state.services.jobs._lifetimes.sweep_orphans(0)
    assert http(service, "GET", path).text == rows


def test_a_format_does_not_change_the_checksum_and_other_rows_do(service: RunningService) -> None:
    found = {done(service, FORMAT=kind).info["checksum"] for kind in ("csv", "votable", "parquet", "fits")}
    assert len(found) == 1
    assert done(service, f"{STARS} ORDER BY name DESC").info["checksum"] in found
    assert done(service, STARS.replace("5)", "4.9)")).info["checksum"] not in found
    cut = done(service, MAXREC="3")
    assert cut.info["checksum"] not in found
    assert share(service, cut)["overflow"] is True


def test_uploads_are_kept_with_a_share(service: RunningService) -> None:
    query = "SELECT u.k, s.id FROM TAP_UPLOAD.mine AS u JOIN svc.stars AS s ON s.id = u.k"
    data = {"QUERY": query, "LANG": "ADQL", "PHASE": "RUN", "CHECKSUM": "true", "UPLOAD": "mine,param:file0"}
    right, wrong = ({"file0": ("t.csv", content, "text/csv")} for content in (b"k\n7\n8\n", b"k\n7\n9\n"))
    created = http(service, "POST", "async", data=data, files=right)
    job = Job(created.headers["location"].replace("https://example.org/archive", service.url))
    assert job.wait_for_end() == "COMPLETED", job.message
    assert "send the file &#x27;file0&#x27; again" in share(service, job, status=400)["message"].replace("'", "&#x27;")
    assert "differs from the file of the job" in share(service, job, status=400, files=wrong)["message"]
    made = share(service, job, files=right)
    about = made["uploads"]["mine"]
    assert about["sha256"] == hashlib.sha256(b"k\n7\n8\n").hexdigest()
    path = about["url"].partition("/tap/")[2]
    file = http(service, "GET", path)
    assert file.content == b"k\n7\n8\n"
    assert file.headers["content-disposition"] == 'attachment; filename="mine"'
    assert list(made["tables"]) == ["svc.stars"]
    again = {**data, "UPLOAD": "mine,param:f"}
    repeated = http(service, "POST", "async", data=again, files={"f": ("f.csv", file.content, "text/csv")})
    rerun = Job(repeated.headers["location"].replace("https://example.org/archive", service.url))
    assert rerun.wait_for_end() == "COMPLETED"
    assert rerun.info["checksum"] == made["checksum"]
    assert http(service, "GET", f"{path}2").status_code == 404
    inline = {**data, "UPLOAD": "mine,param:text", "text": "k\n7\n8\n"}
    texts = http(service, "POST", "async", data=inline)
    short = Job(texts.headers["location"].replace("https://example.org/archive", service.url))
    assert short.wait_for_end() == "COMPLETED", short.message
    assert share(service, short)["uploads"]["mine"]["sha256"] == about["sha256"]


def upload_job(service: RunningService, query: str, *names: str) -> tuple[Job, dict[str, Any]]:
    """A job with uploads of these names, sent by a client that sends all its tables, and the files to send again."""
    files = {name: (f"{name}.csv", f"k\n7\n{len(name)}\n".encode(), "text/csv") for name in names}
    data = {"QUERY": query, "LANG": "ADQL", "PHASE": "RUN", "CHECKSUM": "true"}
    created = http(
        service, "POST", "async", data={**data, "UPLOAD": [f"{name},param:{name}" for name in names]}, files=files
    )
    job = Job(created.headers["location"].replace("https://example.org/archive", service.url))
    assert job.wait_for_end() == "COMPLETED", job.message
    return job, files


#: in regular and delimited names, in subqueries, and in text that is not a table
READ = {
    "SELECT TOP 2 id FROM svc.stars ORDER BY id -- TAP_UPLOAD.mine": [],
    "SELECT TOP 2 id, 'FROM TAP_UPLOAD.mine' AS t FROM svc.stars AS TAP_UPLOAD WHERE TAP_UPLOAD.mag > 0": [],
    "WITH mine AS (SELECT id FROM svc.stars WHERE id < 3) SELECT id FROM mine": [],
    "SELECT k FROM tap_Upload.MINE": ["mine"],
    "SELECT k FROM mine": ["mine"],
    'SELECT a.k FROM "TAP_UPLOAD".mine AS a JOIN TAP_UPLOAD."mag" AS b ON a.k = b.k': ["mine", "mag"],
    "SELECT id FROM svc.stars WHERE id IN (SELECT k FROM TAP_UPLOAD.mag)": ["mag"],
    "WITH w AS (SELECT k FROM TAP_UPLOAD.mine) SELECT k FROM w UNION SELECT 1 FROM TAP_UPLOAD.mag": ["mine", "mag"],
}


@pytest.mark.parametrize("query", READ)
def test_uploads_that_the_query_does_not_read_are_not_shared(service: RunningService, query: str) -> None:
    job, files = upload_job(service, query, "mine", "mag")
    made = share(service, job, files=files)
    assert list(made["uploads"]) == READ[query]
    assert made["omitted"] == []
    stored = service.server.config.app.state.services.stores.results.list_keys(0)
    assert sum(made["id"] in key for key in stored) == 1 + len(READ[query])
    for name in ("mine", "mag"):
        status = http(service, "GET", f"shares/{made['id']}/uploads/{name}").status_code
        assert status == (200 if name in READ[query] else 404)
    if not READ[query]:
        page = http(service, "GET", f"shares/{made['id']}", headers={"Accept": "text/html"}).text
        assert "/uploads/" not in page
        assert list(share(service, job)["uploads"]) == []  # nor are they required


def test_uploads_are_left_out(service: RunningService) -> None:
    """Readers still have the query and its rows, and are told which table is missing."""
    query = "SELECT a.k FROM TAP_UPLOAD.mine AS a JOIN TAP_UPLOAD.other AS b ON a.k = b.k"
    job, files = upload_job(service, query, "mine", "other")
    made = share(service, job, data={"OMIT": "MINE"}, files={"other": files["other"]})
    assert (list(made["uploads"]), made["omitted"]) == (["other"], ["mine"])
    assert http(service, "GET", f"shares/{made['id']}/uploads/mine").status_code == 404
    assert http(service, "GET", f"shares/{made['id']}/result").status_code == 200
    page = http(service, "GET", f"shares/{made['id']}", headers={"Accept": "text/html"}).text
    assert "The query also reads TAP_UPLOAD.mine. To run it again, ask the author for the missing file." in page
    both = share(service, job, data={"OMIT": " mine, other"}, files=files)
    assert (both["uploads"], both["omitted"]) == ({}, ["mine", "other"])
    assert "no uploaded table 'mien'" in share(service, job, status=400, data={"OMIT": "mien"}, files=files)["message"]
    assert "leave its table out with OMIT" in share(service, job, status=400)["message"]


def test_shares_of_earlier_versions_lose_what_their_query_does_not_read(service: RunningService) -> None:
    job, files = upload_job(service, "SELECT k FROM TAP_UPLOAD.mine", "mine", "other")
    services = service.server.config.app.state.services
    shares, results = services.stores.shares, services.stores.results

    def make_old() -> tuple[str, str]:
        """Make a share of the older form: all files of its job are kept, and nothing records which ones are read."""
        made = share(service, job, files=files)
        stored = shares.get_share(made["id"])
        [mine] = stored.files
        key = mine.key.replace("file0", "file1")
        results.copy_result(mine.key, key)
        other = replace(mine, name="other", key=key)
        unnoted = replace(stored.provenance, uploads=None)
        shares.replace_share(replace(stored, files=(mine, other), provenance=unnoted))
        return made["id"], key

    share_id, key = make_old()
    assert http(service, "GET", f"shares/{share_id}/uploads/other").status_code == 404
    assert key not in results.list_keys(0)
    read = http(service, "GET", f"shares/{share_id}").json()
    assert (list(read["uploads"]), read["omitted"]) == (["mine"], [])
    assert http(service, "GET", f"shares/{share_id}/uploads/mine").content == b"k\n7\n4\n"
    share_id, key = make_old()
    services.jobs._lifetimes.sweep_orphans(0)  # as at the start: nobody has read it
    assert key not in results.list_keys(0)
    assert len(shares.get_share(share_id).files) == 1


def test_a_change_of_a_table_is_told(service: RunningService) -> None:
    table = Table(name="changing", columns=(Column.model_validate({"name": "n", "datatype": "long"}),))
    schema = Schema(name="shared_data", tables=(table,))
    service.engine.execute("CREATE DATABASE shared_data")
    service.engine.execute(create_table_sql(table, "`shared_data`.`changing`"))
    service.engine.execute("INSERT INTO shared_data.changing (n) VALUES (1), (2)")
    register_table(service.engine, schema, table)
    made = share(service, done(service, "SELECT n FROM shared_data.changing"))
    path = f"shares/{made['id']}/check"
    first = http(service, "GET", path).json()
    assert first["same"] is True
    assert (
        first["tables"]["shared_data.changing"]["now"]["version"] == made["tables"]["shared_data.changing"]["version"]
    )
    service.engine.execute("INSERT INTO shared_data.changing (n) VALUES (3)")
    register_table(service.engine, schema, table)
    changed = http(service, "GET", path).json()
    assert changed["same"] is False
    assert (
        changed["tables"]["shared_data.changing"]["now"]["version"] > made["tables"]["shared_data.changing"]["version"]
    )
    assert done(service, "SELECT n FROM shared_data.changing").info["checksum"] != made["checksum"]
    unregister_table(service.engine, "shared_data", "changing")
    service.engine.execute("DROP DATABASE shared_data")


def test_users_list_and_delete_their_own(service: RunningService) -> None:
    made = share(service, done(service, auth=ALICE), ALICE, data={"NAMED": "true"})
    assert made["creator"] == "alice"
    assert made["key"] == ""
    assert "author = {alice}" in made["bibtex"]
    assert http(service, "GET", f"shares/{made['id']}").json()["creator"] == "alice"
    assert [each["id"] for each in http(service, "GET", "shares", auth=ALICE).json()] == [made["id"]]
    assert http(service, "GET", "shares", auth=BOB).json() == []
    assert http(service, "GET", "shares").json() == []
    path = f"shares/{made['id']}"
    assert http(service, "DELETE", path).status_code == 401
    assert http(service, "DELETE", path, params={"KEY": ""}, auth=BOB).status_code == 403
    assert http(service, "GET", "admin/shares", auth=ALICE).status_code == 403
    of_all = {each["id"]: each["owner"] for each in http(service, "GET", "admin/shares", auth=ROOT).json()}
    assert of_all[made["id"]] == "alice"
    assert http(service, "DELETE", path, auth=ALICE).status_code == 204
    gone = http(service, "GET", path)
    assert gone.status_code == 404
    assert "there is no share" in gone.text


def test_an_anonymous_maker_deletes_by_key(service: RunningService) -> None:
    made = share(service, done(service))
    path = f"shares/{made['id']}"
    for key in ("", "wrong", made["id"], "ü"):
        assert http(service, "DELETE", path, params={"KEY": key}).status_code == 403
    assert http(service, "DELETE", path, params={"KEY": made["key"]}).status_code == 204
    by_admin = share(service, done(service))
    assert http(service, "DELETE", f"shares/{by_admin['id']}", auth=ROOT).status_code == 204
    assert http(service, "GET", f"shares/{by_admin['id']}/result").status_code == 404


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"TITLE": "x" * 201}, 400, "TITLE must be one line of at most 200"),
        ({"TITLE": "a\nb"}, 400, "TITLE must be one line of at most 200"),
        ({"NOTE": "x" * 4001}, 400, "NOTE has 4001 characters, more than the maximum of 4000"),
        ({"NOTE": "a\x1b[2J"}, 400, "NOTE: character 2 is U+001B, a control character"),
        ({"LAYOUT": "ä" * 30_001}, 400, "LAYOUT has more than 60000"),
        ({"NAMED": "yes"}, 400, "NAMED is true or false"),
        ({"JOB": ""}, 400, "give JOB"),
        ({"JOB": "../async"}, 404, "there is no job"),
        ({"JOB": ["a", "b"]}, 400, "JOB is given more than once"),
    ],
)
def test_errors_of_requests(service: RunningService, given: dict[str, Any], status: int, said: str) -> None:
    job = Job(f"{service.tap}/async/none") if "JOB" in given else done(service)
    answer = share(service, job, status=status, data=given)
    assert said in answer["message"]


def test_jobs_that_cannot_be_shared(service: RunningService) -> None:
    unnoted = done(service, CHECKSUM="false")
    assert "create it again with CHECKSUM=true" in share(service, unnoted, status=400)["message"]
    assert "checksum" not in unnoted.info
    pending = create_job(service.tap, STARS, CHECKSUM="true")
    assert "it is PENDING" in share(service, pending, status=400)["message"]
    wrong = create_job(service.tap, STARS, CHECKSUM="maybe", PHASE="RUN")
    wrong.url = wrong.url.replace("https://example.org/archive", service.url)
    assert wrong.wait_for_end() == "ERROR"
    assert "CHECKSUM is given once, as true or false" in wrong.message
    share(service, done(service, auth=ALICE), BOB, status=403)


@pytest.mark.parametrize("name", ["..%2Fjobs.sqlite", "share-x-result", "a" * 5000, "%00", "jobs.sqlite", "ü"])
def test_ids_that_nobody_has(service: RunningService, name: str) -> None:
    for path in ("", "/result", "/check", "/uploads/t"):
        assert http(service, "GET", f"shares/{name}{path}").status_code == 404
    assert http(service, "DELETE", f"shares/{name}").status_code == 404


def test_shares_end(service: RunningService) -> None:
    """The rows are deleted after a year by default, the record after ten; both by the thread that ends jobs."""
    made = share(service, done(service))
    services = service.server.config.app.state.services
    lifetimes = services.jobs._lifetimes
    lifetimes._shares.delete_due(add_seconds(now(), 366 * 86_400))
    read = http(service, "GET", f"shares/{made['id']}").json()
    assert read["result"] is None
    assert read["checksum"] == made["checksum"]
    lost = http(service, "GET", f"shares/{made['id']}/result")
    assert lost.status_code == 404
    assert "run its query again, and compare the checksum" in lost.text
    assert "no longer stored" in http(service, "GET", f"shares/{made['id']}", headers={"Accept": "text/html"}).text
    assert not [key for key in services.stores.results.list_keys(0) if made["id"] in key]
    lifetimes._shares.delete_due(add_seconds(now(), 3651 * 86_400))
    assert http(service, "GET", f"shares/{made['id']}").status_code == 404


def test_a_reused_result_has_its_checksum(service: RunningService) -> None:
    query = f"{STARS} AND id < 5000"
    done(service, query, ALICE, CHECKSUM="false")
    first = done(service, query, ALICE, REUSE="true")
    assert "resultOf" not in first.info  # the share without a checksum cannot be used
    again = done(service, query, ALICE, REUSE="true")
    assert again.info["resultOf"] == first.url.rsplit("/", 1)[1]
    assert again.info["checksum"] == first.info["checksum"]
    assert share(service, again, ALICE)["checksum"] == first.info["checksum"]
