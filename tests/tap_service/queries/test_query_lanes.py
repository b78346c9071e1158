"""Lanes: turns between clients, limits of each client and of all, and requests that move to another lane."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tap_service.config import Config
from tap_service.models.client import find_client_key
from tap_service.models.engine_share import Lane
from tap_service.service_errors import ServiceBusy, ServiceError, TooManyQueries
from tap_service.services.client_directory import ClientDirectory
from tap_service.services.queries.query_lanes import LaneLimits, LaneSlot, QueryLanes
from tap_service.storage.accounts import Accounts
from tests.support.clients import make_client

SECONDS = 20


class Work:
    """Works until it is released, in ``lanes`` one after the other."""

    def __init__(self, name: str, started: list[str], lanes: tuple[Lane, ...] = ()) -> None:
        self.name = name
        self.lanes = list(lanes)
        self.refusal: ServiceError | None = None
        self.is_over = threading.Event()
        self.let_go = threading.Event()
        self._started = started

    def do_work(self, slot: LaneSlot) -> Lane | None:
        self._started.append(self.name)
        assert self.let_go.wait(SECONDS)
        return self.lanes.pop(0) if self.lanes else None

    def end_work(self, refusal: ServiceError | None = None) -> None:
        self.refusal = refusal
        self.is_over.set()

    def finish(self) -> None:
        self.let_go.set()
        assert self.is_over.wait(SECONDS)


class Setup:
    """Lanes with requests named by client and number, in the order in which they started."""

    def __init__(self, **settings: object) -> None:
        self.settings = {"concurrent_queries": 2, **settings}
        self.lanes = QueryLanes(LaneLimits.from_config(Config(**self.settings)))
        self.started: list[str] = []
        self.works: list[Work] = []
        self.slots: list[LaneSlot] = []

    def enter(self, client: str, lane: Lane = Lane.HEAVY, *, then: tuple[Lane, ...] = ()) -> Work:
        count = sum(work.name.startswith(client) for work in self.works)
        work = Work(f"{client}{count}", self.started, then)
        self.slots.append(self.lanes.enter_lane(make_client(client, **self.settings), lane, work))
        self.works.append(work)
        return work

    def counts(self, lane: Lane) -> tuple[int, int]:
        return self.lanes.count_requests(lane)

    def close(self) -> None:
        for work, slot in zip(self.works, self.slots, strict=True):
            self.lanes.leave_lane(slot)
            work.let_go.set()
        self.lanes.close()


@pytest.fixture
def set_up() -> Iterator[Callable[..., Setup]]:
    made: list[Setup] = []

    def new(**settings: object) -> Setup:
        made.append(Setup(**settings))
        return made[-1]

    yield new
    for each in made:
        each.close()


def finish_in_order(setup: Setup, eventually: Callable[[Callable[[], bool]], None]) -> list[str]:
    """End one request after the other, always the one that started first; return the order of their starts."""
    by_name = {work.name: work for work in setup.works}
    for number in range(len(setup.works)):
        eventually(lambda number=number: len(setup.started) == number + setup.counts(Lane.HEAVY)[0])
        by_name[setup.started[number]].finish()
    return setup.started


def test_clients_take_turns(set_up: Callable[..., Setup], eventually: Callable[[Callable[[], bool]], None]) -> None:
    """With two slots, a client alone gets one. Ten requests of one client delay another client by one."""
    setup = set_up()
    for _ in range(10):
        setup.enter("a")
    eventually(lambda: setup.started == ["a0"])
    for client in ("b", "c", "b", "c"):
        setup.enter(client)
    order = finish_in_order(setup, eventually)
    assert order[:6] == ["a0", "b0", "c0", "a1", "c1", "b1"]
    assert order[6:] == [f"a{number}" for number in range(2, 10)]


def test_a_client_leaves_a_slot_in_every_lane(set_up: Callable[..., Setup]) -> None:
    setup = set_up(client_running_queries=100)
    for lane, slots in ((Lane.LIGHT, 4), (Lane.MEDIUM, 2), (Lane.HEAVY, 2), (Lane.BULK, 2)):
        for _ in range(8):
            setup.enter("a", lane)
        assert setup.counts(lane) == (slots - 1, 9 - slots)
        setup.enter("b", lane)
        assert setup.counts(lane) == (slots, 9 - slots)


def test_slow_work_in_one_lane_leaves_the_light_one_free(set_up: Callable[..., Setup]) -> None:
    setup = set_up()
    for client in "abcdefgh":
        for lane in (Lane.MEDIUM, Lane.HEAVY, Lane.BULK, Lane.FETCHING):
            setup.enter(client, lane)
    assert setup.counts(Lane.LIGHT) == (0, 0)
    light = setup.enter("a", Lane.LIGHT)
    light.finish()


def test_too_many_of_one_client(set_up: Callable[..., Setup]) -> None:
    setup = set_up(client_waiting_queries=3)
    for _ in range(4):
        setup.enter("a")
    with pytest.raises(
        TooManyQueries, match=r"you already have 4 requests running or waiting.*or send long queries to /async"
    ):
        setup.enter("a")
    assert int(TooManyQueries.headers["Retry-After"]) > 0
    setup.enter("a", Lane.LIGHT)
    for _ in range(4):
        setup.enter("b")
    assert setup.counts(Lane.HEAVY) == (2, 6)


def test_too_many_of_all(set_up: Callable[..., Setup]) -> None:
    setup = set_up(waiting_queries=4)
    for client in "abcdef":
        setup.enter(client)
    with pytest.raises(ServiceBusy, match="6 requests are running or waiting"):
        setup.enter("g")
    setup.enter("g", Lane.LIGHT)


def test_anonymous_clients_leave_slots_for_users(set_up: Callable[..., Setup]) -> None:
    setup = set_up(waiting_queries=4)
    started: list[str] = []

    def enter(user: str | None, address: str) -> None:
        work = Work(address, started)
        client = make_client(user, address, **setup.settings)
        setup.slots.append(setup.lanes.enter_lane(client, Lane.HEAVY, work))
        setup.works.append(work)

    for number in range(4):
        enter(None, f"address {number}")
    with pytest.raises(
        ServiceBusy,
        match="4 requests are running or waiting, and the rest of the queue is reserved for users: log in, try",
    ):
        enter(None, "address 5")
    enter("ann", "ann")
    enter("bob", "bob")
    with pytest.raises(ServiceBusy, match="6 requests are running or waiting, and this service accepts no more: try"):
        enter("cleo", "cleo")


def test_limits_by_user_and_class(tmp_path: Path) -> None:
    config = Config(concurrent_queries=8, client_limits="@anonymous=2/20, @users=3/100, alice=5/400, @survey=7/9")
    limits = LaneLimits.from_config(config)
    with closing(Accounts(tmp_path / "users.sqlite")) as accounts:
        for name, user_class in (("alice", "@survey"), ("carol", "@survey"), ("dave", "@gone")):
            accounts.add_user(name, "secret of a user")
            accounts.set_class(name, user_class)
        directory = ClientDirectory(config, accounts)
        found = {name: directory.find_client("", name) for name in (None, "alice", "bob", "carol", "dave")}
    assert {name: (client.limits.running, client.limits.waiting) for name, client in found.items()} == {
        None: (2, 20),
        "alice": (5, 400),
        "bob": (3, 100),
        "carol": (7, 9),
        "dave": (3, 100),
    }
    assert limits.count_running(Lane.HEAVY, found["alice"]) == 5
    assert limits.count_running(Lane.BULK, found["alice"]) == config.bulk_queries - 1


def test_a_request_goes_on_in_another_lane(
    set_up: Callable[..., Setup], eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """It frees its slot, waits for one in the other lane, and works again."""
    setup = set_up()
    others = [setup.enter("a"), setup.enter("b")]
    work = setup.enter("c", Lane.LIGHT, then=(Lane.HEAVY,))
    work.let_go.set()
    eventually(lambda: setup.counts(Lane.HEAVY) == (2, 1))
    assert setup.counts(Lane.LIGHT) == (0, 0)
    assert not work.is_over.is_set()
    others[0].finish()
    assert work.is_over.wait(SECONDS)
    assert work.refusal is None
    assert setup.started.count("c0") == 2


def test_a_full_lane_refuses_what_comes_from_another(set_up: Callable[..., Setup]) -> None:
    setup = set_up(waiting_queries=0)
    for client in "ab":
        setup.enter(client)
    work = setup.enter("c", Lane.LIGHT, then=(Lane.HEAVY,))
    work.finish()
    assert isinstance(work.refusal, ServiceBusy)
    assert (setup.counts(Lane.LIGHT), setup.counts(Lane.HEAVY)) == ((0, 0), (2, 0))


def test_what_turns_out_heavy_frees_its_light_slot(
    set_up: Callable[..., Setup], eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Its client starts nothing until its requests fit again; other clients do."""
    setup = set_up()
    for _ in range(5):
        setup.enter("a", Lane.LIGHT)
    assert setup.counts(Lane.LIGHT) == (3, 2)
    for slot in setup.slots[:3]:
        assert setup.lanes.move_slot(slot, Lane.HEAVY, beyond=True)
    assert (setup.counts(Lane.LIGHT), setup.counts(Lane.HEAVY)) == ((1, 1), (3, 0))
    setup.enter("b", Lane.LIGHT).finish()
    setup.works[0].finish()
    assert setup.counts(Lane.LIGHT) == (1, 1)
    setup.works[1].finish()
    eventually(lambda: setup.counts(Lane.LIGHT) == (2, 0))
    assert setup.counts(Lane.HEAVY) == (1, 0)


def test_what_turns_out_heavy_takes_a_free_slot_of_its_client(set_up: Callable[..., Setup]) -> None:
    """One client has one of two slots."""
    setup = set_up()
    for client in "aabc":
        setup.enter(client, Lane.LIGHT)
    moved = [setup.lanes.move_slot(slot, Lane.HEAVY) for slot in setup.slots]
    assert moved == [True, False, True, False]
    assert (setup.counts(Lane.LIGHT), setup.counts(Lane.HEAVY)) == ((2, 0), (2, 0))


def test_what_turns_out_heavy_needs_threads(
    set_up: Callable[..., Setup], eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Requests up to the number of slots of the light lane may work in addition to the slots of the others."""
    setup = set_up(client_running_queries=100)
    moved = []
    for client in "abcdefgh":
        setup.enter(client, Lane.LIGHT)
        moved.append(setup.lanes.move_slot(setup.slots[-1], Lane.HEAVY, beyond=True))
    assert moved == [True] * 6 + [False] * 2
    assert (setup.counts(Lane.HEAVY), setup.counts(Lane.LIGHT)) == ((6, 0), (2, 0))
    eventually(lambda: len(setup.started) == 8)


def test_a_request_that_waits_can_leave(set_up: Callable[..., Setup]) -> None:
    setup = set_up()
    setup.enter("a")
    waiting = setup.enter("a")
    assert [setup.lanes.leave_lane(slot) for slot in setup.slots] == [False, True]
    assert setup.counts(Lane.HEAVY) == (1, 0)
    setup.works[0].finish()
    assert not waiting.is_over.is_set()
    assert setup.started == ["a0"]


def test_failing_work_frees_its_slot(set_up: Callable[..., Setup]) -> None:
    setup = set_up()

    class Failing(Work):
        def do_work(self, slot: LaneSlot) -> Lane | None:
            raise RuntimeError("a bug")

    failing = Failing("x", setup.started)
    setup.lanes.enter_lane(make_client(), Lane.LIGHT, failing)
    assert failing.is_over.wait(SECONDS)
    assert setup.counts(Lane.LIGHT) == (0, 0)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.1", "anonymous at 192.0.2.1"),
        ("2001:db8:1:2:3::4", "anonymous at 2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "anonymous at 192.0.2.1"),
        ("", "anonymous at "),
    ],
)
def test_who_a_request_counts_for(address: str, key: str) -> None:
    assert find_client_key(None, address) == key
    assert find_client_key("alice", address) == "alice"


def test_short_reads_do_not_wait_for_queries_that_have_outgrown_their_lane(set_up: Callable[..., Setup]) -> None:
    """A job list is read while large results of the client are sent."""
    setup = set_up()
    outgrown = [setup.enter("a", Lane.LIGHT) for _ in range(2)]
    assert all(setup.lanes.move_slot(slot, Lane.HEAVY, beyond=True) for slot in setup.slots)
    query = setup.enter("a", Lane.LIGHT)
    setup.enter("a", Lane.READING).finish()
    assert query.name not in setup.started
    for work in (*outgrown, query):
        work.finish()
