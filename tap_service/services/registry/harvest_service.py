"""Answers the requests of harvesters: the verbs of OAI-PMH 2.0 with their arguments, and its errors.

Resumption tokens contain the arguments of the list and the last identifier of the page. The service stores nothing
about them, so they never expire. They are checked like arguments, because clients can write tokens themselves.
"""

from __future__ import annotations

import base64
import binascii
import logging
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlencode

from tap_service.constants import REGISTRY_PAGE_RECORDS
from tap_service.documents.oai_documents import (
    MANAGED_SET,
    METADATA_FORMATS,
    RESOURCE_PREFIX,
    Page,
    error_element,
    formats_element,
    found_element,
    header_element,
    identify_element,
    list_element,
    oai_document,
    record_element,
    sets_element,
)
from tap_service.models.registry_metadata import REGISTRY_KEY
from tap_service.models.registry_record import RegistryRecord
from tap_service.models.request_parameters import Pair, shorten_value
from tap_service.service_errors import ServiceUnavailable
from tap_service.services.registry.published_records import PublishedRecords
from tap_service.storage.registry_store import RegistryStoreError
from tap_service.xml_text import Markup

_log = logging.getLogger("skyhouse")

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_EVER = 2**62

#: the syntax of arguments by the schema of OAI-PMH, because answers repeat them
_WORD = r"[A-Za-z0-9\-_.!~*'()]+"
_SYNTAX = {
    "metadataPrefix": re.compile(_WORD),
    "set": re.compile(f"{_WORD}(:{_WORD})*"),
    "identifier": re.compile(r"[A-Za-z0-9\-_.!~*'()=+:/?@&;,$%#]{1,500}"),
    "resumptionToken": re.compile(r"[A-Za-z0-9\-_.!~*'()=+:/]{1,2000}"),
}

_LIST = ("metadataPrefix", "from", "until", "set")
_LIST_OPTIONS = ("from", "until", "set", "resumptionToken")


class OaiError(Exception):
    """An error of a request; ``code`` is an error code of OAI-PMH."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class _Window:
    """A list of the records that changed between two instants, inclusive, as Unix time."""

    prefix: str
    first: int
    last: int


class HarvestService:
    """Answers requests to /oai from published records."""

    def __init__(self, records: PublishedRecords) -> None:
        self._records = records

    def answer(self, pairs: list[Pair]) -> bytes:
        """Answer a request.

        Parameters
        ----------
        pairs : list of Pair
            The arguments.

        Returns
        -------
        bytes
            The XML document, which may contain an error of OAI-PMH.

        Raises
        ------
        ServiceUnavailable
            There are no records yet, or their file is unavailable.
        """
        answered = int(time.time())  # before the records are read: the next harvest starts at this instant
        arguments: dict[str, str] = {}
        try:
            self._records.refresh()
            verb = _find_verb(pairs)
            content_of, required, optional = _VERBS[verb]
            known = _check_arguments(verb, pairs, required, optional)
            arguments = {"verb": verb, **known}
            content = content_of(self, known)
        except OaiError as error:
            content = error_element(error.code, str(error))
            if error.code in ("badVerb", "badArgument"):
                arguments = {}
        except RegistryStoreError as error:
            _log.error("%s", error)
            raise ServiceUnavailable("the registry's records cannot be read now; try again later") from error
        return oai_document(self._records.url, arguments, answered, content)

    def refuse(self, message: str) -> bytes:
        """Return the answer to a request whose arguments cannot be read: the error badArgument.

        Parameters
        ----------
        message : str
            The reason.
        """
        return oai_document(self._records.url, {}, int(time.time()), error_element("badArgument", message))

    def close(self) -> None:
        """Close the file of records."""
        self._records.close()

    # --- the verbs

    def _identify(self, _: dict[str, str]) -> Markup:
        records = self._records
        metadata = records.metadata
        registry = self._find_record(metadata.make_identifier(REGISTRY_KEY))
        start = records.store.read_start()
        earliest = registry.changed if start is None else start
        return identify_element(metadata.publisher, records.url, metadata.contact.email, earliest, registry)

    def _list_formats(self, arguments: dict[str, str]) -> Markup:
        if "identifier" in arguments:
            self._find_record(arguments["identifier"])
        return formats_element()

    def _list_sets(self, arguments: dict[str, str]) -> Markup:
        if "resumptionToken" in arguments:
            raise _token_error()
        return sets_element()

    def _get_record(self, arguments: dict[str, str]) -> Markup:
        prefix = _check_prefix(arguments["metadataPrefix"])
        found = self._find_record(arguments["identifier"])
        return found_element(found, prefix)

    def _list_identifiers(self, arguments: dict[str, str]) -> Markup:
        return self._list("ListIdentifiers", arguments, lambda record, _: header_element(record), with_content=False)

    def _list_records(self, arguments: dict[str, str]) -> Markup:
        return self._list("ListRecords", arguments, record_element, with_content=True)

    # --- records

    def _find_record(self, identifier: str) -> RegistryRecord:
        found = self._records.store.find_record(identifier)
        if found is None:
            raise OaiError(
                "idDoesNotExist",
                f"this registry has no record {_repeat(identifier)}; verb=ListIdentifiers&metadataPrefix="
                f"{RESOURCE_PREFIX} lists all",
            )
        return found

    def _list(
        self,
        verb: str,
        arguments: dict[str, str],
        write: Callable[[RegistryRecord, str], Markup],
        *,
        with_content: bool,
    ) -> Markup:
        after, begin = "", 0
        if token := arguments.get("resumptionToken"):
            arguments, after, begin = _read_token(verb, token)
        window = _find_window(arguments)
        store = self._records.store
        limit = REGISTRY_PAGE_RECORDS + 1
        found = store.list_records(window.first, window.last, after, limit, with_content=with_content)
        if not found:
            if token:
                raise _token_error()
            raise OaiError(
                "noRecordsMatch", "no record has changed in this time; without from and until, all records are listed"
            )
        page = found[:REGISTRY_PAGE_RECORDS]
        more = ""
        if len(found) > len(page):
            more = _write_token(verb, arguments, page[-1].identifier, begin + len(page))
        whole = Page(tuple(page), begin, store.count_records(window.first, window.last), more)
        return list_element(verb, (write(record, window.prefix) for record in page), whole)


#: verb -> (method, required arguments, optional arguments)
_VERBS: dict[str, tuple[Callable[[HarvestService, dict[str, str]], Markup], tuple[str, ...], tuple[str, ...]]] = {
    "Identify": (HarvestService._identify, (), ()),
    "ListMetadataFormats": (HarvestService._list_formats, (), ("identifier",)),
    "ListSets": (HarvestService._list_sets, (), ("resumptionToken",)),
    "GetRecord": (HarvestService._get_record, ("identifier", "metadataPrefix"), ()),
    "ListIdentifiers": (HarvestService._list_identifiers, ("metadataPrefix",), _LIST_OPTIONS),
    "ListRecords": (HarvestService._list_records, ("metadataPrefix",), _LIST_OPTIONS),
}


# --- arguments --------------------------------------------------------------------------------------------------------


def _find_verb(pairs: list[Pair]) -> str:
    verbs = [value for name, value in pairs if name == "verb"]
    known = ", ".join(_VERBS)
    if not verbs:
        raise OaiError("badVerb", f"the request has no verb; give one of {known}, such as verb=Identify")
    if len(verbs) > 1:
        raise OaiError("badVerb", "the request has several verbs; give one")
    if verbs[0] not in _VERBS:
        raise OaiError("badVerb", f"{_repeat(verbs[0])} is not a verb of OAI-PMH; give one of {known}")
    return verbs[0]


def _check_arguments(
    verb: str, pairs: list[Pair], required: tuple[str, ...], optional: tuple[str, ...]
) -> dict[str, str]:
    """Return the arguments except the verb. Raises OaiError."""
    counts = Counter(name for name, _ in pairs)
    allowed = (*required, *optional)
    for name, count in counts.items():
        if name != "verb" and name not in allowed:
            others = f"its arguments are {', '.join(allowed)}" if allowed else "it has no arguments"
            raise OaiError("badArgument", f"{_repeat(name)} is not an argument of {verb}: {others}")
        if count > 1:
            raise OaiError("badArgument", f"the argument {name} occurs {count} times; give it once")
    arguments = {name: value for name, value in pairs if name != "verb"}
    if empty := next((name for name, value in arguments.items() if not value), ""):
        raise OaiError("badArgument", f"the argument {empty} is empty; give a value, or leave it out")
    for name, pattern in _SYNTAX.items():
        if name in arguments and not pattern.fullmatch(arguments[name]):
            raise OaiError(
                "badArgument", f"{name}={_repeat(arguments[name])} is too long, or contains invalid characters"
            )
    if "resumptionToken" in arguments:
        if len(arguments) > 1:
            raise OaiError("badArgument", "give resumptionToken alone: it contains the other arguments")
        return arguments
    if missing := next((name for name in required if name not in arguments), ""):
        hint = f", such as {missing}={RESOURCE_PREFIX}" if missing == "metadataPrefix" else ""
        raise OaiError("badArgument", f"{verb} needs the argument {missing}{hint}")
    return arguments


def _check_prefix(prefix: str) -> str:
    if prefix not in METADATA_FORMATS:
        known = " and ".join(METADATA_FORMATS)
        raise OaiError("cannotDisseminateFormat", f"there are no records in {_repeat(prefix)}, only in {known}")
    return prefix


def _find_window(arguments: dict[str, str]) -> _Window:
    start, end = arguments.get("from", ""), arguments.get("until", "")
    first = _parse_datestamp("from", start, is_end=False) if start else -_EVER
    last = _parse_datestamp("until", end, is_end=True) if end else _EVER
    if start and end and len(start) != len(end):
        raise OaiError("badArgument", "from and until must both be days, or both have a time")
    if first > last:
        raise OaiError("badArgument", f"from={start} is after until={end}; give the earlier instant as from")
    prefix = _check_prefix(arguments["metadataPrefix"])
    if arguments.get("set", MANAGED_SET) != MANAGED_SET:
        raise OaiError(
            "noRecordsMatch", f"there is no set {_repeat(arguments['set'])}; all records are in {MANAGED_SET}"
        )
    return _Window(prefix, first, last)


def _parse_datestamp(name: str, text: str, *, is_end: bool) -> int:
    """Return an instant as Unix time; a day that is the end of a window means its last second."""
    try:
        if _DAY.fullmatch(text):
            day = datetime.fromisoformat(text).replace(tzinfo=UTC)
            return int(day.timestamp()) + (86_399 if is_end else 0)
        if _SECOND.fullmatch(text):
            return int(datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC).timestamp())
    except ValueError:
        pass
    raise OaiError(
        "badArgument", f"{name}={_repeat(text)} is not an instant: write 2026-01-31 or 2026-01-31T12:00:00Z, in UTC"
    )


def _repeat(text: str) -> str:
    return f"'{shorten_value(text)}'"


# --- resumption tokens ------------------------------------------------------------------------------------------------


def _write_token(verb: str, arguments: dict[str, str], after: str, begin: int) -> str:
    values = {"verb": verb, **{name: arguments.get(name, "") for name in _LIST}, "after": after, "begin": str(begin)}
    return base64.urlsafe_b64encode(urlencode(values).encode()).decode().rstrip("=")


def _read_token(verb: str, token: str) -> tuple[dict[str, str], str, int]:
    """Return the arguments of the list, the last identifier that was sent, and the number of records sent."""
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        text = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=9)
        values = dict(pairs)
        arguments = {name: values[name] for name in _LIST if values[name]}
        after, begin = values["after"], int(values["begin"])
        if _write_token(values["verb"], arguments, after, begin) != token or values["verb"] != verb or begin < 1:
            raise ValueError
        _find_window(arguments)
    except (ValueError, KeyError, OaiError, binascii.Error) as error:
        raise _token_error() from error
    return arguments, after, begin


def _token_error() -> OaiError:
    return OaiError("badResumptionToken", "this is not a token of this list; start the list again without it")
