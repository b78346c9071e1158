"""Reads the parameters of UWS requests: control parameters of a job, filters of the job list, and WAIT."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from tap_service.models.request_parameters import (
    Pair,
    parse_count,
    parse_search,
    parse_time,
    read_single_values,
    refuse_controls,
)
from tap_service.models.uws_job import ExecutionPhase, JobFilter
from tap_service.service_errors import ParameterError

#: parameters that control a job and do not belong to its query
_CONTROL_PARAMETERS = ("PHASE", "EXECUTIONDURATION", "DESTRUCTION", "NOTE")

MAX_NAME, MAX_NOTE = 200, 4096


def split_control_parameters(pairs: Sequence[Pair]) -> tuple[dict[str, str], list[Pair]]:
    """Separate the control parameters of a job from the parameters of its query."""
    control: dict[str, str] = {}
    parameters: list[Pair] = []
    for name, value in pairs:
        if name.upper() not in _CONTROL_PARAMETERS:
            parameters += [(name, value)] if name else []
        elif value:
            control[name.upper()] = value
    return control, parameters


def find_run_id(pairs: Sequence[Pair]) -> str | None:
    """Return the last RUNID, or None. Raises ParameterError."""
    found = [value for name, value in pairs if name.upper() == "RUNID"]
    for value in found:
        refuse_controls("RUNID", value)
    return found[-1] if found else None


def parse_duration(text: str, max_seconds: int) -> int:
    """Return the seconds, reduced to the maximum, which 0 requests too. Raises ParameterError."""
    if not re.fullmatch(r"[0-9]{1,18}", text.strip(), re.ASCII):
        raise ParameterError("EXECUTIONDURATION is a number of seconds, such as 600; 0 is the longest possible")
    return min(int(text) or max_seconds, max_seconds)


def parse_destruction(text: str, latest: datetime) -> datetime:
    """Return the time, reduced to the latest. Raises ParameterError."""
    return min(parse_time("DESTRUCTION", text), latest)


def parse_name(text: str) -> str:
    """Return the name that a user gives to a job, '' for none. Raises ParameterError."""
    name = text.strip()
    if len(name) > MAX_NAME or not name.isprintable():
        raise ParameterError(f"NAME has up to {MAX_NAME} printable characters, in one line")
    return name


def parse_job_filter(pairs: Sequence[Pair]) -> JobFilter:
    """Read the filters of a job list.

    Parameters
    ----------
    pairs : Sequence[Pair]
        Any number of PHASE, one of AFTER and BEFORE (instants), LAST (a number of jobs) and SEARCH (words); other
        parameters are ignored.

    Raises
    ------
    ParameterError
        A value is invalid.
    """
    given = read_single_values(pairs, ("AFTER", "BEFORE", "LAST", "SEARCH"))
    return JobFilter(
        None,
        frozenset(_parse_phase(value) for name, value in pairs if name.upper() == "PHASE"),
        parse_time("AFTER", given["AFTER"]) if "AFTER" in given else None,
        parse_count("LAST", given["LAST"], "jobs") if "LAST" in given else None,
        parse_time("BEFORE", given["BEFORE"]) if "BEFORE" in given else None,
        parse_search(given.get("SEARCH", "")),
    )


def parse_wait(pairs: Sequence[Pair]) -> tuple[int, str]:
    """Read how long a request for a job waits for a change.

    Returns
    -------
    tuple
        WAIT in seconds (0: do not wait, -1: the maximum), and PHASE ('': any).

    Raises
    ------
    ParameterError
        A value is invalid.
    """
    given = read_single_values(pairs, ("WAIT", "PHASE"))
    seconds = given.get("WAIT", "0").strip()
    if not re.fullmatch(r"-1|[0-9]{1,18}", seconds, re.ASCII):
        raise ParameterError("WAIT is a number of seconds, such as 30, or -1 for the maximum")
    return int(seconds), _parse_phase(given["PHASE"]) if "PHASE" in given else ""


def _parse_phase(value: str) -> ExecutionPhase:
    try:
        return ExecutionPhase(value.strip().upper())
    except ValueError as error:
        raise ParameterError(f"PHASE={value[:60]} is not known; the phases are: {', '.join(ExecutionPhase)}") from error
