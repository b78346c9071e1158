"""Translates errors of the engine, the disk and serializers into errors for the user."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from tap_service.scratch_files import NoRoom
from tap_service.serializers import SerializationError
from tap_service.service_errors import (
    ClientGone,
    InternalError,
    InvalidQueryError,
    QueryTooHeavy,
    ServiceError,
    ServiceUnavailable,
)
from tap_service.services.queries.spool import SpoolClosed
from tap_service.services.queries.value_errors import explain_value_error
from tap_service.storage.engine.engine import (
    EngineError,
    EngineUnavailable,
    EngineValueError,
    FilesUnavailable,
    MemoryLimit,
    QueryCancelled,
    QueryTimeout,
    ResourceLimit,
    StorageFull,
)

_log = logging.getLogger("skyhouse")

#: ClickHouse's UNKNOWN_TABLE, UNKNOWN_DATABASE and TABLE_IS_DROPPED: the table changed after the translation
_MISSING_TABLE_CODES = (60, 81, 218)

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def log_status(failure: Exception) -> str:
    """Return the status of a query without a result, for log and metrics: GONE or ERROR."""
    return "GONE" if isinstance(failure, ClientGone) else "ERROR"


def name_engine_error(failure: Exception) -> str:
    """Return the class name of the engine error that ``failure`` is or was caused by; '' if there is none."""
    found = failure if isinstance(failure, EngineError) else failure.__cause__
    return type(found).__name__ if isinstance(found, EngineError) else ""


@contextmanager
def translate_errors(query_id: str) -> Iterator[None]:
    """Translate the errors of the engine, the disk and serializers into errors for the user.

    Errors that the operator should see are logged. A ``ServiceError`` passes through.

    Parameters
    ----------
    query_id : str
        The query that fails, for the log.

    Raises
    ------
    InvalidQueryError
        The query fails on a value.
    QueryTooHeavy
        The query exceeds a limit of the engine, or its result the limit of the disk.
    ClientGone
        The client has closed the connection.
    ServiceUnavailable
        The engine or a disk does not work, the query was cancelled, or a table of it was replaced or dropped.
    InternalError
        Any other error.
    """
    try:
        yield
    except ServiceError:
        raise
    except EngineValueError as error:
        raise InvalidQueryError(f"the query fails on a value: {explain_value_error(error)}") from error
    except SerializationError as error:
        raise InvalidQueryError(f"the query fails on a value in the data: {error}") from error
    except MemoryLimit as error:
        raise QueryTooHeavy(
            f"the query needs more memory than this service allows for one query: {error}. Ask for less at once: a "
            "smaller region, fewer columns to sort or group by. In /async, matches run in pieces of the sky"
        ) from error
    except (ResourceLimit, QueryTimeout) as error:
        raise QueryTooHeavy(
            f"the query exceeds a resource limit of this service: {error}. "
            "Ask for less at once: a smaller region, fewer columns to sort or group by"
        ) from error
    except NoRoom as error:
        raise QueryTooHeavy(str(error)) from error
    except SpoolClosed as error:
        raise ClientGone("the client has closed the connection") from error
    except FilesUnavailable as error:
        raise ServiceUnavailable(str(error)) from error
    except (EngineUnavailable, QueryCancelled) as error:
        if isinstance(error, EngineUnavailable):
            _log.warning("query %s: %s", query_id, error.detail)
        raise ServiceUnavailable(f"the engine stopped this query: {error}. Try again later") from error
    except (StorageFull, OSError) as error:
        _log.error("query %s: its result cannot be stored: %s", query_id, error)
        if isinstance(error, StorageFull) or error.errno in _DISK_FULL:
            raise ServiceUnavailable(
                "the service does not have enough disk space for this query. Try again later"
            ) from error
        raise ServiceUnavailable("the service cannot reach its result store. Try again later") from error
    except Exception as error:
        if isinstance(error, EngineError) and error.code in _MISSING_TABLE_CODES:
            raise ServiceUnavailable("a table of this query was replaced or dropped just now. Try again") from error
        detail = error.detail if isinstance(error, EngineError) else repr(error)
        _log.error("query %s failed: %r", query_id, detail, exc_info=error)
        raise InternalError(
            f"the query failed because of an internal error; the operator can find the cause in the log, at {query_id}"
        ) from error
