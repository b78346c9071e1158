"""Turns and places."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_service.services.queues import FairQueue, Ticket, WorkClass, places_of

SHORT, LONG, VERY_LONG = WorkClass.SHORT, WorkClass.LONG, WorkClass.VERY_LONG


def queue(short: int = 1, long: int = 1, very_long: int = 1, most_of_user: int = 10) -> FairQueue:
    return FairQueue({SHORT: short, LONG: long, VERY_LONG: very_long}, most_of_user)


def taken(fair: FairQueue) -> Ticket:
    found = fair.take()
    assert found is not None
    return found


@pytest.mark.parametrize(("seconds", "work"), [(0, SHORT), (9.9, SHORT), (10, LONG), (599, LONG), (600, VERY_LONG)])
def test_classes(seconds: float, work: WorkClass) -> None:
    assert WorkClass.of(seconds) is work


@pytest.mark.parametrize("heavy", [1, 2, 3, 8])
def test_every_class_has_a_place(heavy: int) -> None:
    places = places_of(heavy)
    assert all(count >= 1 for count in places.values())
    assert places[LONG] + places[VERY_LONG] == max(2, heavy)


def test_one_users_hundred_do_not_delay_anothers_one() -> None:
    fair = queue(long=1)
    for number in range(100):
        fair.put(Ticket(f"a{number}", "alice", LONG))
    first = taken(fair)
    fair.put(Ticket("b", "bob", LONG))
    fair.done(first)
    assert taken(fair).job_id == "b"


def test_users_take_turns_and_each_ones_jobs_keep_their_order() -> None:
    fair = queue(long=1)
    for user in "abc":
        for number in range(3):
            fair.put(Ticket(f"{user}{number}", user, LONG))
    order = []
    for _ in range(9):
        ticket = taken(fair)
        order.append(ticket.job_id)
        fair.done(ticket)
    assert order == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]


def test_heavier_work_does_not_block_lighter() -> None:
    fair = queue()
    for number in range(5):
        fair.put(Ticket(f"v{number}", "alice", VERY_LONG))
        fair.put(Ticket(f"l{number}", "alice", LONG))
    fair.put(Ticket("s", "alice", SHORT))
    assert {taken(fair).job_id for _ in range(3)} == {"s", "l0", "v0"}
    assert fair.waiting == 8


def test_a_user_has_no_more_running_than_allowed() -> None:
    fair = queue(long=3, most_of_user=2)
    for number in range(3):
        fair.put(Ticket(f"a{number}", "alice", LONG))
    fair.put(Ticket("b", "bob", LONG))
    first = [taken(fair) for _ in range(3)]
    assert [ticket.job_id for ticket in first] == ["a0", "b", "a1"]
    fair.done(first[0])
    assert taken(fair).job_id == "a2"


def test_who_waits_is_woken_and_closing_ends_the_wait() -> None:
    fair = queue()
    got: list[Ticket | None] = []
    threads = [threading.Thread(target=lambda: got.append(fair.take())) for _ in range(2)]
    for thread in threads:
        thread.start()
    fair.put(Ticket("x", "alice", LONG))
    while not got:
        pass
    fair.close()
    for thread in threads:
        thread.join()
    assert [ticket and ticket.job_id for ticket in got] == ["x", None]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(list(WorkClass))), max_size=60), st.data())
def test_nothing_is_lost_and_places_are_kept(jobs: list[tuple[str, WorkClass]], data: st.DataObject) -> None:
    fair = queue(short=2, long=2, very_long=1, most_of_user=3)
    for number, (user, work) in enumerate(jobs):
        fair.put(Ticket(str(number), user, work))
    running: list[Ticket] = []
    seen: set[str] = set()
    while len(seen) < len(jobs):
        while (ticket := _at_once(fair)) is not None:
            running.append(ticket)
            seen.add(ticket.job_id)
            assert sum(each.user == ticket.user for each in running) <= 3
        for work, most in ((SHORT, 2), (LONG, 2), (VERY_LONG, 1)):
            assert sum(each.work is work for each in running) <= most
        fair.done(running.pop(data.draw(st.integers(0, len(running) - 1))))
    assert fair.waiting == 0


def _at_once(fair: FairQueue) -> Ticket | None:
    """What ``take`` would give now."""
    with fair._changed:
        found = fair._next()
    return fair.take() if found is not None else None
