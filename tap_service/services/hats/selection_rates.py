"""How many selections, of columns and rows, a client may begin in a minute."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict

from tap_service.service_errors import TooManySelections
from tap_service.services.token_buckets import TokenBuckets

#: selections that are remembered; one that was used longest ago counts again
_MAX_BEGUN = 10_000


class SelectionRates:
    """Thread-safe. Further partitions of a selection that a client has begun are free, as LSDB asks for all of them."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._rates = TokenBuckets(per_minute)
        self._lock = threading.Lock()
        self._begun: OrderedDict[tuple[str, str], None] = OrderedDict()

    def begin_selection(self, client: str, selection: str) -> None:
        """Count a selection unless the client has begun it. Raises TooManySelections."""
        with self._lock:
            if (client, selection) not in self._begun and (seconds := self._rates.take_token(client)):
                raise TooManySelections(
                    f"selections of columns and filters are limited to {self._per_minute} new ones a minute: wait "
                    f"{math.ceil(seconds)} seconds, read all partitions with one selection, or leave out columns and "
                    "filters. One TAP query with your list as an upload replaces many selections",
                    seconds,
                )
            self._begun[client, selection] = None
            self._begun.move_to_end((client, selection))
            if len(self._begun) > _MAX_BEGUN:
                self._begun.popitem(last=False)
