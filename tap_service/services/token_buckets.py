"""Rates: how often each client may do something, in the memory of a process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

#: clients that are remembered; those that asked longest ago go first, and their buckets are nearly full again
_MAX_CLIENTS = 10_000


class TokenBuckets:
    """A bucket for each client, with ``per_minute`` tokens at first, and as many more each minute; 0: no limit.

    Thread-safe.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        #: tokens, and when there were so many
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take_token(self, client: str) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        if not self._per_minute:
            return 0.0
        now, per_second = self._clock(), self._per_minute / 60
        with self._lock:
            tokens, since = self._buckets.pop(client, (float(self._per_minute), now))
            tokens = min(tokens + (now - since) * per_second, self._per_minute)
            has_token = tokens >= 1
            self._buckets[client] = (tokens - has_token, now)
            if len(self._buckets) > _MAX_CLIENTS:
                self._buckets.popitem(last=False)
        return 0.0 if has_token else (1 - tokens) / per_second
