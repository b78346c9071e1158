"""Translate ClickHouse's errors, from whatever back end."""

from __future__ import annotations

import re

from tap_service.storage.engine.engine import (
    EngineError,
    EngineUnavailable,
    QueryCancelled,
    QueryTimeout,
    ResourceLimit,
    StorageFull,
    ValueFault,
)

_ERRORS: dict[int, type[EngineError]] = {
    159: QueryTimeout,
    394: QueryCancelled,
    **dict.fromkeys((236, 735), QueryCancelled),  # ABORTED, QUERY_WAS_CANCELLED_BY_CLIENT
    **dict.fromkeys((241, 158, 307, 396, 191, 161, 167, 168, 306, 173, 718), ResourceLimit),
    243: StorageFull,
    **dict.fromkeys(
        (6, 27, 32, 36, 38, 41, 43, 53, 69, 70, 72, 125, 128, 131, 153, 190, 321, 349, 395, 407, 427, 467, 691),
        ValueFault,
    ),
    # Skyhouse's user is refused or exceeded its quota; too many queries; a shard, replica or Keeper is unreachable
    **dict.fromkeys(
        (192, 193, 194, 201, 516, 202, 203, 745, 209, 210, 225, 242, 254, 279, 285, 319, 519, 733, 999),
        EngineUnavailable,
    ),
}

_CODE = re.compile(r"Code: (\d+)\. (?:DB::Exception: )?")
_SHARD = re.compile(r"^Received from \S+\. (?:DB::Exception: )?")
_INNER_PARTS = re.compile(r": (?:In scope|while executing|While executing|In query|while processing)\b|\. Stack trace")
_VERSION = re.compile(r"\s*\(version [^()]*(?:\([^()]*\))?\)\s*$")
_NAME = re.compile(r"\s*\(([A-Z0-9_]{4,})\)\s*$")


def translate_error(text: str) -> EngineError:
    """Return the ``EngineError`` for ClickHouse's text, by the innermost code in it."""
    codes = _CODE.findall(text)
    code = int(codes[-1]) if codes else 0
    # a full disk has the code of any failed write
    kind = StorageFull if "No space left on device" in text else _ERRORS.get(code, EngineError)
    return kind(shorten_message(text), code, text)


def shorten_message(text: str) -> str:
    """Remove the prefix, the version and the engine's internals from a message."""
    message = _SHARD.sub("", _CODE.split(text)[-1])
    message = _VERSION.sub("", _INNER_PARTS.split(message)[0])
    return _NAME.sub("", _NAME.sub("", message)).strip().rstrip(":.")
