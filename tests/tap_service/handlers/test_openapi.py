"""/tap/openapi.json describes the whole service, and the service behaves as described."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job
from tests.tap_service.users import User, temporary_user

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
#: of each operation
EXAMPLES = 5
QUERY = "SELECT TOP 3 id FROM svc.stars"
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


@pytest.fixture(scope="module")
def document(own: RunningService) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{own.tap}/openapi.json").json()
    return found


@pytest.fixture
def alice(own: RunningService) -> Iterator[User]:
    with temporary_user(own, "alice") as found:
        yield found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_every_route_is_described(own: RunningService, document: dict[str, Any]) -> None:
    *routers, _portal = own.server.config.app.state.routers
    routes = {
        (method.lower(), prefix + route.path_format)
        for prefix, router in routers
        for route in router.routes
        for method in route.methods - {"HEAD"}
    }
    assert {(method, path) for method, path, _ in operations(document)} == routes
    assert document["openapi"].startswith("3.1.")
    assert document["servers"] == [{"url": own.url}]


def test_every_operation_says_what_it_answers(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        success = [status for status in operation["responses"] if status[0] in "23"]
        assert success, (method, path)
        for status in success:
            assert status in ("204", "303", "304", "307", "206") or operation["responses"][status]["content"], path


def test_schemas_are_schemas(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert {"JobDocument", "TablesetDocument", "CapabilitiesDocument", "ProblemDocument"} <= schemas.keys()
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


def test_the_examples_run(own: RunningService, document: dict[str, Any]) -> None:
    form = document["paths"]["/tap/sync"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]
    examples = {
        name: schema["examples"][0] for name, schema in form["schema"]["properties"].items() if "examples" in schema
    }
    answer = httpx.post(f"{own.url}/tap/sync", data=examples)
    assert answer.status_code == 200
    assert len(answer.text.splitlines()) == 4


def test_parameters_are_known_in_any_case_and_once(own: RunningService, document: dict[str, Any]) -> None:
    """Return parameters of query strings; OAI-PMH's names have one case, and UPLOAD appears once for each table."""
    path_values = defaultdict(lambda: "none", name="mydb.mine", table="svc.stars")
    root = User(own, "root")
    asked = 0
    for method, path, operation in operations(document):
        url = own.url + path.format_map(path_values)
        for parameter in operation.get("parameters", ()):
            name, is_repeatable = parameter["name"], parameter["schema"].get("type") == "array"
            if parameter["in"] != "query" or path == "/oai" or name == "UPLOAD":
                continue
            where, asked = (method, path, name), asked + 1
            upper, lower = (
                httpx.request(method, url, params={known: "?"}, auth=root.auth)
                for known in (name.upper(), name.lower())
            )
            assert upper.status_code == lower.status_code, where
            assert _INSTANT.sub("", upper.text) == _INSTANT.sub("", lower.text), where
            twice = httpx.request(method, url, params={name.upper(): "1", name.lower(): "2"}, auth=root.auth)
            assert ("more than once" in twice.text) != is_repeatable, (where, twice.text)
    root.session.close()
    assert asked > 50


class Present:
    """Objects that exist, for half of the requests: requests that change something get separate objects."""

    def __init__(self, own: RunningService, user: User) -> None:
        self._own, self._user = own, user
        user.create_empty_table("mydb.mine")
        self._done = create_job(own.tap, QUERY, user.auth, PHASE="RUN", CHECKSUM="true")
        self._done.wait_for_end()
        self._share = user.http("POST", "shares", data={"JOB": self._done.url.rpartition("/")[2]}).json()["id"]

    def find_names(self, method: str) -> dict[str, str]:
        """Return values for the parameters of a path."""
        if method == "DELETE":
            return {}
        job = self._done if method == "GET" else create_job(self._own.tap, QUERY, self._user.auth)
        job_id = job.url.rpartition("/")[2]
        return {"job_id": job_id, "name": "mydb.mine", "table": "svc.stars", "share_id": self._share}

    def close(self) -> None:
        self._user.http("DELETE", f"shares/{self._share}")


def test_the_service_does_what_the_document_says(own: RunningService, alice: User) -> None:
    """Requests generated from the document, some for each operation, in XML and in JSON."""
    present = Present(own, alice)
    schema = schemathesis.openapi.from_url(f"{own.tap}/openapi.json")
    statuses: Counter[int] = Counter()
    errors = []
    dice = random.Random(1)
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=EXAMPLES,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            if dice.random() < 0.5:
                names = present.find_names(case.method.upper())
                case.path_parameters = {name: names.get(name, value) for name, value in case.path_parameters.items()}
            for parameters in (case.query, case.body):
                if isinstance(parameters, dict) and "QUERY" in parameters and dice.random() < 0.5:
                    parameters["QUERY"] = QUERY
            headers = {"Accept": dice.choice(("*/*", "application/json"))}
            answer = case.call_and_validate(
                checks=CHECKS, headers=headers, auth=alice.auth, timeout=60, allow_redirects=False
            )
            statuses[answer.status_code] += 1

        try:
            ask()
        except Exception as error:
            errors.append(f"{operation.label}: {error}")
    present.close()
    assert not errors, "\n\n".join(errors)
    assert {200, 201, 303, 400, 403, 404} <= statuses.keys(), statuses
    assert statuses[200] > 60, statuses
