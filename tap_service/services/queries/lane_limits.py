"""How many requests to /sync work and wait at once, in each lane and for each client."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tap_service.config import Config
from tap_service.models.engine_share import Lane
from tap_service.settings.client_limits import ClientLimit, find_client_limit, find_open_part

#: light queries are short: twice as many run at once as heavy ones
_LIGHT_PER_HEAVY = 2
#: few, so that a query's thread seldom waits for theirs; a name service may hold one for seconds
_READING_PLACES = 6
#: of one client at once: pages and scripts ask for many small things at the same time
_MAX_READING = 2
_MAX_WAITING_TO_READ = 200
#: for requests that wait for name services, fetched tables, or readers of uploads
_FETCHING_PLACES = 8
#: translation holds the interpreter lock: more threads would not make it faster
_ESTIMATING_PLACES = 2


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """``places`` and ``waiting`` of each lane; limits of clients by user name and class, which ``find_class`` tells.

    ``reserve`` is the part of the waiting requests that is kept for users, in percent.
    """

    places: Mapping[Lane, int]
    waiting: int
    client: ClientLimit
    overrides: Mapping[str, ClientLimit]
    find_class: Callable[[str], str] = field(default=lambda _: "")
    reserve: int = 0

    @classmethod
    def from_config(cls, config: Config, find_class: Callable[[str], str] = lambda _: "") -> LaneLimits:
        heavy = config.concurrent_queries
        places = {
            Lane.READING: _READING_PLACES,
            Lane.ESTIMATING: _ESTIMATING_PLACES,
            Lane.FETCHING: _FETCHING_PLACES,
            Lane.LIGHT: _LIGHT_PER_HEAVY * heavy,
            Lane.MEDIUM: heavy,
            Lane.HEAVY: heavy,
            Lane.BULK: config.bulk_queries,
        }
        client = ClientLimit(config.client_running_queries, config.client_waiting_queries)
        return cls(places, config.waiting_queries, client, config.client_limits, find_class, config.user_reserve)

    def find_client_limit(self, owner: str | None) -> ClientLimit:
        """Return the limits of a user, or of each address of anonymous clients."""
        class_of = "" if owner is None else self.find_class(owner)
        return find_client_limit(self.overrides, owner, class_of) or self.client

    def count_all_waiting(self, lane: Lane, owner: str | None) -> float:
        """Return below how many waiting requests of all clients another one of a client may wait for a lane.

        Only the limits of connections hold for short reads: to refuse them would let a few clients keep out all others.
        """
        if lane is Lane.READING:
            return math.inf
        return self.waiting if owner is not None else find_open_part(self.waiting, self.reserve)

    def count_running(self, lane: Lane, client: ClientLimit) -> int:
        """Return how many of a client's requests a lane runs at once: it keeps a place for another client."""
        most = _MAX_READING if lane is Lane.READING else max(1, self.places[lane] - 1)
        return min(client.running, most)

    def count_waiting(self, lane: Lane, client: ClientLimit) -> int:
        """Return how many of a client's requests may wait for a lane."""
        return max(client.waiting, _MAX_WAITING_TO_READ) if lane is Lane.READING else client.waiting
