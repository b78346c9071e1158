"""/tap/history: a user's queries, also after their jobs were deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tap_service.models.history_entry import HistoryEntry, make_entry_id
from tap_service.models.timestamps import add_seconds, now
from tap_service.service_errors import NotFound, ServiceUnavailable
from tap_service.services.history import query_history
from tap_service.services.history.query_history import MAX_QUERY, HistoryFilter, QueryHistory
from tap_service.storage.accounts import Accounts
from tap_service.storage.history_store import HistoryStore, HistoryUnavailable
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job
from tests.tap_service.storage.test_history_store import T0, entry
from tests.tap_service.users import User

Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture(params=["embedded", "cluster"])
def kept(request: pytest.FixtureRequest, accounts: Path) -> RunningService:
    serve = request.getfixturevalue("serve" if request.param == "embedded" else "serve_cluster")
    found: RunningService = serve(accounts=accounts)
    return found


def history(user: User, **parameters: Any) -> dict[str, Any]:
    answer = user.http("GET", "history", params=parameters)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_queries_outlive_their_jobs(kept: RunningService, eventually: Eventually) -> None:
    alice, bob = User(kept, "alice"), User(kept, "bob")
    alice.ask("SELECT TOP 7 n FROM svc.numbers", RUNID="seven")
    alice.ask("SELECT nonsense FROM svc.numbers")
    job = create_job(kept.tap, "SELECT TOP 3 id FROM svc.stars", alice.auth, PHASE="RUN", FORMAT="csv")
    job.wait_for_end()
    assert job.delete().status_code == 303
    bob.ask("SELECT COUNT(*) AS bobs FROM svc.stars")
    kept.ask("SELECT COUNT(*) AS anonymous FROM svc.stars")
    eventually(lambda: len(history(alice)["queries"]) == 3)

    told = history(alice)
    assert (told["owner"], told["limits"], told["next"]) == ("alice", {"queries": 10_000, "days": 365}, None)
    queries = {each["query"]: each for each in told["queries"]}
    seven, wrong, stars = (
        queries["SELECT TOP 7 n FROM svc.numbers"],
        queries["SELECT nonsense FROM svc.numbers"],
        queries["SELECT TOP 3 id FROM svc.stars"],
    )
    assert (seven["status"], seven["rows"], seven["runId"], seven["jobId"], seven["error"]) == (
        "OK",
        7,
        "seven",
        None,
        "",
    )
    assert seven["format"] == "text/csv;header=present"
    assert 0 <= seven["engineSeconds"] <= seven["seconds"]
    assert (wrong["status"], wrong["rows"]) == ("ERROR", 0)
    assert "nonsense" in wrong["error"]
    assert (stars["status"], stars["rows"], stars["jobId"]) == ("OK", 3, job.url.rpartition("/")[2])

    assert [each["query"] for each in history(alice, SEARCH="STARS top id")["queries"]] == [stars["query"]]
    assert [each["query"] for each in history(alice, STATUS="error")["queries"]] == [wrong["query"]]
    assert history(alice, BEFORE="2020")["queries"] == history(alice, AFTER="2100")["queries"] == []
    first = history(alice, LAST=2)
    second = httpx.get(first["next"], auth=alice.auth).json()
    assert first["queries"] + second["queries"] == told["queries"]
    assert second["next"] is None

    assert [each["query"] for each in history(bob)["queries"]] == ["SELECT COUNT(*) AS bobs FROM svc.stars"]
    assert alice.http("DELETE", "history").status_code == 204
    assert history(alice)["queries"] == []
    assert len(history(bob)["queries"]) == 1


def test_a_query_may_be_left_out(own: RunningService) -> None:
    bob = User(own, "bob")
    bob.ask("SELECT 1 AS unseen FROM svc.stars", HISTORY="False", MAXREC="1")
    left_out = bob.job("async", LANG="ADQL", QUERY="SELECT TOP 1 id FROM svc.stars", HISTORY="false").run()
    assert left_out.wait_for_end() == "COMPLETED"
    bob.ask("SELECT TOP 1 id AS seen FROM svc.stars", HISTORY="true")
    assert [each["query"] for each in history(bob)["queries"]] == ["SELECT TOP 1 id AS seen FROM svc.stars"]
    refused = bob.ask("SELECT TOP 1 id FROM svc.stars", HISTORY="no")
    assert refused.status_code == 400
    assert "unknown value HISTORY=no; false leaves the query out" in refused.text


def test_a_job_that_was_aborted(own: RunningService, heavy: str, eventually: Eventually) -> None:
    alice = User(own, "alice")
    for name, duration in (("stopped", "0"), ("late", "1")):
        job = alice.job("async", LANG="ADQL", QUERY=heavy, RUNID=name, EXECUTIONDURATION=duration).run()
        if name == "stopped":
            eventually(lambda job=job: job.phase == "EXECUTING")
            job.post("/phase", PHASE="ABORT")
        assert job.wait_for_end() == "ABORTED"
        eventually(lambda name=name: bool(history(alice, SEARCH=name)["queries"]))
        [kept] = history(alice, SEARCH=name)["queries"]
        said = "the job was aborted" if name == "stopped" else "the job reached its execution duration of 1 seconds"
        assert (kept["status"], kept["error"][: len(said)]) == ("ABORTED", said)


def test_who_has_none(own: RunningService, serve: Callable[..., RunningService], accounts: Path) -> None:
    anonymous = httpx.get(f"{own.tap}/history")
    assert (anonymous.status_code, "sign in to use this resource" in anonymous.text) == (401, True)
    off = User(serve(accounts=accounts, history_queries=0), "alice")
    off.ask("SELECT TOP 1 id FROM svc.stars")
    answer = off.http("GET", "history", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        "this service keeps no history of queries; your jobs are in /tap/async",
    )


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"LAST": "0"}, "LAST must be a number of queries above 0"),
        ({"STATUS": "FINE"}, "STATUS=FINE is unknown; give one of OK, OVERFLOW"),
        ({"AFTER": "now"}, "AFTER: write an instant"),
        ({"SEARCH": "x" * 501}, "SEARCH, the words to search for, has more than 500 characters"),
    ],
)
def test_wrong_filters(own: RunningService, parameters: dict[str, str], said: str) -> None:
    answer = User(own, "alice").http("GET", "history", params=parameters)
    assert answer.status_code == 400
    assert said in answer.text


class _Away(HistoryStore):
    is_away = True

    def add_entries(self, entries: Any) -> None:
        if self.is_away:
            raise HistoryUnavailable("no room")
        super().add_entries(entries)


def test_queries_wait_while_the_store_is_away(tmp_path: Path) -> None:
    store = _Away.open("", tmp_path, 10**9)
    found = QueryHistory(store, 2, 36_500, None)
    waiting = [entry(number, f"query {number}") for number in range(3)]
    for each in waiting:
        found.add_query("kepler", each)
        found.add_query("tycho", each.model_copy(update={"query": "of another user"}))
    with pytest.raises(ServiceUnavailable, match="no room"):
        found.delete_queries("kepler")
    # a full disk can be read: waiting queries are listed with stored ones, page by page
    HistoryStore.add_entries(store, [("kepler", waiting[0]), ("kepler", entry(9, "stored"))])
    page, cursor = found.list_queries("kepler", HistoryFilter(last=3))
    assert texts(page) == ["stored", "query 2", "query 1"]
    assert texts(found.list_queries("kepler", HistoryFilter(last=3, cursor=cursor))[0]) == ["query 0"]
    store.delete_entries("kepler")
    store.is_away = False
    assert texts(found.list_queries("kepler", HistoryFilter())[0]) == ["query 2", "query 1"]  # of two that are kept
    found.close()
    with pytest.raises(NotFound):
        QueryHistory(None, 0, 1, None).list_queries("kepler", HistoryFilter())


def test_the_next_user_of_a_name_inherits_nothing(tmp_path: Path) -> None:
    """A query that ends while its user is removed is not stored either."""
    accounts = Accounts(tmp_path / "accounts.sqlite")
    accounts.add_user("kepler", "harmonices mundi")
    found = QueryHistory(HistoryStore.open("", tmp_path / "jobs", 10**9), 10_000, 36_500, accounts)
    for user in ("kepler", "tycho", "issuer:tycho"):
        found.add_query(user, entry(1, "of long ago"))
    accounts.remove_user("kepler")
    assert found.list_queries("issuer:tycho", HistoryFilter())[0]  # stores the waiting queries
    for user in ("kepler", "tycho"):
        accounts.add_user(user, "astronomia nova")
        assert found.list_queries(user, HistoryFilter()) == ([], "")
    found.close()
    accounts.close()


def test_what_waits_is_limited_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_history, "_MAX_WAITING_BYTES", 5000)
    store = _Away.open("", tmp_path, 10**9)
    found = QueryHistory(store, 10_000, 36_500, None)
    for number in range(8):
        if number == 6:  # queries that return to the queue are counted
            with pytest.raises(ServiceUnavailable, match="no room"):
                found.delete_queries("kepler")
        found.add_query("kepler", entry(number, f"{number}" * 1000))
    store.is_away = False
    kept = texts(found.list_queries("kepler", HistoryFilter())[0])
    assert [each[0] for each in kept] == ["7", "6", "5"]
    found.close()


def test_an_entry_that_cannot_be_written_takes_no_other_with_it(tmp_path: Path) -> None:
    found = QueryHistory(HistoryStore.open("", tmp_path, 10**9), 10_000, 36_500, None)
    for number, query in enumerate(("first", "\ud800", "last")):
        found.add_query("kepler", entry(number, query))
    assert texts(found.list_queries("kepler", HistoryFilter())[0]) == ["last", "first"]
    found.close()


def test_a_long_query_is_cut(own: RunningService, eventually: Eventually) -> None:
    user = User(own, "alice")
    query = f"SELECT TOP 1 n FROM svc.numbers -- {'x' * MAX_QUERY}"
    user.ask(query)
    eventually(lambda: bool(history(user, SEARCH="xxx")["queries"]))
    [kept] = history(user, SEARCH="xxx")["queries"]
    assert (kept["query"], kept["isCut"]) == (query[:10_000], True)


def test_filters_meet_pages(tmp_path: Path) -> None:
    found = QueryHistory(HistoryStore.open("", tmp_path, 10**9), 10_000, 36_500, None)
    for number in range(500):
        found.add_query("kepler", entry(number, f"query {number % 10} of {number}"))
    wanted = HistoryFilter(words=("query", "7"), last=40)
    page, cursor = found.list_queries("kepler", wanted)
    rest, end = found.list_queries("kepler", HistoryFilter(words=("query", "7"), last=1000, cursor=cursor))
    assert texts(page + rest) == [f"query {n % 10} of {n}" for n in reversed(range(500)) if "7" in f"{n % 10} {n}"]
    assert end == ""
    assert texts(found.list_queries("kepler", HistoryFilter(after=T0, last=1, before=entry(3).created))[0]) == [
        "query 2 of 2"
    ]
    found.close()


def test_a_page_has_an_end_where_little_meets_its_filters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_history, "_MAX_SEARCHED", 1000)
    found = QueryHistory(HistoryStore.open("", tmp_path, 10**9), 10_000, 36_500, None)
    for number in range(50):
        found.add_query("kepler", entry(number, f"{'rare' if number in (0, 49) else 'often'} {'x' * 100}"))
    pages = [found.list_queries("kepler", HistoryFilter(words=("rare",)))]
    while cursor := pages[-1][1]:
        pages.append(found.list_queries("kepler", HistoryFilter(words=("rare",), cursor=cursor)))
    assert [len(page) for page, _ in pages] == [1, 0, 0, 0, 0, 1]
    found.close()


def test_old_queries_are_not_shown(tmp_path: Path) -> None:
    """Old queries are deleted even if no query runs."""
    store = HistoryStore.open("", tmp_path, 10**9)
    created = add_seconds(now(), -3 * 86_400)
    store.add_entries(
        [("kepler", entry(0, "old").model_copy(update={"id": make_entry_id(created), "created": created}))]
    )
    found = QueryHistory(store, 10_000, 2, None)
    assert found.list_queries("kepler", HistoryFilter()) == ([], "")
    assert [each.query for each in QueryHistory(store, 10_000, 4, None).list_queries("kepler", HistoryFilter())[0]] == [
        "old"
    ]
    found.close()


def texts(entries: list[HistoryEntry]) -> list[str]:
    return [each.query for each in entries]
