"""The maximum number of requests to /sync that work and wait at once, in each lane and for each client."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tap_service.config import Config
from tap_service.models.client import Client
from tap_service.models.engine_share import Lane
from tap_service.settings.client_limits import find_open_part

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
    """The number of slots of each lane, and of requests that may wait in each.

    ``reserve`` is the part of the waiting requests that is kept for users, in percent.
    """

    slots: Mapping[Lane, int]
    waiting: int
    reserve: int = 0

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
        return cls(slots, config.waiting_queries, config.user_reserve)

    def count_all_waiting(self, lane: Lane, client: Client) -> float:
        """Return the maximum number of waiting requests of all clients before a client is refused.

        Only the limits of connections hold for short reads: to refuse them would let a few clients keep out all others.
        """
        if lane is Lane.READING:
            return math.inf
        return self.waiting if client.name is not None else find_open_part(self.waiting, self.reserve)

    def count_running(self, lane: Lane, client: Client) -> int:
        """Return the maximum number of a client's requests that a lane runs at once: a slot is for other clients."""
        most = _MAX_READING if lane is Lane.READING else max(1, self.slots[lane] - 1)
        return min(client.limits.running, most)

    def count_waiting(self, lane: Lane, client: Client) -> int:
        """Return the maximum number of a client's requests that may wait in a lane."""
        waiting = client.limits.waiting
        return max(waiting, _MAX_WAITING_TO_READ) if lane is Lane.READING else waiting
