"""Increasing pauses after wrong passwords, by address and by user, in the memory of a process.

Each wrong password raises the levels of its address and of its name by one, and each minute lowers them by one. Above
the free levels, each failure starts a pause that is twice as long as the previous pause. During a pause, passwords are
refused without being checked; tokens, and passwords that were correct a moment ago, are accepted. A user who has logged
in from an address is exempt there from the pauses of the address and of the name; only wrong passwords for this name
from this address count.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tap_service.service_errors import TooManyPasswords

#: number of wrong passwords without a pause: from an address, and for a name from all addresses together
FREE_OF_ADDRESS = 10
FREE_OF_NAME = 30
#: the longest pauses, in seconds; a pause of a name is for addresses from which its user has not logged in
LONGEST_OF_ADDRESS = 900.0
LONGEST_OF_NAME = 60.0
#: seconds in which a level falls by one
_FORGIVEN_SECONDS = 60.0
#: maximum number of addresses and of names in memory; those whose last failure is oldest are dropped
_MAX_REMEMBERED = 10_000

T = TypeVar("T")


@dataclass(slots=True)
class _Failures:
    level: float = 0.0
    last: float = 0.0
    until: float = 0.0


@dataclass(slots=True)
class _Levels(Generic[T]):
    free: int
    longest: float
    found: OrderedDict[T, _Failures] = field(default_factory=OrderedDict)

    def raise_level(self, key: T, now: float) -> None:
        failures = self.found.pop(key, None) or _Failures()
        failures.level = max(failures.level - (now - failures.last) / _FORGIVEN_SECONDS, 0.0) + 1
        failures.last = now
        above = failures.level - self.free
        if above > 0:
            failures.until = now + min(2.0 ** min(above, 30.0), self.longest)
        self.found[key] = failures
        if len(self.found) > _MAX_REMEMBERED:
            self.found.popitem(last=False)

    def find_pause(self, key: T, now: float) -> float:
        """Return the remaining seconds of a pause, 0 without a pause."""
        failures = self.found.get(key)
        return max(failures.until - now, 0.0) if failures else 0.0


class LoginPauses:
    """The pauses of a process. Not thread-safe: used by one event loop.

    Parameters
    ----------
    clock : Callable[[], float]
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._of_address = _Levels[str](FREE_OF_ADDRESS, LONGEST_OF_ADDRESS)
        self._of_name = _Levels[str](FREE_OF_NAME, LONGEST_OF_NAME)
        self._of_known = _Levels[tuple[str, str]](FREE_OF_ADDRESS, LONGEST_OF_ADDRESS)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def check_pause(self, name: str, network: str) -> None:
        """Raise TooManyPasswords during a pause of the network, or of the name."""
        now = self._clock()
        is_known = (name, network) in self._known
        if is_known:
            pause = self._of_known.find_pause((name, network), now)
        else:
            pause = self._of_address.find_pause(network, now)
        if pause:
            raise TooManyPasswords(
                f"too many passwords from your address were wrong: wait {pause:.0f} seconds, or use a token", pause
            )
        if not is_known and (pause := self._of_name.find_pause(name, now)):
            raise TooManyPasswords(
                f"too many passwords for this name were wrong: wait {pause:.0f} seconds, use a token, or an address "
                "from which you have logged in before",
                pause,
            )

    def note_failure(self, name: str, network: str) -> None:
        """Count a wrong password for a name from a network."""
        now = self._clock()
        self._of_address.raise_level(network, now)
        self._of_name.raise_level(name, now)
        if (name, network) in self._known:
            self._of_known.raise_level((name, network), now)

    def note_success(self, name: str, network: str) -> None:
        """Remember that a user has logged in from a network."""
        self._known[name, network] = None
        self._known.move_to_end((name, network))
        if len(self._known) > _MAX_REMEMBERED:
            self._known.popitem(last=False)
