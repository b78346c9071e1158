"""Limits the number of new selections of columns and rows per client and minute."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict

from tap_service.service_errors import TooManySelections
from tap_service.services.token_buckets import TokenBuckets

#: maximum number of selections in memory; a selection that was dropped because it was used longest ago counts again
_MAX_STARTED = 10_000


class SelectionRates:
    """Counts new selections. Thread-safe.

    Only the first partition of a selection counts, because LSDB requests all partitions with the same selection.
    """

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._rates = TokenBuckets(per_minute)
        self._lock = threading.Lock()
        self._started: OrderedDict[tuple[str, str], None] = OrderedDict()

    def start_selection(self, client: str, selection: str) -> None:
        """Count a selection unless the client has used it before.

        Parameters
        ----------
        client, selection : str
            The keys of the client and of the selection.

        Raises
        ------
        TooManySelections
            The client has started too many selections in the last minute.
        """
        with self._lock:
            if (client, selection) not in self._started and (seconds := self._rates.take_token(client)):
                raise TooManySelections(
                    f"the number of new selections of columns and filters is limited to {self._per_minute} per minute: "
                    f"wait {math.ceil(seconds)} seconds, read all partitions with one selection, or leave out columns "
                    "and filters. Instead of many selections, send one TAP query with your list as an upload",
                    seconds,
                )
            self._started[client, selection] = None
            self._started.move_to_end((client, selection))
            if len(self._started) > _MAX_STARTED:
                self._started.popitem(last=False)
