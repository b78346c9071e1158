"""Watches over HTTP: they run on new rows alone, as their owner, into a table, and tell a webhook."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from clickhouse_schema.engine_tables import addition_record, user_table_record
from clickhouse_schema.engine_tables.catalogue_log import write_grants
from tap_service.documents.watch_documents import webhook_message
from tap_service.service_errors import ServiceBusy
from tap_service.storage.watch_store import WatchStoreUnavailable
from tests.support.running_service import RunningService
from tests.tap_service.watches.alerts import TABLE, Receiver, add_alerts, alerts_table, receiver
from tests.tap_service.watches.watcher import BRIGHT, Watcher


@pytest.fixture(scope="module")
def hook() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture(scope="module")
def service(
    serve: Callable[..., RunningService], accounts: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    started = serve(accounts=accounts, webhook_hosts=("localhost",), user_watches=4, watch_rows=50)
    with alerts_table(started.engine, tmp_path_factory.mktemp("alerts")):
        started.refresh()
        yield started


@pytest.fixture
def alice(service: RunningService) -> Iterator[Watcher]:
    user = Watcher(service, "alice")
    yield user
    user.remove_all()


def test_new_rows_alone_reach_the_table(alice: Watcher, service: RunningService, tmp_path: Path) -> None:
    watch = alice.watch(name="bright", query=BRIGHT)
    assert (watch["table"], watch["result"], watch["secret"], watch["runs"]) == (TABLE, "mydb.bright", None, [])
    assert alice.ids("mydb.bright") == []
    add_alerts(service.engine, tmp_path, 1000, 20)
    done = alice.wait(watch, "DONE")
    assert alice.ids("mydb.bright") == [1000, 1001, 1010, 1011]
    assert (done["rows"], done["runs_done"], done["last_error"]) == (4, 1, None)
    [run] = done["runs"]
    assert (run["added_rows"], run["rows"], run["deliveries"]) == (20, 4, {})
    add_alerts(service.engine, tmp_path, 2005, 5)  # none is bright
    add_alerts(service.engine, tmp_path, 3000, 5)
    done = alice.wait(watch, "DONE", "DONE", "DONE")
    assert [run["rows"] for run in done["runs"]] == [2, 0, 4]
    assert alice.ids("mydb.bright") == [1000, 1001, 1010, 1011, 3000, 3001]
    numbers = {int(row[0]) for row in alice.rows("SELECT addition FROM mydb.bright WHERE id >= 3000")}
    assert numbers == {done["runs"][0]["addition"]}
    job = alice.http("GET", f"async/{run['job']}")  # an ordinary job of the user
    assert "watch bright" in job.text
    alice.rounds.sweep.sweep_additions()
    assert addition_record.read_kept_additions(service.engine) == ()  # all watches have run
    for _ in range(3):
        alice.rounds.run_round()
    assert len(alice.ids("mydb.bright")) == 6


def test_a_run_is_remembered_while_its_rows_are_kept(
    alice: Watcher, service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.services.watches.watch_rounds.KEPT_RUNS", 2)
    paused = alice.watch(name="paused", query=BRIGHT)
    alice.act(paused, "pause")
    watch = alice.watch(name="once", query=BRIGHT)
    for number in range(4):
        add_alerts(service.engine, tmp_path, 10_000 + 10 * number, 10)
        alice.wait(watch, *["DONE"] * (number + 1))
    for _ in range(3):
        alice.rounds.run_round()
    assert alice.show(watch)["runs_done"] == 4
    assert len(alice.ids("mydb.once")) == 8
    assert _count_tokens(service, "once") == 4
    assert alice.http("DELETE", f"watches/{paused['id']}").status_code == 204
    alice.rounds.sweep.sweep_additions()
    add_alerts(service.engine, tmp_path, 10_100, 10)
    alice.wait(watch, "DONE", "DONE", "DONE")
    assert _count_tokens(service, "once") == 1


def _count_tokens(service: RunningService, name: str) -> int:
    """Return how many appends are remembered in the record of a table of alice."""
    found = user_table_record.find_user_table(service.engine, "alice", name)
    assert found is not None
    return len(found.appended)


def test_a_job_that_is_not_created_is_no_attempt(
    alice: Watcher, service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.services.watches.watch_rounds._RETRY_SECONDS", 0)
    monkeypatch.setattr("tap_service.services.jobs.job_service.JobService.create_watch_job", _refuse)
    watch = alice.watch(name="refused", query=BRIGHT)
    add_alerts(service.engine, tmp_path, 11_000, 10)
    for _ in range(6):
        alice.wait(watch, "WAITING")
    assert alice.show(watch)["runs"][0]["error"] == "all slots are taken"
    monkeypatch.undo()
    alice.wait(watch, "DONE")
    assert alice.services.watches.find_watch(watch["id"]).runs[0].attempts == 1


def _refuse(*_: object) -> None:
    raise ServiceBusy("all slots are taken")


def test_a_list_of_positions(alice: Watcher, service: RunningService, tmp_path: Path) -> None:
    rows = "name,ra,dec\nnear,280.5001,11.5\nfar,281,11.5\nnone,,\n"
    assert alice.put("mydb.targets", rows).status_code == 201
    watch = alice.watch(name="matched", list="mydb.targets", table=TABLE, radius=2)
    add_alerts(service.engine, tmp_path, 4230, 100)
    alice.wait(watch, "DONE")
    found = alice.rows("SELECT list_name, id, list_separation FROM mydb.matched")
    assert [row[:2] for row in found] == [["near", "4240"]]
    assert float(found[0][2]) == pytest.approx(0.353, abs=0.01)
    for members, said in (
        ({"list": "mydb.nothing"}, "there is no table"),
        ({"list": TABLE}, "one of your tables"),
        ({"radius": 0}, "above 0"),
        ({"radius": 1e300}, "from 0 to 3600"),
        ({"table": "svc.numbers"}, "has no positions"),
        ({"query": BRIGHT}, "not both"),
    ):
        given = {"name": "other", "list": "mydb.targets", "table": TABLE, "radius": 2, **members}
        answer = alice.http("POST", "watches", json=given)
        assert answer.status_code in (400, 404), answer.text
        assert said in answer.text


def test_a_webhook_is_signed_and_tried_again(
    alice: Watcher, service: RunningService, hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.models.watch._PATIENCE", (0, 0))
    hook.answers[:] = [500, 302]
    watch = alice.watch(name="told", query=BRIGHT, webhook=hook.url)
    secret = watch["secret"]
    assert len(secret) > 30
    assert "secret" not in alice.show(watch)
    add_alerts(service.engine, tmp_path, 5000, 20)
    alice.wait(watch, "DONE")
    delivery = alice.wait_for_messages(watch)
    assert delivery == {"state": "DELIVERED", "attempts": 3, "error": None}
    assert len(hook.got) == 3
    assert len({headers["Skyhouse-Delivery"] for headers, _ in hook.got}) == 1
    for headers, body in hook.got:
        signed = headers["Skyhouse-Timestamp"].encode() + b"." + body
        assert (
            headers["Skyhouse-Signature"] == f"sha256={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"
        )
    said = hook.documents[0]
    assert (said["rows"], said["table"], said["watch"]["name"]) == (4, TABLE, "told")
    assert said["first_rows"]["columns"] == ["id", "ra", "dec", "mag"]
    assert sorted(row[0] for row in said["first_rows"]["rows"]) == [5000, 5001, 5010, 5011]
    assert sorted(row[0] for row in alice.rows(said["result"]["query"])) == ["5000", "5001", "5010", "5011"]
    add_alerts(service.engine, tmp_path, 5505, 3)  # no row, no message
    alice.wait(watch, "DONE", "DONE")
    assert len(hook.got) == 3
    hook.got.clear()


def test_a_webhook_is_given_up(
    alice: Watcher, service: RunningService, hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.models.watch._PATIENCE", (0,))
    hook.answers[:] = [500, 500]
    watch = alice.watch(name="refused", query=BRIGHT, webhook=hook.url)
    add_alerts(service.engine, tmp_path, 6000, 20)
    alice.wait(watch, "DONE")
    wanted = {"state": "GIVEN_UP", "attempts": 2, "error": "the server answered 500"}
    assert alice.wait_for_messages(watch) == wanted
    assert len(alice.ids("mydb.refused")) == 4
    hook.got.clear()


CUT = [
    b"HTTP/1.1 200 OK\r\nContent-Le",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbegun",
    b"HTTP/1.1 204 No Content\r\nServer: x\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n",
]
WHOLE = [
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.0 200\n\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n" + b"x" * 999_999,
]


def test_an_answer_that_is_cut_is_no_delivery(
    alice: Watcher, service: RunningService, hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever answers so may have lost the message: it is sent again."""
    monkeypatch.setattr("tap_service.models.watch._PATIENCE", (0,) * len(CUT))
    hook.answers[:] = CUT
    watch = alice.watch(name="cut", query=BRIGHT, webhook=hook.url)
    add_alerts(service.engine, tmp_path, 6800, 10)
    alice.wait(watch, "DONE")
    assert alice.wait_for_messages(watch) == {"state": "DELIVERED", "attempts": len(CUT) + 1, "error": None}
    hook.answers[:] = WHOLE
    for number in range(len(WHOLE)):
        add_alerts(service.engine, tmp_path, 6900 + 10 * number, 10)
        alice.wait(watch, *["DONE"] * (number + 2))
        assert alice.wait_for_messages(watch) == {"state": "DELIVERED", "attempts": 1, "error": None}, WHOLE[number]
    hook.got.clear()


def test_messages_do_not_believe_a_host(
    alice: Watcher, service: RunningService, hook: Receiver, tmp_path: Path
) -> None:
    """Whoever makes a watch writes the Host of that request. Addresses are the operator's, or have no host."""
    request = {"name": "believed", "query": BRIGHT, "webhook": hook.url}
    watch = alice.http("POST", "watches", json=request, headers={"Host": "evil.example"}).json()
    add_alerts(service.engine, tmp_path, 7500, 10)
    alice.wait(watch, "DONE")
    alice.wait_for_messages(watch)
    [said] = hook.documents
    assert said["watch"]["url"] == f"/tap/watches/{watch['id']}"
    assert said["result"]["url"] == "/tap/tables/mydb.believed"
    assert b"evil" not in hook.got[0][1]
    hook.got.clear()
    stored = service.server.config.app.state.services.watches.find_watch(watch["id"])
    message = json.loads(webhook_message(stored, stored.runs[0], "https://example.org/archive"))
    assert message["watch"]["url"] == f"https://example.org/archive/tap/watches/{watch['id']}"


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "10.1.2.3", "[::1]", "2130706433", "LOCALHOST", "127.0.0.1."),
        *("localhost.", "a.localhost", "ip6-localhost", "ip6-loopback", "intranet", "printer.local", "db.Home.Arpa."),
        *("metadata.google.internal", "METADATA.GOOGLE.INTERNAL.", "metadata", "a.test", "a.onion", "nas.lan"),
    ],
)
def test_a_host_of_the_local_network_gets_nothing(alice: Watcher, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _trust_no_host(alice.services.watches, monkeypatch)
    said = alice.watch(400, name="private", query=BRIGHT, webhook=f"http://{host}:81/hook")["message"]
    assert "is not an address of the public internet" in said
    assert "SKYHOUSE_WEBHOOK_HOSTS" in said


def test_a_named_host_of_the_local_network(alice: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    part = alice.services.watches
    hosts = ("intranet", "db.local:81")
    monkeypatch.setattr(part, "_config", part._config.model_copy(update={"webhook_hosts": hosts}))
    alice.watch(name="one", query=BRIGHT, webhook="http://INTRANET./hook")
    alice.watch(name="two", query=BRIGHT, webhook="http://db.local:81/hook")
    alice.watch(name="three", query=BRIGHT, webhook="https://localhost.example.org/hook")
    alice.watch(400, name="four", query=BRIGHT, webhook="http://db.local:82/hook")


def test_a_host_of_the_local_network_is_tried_once(
    alice: Watcher, service: RunningService, hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = alice.watch(name="private", query=BRIGHT, webhook=hook.url)
    _trust_no_host(alice.rounds._messages, monkeypatch)
    add_alerts(service.engine, tmp_path, 6100, 20)
    alice.wait(watch, "DONE")
    delivery = alice.wait_for_messages(watch)
    assert (delivery["state"], delivery["attempts"]) == ("GIVEN_UP", 1)
    assert "localhost is not an address of the public internet; the operator can name" in delivery["error"]
    assert hook.got == []
    assert len(alice.ids("mydb.private")) == 4
    monkeypatch.undo()
    alice.act(watch, "run")
    assert alice.wait_for_messages(watch)["state"] == "DELIVERED"
    hook.got.clear()


def _trust_no_host(part: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "_config", part._config.model_copy(update={"webhook_hosts": ()}))


def test_a_message_that_cannot_be_written_is_given_up(
    alice: Watcher, service: RunningService, hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.models.watch._PATIENCE", (0,))
    monkeypatch.setattr("tap_service.services.watches.watch_rounds.read_sample", lambda *_: "no JSON")
    watch = alice.watch(name="unwritable", query=BRIGHT, webhook=hook.url)
    add_alerts(service.engine, tmp_path, 6500, 10)
    alice.wait(watch, "DONE")
    delivery = alice.wait_for_messages(watch)
    assert (delivery["state"], delivery["attempts"]) == ("GIVEN_UP", 2)
    assert "the log has the reason" in delivery["error"]


def test_slow_receivers_delay_no_other_owner(
    alice: Watcher, service: RunningService, hook: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.services.watches.watch_messages.ATTEMPT_SECONDS", 600)
    monkeypatch.setattr("tap_service.services.watches.watch_rounds._ATTEMPT_PERIOD", 600)
    bob = Watcher(service, "bob")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://localhost:{silent.getsockname()[1]}/"
        slow = [alice.watch(name=f"slow{number}", query=BRIGHT, webhook=url) for number in range(4)]
        quick = bob.watch(name="quick", query=BRIGHT, webhook=hook.url)
        add_alerts(service.engine, tmp_path, 12_000, 10)
        for watch in slow:
            alice.wait(watch, "DONE")
        bob.wait(quick, "DONE")
        assert bob.wait_for_messages(quick)["state"] == "DELIVERED"
        tried = [alice.show(watch)["runs"][0]["deliveries"]["webhook"]["attempts"] for watch in slow]
        assert sorted(tried) == [0, 0, 0, 1]
        alice.remove_all()
    hook.got.clear()
    bob.remove_all()


def test_a_run_has_the_rights_of_its_owner_then(alice: Watcher, service: RunningService, tmp_path: Path) -> None:
    watch = alice.watch(name="mine", query=BRIGHT)
    write_grants(service.engine, lambda grants: grants.update({TABLE: frozenset({"nobody"})}))
    service.refresh()
    try:
        add_alerts(service.engine, tmp_path, 7000, 10)
        failed = alice.wait(watch, "FAILED")
        assert "not visible to the owner" in failed["last_error"]
        assert alice.ids("mydb.mine") == []
    finally:
        write_grants(service.engine, lambda grants: grants.pop(TABLE))
        service.refresh()
    alice.act(watch, "run")
    done = alice.wait(watch, "DONE")
    assert (done["last_error"], alice.ids("mydb.mine")) == (None, [7000, 7001])


def test_too_many_rows_add_none(alice: Watcher, service: RunningService, tmp_path: Path) -> None:
    watch = alice.watch(name="all_of_them", query=f"SELECT id FROM {TABLE}")
    add_alerts(service.engine, tmp_path, 8000, 51)
    failed = alice.wait(watch, "FAILED")
    assert "more than 50 rows" in failed["last_error"]
    assert alice.ids("mydb.all_of_them") == []
    add_alerts(service.engine, tmp_path, 8100, 50)
    alice.wait(watch, "DONE", "FAILED")
    assert len(alice.ids("mydb.all_of_them")) == 50


def test_a_pause_keeps_additions(alice: Watcher, service: RunningService, tmp_path: Path) -> None:
    watch = alice.watch(name="later", query=BRIGHT)
    alice.act(watch, "pause")
    add_alerts(service.engine, tmp_path, 9000, 10)
    alice.wait(watch, "WAITING")
    alice.rounds.sweep.sweep_additions()
    assert alice.show(watch)["state"] == "paused"
    alice.act(watch, "resume")
    alice.wait(watch, "DONE")
    assert alice.ids("mydb.later") == [9000, 9001]


def test_old_additions_are_missed(
    alice: Watcher, service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = alice.watch(name="never", query=BRIGHT)
    alice.act(watch, "pause")
    add_alerts(service.engine, tmp_path, 9500, 10)
    alice.wait(watch, "WAITING")
    monkeypatch.setattr("tap_service.services.watches.addition_sweep._DAY_SECONDS", -1)
    alice.rounds.sweep.sweep_additions()
    missed = alice.wait(watch, "MISSED")
    assert "are no longer stored" in missed["last_error"]
    assert addition_record.read_kept_additions(service.engine) == ()


def test_numbers_go_on_when_the_tables_are_new(alice: Watcher, service: RunningService, tmp_path: Path) -> None:
    """As after a restore without tables, which has the watches and an empty record of additions."""
    watch = alice.watch(name="outlives", query=BRIGHT)
    add_alerts(service.engine, tmp_path, 9600, 10)
    add_alerts(service.engine, tmp_path, 9610, 10)
    [last, first] = alice.wait(watch, "DONE", "DONE")["runs"]
    service.engine.execute("TRUNCATE TABLE skyhouse.additions")
    other = alice.watch(name="newer", query=BRIGHT)  # before the next round
    for restored in ("skyhouse.additions", "skyhouse.watched_tables"):
        service.engine.execute(f"TRUNCATE TABLE {restored}")
    alice.rounds.run_round()
    add_alerts(service.engine, tmp_path, 9620, 10)
    runs = alice.wait(watch, "DONE", "DONE", "DONE")["runs"]
    assert [run["addition"] for run in runs] == [last["addition"] + 1, last["addition"], first["addition"]]
    assert alice.ids("mydb.outlives") == [9600, 9601, 9610, 9611, 9620, 9621]
    alice.wait(other, "DONE")


@pytest.mark.parametrize(
    ("members", "status", "said"),
    [
        ({"query": "SELECT * FROM sky.nothing"}, 400, "nothing"),
        ({"query": "SELECT table_name FROM TAP_SCHEMA.tables"}, 400, "no published table"),
        ({"query": f"SELECT a.id FROM {TABLE} AS a JOIN svc.stars AS s ON a.id = s.id"}, 400, "give table"),
        ({"query": BRIGHT, "table": "svc.stars"}, 400, "table must be a published table that the query reads"),
        ({"query": f"SELECT id AS addition FROM {TABLE}"}, 400, "another name by AS"),
        ({"query": BRIGHT, "name": "a b"}, 400, "not a valid table name"),
        ({"query": BRIGHT, "webhook": "ftp://example.org/"}, 400, "http or https"),
        ({"query": BRIGHT, "mail": True}, 403, "skyhouse user mail"),
        ({"query": BRIGHT, "mail": "yes"}, 400, "true or false"),
        ({"query": BRIGHT, "secret": "x"}, 400, "'secret' is unknown"),
        ({}, 400, "give query"),
    ],
)
def test_invalid_requests(alice: Watcher, members: dict[str, Any], status: int, said: str) -> None:
    assert said in alice.watch(status, **{"name": "wrong", **members})["message"]
    assert alice.tables == {}


def test_a_watch_that_cannot_be_stored_leaves_no_table(alice: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_service.storage.watch_store.WatchStore.add_watch", _fail)
    assert "no room" in alice.watch(503, name="unstored", query=BRIGHT)["message"]
    monkeypatch.undo()
    assert alice.tables == {}
    alice.watch(name="unstored", query=BRIGHT)


def _fail(*_: object) -> None:
    raise WatchStoreUnavailable("no room")


def test_half_of_a_surrogate_pair(alice: Watcher) -> None:
    body = '{"name": "half", "query": "\\ud800"}'
    answer = alice.http("POST", "watches", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "query: character 1 is U+D800, half of a surrogate pair" in answer.text


def test_others_see_nothing(alice: Watcher, service: RunningService) -> None:
    watch = alice.watch(name="private_matter", query=BRIGHT)
    bob = Watcher(service, "bob")
    assert bob.http("GET", "watches").json()["watches"] == []
    for method, options in (("GET", {}), ("DELETE", {}), ("POST", {"json": {"action": "pause"}})):
        assert bob.http(method, f"watches/{watch['id']}", **options).status_code == 404
    for path in ("watches", f"watches/{watch['id']}"):
        anonymous = httpx.get(f"{service.tap}/{path}")
        assert (anonymous.status_code, "sign in to use this resource" in anonymous.text) == (401, True)
    root = Watcher(service, "root")
    assert root.show(watch)["name"] == "private_matter"
    assert "you already have a watch" in alice.watch(409, name="Private_Matter", query=BRIGHT)["message"]
    for number in range(3):
        alice.watch(name=f"w{number}", query=BRIGHT)
    assert "the maximum" in alice.watch(507, name="w9", query=BRIGHT)["message"]
    alice.http("DELETE", f"watches/{watch['id']}")
    with ThreadPoolExecutor(4) as threads:
        requests = [{"name": f"parallel{number}", "query": BRIGHT} for number in range(4)]
        statuses = [
            each.status_code
            for each in threads.map(lambda request: alice.http("POST", "watches", json=request), requests)
        ]
    assert sorted(statuses) == [201, 507, 507, 507]
    assert len([name for name in alice.tables if "parallel" in name]) == 1
    watch = alice.http("GET", "watches").json()["watches"][0]
    form = alice.http("POST", "watches", data={"name": "form", "query": BRIGHT})
    assert (form.status_code, "JSON" in form.text) == (400, True)
    cross = alice.http(
        "POST", f"watches/{watch['id']}", json={"action": "pause"}, headers={"Origin": "https://a.example"}
    )
    assert cross.status_code == 403
