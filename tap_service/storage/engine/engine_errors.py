"""Translate ClickHouse's errors, from whatever back end."""

from __future__ import annotations

import re

from tap_service.constants import FILES_MARK
from tap_service.storage.engine.engine import (
    EngineError,
    EngineUnavailable,
    EngineValueError,
    FilesUnavailable,
    MemoryLimit,
    QueryCancelled,
    QueryTimeout,
    ResourceLimit,
    ShardLost,
    ShardUnavailable,
    StorageFull,
)

_ERRORS: dict[int, type[EngineError]] = {
    159: QueryTimeout,
    394: QueryCancelled,
    **dict.fromkeys((236, 735), QueryCancelled),  # ABORTED, QUERY_WAS_CANCELLED_BY_CLIENT
    # 734, a write to a buffer that was given up: what a thread of a join reports when another one lacks memory
    **dict.fromkeys((241, 173, 734), MemoryLimit),
    **dict.fromkeys((158, 307, 396, 191, 161, 167, 168, 306, 718), ResourceLimit),
    243: StorageFull,
    **dict.fromkeys(
        (6, 27, 32, 36, 38, 41, 43, 53, 69, 70, 72, 125, 128, 131, 153, 190, 321, 349, 395, 407, 427, 467, 691),
        EngineValueError,
    ),
}

#: messages for users in place of the engine's own, which may name its servers and users
_UNAVAILABLE = {
    **dict.fromkeys((192, 193, 194, 516), "the engine refuses the service's user"),
    201: "the engine's quota for this service is used up",
    **dict.fromkeys((202, 203, 745), "the engine works on too many queries"),
    **dict.fromkeys((225, 242, 254, 285, 319, 519, 733, 999), "tables in the engine cannot be changed now"),
}

#: NETWORK_ERROR and its like between the engine's servers: no text of a query is in such messages
_NETWORK_CODES = frozenset({95, 96, 198, 209, 210, 279})

#: unexpected ends of data, which are faults of values unless they come out of a connection
_END_CODES = frozenset({3, 32})
_READS_CONNECTION = re.compile(
    r"^(?:Attempt to read after eof|Unexpected (?:end of file|EOF))[^:]*: while (?:receiving \w+|reading) from "
)
_NO_CONNECTION = re.compile(
    r"ALL_CONNECTION_TRIES_FAILED|DNS_ERROR|[Cc]onnection refused|connect timed out|No route to"
)

#: What the gateway of attached files says to users, within the engine's report of its answer
_FILES_REFUSED = re.compile(rf"{FILES_MARK}(.+?){FILES_MARK}")

#: the place of an attached file in the engine's messages: an address of the gateway, with its secret
_FILE_ADDRESS = re.compile(r" ?\(in file/uri [^()]*\)|https?://[^\s;'\"()]+\.parquet")

#: What the engine says of a definition that a full disk left empty or cut: see ``definition_files``
_DEFINITION_FAULT = re.compile(r"\(in file (?:store|metadata)/[^()]*\.sql\)")

_SHARD_AWAY = "a server of the engine, which holds a part of the data, does not answer"
_SHARD_LOST = "a server of the engine went away during the query"

_CODE = re.compile(r"Code: (\d+)\. (?:DB::\w+: )?")
_SHARD = re.compile(r"^(?:Received from \S+\. (?:DB::\w+: )?)+")
_INNER_PARTS = re.compile(r": (?:In scope|while executing|While executing|In query|while processing)\b|\. Stack trace")
_VERSION = re.compile(r"\s*\(version [^()]*(?:\([^()]*\))?\)\s*$")
_NAME = re.compile(r"\s*\(([A-Z0-9_]{4,})\)\s*$")


def translate_error(text: str) -> EngineError:
    """Return the ``EngineError`` for ClickHouse's text, by the innermost code in it."""
    codes = _CODE.findall(text)
    code = int(codes[-1]) if codes else 0
    if (refused := _FILES_REFUSED.search(text)) is not None:
        return FilesUnavailable(refused[1], code, _FILE_ADDRESS.sub("", text))
    text = _FILE_ADDRESS.sub("", text)
    message = shorten_message(text)
    if code in _NETWORK_CODES or (code in _END_CODES and _READS_CONNECTION.match(message)):
        if _NO_CONNECTION.search(text):
            return ShardUnavailable(_SHARD_AWAY, code, text)
        return ShardLost(_SHARD_LOST, code, text)
    if code in _UNAVAILABLE:
        return EngineUnavailable(_UNAVAILABLE[code], code, text)
    if _DEFINITION_FAULT.search(text):
        return StorageFull("a definition could not be written as a whole", code, text)
    # a full disk has the code of any failed write
    kind = StorageFull if "No space left on device" in text else _ERRORS.get(code, EngineError)
    return kind(message, code, text)


def shorten_message(text: str) -> str:
    """Remove the prefix, the version and the engine's internals from a message."""
    message = _SHARD.sub("", _CODE.split(text)[-1])
    message = _VERSION.sub("", _INNER_PARTS.split(message)[0])
    return _NAME.sub("", _NAME.sub("", message)).strip().rstrip(":.")
