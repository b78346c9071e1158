"""Read the parameters of a request for the history."""

from __future__ import annotations

from collections.abc import Sequence

from tap_service.models.request_parameters import (
    Pair,
    parse_count,
    parse_search,
    parse_time,
    read_single_values,
    shorten_value,
)
from tap_service.service_errors import ParameterError
from tap_service.services.history.query_history import HistoryFilter

MAX_LISTED = 1000
STATUSES = ("OK", "OVERFLOW", "REUSED", "ERROR", "ABORTED", "GONE")


def parse_history_filter(pairs: Sequence[Pair]) -> HistoryFilter:
    """Read the filters of a request for the history.

    Parameters
    ----------
    pairs : Sequence[Pair]
        One of AFTER and BEFORE (instants), LAST (a number of queries), SEARCH (words) and CURSOR, and any number of
        STATUS; other parameters are ignored.

    Raises
    ------
    ParameterError
        A value is invalid, or a parameter occurs twice.
    """
    given = read_single_values(pairs, ("AFTER", "BEFORE", "LAST", "SEARCH", "CURSOR"))
    return HistoryFilter(
        parse_time("AFTER", given["AFTER"]) if "AFTER" in given else None,
        parse_time("BEFORE", given["BEFORE"]) if "BEFORE" in given else None,
        frozenset(_parse_status(value) for name, value in pairs if name.upper() == "STATUS"),
        parse_search(given.get("SEARCH", "")),
        min(parse_count("LAST", given.get("LAST", "100"), "queries"), MAX_LISTED),
        given.get("CURSOR", ""),
    )


def _parse_status(value: str) -> str:
    status = value.strip().upper()
    if status not in STATUSES:
        raise ParameterError(f"STATUS={shorten_value(value)} is unknown; give one of {', '.join(STATUSES)}")
    return status
