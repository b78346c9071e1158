"""Reads the parameters of a request for the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tap_service.models.request_parameters import Pair, parse_count, parse_time, shorten_value
from tap_service.service_errors import ParameterFault
from tap_service.services.history.query_history import HistoryFilter

MAX_LISTED = 1000
STATUSES = ("OK", "OVERFLOW", "REUSED", "ERROR", "ABORTED", "GONE")
_MAX_SEARCH = 500


def parse_history_filter(pairs: Sequence[Pair]) -> HistoryFilter:
    """Read the filters of the history; other parameters are ignored. Raises ParameterFault."""
    wanted = HistoryFilter()
    for name, value in pairs:
        known = name.upper()
        if known == "STATUS":
            wanted = replace(wanted, statuses=wanted.statuses | {_parse_status(value)})
        elif known == "AFTER":
            wanted = replace(wanted, after=parse_time(known, value))
        elif known == "BEFORE":
            wanted = replace(wanted, before=parse_time(known, value))
        elif known == "LAST":
            wanted = replace(wanted, last=min(parse_count(known, value, "queries"), MAX_LISTED))
        elif known == "SEARCH":
            if len(value) > _MAX_SEARCH:
                raise ParameterFault(f"SEARCH has up to {_MAX_SEARCH} characters: the words to look for")
            wanted = replace(wanted, words=(*wanted.words, *value.split()))
        elif known == "CURSOR":
            wanted = replace(wanted, cursor=value)
    return wanted


def _parse_status(value: str) -> str:
    status = value.strip().upper()
    if status not in STATUSES:
        raise ParameterFault(f"STATUS={shorten_value(value)} is not known; it is one of {', '.join(STATUSES)}")
    return status
