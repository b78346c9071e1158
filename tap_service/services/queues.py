"""Which job runs next: places by class of work, so that none waits for a heavier class, and turns between users."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class WorkClass(StrEnum):
    """By the seconds of work that are foreseen; unknown is SHORT, for it is mostly a query that fails at once."""

    SHORT = "short"
    LONG = "long"
    VERY_LONG = "very long"

    @classmethod
    def of(cls, seconds: float) -> WorkClass:
        if seconds < 10:
            return cls.SHORT
        return cls.LONG if seconds < 600 else cls.VERY_LONG


def places_of(heavy: int) -> dict[WorkClass, int]:
    """How many of each class run at once where ``heavy`` (the cores, say) long ones may; short ones hardly load."""
    return {
        WorkClass.SHORT: max(2, heavy),
        WorkClass.LONG: max(1, heavy - heavy // 2),
        WorkClass.VERY_LONG: max(1, heavy // 2),
    }


@dataclass(frozen=True, slots=True)
class Ticket:
    """A queued job. ``user`` is who shares the turns: an owner, or the address of an anonymous client."""

    job_id: str
    user: str
    work: WorkClass


class FairQueue:
    """Tickets wait here until they may run. Safe to use from several threads.

    Within a class the next is of the user with the fewest running, of several the one whose last start is longest ago:
    a hundred jobs of one user delay another's one by a single job at most.
    """

    def __init__(self, places: Mapping[WorkClass, int], most_of_user: int) -> None:
        self._places = places
        self._most_of_user = most_of_user
        self._waiting: dict[WorkClass, dict[str, list[Ticket]]] = {work: {} for work in WorkClass}
        self._running: Counter[WorkClass] = Counter()
        self._of_user: Counter[str] = Counter()
        self._last_start: dict[str, int] = {}
        self._starts = 0
        self._closed = False
        self._changed = threading.Condition()

    def put(self, ticket: Ticket) -> None:
        with self._changed:
            self._waiting[ticket.work].setdefault(ticket.user, []).append(ticket)
            self._changed.notify()

    def take(self) -> Ticket | None:
        """The next ticket, as soon as one may run; None when the queue is closed. Say ``done`` after it."""
        with self._changed:
            while not self._closed:
                ticket = self._next()
                if ticket is not None:
                    self._start(ticket)
                    return ticket
                self._changed.wait()
            return None

    def done(self, ticket: Ticket) -> None:
        with self._changed:
            self._running[ticket.work] -= 1
            self._of_user[ticket.user] -= 1
            if not self._of_user[ticket.user]:
                del self._of_user[ticket.user]
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def waiting(self) -> int:
        with self._changed:
            return sum(len(tickets) for users in self._waiting.values() for tickets in users.values())

    def _next(self) -> Ticket | None:
        for work in WorkClass:
            if self._running[work] >= self._places[work]:
                continue
            users = [user for user in self._waiting[work] if self._of_user[user] < self._most_of_user]
            if users:
                chosen = min(users, key=lambda user: (self._of_user[user], self._last_start.get(user, 0)))
                return self._waiting[work][chosen][0]
        return None

    def _start(self, ticket: Ticket) -> None:
        mine = self._waiting[ticket.work][ticket.user]
        mine.pop(0)
        if not mine:
            del self._waiting[ticket.work][ticket.user]
        self._running[ticket.work] += 1
        self._of_user[ticket.user] += 1
        self._starts += 1
        self._last_start[ticket.user] = self._starts
        self._forget()

    def _forget(self) -> None:
        """Users that neither run nor wait lose their place in the order of turns, lest the dictionary grow for ever."""
        if len(self._last_start) > 1000:
            waiting = {user for users in self._waiting.values() for user in users}
            known = waiting | set(self._of_user)
            self._last_start = {user: at for user, at in self._last_start.items() if user in known}
