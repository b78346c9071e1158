"""Tables that only some groups see: for all others they do not exist, in every request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from clickhouse_schema.engine_tables.catalogue_log import register_table, unregister_table, write_grants
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.table_ddl import create_table_sql
from loaders.tables.table_grants import grant_access, revoke_access
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.support.running_service import RunningService
from tests.tap_service.async_client import Job, create_job
from tests.tap_service.mcp.agent import Agent
from tests.tap_service.users import USERS, User, temporary_user, write_accounts

#: no answer to an outsider may contain any of these words
SECRETS = re.compile("hushlab|quietmoths|murmur|whisper", re.IGNORECASE)

_POSITION = [
    {"name": "ra", "datatype": "double", "ivoa:unit": "deg"},
    {"name": "dec", "datatype": "double", "ivoa:unit": "deg"},
]
_SCHEMAS = [
    {
        "name": "hushlab",
        "description": "Whispered results",
        "skyhouse:examples": [{"name": "Whispers", "query": "SELECT TOP 1 murmur FROM hushlab.quietmoths"}],
        "tables": [
            {
                "name": "quietmoths",
                "description": "Whispering moths",
                "columns": [{"name": "murmur", "datatype": "long", "nullable": False}, *_POSITION],
                "skyhouse:layout": {"position": ["ra", "dec"], "id": ["murmur"]},
            }
        ],
    },
    {
        "name": "openlab",
        "description": "Results for all",
        "skyhouse:examples": [
            {"name": "Joined whispers", "query": "SELECT TOP 1 q.murmur FROM hushlab.quietmoths AS q"}
        ],
        "tables": [
            {
                "name": "notes",
                "columns": [{"name": "star", "datatype": "long"}, {"name": "text", "datatype": "unicode", "length": 9}],
                "constraints": [
                    {
                        "name": "whisper_key",
                        "columns": ["star"],
                        "referencedTable": "hushlab.quietmoths",
                        "referencedColumns": ["murmur"],
                    }
                ],
            }
        ],
    },
]


@pytest.fixture(scope="module")
def rights(svc_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Create the tables, which the group insiders sees, of which alice is a member; return the file of users."""
    schemas = [Schema.model_validate_json(json.dumps(each)) for each in _SCHEMAS]
    for schema in schemas:
        svc_engine.execute(f"CREATE DATABASE {schema.name}")
        for table in schema.tables:
            columns = ", ".join(column.name for column in table.columns)
            svc_engine.execute(create_table_sql(table, f"{schema.name}.{table.name}"))
            rows = "number, number / 10, 0" if schema.name == "hushlab" else "number, 'a'"
            svc_engine.execute(f"INSERT INTO {schema.name}.{table.name} ({columns}) SELECT {rows} FROM numbers(100)")
            register_table(svc_engine, schema, table)
    path = write_accounts(tmp_path_factory.mktemp("rights") / "accounts.sqlite")
    opened = Accounts(path)
    opened.add_members("insiders", ["alice"])
    opened.close()
    grant_access(svc_engine, "hushlab", "insiders", Recorder())
    yield path
    write_grants(svc_engine, dict.clear)
    for schema in schemas:
        for table in schema.tables:
            unregister_table(svc_engine, schema.name, table.name)
        svc_engine.execute(f"DROP DATABASE {schema.name}")


@pytest.fixture(scope="module")
def rightful(rights: Path, serve: Callable[..., RunningService]) -> RunningService:
    return serve(accounts=rights, mcp=True, hats_path=rights.parent / "hats")


@pytest.fixture(scope="module")
def alice(rightful: RunningService) -> Iterator[User]:
    with temporary_user(rightful, "alice") as user:
        yield user


@pytest.fixture(scope="module", params=["anonymous", "bob", "root"])
def outsider(rightful: RunningService, request: pytest.FixtureRequest) -> Callable[..., httpx.Response]:
    """Send a request as somebody who may not see the tables: administrators have no more rights than others."""
    auth = (request.param, USERS[request.param]) if request.param in USERS else None

    def send(method: str, path: str, root: str = "/tap", **options: object) -> httpx.Response:
        return httpx.request(method, f"{rightful.url}{root}{path}", auth=auth, verify=False, timeout=60, **options)  # type: ignore[arg-type]

    return send


def _ask(send: Callable[..., httpx.Response], query: str, path: str = "/sync") -> httpx.Response:
    return send("POST", path, data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query})


def test_members_see_all(alice: User) -> None:
    assert alice.count("hushlab.quietmoths") == 100
    assert alice.count("TAP_SCHEMA.tables WHERE schema_name = 'hushlab'") == 1
    assert alice.count("TAP_SCHEMA.key_columns WHERE target_column = 'murmur'") == 1
    for path in ("tables", "tables/hushlab.quietmoths", "examples", ""):
        answer = alice.http("GET", path)
        assert "quietmoths" in answer.text, path
        assert "private" in answer.headers["cache-control"], path


RESOURCES = (
    "",
    "/tables",
    "/tables?detail=min",
    "/tables/openlab.notes",
    "/tables/TAP_SCHEMA.tables",
    "/examples",
    "/capabilities",
    "/availability",
    "/mydb",
    "/async",
    "/watches",
    "/tables/TAP_SCHEMA.columns/density",
    "/openapi.json",
    "/history",
    "/../hats/",
    "/datalink/links?ID=0",
)


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
@pytest.mark.parametrize("path", RESOURCES)
def test_no_resource_names_it(outsider: Callable[..., httpx.Response], path: str, accept: str) -> None:
    answer = outsider("GET", path, headers={"Accept": accept})
    assert answer.status_code in (200, 401), answer.text
    assert not SECRETS.search(answer.text)


@pytest.mark.parametrize("table", ["schemas", "tables", "columns", "keys", "key_columns"])
def test_tap_schema_does_not_name_it(outsider: Callable[..., httpx.Response], table: str) -> None:
    answer = _ask(outsider, f"SELECT * FROM TAP_SCHEMA.{table}")
    assert answer.status_code == 200, answer.text
    assert not SECRETS.search(answer.text)
    # long queries are translated in another process
    long = f"SELECT * FROM TAP_SCHEMA.{table} WHERE 1 = 1{' AND 2 = 2' * 150}"
    assert sorted(_ask(outsider, long).text.splitlines()) == sorted(answer.text.splitlines())
    counted = _ask(outsider, f"SELECT COUNT(*) AS n FROM TAP_SCHEMA.{table}").text.split()
    assert int(counted[1]) == len(answer.text.splitlines()) - 1


#: an error on a value would reveal it, if it were computed for hidden rows
_ON_VALUES = (
    "SELECT CAST({} AS INTEGER) AS n FROM TAP_SCHEMA.{}",
    "SELECT TOP 1 * FROM TAP_SCHEMA.{1} WHERE CAST({0} AS INTEGER) = 1",
    "SELECT TOP 1 * FROM TAP_SCHEMA.{1} WHERE {0} LIKE '%quiet%' AND CAST({0} AS INTEGER) = 1",
    "SELECT TOP 1 * FROM TAP_SCHEMA.{1} WHERE {0} LIKE '%ushlab%' OR CAST({0} AS INTEGER) = 1",
    "SELECT COUNT(*) AS n FROM TAP_SCHEMA.{1} GROUP BY CAST({0} AS INTEGER)",
    "SELECT TOP 1 a.{0} FROM TAP_SCHEMA.{1} AS a JOIN TAP_SCHEMA.{1} AS b ON a.{0} = b.{0} ORDER BY CAST(b.{0} AS INTEGER)",
    "SELECT MAX(CAST({0} AS TIMESTAMP)) AS n FROM TAP_SCHEMA.{1} WHERE {0} > 'huslha' AND {0} < 'husz'",
)
_NAMES = (("table_name", "tables"), ("description", "schemas"), ("column_name", "columns"), ("target_table", "keys"))


@pytest.mark.parametrize("query", _ON_VALUES)
def test_errors_of_values_do_not_reveal_it(outsider: Callable[..., httpx.Response], query: str) -> None:
    for column, table in _NAMES:
        asked = query.format(column, table)
        answer = _ask(outsider, asked)
        assert not SECRETS.search(answer.text.replace("quiet%", "").replace("ushlab%", "")), (asked, answer.text)


def test_tap_schema_has_no_gap_where_it_was(outsider: Callable[..., httpx.Response], alice: User) -> None:
    # tables whose file gives their index leave separate gaps, for members too
    def count_gaps(numbers: list[int]) -> int:
        return max(numbers) + 1 - len({*numbers})

    for table, column in (("schemas", "schema_index"), ("tables", "table_index")):
        query = f"SELECT {column} FROM TAP_SCHEMA.{table} WHERE schema_name <> 'mydb'"
        for_member = [int(number) for (number,) in alice.rows(query)]
        for_outsider = [int(line) for line in _ask(outsider, query).text.split()[1:]]
        assert len(for_outsider) == len(for_member) - 1
        assert count_gaps(for_outsider) == count_gaps(for_member)


def test_an_estimate_does_not_count_it(outsider: Callable[..., httpx.Response], rightful: RunningService) -> None:
    shown = int(_ask(outsider, "SELECT COUNT(*) AS n FROM TAP_SCHEMA.columns").text.split()[1])
    assert _ask(outsider, "SELECT * FROM TAP_SCHEMA.columns", "/estimate").json()["rows"] == shown
    assert outsider("GET", "/tables/TAP_SCHEMA.columns/density").json()["rows"] == shown


#: each with {} for the name of the table, which is hidden or does not exist
QUERIES_WITH_ERRORS = (
    "SELECT * FROM {}",
    "SELECT q.murmur FROM {} AS q JOIN openlab.notes AS n ON n.star = q.murmur",
    "SELECT COUNT(*) FROM {} WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(1, 0, 1))",
    "SELECT star FROM openlab.notes WHERE star IN (SELECT murmur FROM {})",
    "SELECT * FROM {} WHERE nosuch = 1",
)
#: names of the same form and length; a similar name would be suggested
PAIRS = (
    ("hushlab.quietmoths", "hushlub.quietmothz"),
    ("HUSHLAB.QuietMoths", "HUSHLUB.QuietMothz"),
    ("quietmoths", "quietmothz"),
    ('"hushlab"."quietmoths"', '"hushlub"."quietmothz"'),
    ("hushlab.quietmoth", "hushlub.quietmotx"),
    ("quietmoth", "quietmotx"),
    ("openlab.quietmoths", "openlab.quietmothz"),
    ("TAP_UPLOAD.quietmoths", "TAP_UPLOAD.quietmothz"),
    ("mydb.quietmoths", "mydb.quietmothz"),
)


@pytest.mark.parametrize("path", ["/sync", "/estimate"])
@pytest.mark.parametrize(("hidden", "absent"), PAIRS)
def test_messages_are_as_for_a_table_that_does_not_exist(
    outsider: Callable[..., httpx.Response], hidden: str, absent: str, path: str
) -> None:
    for query in QUERIES_WITH_ERRORS if path == "/sync" else QUERIES_WITH_ERRORS[:1]:
        told = _ask(outsider, query.format(hidden), path)
        expected = _ask(outsider, query.format(absent), path)
        assert told.status_code == expected.status_code == 400
        assert _anonymize(told.text, hidden) == _anonymize(expected.text, absent)


def _anonymize(text: str, name: str) -> str:
    """Replace the parts of a name; a message must not contain others."""
    for part in sorted(re.findall(r"\w+", name), key=len, reverse=True):
        text = text.replace(part, "name").replace(part.lower(), "name")
    return text


def test_resources_of_it_are_those_of_a_table_that_is_not_there(outsider: Callable[..., httpx.Response]) -> None:
    for path in ("/tables/{}", "/tables/{}/density", "/../hats/{}/", "/../hats/{}/quietmoths/partition_info.csv"):
        told, expected = (outsider("GET", path.format(name)) for name in PAIRS[0])
        assert told.status_code == expected.status_code == 404
        assert _anonymize(told.text, PAIRS[0][0]) == _anonymize(expected.text, PAIRS[0][1])


@pytest.mark.parametrize("path", ["/{}?RA=1&DEC=0&SR=1", "/{}", "/{}/capabilities"])
def test_its_cone_search_is_that_of_a_table_that_is_not_there(
    outsider: Callable[..., httpx.Response], path: str, rightful: RunningService
) -> None:
    told, expected = (outsider("GET", path.format(name), root="/scs") for name in PAIRS[0])
    assert told.status_code == expected.status_code == 404
    assert _anonymize(told.text, PAIRS[0][0]) == _anonymize(expected.text, PAIRS[0][1])
    cone = httpx.get(f"{rightful.url}/scs/hushlab.quietmoths?RA=1&DEC=0&SR=1", auth=("alice", USERS["alice"]))
    assert cone.text.count("<TR>") == 21


@pytest.mark.parametrize("name", ["anonymous", "bob", "root"])
def test_agents_of_outsiders_do_not_see_it(rightful: RunningService, name: str) -> None:
    agent = Agent(rightful, (name, USERS[name]) if name in USERS else None)
    assert agent.call("list_tables", words="moths") == {"tables": [], "notListed": 0}
    assert not SECRETS.search(agent.ask("describe_table", name="openlab.notes").content[0].text)
    hidden, absent = PAIRS[0]
    for tool, asked in (
        ("describe_table", {"name": "{}"}),
        ("run_query", {"adql": "SELECT * FROM {}"}),
        ("estimate_query", {"adql": "SELECT * FROM {}"}),
    ):
        told, expected = (
            agent.fail(tool, **{key: text.format(table) for key, text in asked.items()}) for table in (hidden, absent)
        )
        assert _anonymize(told, hidden) == _anonymize(expected, absent)


def test_agents_of_members_see_it(rightful: RunningService) -> None:
    agent = Agent(rightful, ("alice", USERS["alice"]))
    assert [table["name"] for table in agent.call("list_tables", words="moths")["tables"]] == ["hushlab.quietmoths"]
    assert agent.call("run_query", adql="SELECT COUNT(*) AS n FROM hushlab.quietmoths")["rowsCsv"].split()[1] == "100"


def test_a_public_table_hides_its_key_to_it(outsider: Callable[..., httpx.Response], alice: User) -> None:
    assert "foreignKey" in alice.http("GET", "tables/openlab.notes").text
    assert "foreignKey" not in outsider("GET", "/tables/openlab.notes").text
    assert _ask(outsider, "SELECT COUNT(*) AS n FROM openlab.notes").text.split() == ["n", "100"]


def test_jobs_of_outsiders_fail(rightful: RunningService) -> None:
    for auth in (None, ("bob", USERS["bob"])):
        job = create_job(rightful.tap, "SELECT * FROM hushlab.quietmoths", auth, PHASE="RUN")
        assert job.wait_for_end() == "ERROR"
        assert "there is no table hushlab.quietmoths" in job.message


def test_outsiders_cannot_watch_it(outsider: Callable[..., httpx.Response], alice: User) -> None:
    for table in ("hushlab.quietmoths", "nolab.nothing"):
        watch = {"name": "spy", "query": f"SELECT murmur FROM {table}"}
        told = outsider("POST", "/watches", json=watch)
        assert told.status_code in (400, 401)
        assert told.status_code == 401 or f"there is no table {table}" in told.text
        matched = {"name": "spy", "list": "mydb.none", "table": table, "radius": 1}
        assert outsider("POST", "/watches", json=matched).status_code in (401, 404)
    made = alice.http("POST", "watches", json={"name": "moths", "query": "SELECT murmur FROM hushlab.quietmoths"})
    assert made.status_code == 201, made.text
    for path in (f"watches/{made.json()['id']}", "tables/mydb.moths"):
        assert alice.http("DELETE", path).status_code == 204


def test_own_tables_do_not_depend_on_the_rights(rightful: RunningService, alice: User) -> None:
    """A user's table has the name of a hidden table; TAP_SCHEMA shows only the user's."""
    with temporary_user(rightful, "bob") as bob:
        bob.create_empty_table("mydb.quietmoths")
        assert bob.count("quietmoths") == 0
        assert bob.rows("SELECT table_name FROM TAP_SCHEMA.tables WHERE table_name LIKE '%quiet%'") == [
            ["mydb.quietmoths"]
        ]
    alice.create_empty_table("mydb.hers")
    assert alice.count("TAP_SCHEMA.tables WHERE table_name IN ('mydb.hers', 'hushlab.quietmoths')") == 2


def test_a_right_that_is_taken_away_counts_at_once(rightful: RunningService, rights: Path, alice: User) -> None:
    """The same holds for older jobs, and for results that could be reused."""
    opened = Accounts(rights)
    query = "SELECT murmur FROM hushlab.quietmoths WHERE murmur < 3"
    done = create_job(rightful.tap, query, alice.auth, PHASE="RUN", FORMAT="csv")
    assert done.wait_for_end() == "COMPLETED"
    pending = create_job(rightful.tap, query, alice.auth, FORMAT="csv")
    opened.remove_members("insiders", ["alice"])
    try:
        again = create_job(rightful.tap, query, alice.auth, PHASE="RUN", FORMAT="csv", REUSE="true")
        for job in (pending.run(), again):
            assert job.wait_for_end() == "ERROR"
            assert "there is no table" in job.message
        assert alice.ask(query).status_code == 400
        assert alice.http("GET", "tables/hushlab.quietmoths").status_code == 404
        # results that she already has stay hers, and are visible to nobody else
        assert sorted(done.rows().split()) == ["0", "1", "2", "murmur"]
        assert Job(done.url, ("bob", USERS["bob"])).get("/results/result").status_code == 403
    finally:
        opened.add_members("insiders", ["alice"])
        opened.close()
    assert alice.ask(query).status_code == 200


def test_grants_of_tables_and_schemas(rightful: RunningService, svc_engine: EmbeddedEngine, alice: User) -> None:
    """The grants of a table override the grants of its schema, and nothing becomes public by default."""
    bob = User(rightful, "bob")
    recorder = Recorder()

    def who_sees() -> list[bool]:
        rightful.refresh()
        return [user.ask("SELECT TOP 1 * FROM hushlab.quietmoths").status_code == 200 for user in (alice, bob)]

    grant_access(svc_engine, "HushLab.QuietMoths", "everybody", recorder)
    assert who_sees() == [True, True]
    grant_access(svc_engine, "hushlab.quietmoths", "others", recorder)
    assert who_sees() == [False, False]
    grant_access(svc_engine, "hushlab.quietmoths", "insiders", recorder)
    assert who_sees() == [True, False]
    for group in ("others", "insiders"):
        revoke_access(svc_engine, "hushlab.quietmoths", group, recorder)
    assert who_sees() == [False, False]
    assert recorder.lines[-1].startswith("hushlab.quietmoths is visible to nobody")
    write_grants(svc_engine, lambda grants: grants.pop("hushlab.quietmoths"))
    assert who_sees() == [True, False]
    bob.session.close()
