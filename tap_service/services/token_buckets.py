"""Limits of the rate of requests of each client, in the memory of a process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

#: maximum number of clients in memory; the client whose last request is oldest is dropped, its bucket is nearly full
_MAX_CLIENTS = 10_000


class TokenBuckets:
    """A token bucket for each client. Thread-safe.

    Parameters
    ----------
    per_minute : int
        The size of a bucket, which is full at first, and the number of tokens added per minute; 0 for no limit.
    clock : Callable[[], float]
        Returns seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        #: tokens at an instant, and the instant
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take_token(self, client: str) -> float:
        """Take a token for a request.

        Parameters
        ----------
        client : str
            The key of the client.

        Returns
        -------
        float
            0 if a token was taken; otherwise the seconds until the next token.
        """
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
