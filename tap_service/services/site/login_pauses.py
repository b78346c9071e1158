"""Growing pauses after wrong passwords, by address and by user, in the memory of a process.

Each wrong password raises the levels of its address and of its name by one, and each minute lowers them by one. Above
the free levels every further failure starts a pause, twice as long as the last one. In a pause passwords are refused
without being checked; tokens, and passwords that were right a moment ago, are not. A user who has logged in at an
address is free there from its pauses and from those of the name; only wrong passwords of this name from there count.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tap_service.service_errors import TooManyPasswords

#: wrong passwords without a pause: of an address, and for a name from all addresses together
FREE_OF_ADDRESS = 10
FREE_OF_NAME = 30
#: the longest pauses, in seconds: that of a name is for addresses from which its user has not logged in
LONGEST_OF_ADDRESS = 900.0
LONGEST_OF_NAME = 60.0
#: seconds in which a level falls by one
_FORGIVEN_SECONDS = 60.0
#: addresses and names that are remembered; the ones that failed longest ago go first
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
        """Return the seconds left of a pause, 0 without one."""
        failures = self.found.get(key)
        return max(failures.until - now, 0.0) if failures else 0.0


class LoginPauses:
    """Not thread-safe: belongs to one event loop. ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._of_address = _Levels[str](FREE_OF_ADDRESS, LONGEST_OF_ADDRESS)
        self._of_name = _Levels[str](FREE_OF_NAME, LONGEST_OF_NAME)
        self._of_known = _Levels[tuple[str, str]](FREE_OF_ADDRESS, LONGEST_OF_ADDRESS)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def check_pause(self, name: str, network: str) -> None:
        """Raise TooManyPasswords during a pause."""
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
        now = self._clock()
        self._of_address.raise_level(network, now)
        self._of_name.raise_level(name, now)
        if (name, network) in self._known:
            self._of_known.raise_level((name, network), now)

    def note_success(self, name: str, network: str) -> None:
        self._known[name, network] = None
        self._known.move_to_end((name, network))
        if len(self._known) > _MAX_REMEMBERED:
            self._known.popitem(last=False)
