"""Resolves object names to positions with the CDS' Sesame service, if the operator permits network access.

The answer is not trusted: its time and size are limited, and only two numbers are read from it.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import quote

from adql import NameLookupError, make_printable
from tap_service.deadline import Deadline
from tap_service.http_connections import CONNECTION_ERRORS, open_response, read_body

_log = logging.getLogger("skyhouse")

#: ask Simbad, NED and VizieR in this order until one knows the name; answer in plain text
_QUERY = "-oI/SNV?"
_POSITION = re.compile(r"^%J +([0-9.]{1,20}) +([-+]?[0-9.]{1,20})(?: |$)", re.MULTILINE)
_MAX_BYTES = 65_536
_MAX_CACHED_NAMES = 1000
_CACHED_SECONDS = 3600.0

Position = tuple[float, float]


class SesameResolver:
    """Asks Sesame for positions, and remembers them for an hour. Thread-safe; calls block.

    Parameters
    ----------
    url
        The URL of the service, which the operator has set.
    seconds
        The limit for one name, from the connection to the last byte.
    clock
        A monotonic clock in seconds.
    """

    def __init__(self, url: str, seconds: float = 5.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url.rstrip("/")
        self._seconds = seconds
        self._clock = clock
        self._cache: OrderedDict[str, tuple[float, Position | None]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, name: str) -> Position:
        """Return the position of an object.

        Parameters
        ----------
        name
            The name, as Simbad, NED or VizieR know it.

        Returns
        -------
        Position
            Right ascension and declination in degrees, ICRS.

        Raises
        ------
        NameLookupError
            The name is unknown, or Sesame does not answer in time or as expected.
        """
        with self._lock:
            until, position = self._cache.get(name, (0.0, None))
        if self._clock() >= until:
            position = self._parse_position(self._fetch_answer(name), name)
            self._cache_position(name, position)
        if position is None:
            raise NameLookupError(f"no object called '{make_printable(name)}' is known to Simbad, NED or VizieR")
        return position

    def _cache_position(self, name: str, position: Position | None) -> None:
        with self._lock:
            self._cache[name] = (self._clock() + _CACHED_SECONDS, position)
            self._cache.move_to_end(name)
            while len(self._cache) > _MAX_CACHED_NAMES:
                self._cache.popitem(last=False)

    def _parse_position(self, answer: str, name: str) -> Position | None:
        """Return None for an unknown name."""
        if not answer.startswith("#"):
            raise self._log_error(name, "the answer is not from Sesame")
        found = _POSITION.search(answer)
        if found is None:
            return None
        try:
            ra, dec = float(found[1]), float(found[2])
        except ValueError as error:
            raise self._log_error(name, "the position is not a pair of numbers") from error
        if not (0 <= ra <= 360 and -90 <= dec <= 90):
            raise self._log_error(name, "the position is out of range")
        return ra, dec

    def _log_error(self, name: str, reason: object) -> NameLookupError:
        _log.warning("Sesame failed for %r: %s", name, reason)
        return NameLookupError(
            f"the position of '{make_printable(name)}' cannot be looked up now; write it as POINT(ra, dec)"
        )

    def _fetch_answer(self, name: str) -> str:
        url = f"{self._url}/{_QUERY}{quote(name, safe='')}"
        try:
            with (
                Deadline(self._seconds) as deadline,
                # the operator names the server, which may be local
                open_response("GET", url, deadline, hosts=None, headers={"Accept": "text/plain"}) as response,
            ):
                body = read_body(response, _MAX_BYTES + 1)
        except CONNECTION_ERRORS as error:
            raise self._log_error(name, error) from error
        if response.status != 200 or deadline.has_passed or len(body) > _MAX_BYTES:
            raise self._log_error(name, f"status {response.status}, {len(body)} bytes{', late' * deadline.has_passed}")
        return body.decode("utf-8", "replace")
