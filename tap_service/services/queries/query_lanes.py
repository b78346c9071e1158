"""Chooses which request to /sync works next: slots of lanes, and turns between clients.

A lane has slots; requests that find none wait. A free slot goes to the client with the fewest requests at work in the
lane, and among equal clients to the request with the lowest turn: one more than the turn of its client's last request,
but no less than the turns at work, as in ``job_queues``. The requests of one client keep their order. No client gets
the last slot of a lane (``LaneLimits``), so a client waits for a slot only behind third clients.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tap_service.config import Config
from tap_service.models.client import Client
from tap_service.models.engine_share import Lane
from tap_service.service_errors import ServiceBusy, ServiceError, TooManyQueries
from tap_service.settings.client_limits import find_open_part

_log = logging.getLogger("skyhouse")

_T = TypeVar("_T")


#: light queries are short: twice as many run at once as heavy queries
_LIGHT_PER_HEAVY = 2
#: few, so that a query's thread seldom waits for a reading thread; a name service may occupy one for seconds
_READING_SLOTS = 6
#: reads of one client at once: pages and scripts ask for many small things at the same time
_MAX_READING = 2
_MAX_WAITING_TO_READ = 200
#: for requests that wait for name services, fetched tables, or readers of uploads
_FETCHING_SLOTS = 8
#: translation holds the interpreter lock: more threads would not make it faster
_ESTIMATING_SLOTS = 2


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """The maximum number of requests that work and wait at once, in each lane and for each client.

    ``waiting_anonymous`` is the number of requests of anonymous clients that may wait: the other slots are for users.
    """

    slots: Mapping[Lane, int]
    waiting: int
    waiting_anonymous: int

    @classmethod
    def from_config(cls, config: Config) -> LaneLimits:
        heavy = config.concurrent_queries
        slots = {
            Lane.READING: _READING_SLOTS,
            Lane.ESTIMATING: _ESTIMATING_SLOTS,
            Lane.FETCHING: _FETCHING_SLOTS,
            Lane.LIGHT: _LIGHT_PER_HEAVY * heavy,
            Lane.MEDIUM: heavy,
            Lane.HEAVY: heavy,
            Lane.BULK: config.bulk_queries,
        }
        waiting = config.waiting_queries
        return cls(slots, waiting, find_open_part(waiting, config.user_reserve))

    def count_all_waiting(self, lane: Lane, client: Client) -> float:
        """Return the maximum number of waiting requests of all clients before a client is refused.

        Only the limits of connections hold for short reads: to refuse them would let a few clients keep out all others.
        """
        if lane is Lane.READING:
            return math.inf
        return self.waiting_anonymous if client.name is None else self.waiting

    def count_running(self, lane: Lane, client: Client) -> int:
        """Return the maximum number of a client's requests that a lane runs at once: a slot is for other clients."""
        most = _MAX_READING if lane is Lane.READING else max(1, self.slots[lane] - 1)
        return min(client.limits.running, most)

    def count_waiting(self, lane: Lane, client: Client) -> int:
        """Return the maximum number of a client's requests that may wait in a lane."""
        waiting = client.limits.waiting
        return max(waiting, _MAX_WAITING_TO_READ) if lane is Lane.READING else waiting


class LaneWork(Protocol):
    """The work of one request, on threads of the lanes."""

    def do_work(self, slot: LaneSlot) -> Lane | None:
        """Work until the end; or return the lane in which to continue, which calls this method again."""

    def end_work(self, refusal: ServiceError | None = None) -> None:
        """Tell the client that the work has ended and its slot is free, or that the next lane has no room."""


class LaneSlot:
    """The slot of a request in a lane, for which the request waits at first.

    ``at``: the instant of time.monotonic when it began to wait or to work. ``max_waiting``: the request is refused
    if as many requests of all clients wait.
    """

    __slots__ = ("at", "client", "is_running", "key", "lane", "max_waiting", "turn", "waited", "work")

    def __init__(self, client: Client, max_waiting: float, lane: Lane, work: LaneWork) -> None:
        self.client = client
        self.key = client.key
        self.max_waiting = max_waiting
        self.lane = lane
        self.work = work
        self.at = time.monotonic()
        self.waited = 0.0
        self.turn = 0
        self.is_running = False


class _LaneState:
    """One lane. ``_turn`` is the highest turn that has started; ``_last_turns`` has the later turns of clients."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.running: dict[str, int] = {}
        self.waiting: dict[str, deque[LaneSlot]] = {}
        self.n_running = 0
        self.n_waiting = 0
        self._turn = 0
        self._last_turns: dict[str, int] = {}

    def give_turn(self, slot: LaneSlot) -> None:
        slot.turn = max(self._turn, self._last_turns.get(slot.key, -1) + 1)
        self._last_turns[slot.key] = slot.turn

    def start_slot(self, slot: LaneSlot) -> None:
        if slot.turn > self._turn:
            self._turn = slot.turn
            self._last_turns = {key: turn for key, turn in self._last_turns.items() if turn >= self._turn}
        self.count_in(slot.key)

    def order_key(self, slot: LaneSlot) -> tuple[int, int]:
        return self.running.get(slot.key, 0), slot.turn

    def count_in(self, key: str) -> None:
        self.running[key] = self.running.get(key, 0) + 1
        self.n_running += 1

    def count_out(self, key: str) -> None:
        self.n_running -= 1
        self.running[key] -= 1
        if not self.running[key]:
            del self.running[key]

    def add_waiting(self, slot: LaneSlot) -> None:
        self.waiting.setdefault(slot.key, deque()).append(slot)
        self.n_waiting += 1

    def remove_waiting(self, slot: LaneSlot) -> None:
        """Remove a waiting request."""
        queue = self.waiting[slot.key]
        queue.remove(slot)
        if not queue:
            del self.waiting[slot.key]
        self.n_waiting -= 1


class QueryLanes:
    """Runs the work of requests on its own threads. Thread-safe.

    Parameters
    ----------
    limits : LaneLimits
        The slots of each lane, and the limits of waiting requests.
    """

    def __init__(self, limits: LaneLimits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._lanes = {lane: _LaneState(slots) for lane, slots in limits.slots.items()}
        #: the maximum number of requests beyond the slots of their lanes, which they entered from lighter lanes
        self._max_excess = limits.slots[Lane.LIGHT]
        self._threads = ThreadPoolExecutor(sum(limits.slots.values()) + self._max_excess, "query")

    def enter_lane(self, client: Client, lane: Lane, work: LaneWork) -> LaneSlot:
        """Start the work of a client's request, or let it wait.

        Parameters
        ----------
        client : Client
            The client, whose limits hold.
        lane : Lane
            The lane.
        work : LaneWork
            The work. Its ``end_work`` is not called if this raises.

        Raises
        ------
        TooManyQueries
            As many requests of the client wait as may.
        ServiceBusy
            As many requests of all clients wait as may.
        """
        slot = LaneSlot(client, self._limits.count_all_waiting(lane, client), lane, work)
        with self._lock:
            self._admit(slot)
        return slot

    def move_slot(self, slot: LaneSlot, lane: Lane, *, beyond: bool = False) -> bool:
        """Count a working request in another lane from now on; return whether there is room.

        ``beyond``: ignore the slots of that lane and the limit of the client, for as many requests as the light lane
        has slots.
        """
        with self._lock:
            new = self._lanes[lane]
            if beyond:
                excess = sum(max(0, state.n_running - state.slots) for state in self._lanes.values())
                has_room = new.n_running < new.slots or excess < self._max_excess
            else:
                allowed = self._limits.count_running(lane, slot.client)
                has_room = new.n_running < new.slots and new.running.get(slot.key, 0) < allowed
            if not slot.is_running or not has_room:
                return False
            self._lanes[slot.lane].count_out(slot.key)
            slot.lane = lane
            new.count_in(slot.key)
            self._start_waiting()
            return True

    def leave_lane(self, slot: LaneSlot) -> bool:
        """Remove a waiting request; return False if it works or has ended."""
        with self._lock:
            state = self._lanes[slot.lane]
            if slot.is_running or slot not in state.waiting.get(slot.key, ()):
                return False
            state.remove_waiting(slot)
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

    def _admit(self, slot: LaneSlot) -> None:
        state = self._lanes[slot.lane]
        state.give_turn(slot)
        if state.n_running < state.slots and self._may_start(slot):
            self._start(slot)
            return
        of_client = len(state.waiting.get(slot.key, ()))
        if of_client >= self._limits.count_waiting(slot.lane, slot.client):
            raise TooManyQueries(
                f"you already have {of_client + state.running.get(slot.key, 0)} requests running or waiting, the "
                f"maximum for one client: wait for their answers before you send more{_way_out(slot.lane)}"
            )
        if state.n_waiting >= slot.max_waiting:
            is_full = state.n_waiting >= self._limits.waiting
            open_part = "the rest of the queue is reserved for users: log in"
            reason = "this service accepts no more" if is_full else open_part
            raise ServiceBusy(
                f"{state.n_running + state.n_waiting} requests are running or waiting, and {reason}"
                f"{':' if is_full else ','} try again in a while{_way_out(slot.lane)}"
            )
        state.add_waiting(slot)

    def _may_start(self, slot: LaneSlot) -> bool:
        """Return whether the client may use a slot: no query starts while too many others have outgrown their lane."""
        key, find_most = slot.key, self._limits.count_running
        if self._lanes[slot.lane].running.get(key, 0) >= find_most(slot.lane, slot.client):
            return False
        if slot.lane is Lane.READING:
            return True
        return all(state.running.get(key, 0) <= find_most(lane, slot.client) for lane, state in self._lanes.items())

    def _start_waiting(self) -> None:
        for state in self._lanes.values():
            while state.n_waiting and state.n_running < state.slots:
                heads = (queue[0] for queue in state.waiting.values())
                startable = (slot for slot in heads if self._may_start(slot))
                slot = min(startable, key=state.order_key, default=None)
                if slot is None:
                    break
                state.remove_waiting(slot)
                try:
                    self._start(slot)
                except ServiceBusy as error:
                    slot.work.end_work(error)

    def _start(self, slot: LaneSlot) -> None:
        started = time.monotonic()
        slot.waited += started - slot.at
        slot.at, slot.is_running = started, True
        self._lanes[slot.lane].start_slot(slot)
        try:
            self._threads.submit(self._run, slot)
        except RuntimeError as error:
            slot.is_running = False
            self._lanes[slot.lane].count_out(slot.key)
            raise ServiceBusy("the service is shutting down") from error

    def _run(self, slot: LaneSlot) -> None:
        lane: Lane | None = None
        refusal: ServiceError | None = None
        try:
            lane = slot.work.do_work(slot)
        except Exception as error:
            _log.error("a request failed in a lane", exc_info=error)
        with self._lock:
            self._lanes[slot.lane].count_out(slot.key)
            slot.is_running = False
            if lane is not None:
                slot.lane, slot.at = lane, time.monotonic()
                try:
                    self._admit(slot)
                except ServiceError as error:
                    refusal = error
            self._start_waiting()
        if lane is None or refusal is not None:
            slot.work.end_work(refusal)


def _way_out(lane: Lane) -> str:
    return "" if lane is Lane.READING else ", or send long queries to /async"


class LaneCall(Generic[_T]):
    """A function call as the work of a request, with its result as a future."""

    def __init__(self, call: Callable[[], _T]) -> None:
        self.result: Future[_T] = Future()
        self._call = call

    def do_work(self, slot: LaneSlot) -> None:  # noqa: ARG002 (LaneWork)
        if not self.result.set_running_or_notify_cancel():
            return  # the client has gone
        try:
            self.result.set_result(self._call())
        except BaseException as error:
            self.result.set_exception(error)

    def end_work(self, refusal: ServiceError | None = None) -> None:
        if refusal is not None and self.result.set_running_or_notify_cancel():
            self.result.set_exception(refusal)
