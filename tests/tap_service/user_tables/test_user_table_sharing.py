"""Shared user tables: readers can read them, nobody else can detect them, and only owners can change them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from clickhouse_schema.engine_tables import user_table_record
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME
from loaders.tables.user_table_admin import forget_user, list_user_tables
from tap_service.config import Config
from tap_service.services.user_tables import user_table_sharing
from tap_service.services.user_tables.user_table_expiry import UserTableExpiry
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.site_state import StateKind
from tests.loaders.recorder import Recorder
from tests.support.running_service import RunningService
from tests.tap_service.users import USERS, User, temporary_user, write_accounts

ODD, ODD_PASSWORD = "ann.k+x@obs-1.org", "quite-a-secret"
ROWS = "id,ra,dec,murmur\n1,10.5,20.5,hush\n2,11.5,-20.5,hiss\n"
#: no answer to others may contain any of these words
SECRETS = re.compile("quietmoths|murmur|mydb_alice|hush", re.IGNORECASE)


@pytest.fixture(scope="module")
def accounts_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_accounts(tmp_path_factory.mktemp("sharing") / "accounts.sqlite")
    opened = Accounts(path)
    opened.add_user(ODD, ODD_PASSWORD)
    opened.add_members("lens", ["carol"])
    opened.close()
    return path


#: the parts that are equal on a cluster
ONE_PROCESS = pytest.mark.parametrize("service", ["embedded"], indirect=True)


@pytest.fixture(scope="module", params=["embedded", "cluster"])
def service(request: pytest.FixtureRequest, accounts_file: Path) -> RunningService:
    start = request.getfixturevalue("serve" if request.param == "embedded" else "serve_cluster")
    found: RunningService = start(accounts=accounts_file, user_tables=5, user_table_bytes=1_000_000)
    return found


@pytest.fixture
def alice(service: RunningService) -> Iterator[User]:
    """The owner of mydb.quietmoths, which is shared with bob."""
    with temporary_user(service, "alice") as user:
        assert user.put("mydb.quietmoths", ROWS).status_code == 201
        share(user, user="bob")
        yield user


@pytest.fixture
def bob(service: RunningService) -> Iterator[User]:
    with temporary_user(service, "bob") as user:
        yield user


@pytest.fixture
def carol(service: RunningService) -> User:
    return User(service, "carol")


def share(owner: User, table: str = "mydb.quietmoths", **reader: str) -> dict[str, list[str]]:
    answer = owner.http("POST", f"mydb/{table}/grants", json=reader)
    assert answer.status_code == 200, answer.text
    found: dict[str, list[str]] = answer.json()
    return found


def revoke(owner: User, **reader: str) -> httpx.Response:
    return owner.http("DELETE", "mydb/mydb.quietmoths/grants", params=reader)


def sees(user: User) -> bool:
    """Return whether a user sees alice's table; all resources that show it must agree."""
    shown = {
        user.ask("SELECT COUNT(*) AS n FROM mydb_alice.quietmoths").status_code == 200,
        "mydb_alice" in user.http("GET", "tables").text,
        user.http("GET", "tables/mydb_alice.quietmoths").status_code == 200,
        user.count("TAP_SCHEMA.tables WHERE table_name = 'mydb_alice.quietmoths'") == 1,
        user.count("TAP_SCHEMA.schemas WHERE schema_name = 'mydb_alice'") == 1,
        bool(user.http("GET", "mydb").json()["shared"]),
    }
    assert len(shown) == 1
    return shown.pop()


def test_a_reader_finds_reads_joins_and_saves_it(alice: User, bob: User) -> None:
    assert sees(bob)
    assert alice.tables["mydb.quietmoths"]["users"] == ["bob"]
    [shown] = bob.http("GET", "mydb").json()["shared"]
    assert (shown["name"], shown["owner"], shown["rows"]) == ("mydb_alice.quietmoths", "alice", 2)
    assert bob.http("GET", "mydb").json()["used"] == {"bytes": 0, "tables": 0}
    # he has a table of the same name, and names without a schema mean his
    assert bob.put("mydb.quietmoths", "id,note\n2,mine\n").status_code == 201
    joined = "SELECT b.note, a.murmur FROM quietmoths AS b JOIN mydb_alice.quietmoths AS a ON a.id = b.id"
    assert bob.rows(joined) == [["mine", "hiss"]]
    near = "SELECT id FROM mydb_alice.quietmoths WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10.5, 20.5, 0.1))"
    assert bob.rows(near) == [["1"]]
    assert bob.http("POST", "estimate", data={"LANG": "ADQL", "QUERY": near}).json()["rows"] == 2
    described = bob.vo.tables["mydb_alice.quietmoths"]
    assert [column.name for column in described.columns] == ["id", "ra", "dec", "murmur"]
    assert bob.count("TAP_SCHEMA.columns WHERE table_name = 'mydb_alice.quietmoths'") == 4
    job = bob.job("async", LANG="ADQL", QUERY="SELECT * FROM mydb_alice.quietmoths", PHASE="RUN")
    assert job.wait_for_end() == "COMPLETED", job.message
    saved = bob.job(f"async/{job.url.rpartition('/')[2]}/table", TABLE="mydb.copy")
    assert saved.wait_for_end() == "COMPLETED", saved.message
    # the tables that he saved are his
    assert revoke(alice, user="bob").json() == {"table": "mydb.quietmoths", "users": [], "groups": []}
    assert not sees(bob)
    assert bob.count("mydb.copy") == 2


@ONE_PROCESS
def test_a_table_needs_its_schema(alice: User, bob: User) -> None:
    """Sharing a table changes no query of its readers."""
    told = bob.ask("SELECT * FROM quietmoths")
    assert told.status_code == 400
    assert "did you mean mydb_alice.quietmoths" in told.text


@ONE_PROCESS
def test_readers_change_nothing(alice: User, bob: User) -> None:
    name = "mydb_alice.quietmoths"
    refused = [
        bob.put(name, ROWS, replace="true"),
        bob.load(name, ROWS),
        bob.http("DELETE", f"tables/{name}"),
        bob.http("GET", f"mydb/{name}/grants"),
        bob.http("POST", f"mydb/{name}/grants", json={"user": "carol"}),
        bob.http("DELETE", f"mydb/{name}/grants", params={"user": "bob"}),
        bob.put("mydb_nobody.nothing", ROWS),
    ]
    for answer in refused:
        assert answer.status_code == 403, answer.text
        assert "only their owner can change them" in answer.text
    job = bob.create_index(name, "id")
    assert (job.phase, "only their owner can change them" in job.message) == ("ERROR", True)
    # nor is he told with whom else it is shared, or whether he has it
    assert bob.http("GET", "mydb/mydb.quietmoths/grants").status_code == 404
    assert bob.count(name) == 2


@ONE_PROCESS
@pytest.mark.parametrize("name", ["anonymous", "carol", "root"])
def test_nobody_else_learns_of_it(service: RunningService, alice: User, name: str) -> None:
    auth = (name, USERS[name]) if name in USERS else None

    def send(method: str, path: str, **options: object) -> httpx.Response:
        return httpx.request(method, f"{service.tap}/{path}", auth=auth, verify=False, timeout=60, **options)  # type: ignore[arg-type]

    def ask(query: str, path: str = "sync") -> httpx.Response:
        return send("POST", path, data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query})

    for path in ("", "tables", "tables?detail=min", "examples", "capabilities", "mydb", "async", "admin/users"):
        assert not SECRETS.search(send("GET", path).text), path
    for table in ("schemas", "tables", "columns", "keys", "key_columns"):
        assert not SECRETS.search(ask(f"SELECT * FROM TAP_SCHEMA.{table}").text), table
    # an error on a value would reveal it, if it were computed for hidden rows
    for column, table in (("table_name", "tables"), ("column_name", "columns")):
        told = ask(
            f"SELECT TOP 1 * FROM TAP_SCHEMA.{table} WHERE {column} LIKE '%oths%' AND CAST({column} AS INTEGER) = 1"
        )
        assert not SECRETS.search(told.text), told.text
    for path in ("sync", "estimate"):
        hidden, absent = (ask(f"SELECT * FROM {each}.quietmoths", path) for each in ("mydb_alice", "mydb_alicf"))
        assert hidden.status_code == absent.status_code == 400
        assert hidden.text.replace("alice", "alicf") == absent.text
    for path in ("tables/mydb_{}.quietmoths", "tables/mydb_{}.quietmoths/density"):
        hidden, absent = (send("GET", path.format(each)) for each in ("alice", "alicf"))
        assert hidden.status_code == absent.status_code == 404
        assert hidden.text.replace("alice", "alicf") == absent.text


def test_a_right_that_is_taken_away_counts_at_once(alice: User, bob: User) -> None:
    """The same holds for older jobs, and for results that could be reused."""
    query = {"LANG": "ADQL", "QUERY": "SELECT murmur FROM mydb_alice.quietmoths", "FORMAT": "csv"}
    done = bob.job("async", PHASE="RUN", **query)
    assert done.wait_for_end() == "COMPLETED", done.message
    pending = bob.job("async", **query)
    assert revoke(alice, user="bob").status_code == 200
    again = bob.job("async", PHASE="RUN", REUSE="true", **query)
    for job in (pending.run(), again):
        assert job.wait_for_end() == "ERROR"
        assert "there is no table mydb_alice.quietmoths" in job.message
    assert not sees(bob)
    assert sorted(done.rows().split()) == ["hiss", "hush", "murmur"]
    assert revoke(alice, user="bob").status_code == 404


def test_groups(service: RunningService, accounts_file: Path, alice: User, carol: User) -> None:
    assert not sees(carol)
    assert share(alice, group="lens")["groups"] == ["lens"]
    assert sees(carol)
    opened = Accounts(accounts_file)
    query = {"LANG": "ADQL", "QUERY": "SELECT murmur FROM mydb_alice.quietmoths"}
    pending = carol.job("async", **query)
    opened.remove_members("lens", ["carol"])
    try:
        assert not sees(carol)
        assert pending.run().wait_for_end() == "ERROR"
        assert carol.http("GET", "mydb").json()["groups"] == []
    finally:
        opened.add_members("lens", ["carol"])
        opened.close()
    assert sees(carol)
    # a user of a token issuer, whose token names the group
    services = service.server.config.app.state.services
    cache = services.catalogue_cache
    share(alice, group="inst:lens")
    assert not cache.visible_tables("inst:zoe").shared
    cache._groups._state.put(StateKind.CLAIMS, "inst:zoe", ["inst:lens"])
    assert [record.owner for record in cache.visible_tables("inst:zoe").shared] == ["alice"]
    cache._groups._state.put(StateKind.CLAIMS, "inst:zoe", [])
    assert not cache.visible_tables("inst:zoe").shared


def test_readers_follow_the_table(alice: User, bob: User) -> None:
    """Loads and indexes keep it shared; dropping it or creating it again ends the share."""
    assert alice.load("mydb.quietmoths", "id,ra,dec,murmur\n3,1,1,rustle\n").status_code == 200
    assert bob.count("mydb_alice.quietmoths") == 3
    assert alice.load("mydb.quietmoths", ROWS, replace="true").status_code == 200
    assert alice.create_index("mydb.quietmoths", "id", UNIQUE="true").phase == "COMPLETED"
    assert bob.count("mydb_alice.quietmoths") == 2
    assert bob.count("TAP_SCHEMA.columns WHERE table_name = 'mydb_alice.quietmoths' AND indexed = 1") == 3
    assert alice.put("mydb.quietmoths", ROWS, replace="true").status_code == 201
    assert not sees(bob)
    share(alice, user="bob")
    assert sees(bob)
    assert alice.http("DELETE", "tables/mydb.quietmoths").status_code == 204
    assert not sees(bob)
    assert alice.put("mydb.quietmoths", ROWS).status_code == 201
    assert not sees(bob)


@ONE_PROCESS
def test_names_with_other_characters(service: RunningService, bob: User) -> None:
    name = f'"mydb_{ODD}".stars'
    with temporary_user(service, ODD, ODD_PASSWORD) as owner:
        assert owner.put("mydb.stars", ROWS).status_code == 201
        share(owner, "mydb.stars", user="bob")
        assert bob.count(name) == 2
        assert bob.rows("SELECT table_name FROM TAP_SCHEMA.tables WHERE table_name LIKE '%obs%'") == [
            ['"""mydb_ann.k+x@obs-1.org"".stars"']
        ]
        # pyvo requests a table by its name in the list
        described = bob.vo.tables[name]
        assert [column.name for column in described.columns] == ["id", "ra", "dec", "murmur"]
        assert (
            bob.vo.search(f"SELECT s.murmur FROM {described.name} AS s WHERE s.id = 1").to_table()["murmur"][0]
            == "hush"
        )
        assert [each["name"] for each in bob.http("GET", "mydb").json()["shared"]] == [name]


@ONE_PROCESS
def test_what_is_no_grant(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for given, status, said in (
        ({"user": "alice"}, 400, "the table is yours"),
        ({"group": "everybody"}, 400, "cannot be shared with everybody"),
        ({"user": ""}, 400, "1 to 320"),
        ({"user": "a\nb"}, 400, "printable"),
        ({}, 400, "as user or as group"),
        ({"user": "bob", "group": "lens"}, 400, "as user or as group"),
    ):
        answer = alice.http("POST", "mydb/mydb.quietmoths/grants", json=given)
        assert (answer.status_code, said in answer.text) == (status, True), answer.text
    assert alice.http("POST", "mydb/mydb.nothing/grants", json={"user": "bob"}).status_code == 404
    # the answer does not say whether a user or group exists
    assert share(alice, user="nobody-of-that-name")["users"] == ["bob", "nobody-of-that-name"]
    monkeypatch.setattr(user_table_sharing, "_MAX_READERS", 2)
    assert "up to 2" in alice.http("POST", "mydb/mydb.quietmoths/grants", json={"user": "one-more"}).text


def test_the_sweep_keeps_what_is_shared(service: RunningService, alice: User, bob: User) -> None:
    share(alice, user="carol")
    revoke(alice, user="carol")
    bob.count("mydb_alice.quietmoths")
    sweep = UserTableExpiry(Config(user_table_days=10), service.engine)
    for _ in range(2):
        sweep.sweep_tables()
    assert sees(bob)
    [record] = user_table_record.read_user_tables(service.engine, "alice")
    # a reader's query delays the expiry
    assert user_table_record.read_last_uses(service.engine, [record.described])


@ONE_PROCESS
class TestOperators:
    @pytest.fixture
    def engine(self, service: RunningService) -> EmbeddedEngine:
        return service.engine  # type: ignore[return-value]

    def test_lists_name_readers(self, engine: EmbeddedEngine, alice: User) -> None:
        recorder = Recorder()
        share(alice, group="lens")
        list_user_tables(engine, "alice", recorder)
        assert recorder.lines[-1].endswith("\tshared with group lens, user bob")

    def test_a_user_who_is_removed_loses_all_rights(self, engine: EmbeddedEngine, alice: User, bob: User) -> None:
        forget_user(engine, "bob", Recorder())
        assert not sees(bob)
        share(alice, user="bob")
        forget_user(engine, "alice", Recorder())
        assert not sees(bob)
        assert alice.put(f"{SCHEMA_NAME}.quietmoths", ROWS).status_code == 201
        assert not sees(bob)
