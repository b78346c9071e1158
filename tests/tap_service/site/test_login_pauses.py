"""Growing pauses after wrong passwords; right passwords of others are still accepted."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tap_service.service_errors import TooManyPasswords
from tap_service.services.site.login_pauses import (
    FREE_OF_ADDRESS,
    FREE_OF_NAME,
    LONGEST_OF_ADDRESS,
    LONGEST_OF_NAME,
    LoginPauses,
)
from tap_service.storage.accounts import Accounts
from tests.support.running_service import RunningService

GOOD = ("alice", "correct-horse")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pauses(clock: Clock) -> LoginPauses:
    return LoginPauses(clock)


def pause(pauses: LoginPauses, name: str, network: str) -> float:
    """Return how long a password is refused, in whole seconds."""
    try:
        pauses.check_pause(name, network)
    except TooManyPasswords as error:
        return float(error.headers["Retry-After"])
    return 0.0


def test_pauses_of_an_address_grow(pauses: LoginPauses, clock: Clock) -> None:
    for number in range(FREE_OF_ADDRESS):
        pauses.note_failure(f"user{number}", "192.0.2.1")
    assert pause(pauses, "alice", "192.0.2.1") == 0
    found = []
    for number in range(12):
        pauses.note_failure(f"user{number}", "192.0.2.1")
        found.append(pause(pauses, "alice", "192.0.2.1"))
        clock.now += 0.001
    assert found == sorted(found)
    assert found[:3] == [2, 4, 8]
    assert found[-1] == LONGEST_OF_ADDRESS
    assert pause(pauses, "alice", "192.0.2.2") == 0
    clock.now += LONGEST_OF_ADDRESS
    assert pause(pauses, "alice", "192.0.2.1") == 0


def test_one_address_may_guess_once_in_minutes(pauses: LoginPauses, clock: Clock) -> None:
    """A client that tries again at the end of each pause gets few guesses, and does not lock the name for others."""
    guesses = 0
    end = clock.now + 86_400
    while clock.now < end:
        if left := pause(pauses, "alice", "192.0.2.1"):
            clock.now += left
        else:
            guesses += 1
            pauses.note_failure("alice", "192.0.2.1")
        assert pause(pauses, "alice", "192.0.2.2") == 0
    assert guesses < 86_400 / 50


def test_a_user_who_is_known_at_an_address(pauses: LoginPauses, clock: Clock) -> None:
    """A client behind the same address does not lock users out, and cannot guess their password without limit."""
    pauses.note_success("alice", "192.0.2.1")
    for number in range(100):
        pauses.note_failure(f"user{number}", "192.0.2.1")
    assert pause(pauses, "bob", "192.0.2.1") == LONGEST_OF_ADDRESS
    assert pause(pauses, "alice", "192.0.2.1") == 0
    for _ in range(FREE_OF_ADDRESS + 3):
        pauses.note_failure("alice", "192.0.2.1")
    assert pause(pauses, "alice", "192.0.2.1") == 8
    assert pause(pauses, "alice", "192.0.2.2") == 0


def test_a_name_that_many_addresses_guess(pauses: LoginPauses, clock: Clock) -> None:
    """The user can still log in from the address of the last login."""
    pauses.note_success("alice", "192.0.2.7")
    for number in range(FREE_OF_NAME + 20):
        pauses.note_failure("alice", f"198.51.100.{number}")
    assert pause(pauses, "alice", "203.0.113.1") == LONGEST_OF_NAME
    assert pause(pauses, "alice", "192.0.2.7") == 0
    assert pause(pauses, "bob", "203.0.113.1") == 0
    clock.now += LONGEST_OF_NAME
    assert pause(pauses, "alice", "203.0.113.1") == 0


def test_memory_is_bounded(pauses: LoginPauses) -> None:
    for number in range(30_000):
        pauses.note_failure(f"name{number}", f"network{number}")
        pauses.note_success(f"name{number}", f"network{number}")
    sizes = [len(pauses._of_address.found), len(pauses._of_name.found), len(pauses._known)]
    assert max(sizes) <= 10_000


def test_a_flood_of_wrong_passwords(serve: Callable[..., RunningService], tmp_path: Path) -> None:
    """After 200 wrong passwords, an address must wait; the right password from elsewhere and tokens need not."""
    accounts = Accounts(tmp_path / "accounts.sqlite")
    for name in ("alice", "bob"):
        accounts.add_user(name, GOOD[1])
    token = accounts.add_token("alice", "laptop", None)
    accounts.close()
    service = serve(accounts=tmp_path / "accounts.sqlite", anonymous=False)

    def ask(address: str, **options: object) -> httpx.Response:
        forwarded = {"X-Forwarded-For": address, **options.pop("headers", {})}  # type: ignore[dict-item]
        return httpx.get(f"{service.tap}/tables?detail=min", headers=forwarded, verify=False, timeout=60, **options)  # type: ignore[arg-type]

    assert ask("192.0.2.1", auth=("bob", GOOD[1])).status_code == 200
    answers: list[httpx.Response] = []

    def guess(thread: int) -> None:
        answers.extend(ask("192.0.2.1", auth=("alice", f"guess-{thread}-{number}")) for number in range(25))

    threads = [threading.Thread(target=guess, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    while not any(answer.status_code == 429 for answer in tuple(answers)):
        threads[0].join(0.01)
    assert ask("192.0.2.2", auth=GOOD).status_code == 200
    for thread in threads:
        thread.join()
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) == {401, 429}
    assert statuses.count(401) <= FREE_OF_ADDRESS + 20  # which waited for the first check
    refused = ask("192.0.2.1", auth=GOOD)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= math.ceil(LONGEST_OF_ADDRESS)
    assert "wait" in refused.text
    assert "or use a token" in refused.text
    assert ask("192.0.2.1", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert ask("192.0.2.1", auth=("bob", GOOD[1])).status_code == 200  # cached
    assert ask("192.0.2.2", auth=GOOD).status_code == 200
