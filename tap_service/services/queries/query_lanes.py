"""Chooses which request to /sync works next: places in lanes, and turns between clients.

A lane has places; requests that find none wait. When a place becomes free, the client with the fewest requests at work
in the lane is next, and among equals the one whose request has the lowest turn: one more than its client's last one,
but no less than those at work, as in ``job_queues``. The requests of one client keep their order. No client gets the
last place of a lane (``LaneLimits``), so another client waits for a place only behind third ones.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from tap_service.models.engine_share import Lane
from tap_service.service_errors import ServiceBusy, ServiceError, TooManyQueries
from tap_service.services.queries.lane_limits import LaneLimits
from tap_service.settings.client_limits import ClientLimit

_log = logging.getLogger("skyhouse")


class LaneWork(Protocol):
    """The work of one request, on threads of the lanes."""

    def do_work(self, place: LanePlace) -> Lane | None:
        """Work until the end, or return the lane where the rest is to be done: it is called again there."""

    def end_work(self, refusal: ServiceError | None = None) -> None:
        """Tell the client: the place is free again, or the next lane has no room."""


class LanePlace:
    """A request that waits or works in a lane since the instant ``at`` of time.monotonic."""

    __slots__ = ("at", "client", "is_running", "lane", "limit", "most_waiting", "turn", "waited", "work")

    def __init__(self, client: str, limit: ClientLimit, most_waiting: float, lane: Lane, work: LaneWork) -> None:
        self.client = client
        self.limit = limit
        #: it does not wait behind more requests of all
        self.most_waiting = most_waiting
        self.lane = lane
        self.work = work
        self.at = time.monotonic()
        self.waited = 0.0
        self.turn = 0
        self.is_running = False


class _LaneState:
    """One lane. ``turn`` is the highest of those that have started, ``last_turns`` has clients' turns from it on."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.running: dict[str, int] = {}
        self.waiting: dict[str, deque[LanePlace]] = {}
        self.n_running = 0
        self.n_waiting = 0
        self._turn = 0
        self._last_turns: dict[str, int] = {}

    def give_turn(self, place: LanePlace) -> None:
        place.turn = max(self._turn, self._last_turns.get(place.client, -1) + 1)
        self._last_turns[place.client] = place.turn

    def start_place(self, place: LanePlace) -> None:
        if place.turn > self._turn:
            self._turn = place.turn
            self._last_turns = {client: turn for client, turn in self._last_turns.items() if turn >= self._turn}
        self.count_in(place.client)

    def order_key(self, place: LanePlace) -> tuple[int, int]:
        return self.running.get(place.client, 0), place.turn

    def count_in(self, client: str) -> None:
        self.running[client] = self.running.get(client, 0) + 1
        self.n_running += 1

    def count_out(self, client: str) -> None:
        self.n_running -= 1
        self.running[client] -= 1
        if not self.running[client]:
            del self.running[client]

    def add_waiting(self, place: LanePlace) -> None:
        self.waiting.setdefault(place.client, deque()).append(place)
        self.n_waiting += 1

    def remove_waiting(self, place: LanePlace) -> None:
        """Remove a waiting request."""
        queue = self.waiting[place.client]
        queue.remove(place)
        if not queue:
            del self.waiting[place.client]
        self.n_waiting -= 1


class QueryLanes:
    """Thread-safe. Runs the work of requests on its own threads."""

    def __init__(self, limits: LaneLimits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._lanes = {lane: _LaneState(places) for lane, places in limits.places.items()}
        #: requests beyond the places of their lane, which they entered from a lighter one
        self._max_excess = limits.places[Lane.LIGHT]
        self._threads = ThreadPoolExecutor(sum(limits.places.values()) + self._max_excess, "query")

    def enter_lane(self, client: str, owner: str | None, lane: Lane, work: LaneWork) -> LanePlace:
        """Start the work of a request of a client, or let it wait. Raises TooManyQueries or ServiceBusy."""
        limits = self._limits
        place = LanePlace(client, limits.find_client_limit(owner), limits.count_all_waiting(lane, owner), lane, work)
        with self._lock:
            self._admit(place)
        return place

    def move_place(self, place: LanePlace, lane: Lane, *, beyond: bool = False) -> bool:
        """Count a working request in another lane from now on; return whether there is room.

        ``beyond`` the places of that lane and the limit of its client, as many may work as the light lane has places.
        """
        with self._lock:
            new = self._lanes[lane]
            if beyond:
                excess = sum(max(0, state.n_running - state.places) for state in self._lanes.values())
                has_room = new.n_running < new.places or excess < self._max_excess
            else:
                allowed = self._limits.count_running(lane, place.limit)
                has_room = new.n_running < new.places and new.running.get(place.client, 0) < allowed
            if not place.is_running or not has_room:
                return False
            self._lanes[place.lane].count_out(place.client)
            place.lane = lane
            new.count_in(place.client)
            self._start_waiting()
            return True

    def leave_lane(self, place: LanePlace) -> bool:
        """Remove a waiting request; return False if it works or has ended."""
        with self._lock:
            state = self._lanes[place.lane]
            if place.is_running or place not in state.waiting.get(place.client, ()):
                return False
            state.remove_waiting(place)
            return True

    def count_requests(self, lane: Lane) -> tuple[int, int]:
        """Return how many requests work and wait in a lane."""
        state = self._lanes[lane]
        return state.n_running, state.n_waiting

    def find_longest_wait(self, lane: Lane) -> float:
        """Return the seconds since which the oldest waiting request of a lane waits there; 0 if none waits."""
        with self._lock:
            oldest = min((queue[0].at for queue in self._lanes[lane].waiting.values()), default=None)
        return 0.0 if oldest is None else time.monotonic() - oldest

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _admit(self, place: LanePlace) -> None:
        state = self._lanes[place.lane]
        state.give_turn(place)
        if state.n_running < state.places and self._may_start(place):
            self._start(place)
            return
        of_client = len(state.waiting.get(place.client, ()))
        if of_client >= self._limits.count_waiting(place.lane, place.limit):
            raise TooManyQueries(
                f"{of_client + state.running.get(place.client, 0)} of your requests work or wait already, the most for "
                f"one client: wait for their answers before you send more{_way_out(place.lane)}"
            )
        if state.n_waiting >= place.most_waiting:
            is_full = state.n_waiting >= self._limits.waiting
            reason = (
                "this service accepts no more" if is_full else "the remaining places are reserved for users: log in"
            )
            raise ServiceBusy(
                f"{state.n_running + state.n_waiting} requests work or wait, and {reason}"
                f"{':' if is_full else ','} try again in a while{_way_out(place.lane)}"
            )
        state.add_waiting(place)

    def _may_start(self, place: LanePlace) -> bool:
        """Return whether its client may use a place; not for a query while too many others have outgrown their lane."""
        client, find_most = place.client, self._limits.count_running
        if self._lanes[place.lane].running.get(client, 0) >= find_most(place.lane, place.limit):
            return False
        if place.lane is Lane.READING:
            return True
        return all(state.running.get(client, 0) <= find_most(lane, place.limit) for lane, state in self._lanes.items())

    def _start_waiting(self) -> None:
        for state in self._lanes.values():
            while state.n_waiting and state.n_running < state.places:
                heads = (queue[0] for queue in state.waiting.values())
                startable = (place for place in heads if self._may_start(place))
                place = min(startable, key=state.order_key, default=None)
                if place is None:
                    break
                state.remove_waiting(place)
                try:
                    self._start(place)
                except ServiceBusy as error:
                    place.work.end_work(error)

    def _start(self, place: LanePlace) -> None:
        started = time.monotonic()
        place.waited += started - place.at
        place.at, place.is_running = started, True
        self._lanes[place.lane].start_place(place)
        try:
            self._threads.submit(self._run, place)
        except RuntimeError as error:
            place.is_running = False
            self._lanes[place.lane].count_out(place.client)
            raise ServiceBusy("the service is shutting down") from error

    def _run(self, place: LanePlace) -> None:
        lane: Lane | None = None
        refusal: ServiceError | None = None
        try:
            lane = place.work.do_work(place)
        except Exception as error:
            _log.error("a request to /sync failed", exc_info=error)
        with self._lock:
            self._lanes[place.lane].count_out(place.client)
            place.is_running = False
            if lane is not None:
                place.lane, place.at = lane, time.monotonic()
                try:
                    self._admit(place)
                except ServiceError as error:
                    refusal = error
            self._start_waiting()
        if lane is None or refusal is not None:
            place.work.end_work(refusal)


def _way_out(lane: Lane) -> str:
    return "" if lane is Lane.READING else ", or send long queries to /async"
