"""Translation of ClickHouse's errors."""

from __future__ import annotations

import pytest

from tap_service.storage.engine.engine import EngineError, EngineUnavailable, QueryCancelled, StorageFull, ValueFault
from tap_service.storage.engine.engine_errors import translate_error


@pytest.mark.parametrize(
    ("text", "kind", "code", "said"),
    [
        (
            "Streaming query failed: Code: 243. DB::Exception: No space. (NOT_ENOUGH_SPACE)",
            StorageFull,
            243,
            "No space",
        ),
        ("Code: 1. DB::Exception: Code: 62. DB::Exception: Bad: In scope SELECT x. (A_B)", EngineError, 62, "Bad"),
        (
            "Code: 75. DB::Exception: Cannot write: , errno: 28, strerror: No space left on device",
            StorageFull,
            75,
            "Cannot",
        ),
        ("something else broke", EngineError, 0, "something else broke"),
        (
            "Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED) (version 26.9.2.1 (official build))",
            QueryCancelled,
            394,
            "Query was cancelled",
        ),
        (
            "Code: 153. DB::Exception: Received from ch2:9000. DB::Exception: Division by zero: while executing 'x'.",
            ValueFault,
            153,
            "Division by zero",
        ),
        ("Code: 999. Coordination::Exception: No node. (KEEPER_EXCEPTION)", EngineUnavailable, 999, "Coordination"),
    ],
)
def test_translate_error(text: str, kind: type, code: int, said: str) -> None:
    error = translate_error(text)
    assert (type(error), error.code, error.detail) == (kind, code, text)
    assert str(error).startswith(said)
    assert "version" not in str(error)
