"""/tap/admin and /tap/announcements: only administrators can read and act over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from tap_service.handlers import admin_routes
from tap_service.storage.accounts import Accounts
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job
from tests.tap_service.users import USERS, write_accounts


@pytest.fixture(scope="module")
def service(serve: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> RunningService:
    path: Path = write_accounts(tmp_path_factory.mktemp("admin") / "accounts.sqlite")
    accounts = Accounts(path)
    accounts.add_members("lens", ["bob"])
    accounts.add_token("bob", "laptop", None)
    accounts.close()
    return serve(accounts=path)


def send(service: RunningService, method: str, path: str, user: str = "root", **options: Any) -> httpx.Response:
    auth = (user, USERS[user]) if user else None
    return httpx.request(method, f"{service.tap}/{path}", auth=auth, verify=False, timeout=60, **options)


ROUTES = [
    (method, route.path.lstrip("/").replace("{", "").replace("}", ""))
    for route in admin_routes.router.routes
    if isinstance(route, APIRoute)
    for method in route.methods
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_others_may_nothing(service: RunningService, method: str, path: str) -> None:
    assert send(service, method, path, "").status_code == 401
    refused = send(service, method, path, "bob")
    assert refused.status_code == 403
    assert "only administrators may use this: ask the operator of this service" in refused.text


def test_what_runs_is_seen_and_stopped(service: RunningService, heavy: str) -> None:
    job = create_job(service.tap, heavy, PHASE="RUN")
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(service.ask, heavy)
        while len(running := send(service, "GET", "admin/queries").json()) < 2:
            pass
        for work in running:
            assert send(service, "DELETE", f"admin/queries/{work['work_id']}").status_code == 204
        assert answer.result().status_code == 503
    assert job.phase == "ABORTED"
    job_id = job.url.rsplit("/", 1)[1]
    listed = send(service, "GET", "admin/jobs", params={"PHASE": "aborted", "LAST": "1"}).json()
    assert [each["job"] for each in listed] == [job_id]
    assert send(service, "GET", f"admin/jobs/{job_id}").json()["query"] == heavy
    assert send(service, "GET", "admin/jobs", params={"PHASE": "NONE"}).status_code == 400
    assert send(service, "GET", "admin/jobs/none").status_code == 404
    assert send(service, "DELETE", "admin/queries/none").status_code == 404
    job.delete()


def test_users_have_groups_and_tokens_and_no_secrets(service: RunningService) -> None:
    users = {each["user"]: each for each in send(service, "GET", "admin/users").json()}
    assert users.keys() == USERS.keys()
    assert users["root"] == {"user": "root", "admin": True, "groups": [], "tokens": []}
    [token] = users["bob"].pop("tokens")
    assert users["bob"] == {"user": "bob", "admin": False, "groups": ["lens"]}
    assert (token.keys(), token["label"], token["expires"]) == ({"id", "label", "expires"}, "laptop", None)


def test_announcements(service: RunningService) -> None:
    span = {"from": "2099-03-01", "to": "2099-03-02"}
    assert send(service, "POST", "admin/downtimes", json={**span, "note": "disks"}).status_code == 201
    assert send(service, "POST", "admin/notes", json={"text": "<b>new</b>"}).status_code == 201
    assert send(service, "POST", "admin/drain", json={"note": "soon"}).status_code == 200
    told = send(service, "GET", "announcements", "").json()
    assert told["draining"] == "soon"
    assert [(each["from"], each["note"]) for each in told["downtimes"]] == [("2099-03-01T00:00:00.000Z", "disks")]
    assert [each["text"] for each in told["notes"]] == ["<b>new</b>"]
    assert service.ask("SELECT TOP 1 n FROM svc.numbers").status_code == 503
    for path in ("drain", f"downtimes/{told['downtimes'][0]['id']}", f"notes/{told['notes'][0]['id']}"):
        assert send(service, "DELETE", f"admin/{path}").status_code == 200
    assert send(service, "GET", "announcements", "").json() == {"draining": "", "downtimes": [], "notes": []}
    assert service.ask("SELECT TOP 1 n FROM svc.numbers").status_code == 200


@pytest.mark.parametrize(
    ("path", "options", "status"),
    [
        ("notes", {"data": {"text": "a form of another site"}}, 400),
        ("drain", {"data": {"note": "x"}}, 400),
        ("notes", {"json": {"text": ""}}, 400),
        ("downtimes", {"json": {"from": "soon", "to": "2099"}}, 400),
        ("downtimes", {"json": {"from": "2099", "to": "2098"}}, 400),
        ("downtimes", {"json": {"from": 7, "to": "2098"}}, 400),
    ],
)
def test_requests_that_cannot_be(service: RunningService, path: str, options: dict[str, Any], status: int) -> None:
    assert send(service, "POST", f"admin/{path}", **options).status_code == status
    assert send(service, "DELETE", "admin/notes/none").status_code == 404
    assert send(service, "GET", "announcements").json()["notes"] == []
