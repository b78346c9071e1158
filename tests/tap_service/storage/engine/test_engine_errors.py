"""Translation of ClickHouse's errors."""

from __future__ import annotations

import pytest

from tap_service.storage.engine.engine import (
    EngineError,
    EngineUnavailable,
    EngineValueError,
    QueryCancelled,
    ShardLost,
    ShardUnavailable,
    StorageFull,
)
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
        (
            "Code: 62. DB::Exception: Empty query (in file store/b54/b54-0/stars__loading.sql). (SYNTAX_ERROR)",
            StorageFull,
            62,
            "a definition could not be written",
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
            EngineValueError,
            153,
            "Division by zero",
        ),
        (
            "Code: 6. DB::Exception: Received from ch1:9000. DB::Exception: Received from ch2:9000. DB::Exception: No.",
            EngineValueError,
            6,
            "No",
        ),
        (
            "Code: 999. Coordination::Exception: No node. (KEEPER_EXCEPTION)",
            EngineUnavailable,
            999,
            "tables in the engine cannot be changed now",
        ),
        (
            "Code: 516. DB::Exception: tap: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)",
            EngineUnavailable,
            516,
            "the engine refuses the service's user",
        ),
        (
            "Code: 201. DB::Exception: Quota for user `tap` for 86400s has been exceeded. (QUOTA_EXCEEDED)",
            EngineUnavailable,
            201,
            "the engine's quota",
        ),
    ],
)
def test_translate_error(text: str, kind: type, code: int, said: str) -> None:
    error = translate_error(text)
    assert (type(error), error.code, error.detail) == (kind, code, text)
    assert str(error).startswith(said)
    assert "version" not in str(error)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "Code: 32. DB::Exception: Attempt to read after eof: while receiving packet from ch2:9000: While executing",
            ShardLost,
        ),
        (
            "Code: 210. DB::NetException: I/O error: Broken pipe, while writing to socket (10.0.0.2:9000). (NETWORK_ERROR)",
            ShardLost,
        ),
        ("Code: 210. DB::NetException: Connection reset by peer, while reading from socket (ch2:9000)", ShardLost),
        ("Code: 209. DB::NetException: Timeout exceeded while reading from socket (ch2:9000)", ShardLost),
        ("Code: 95. DB::Exception: Cannot read from socket ch2:9000", ShardLost),
        ("Code: 96. DB::Exception: Cannot write to socket ch2:9000", ShardLost),
        ("Code: 210. DB::NetException: Connection refused (ch2:9000). (NETWORK_ERROR)", ShardUnavailable),
        ("Code: 209. DB::NetException: Timeout: connect timed out: 10.0.0.2:9000. (SOCKET_TIMEOUT)", ShardUnavailable),
        ("Code: 198. DB::Exception: Not found address of host: ch2. (DNS_ERROR)", ShardUnavailable),
        (
            "Code: 279. DB::Exception: All connection tries failed. Log: \n\nCode: 32. DB::Exception: Attempt to read after"
            " eof. (ATTEMPT_TO_READ_AFTER_EOF)\nCode: 210. DB::NetException: Network is unreachable (ch2:9000)."
            " (NETWORK_ERROR)\n\n: While executing Remote. (ALL_CONNECTION_TRIES_FAILED)",
            ShardUnavailable,
        ),
        (
            "Code: 32. DB::Exception: Received from ch1:9000. DB::Exception: Attempt to read after eof: while receiving"
            " packet from ch2:9000",
            ShardLost,
        ),
    ],
)
def test_an_unreachable_server(text: str, kind: type) -> None:
    error = translate_error(text)
    assert (type(error), error.detail) == (kind, text)
    assert not {"ch1", "ch2", "10.0.0.2", "9000"} & set(str(error).replace(":", " ").split())


@pytest.mark.parametrize(
    "text",
    [
        "Code: 32. DB::Exception: Attempt to read after eof: while converting '' to Int32. (ATTEMPT_TO_READ_AFTER_EOF)",
        "Code: 6. DB::Exception: Cannot parse string 'while receiving packet from ch2:9000' as Int32. (CANNOT_PARSE_TEXT)",
        "Code: 6. DB::Exception: Cannot parse string 'Connection refused' as Int32. (CANNOT_PARSE_TEXT)",
        "Code: 32. DB::Exception: Attempt to read after eof: Cannot parse ': while receiving packet from ch2:9000'",
    ],
)
def test_words_of_a_query_are_not_taken_for_a_server_error(text: str) -> None:
    assert type(translate_error(text)) is EngineValueError


@pytest.mark.parametrize(
    "text",
    [
        "Code: 407. DB::Exception: Convert overflow: (in file/uri http://127.0.0.1:4711/S3cret/00ff/3.parquet): While executing URL. (DECIMAL_OVERFLOW)",
        "Code: 117. DB::Exception: Cannot read http://127.0.0.1:4711/S3cret/00ff/{1,2}.parquet. (INCORRECT_DATA)",
    ],
)
def test_addresses_of_attached_files_reach_neither_users_nor_the_log(text: str) -> None:
    error = translate_error(text)

    assert "S3cret" not in str(error) + error.detail
    assert str(error)
