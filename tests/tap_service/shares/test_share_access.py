"""The readers of a share, and the space that shares may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clickhouse_schema.engine_tables.catalogue_log import write_grants
from tap_service.storage.accounts import Accounts
from tests.support.running_service import RunningService
from tests.tap_service.shares.test_share_requests import ALICE, BOB, ROOT, done, http, share
from tests.tap_service.users import User, temporary_user, write_accounts

NUMBERS = "SELECT TOP 10 n, half FROM svc.numbers ORDER BY n"
ONE = "SELECT TOP 1 1 AS one FROM TAP_SCHEMA.tables"


@pytest.fixture(scope="module")
def service(serve: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> RunningService:
    path: Path = write_accounts(tmp_path_factory.mktemp("users") / "accounts.sqlite")
    accounts = Accounts(path)
    accounts.add_members("observers", ["alice"])
    accounts.close()
    return serve(accounts=path, user_shares=5, anonymous_share_disk=2000, public_url="https://example.org/archive")


@pytest.fixture
def restricted(service: RunningService) -> Iterator[None]:
    """Only the group of alice sees svc.numbers."""
    write_grants(service.engine, lambda grants: grants.update({"svc.numbers": frozenset({"observers"})}))
    service.refresh()
    yield
    write_grants(service.engine, lambda grants: grants.pop("svc.numbers"))
    service.refresh()


@pytest.mark.usefixtures("restricted")
def test_readers_see_all_tables_of_the_query(service: RunningService) -> None:
    made = share(service, done(service, NUMBERS, ALICE), ALICE, data={"NAMED": "true"})
    for path in ("", "/result", "/check", "/uploads/t"):
        for headers in ({}, {"Accept": "text/html"}):
            anonymous = http(service, "GET", f"shares/{made['id']}{path}", headers=headers)
            assert anonymous.status_code == 401
            assert "half" not in anonymous.text
            other = http(service, "GET", f"shares/{made['id']}{path}", headers=headers, auth=BOB)
            assert other.status_code == 403
            assert made["checksum"] not in other.text
    for reader in (ALICE, ROOT):
        assert http(service, "GET", f"shares/{made['id']}/result", auth=reader).status_code == 200


def test_a_table_that_is_restricted_later_hides_its_shares(
    service: RunningService, request: pytest.FixtureRequest
) -> None:
    made = share(service, done(service, NUMBERS, BOB), BOB)
    assert http(service, "GET", f"shares/{made['id']}/result").status_code == 200
    request.getfixturevalue("restricted")
    assert http(service, "GET", f"shares/{made['id']}/result").status_code == 401
    assert (
        http(service, "GET", f"shares/{made['id']}/result", auth=BOB).status_code == 200
    )  # the rows belonged to that user


def test_a_table_that_is_gone_is_open_to_those_to_whom_it_was(service: RunningService) -> None:
    made = share(service, done(service, NUMBERS, ALICE), ALICE)
    services = service.server.config.app.state.services
    stored = services.stores.shares.get_share(made["id"])
    [table] = stored.provenance.tables
    gone = replace(stored.provenance, tables=(replace(table, name="svc.gone"),))
    services.stores.shares.write_share(replace(stored, provenance=gone))
    assert http(service, "GET", f"shares/{made['id']}/result").status_code == 200
    told = http(service, "GET", f"shares/{made['id']}/check").json()
    assert (told["same"], told["tables"]["svc.gone"]["now"]) == (False, None)
    services.stores.shares.write_share(replace(stored, provenance=gone, restricted=frozenset({"svc.gone"})))
    assert http(service, "GET", f"shares/{made['id']}/result").status_code == 401
    assert http(service, "GET", f"shares/{made['id']}/result", auth=BOB).status_code == 403


def test_own_tables_are_not_shared(service: RunningService) -> None:
    with temporary_user(service, "alice") as alice:
        assert alice.put("mydb.secret", "a\n1\n2\n").status_code == 201
        job = done(service, "SELECT a FROM mydb.secret", alice.auth)
        refused = share(service, job, alice.auth, status=403)["message"]
        assert "mydb.secret, one of your tables" in refused
        assert "as an upload" in refused
        assert alice.http("POST", "mydb/mydb.secret/grants", json={"user": "bob"}).status_code == 200
        read = done(service, "SELECT a FROM mydb_alice.secret", BOB)
        assert "mydb_alice.secret, another user's table" in share(service, read, BOB, status=403)["message"]
        # TAP_SCHEMA has the names of both
        for query in ("SELECT table_name FROM TAP_SCHEMA.tables", ONE):
            for user in (ALICE, BOB):
                told = share(service, done(service, query, user), user, status=403)["message"]
                assert "TAP_SCHEMA.tables describes tables to you that not everybody sees" in told
    assert share(service, done(service, "SELECT table_name FROM TAP_SCHEMA.tables", ALICE), ALICE)["rows"] > 0


def test_limits(service: RunningService) -> None:
    bob = User(service, "bob")
    job = done(service, ONE, bob.auth)
    made = [each["id"] for each in http(service, "GET", "shares", auth=bob.auth).json()]
    while len(made) < 5:
        made.append(share(service, job, bob.auth)["id"])
    assert "your shares are 5, the maximum" in share(service, job, bob.auth, status=507)["message"]
    assert http(service, "DELETE", f"shares/{made[0]}", auth=bob.auth).status_code == 204
    share(service, job, bob.auth)
    large = done(service, "SELECT TOP 500 n, word FROM svc.numbers", FORMAT="csv")
    assert "and may take 2,000" in share(service, large, status=507)["message"]
    small = done(service, ONE, FORMAT="csv")
    assert share(service, small)["rows"] == 1


def test_all_anonymous_shares_leave_room_for_users(
    serve: Callable[..., RunningService], request: pytest.FixtureRequest, accounts: Path
) -> None:
    """In both deployments, many addresses, each within its limit, fill at most half of the disk."""
    for start in (serve, request.getfixturevalue("serve_cluster")):
        service: RunningService = start(accounts=accounts, share_disk=4000, trusted_proxies="127.0.0.1")
        job = done(service, "SELECT TOP 40 n, word FROM svc.numbers", FORMAT="csv")
        users = done(service, "SELECT TOP 41 n, word FROM svc.numbers", ALICE, FORMAT="csv")
        data = {"JOB": job.url.rsplit("/", 1)[1]}
        made = []
        for number in range(8):
            headers = {"X-Forwarded-For": f"192.0.2.{number}"}
            made.append(http(service, "POST", "shares", data=data, headers=headers))
        codes = [answer.status_code for answer in made]
        assert codes == sorted(codes)
        assert 0 < codes.count(507) < 8
        assert "the shares of all anonymous clients would take more than the 2,000 bytes" in made[-1].text
        assert "log in, and share it as a user, or wait" in made[-1].text
        size = service.server.config.app.state.services.stores.shares.count_shares("nobody").anonymous_size
        assert 1000 < size <= 2000
        for _ in range((4000 - size) // 600):
            share(service, users, ALICE)
        first = made[0].json()
        assert http(service, "DELETE", f"shares/{first['id']}", params={"KEY": first["key"]}).status_code == 204
        assert share(service, job)["key"]


def test_a_service_without_shares(serve: Callable[..., RunningService]) -> None:
    without = serve(share_days=0)
    answer = share(without, done(without, ONE), status=403)
    assert "SKYHOUSE_SHARE_DAYS=0" in answer["message"]
    brief = serve(share_result_days=0)
    assert share(brief, done(brief, ONE))["result"] is None


def test_a_table_that_changes_during_the_job(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = iter(range(1, 100))
    monkeypatch.setattr(
        "tap_service.services.jobs.provenance_note.read_table_versions",
        lambda _, keys: {key: next(versions) for key in keys},
    )
    job = done(service, NUMBERS)
    assert "svc.numbers changed while the job ran" in share(service, job, status=409)["message"]
