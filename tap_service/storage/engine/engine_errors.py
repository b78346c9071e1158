"""Translates the errors of ClickHouse, of all engines."""

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
    # 734, a write to an abandoned buffer: a thread of a join reports it if another thread lacks memory
    **dict.fromkeys((241, 173, 734), MemoryLimit),
    **dict.fromkeys((158, 307, 396, 191, 161, 167, 168, 306, 718), ResourceLimit),
    243: StorageFull,
    **dict.fromkeys(
        (6, 27, 32, 36, 38, 41, 43, 53, 69, 70, 72, 125, 128, 131, 153, 190, 321, 349, 395, 407, 427, 467, 691),
        EngineValueError,
    ),
}

#: messages for users instead of the engine's messages, which may name servers and users
_UNAVAILABLE = {
    **dict.fromkeys((192, 193, 194, 516), "the engine refuses the service's user"),
    201: "the engine's quota for this service is used up",
    **dict.fromkeys((202, 203, 745), "the engine is busy with too many queries"),
    **dict.fromkeys((225, 242, 254, 285, 319, 519, 733, 999), "tables in the engine cannot be changed now"),
}

#: NETWORK_ERROR and similar errors between the engine's servers, whose messages contain no text of a query
_NETWORK_CODES = frozenset({95, 96, 198, 209, 210, 279})

#: unexpected ends of data, which are errors of values unless the data come from a connection
_END_CODES = frozenset({3, 32})
_READS_CONNECTION = re.compile(
    r"^(?:Attempt to read after eof|Unexpected (?:end of file|EOF))[^:]*: while (?:receiving \w+|reading) from "
)
_NO_CONNECTION = re.compile(
    r"ALL_CONNECTION_TRIES_FAILED|DNS_ERROR|[Cc]onnection refused|connect timed out|No route to"
)

#: the gateway's message for users about attached files, within the engine's report of the gateway's answer
_FILES_REFUSED = re.compile(rf"{FILES_MARK}(.+?){FILES_MARK}")

#: the location of an attached file in the engine's messages: an address of the gateway, with its secret
_FILE_ADDRESS = re.compile(r" ?\(in file/uri [^()]*\)|https?://[^\s;'\"()]+\.parquet")

#: the engine's message about a definition that a full disk left empty or truncated: see ``definition_files``
_BROKEN_DEFINITION = re.compile(r"\(in file (?:store|metadata)/[^()]*\.sql\)")

_SHARD_UNAVAILABLE = "a server of the engine, which holds a part of the data, does not answer"
_SHARD_LOST = "a server of the engine became unreachable during the query"

_CODE = re.compile(r"Code: (\d+)\. (?:DB::\w+: )?")
_SHARD = re.compile(r"^(?:Received from \S+\. (?:DB::\w+: )?)+")
_INNER_PARTS = re.compile(r": (?:In scope|while executing|While executing|In query|while processing)\b|\. Stack trace")
_VERSION = re.compile(r"\s*\(version [^()]*(?:\([^()]*\))?\)\s*$")
_NAME = re.compile(r"\s*\(([A-Z0-9_]{4,})\)\s*$")


def translate_error(text: str) -> EngineError:
    """Translate an error text of ClickHouse.

    Parameters
    ----------
    text : str
        The complete text, with its codes, or an error of the HTTP driver.

    Returns
    -------
    EngineError
        An error of the subclass for the innermost code in the text. Its message names no server, user or path.
    """
    codes = _CODE.findall(text)
    code = int(codes[-1]) if codes else 0
    if (refused := _FILES_REFUSED.search(text)) is not None:
        return FilesUnavailable(refused[1], code, _FILE_ADDRESS.sub("", text))
    text = _FILE_ADDRESS.sub("", text)
    message = shorten_message(text)
    if code in _NETWORK_CODES or (code in _END_CODES and _READS_CONNECTION.match(message)):
        if _NO_CONNECTION.search(text):
            return ShardUnavailable(_SHARD_UNAVAILABLE, code, text)
        return ShardLost(_SHARD_LOST, code, text)
    if code in _UNAVAILABLE:
        return EngineUnavailable(_UNAVAILABLE[code], code, text)
    if _BROKEN_DEFINITION.search(text):
        return StorageFull("a definition could not be written completely", code, text)
    # a full disk has the same code as any failed write
    kind = StorageFull if "No space left on device" in text else _ERRORS.get(code, EngineError)
    return kind(message, code, text)


def shorten_message(text: str) -> str:
    """Remove the prefix, the version and the internals of the engine from a message.

    Parameters
    ----------
    text : str
        An error text of ClickHouse, in which an inner error follows an outer one.

    Returns
    -------
    str
        The innermost message, without a full stop at its end.
    """
    message = _SHARD.sub("", _CODE.split(text)[-1])
    message = _VERSION.sub("", _INNER_PARTS.split(message)[0])
    return _NAME.sub("", _NAME.sub("", message)).strip().rstrip(":.")
