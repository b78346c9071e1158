"""Read the parameters of a TAP query (TAP 1.1, section 2.7, and DALI 1.1, section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tap_service.constants import LANGUAGES
from tap_service.models.request_parameters import SINGLE_VALUED, Pair, is_known, read_single_values, shorten_value
from tap_service.models.upload_parameter import Part, TextPart, Upload, read_uploads
from tap_service.serializers import Format, UnknownFormatError, find_format
from tap_service.service_errors import ParameterError

#: an integer with more digits exceeds the rows of every table
_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class TapParameters:
    """The valid parameters of a query.

    Attributes
    ----------
    query, language
        The text, and the value of LANG.
    format
        The output format.
    maxrec
        MAXREC; None if the client gave none.
    runid
        RUNID, the client's name for the query.
    uploads
        The tables of UPLOAD.
    on_timeout
        What a query of /sync becomes at the time limit: 'job', 'error', or '' for the service's default.
    in_history
        Whether the user's history lists the query.
    """

    query: str
    language: str
    format: Format
    maxrec: int | None = None
    runid: str = ""
    uploads: tuple[Upload, ...] = ()
    on_timeout: str = ""
    in_history: bool = True


def read_tap_parameters(
    pairs: Iterable[Pair], max_query_length: int, parts: Mapping[str, Part] | None = None
) -> TapParameters:
    """Read the parameters of a request.

    Parameters
    ----------
    pairs
        Names and values; names are case-insensitive, unknown names and empty values are ignored.
    max_query_length
        The maximum length of a query in characters.
    parts
        The files to which UPLOAD may refer, by name.

    Returns
    -------
    TapParameters
        The values, and the defaults of missing ones. The query is not parsed.

    Raises
    ------
    ParameterError
        The message names the parameter, the error and the way out.
    """
    pairs = tuple(pairs)
    given = read_single_values(pairs, SINGLE_VALUED)
    if (request := given.get("REQUEST", "doQuery")).lower() != "doquery":
        raise ParameterError(f"unknown value REQUEST={shorten_value(request)}; give doQuery, or leave REQUEST out")
    language = _read_language(given.get("LANG", LANGUAGES[0]))
    query = given.get("QUERY", "")
    if not query.strip():
        raise ParameterError(
            "the parameter QUERY is missing: give an ADQL query, such as QUERY=SELECT * FROM TAP_SCHEMA.tables"
        )
    if len(query) > max_query_length:
        raise ParameterError(
            f"the query has {len(query)} characters, and this service accepts at most {max_query_length}: "
            "shorten it, for example by replacing a long list of values by a condition"
        )
    return TapParameters(
        query,
        language,
        read_format(given),
        read_maxrec(given.get("MAXREC", "")),
        given.get("RUNID", ""),
        _read_uploads(pairs, parts or {}),
        _read_on_timeout(given.get("ON_TIMEOUT", "")),
        _read_in_history(given.get("HISTORY", "")),
    )


def _read_uploads(pairs: Sequence[Pair], parts: Mapping[str, Part]) -> tuple[Upload, ...]:
    values = [value for name, value in pairs if name.upper() == "UPLOAD"]
    if not values:
        return ()
    texts = {name: TextPart(value) for name, value in pairs if not is_known(name)}
    return read_uploads(values, {**texts, **parts})


def _read_language(value: str) -> str:
    for known in LANGUAGES:
        if value.strip().upper() == known:
            return known
    raise ParameterError(
        f"unknown query language LANG={shorten_value(value)}; the languages are: {', '.join(LANGUAGES)}"
    )


def read_format(given: Mapping[str, str]) -> Format:
    """Return the format that FORMAT or RESPONSEFORMAT names, or the default.

    Parameters
    ----------
    given
        The values of parameters, by names in upper case.

    Raises
    ------
    ParameterError
        The format is unknown, or both parameters name different formats.
    """
    names = [given[name] for name in ("RESPONSEFORMAT", "FORMAT") if name in given]
    try:
        found = [find_format(name) for name in names or [""]]
    except UnknownFormatError as error:
        raise ParameterError(str(error)) from error
    if found[0] != found[-1]:
        raise ParameterError("FORMAT and RESPONSEFORMAT mean the same but have different values; give one of them")
    return found[0]


def read_maxrec(value: str) -> int | None:
    """Return the value of MAXREC.

    Parameters
    ----------
    value
        The text of the client; '' without MAXREC.

    Returns
    -------
    int or None
        The number of rows, shortened to 18 digits; None for ''.

    Raises
    ------
    ParameterError
        The text is not a number of decimal digits.
    """
    if not value:
        return None
    if not re.fullmatch(r"[0-9]+", value.strip()):
        raise ParameterError(f"MAXREC={shorten_value(value)} is not a number of rows; give 0 or a positive integer")
    return int(value.strip().lstrip("0")[:_MAX_DIGITS] or "0")


def _read_on_timeout(value: str) -> str:
    if (choice := value.strip().lower()) not in ("", "error", "job"):
        raise ParameterError(f"unknown value ON_TIMEOUT={shorten_value(value)}; give job or error")
    return choice


def _read_in_history(value: str) -> bool:
    if (choice := value.strip().lower()) not in ("", "true", "false"):
        raise ParameterError(
            f"unknown value HISTORY={shorten_value(value)}; false leaves the query out of /tap/history"
        )
    return choice != "false"
