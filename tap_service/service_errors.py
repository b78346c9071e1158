"""Errors of the service with their HTTP status. Their messages are for users.

ServiceError
├── UserError              400, the request has an error
│   ├── ParameterError     a parameter is wrong, missing or repeated
│   ├── UploadError        an upload cannot be used
│   ├── InvalidQueryError  the query is invalid: not ADQL, an unknown name, a value that does not fit
│   ├── QueryTooHeavy      the query exceeds its limit of memory or disk space
│   │   └── QueryTimedOut  the query exceeds the time limit of /sync
│   ├── Unauthorized       401, credentials are missing or wrong
│   ├── Forbidden          403, only the owner may do this, or only in other phases of the job
│   ├── NotFound           404
│   ├── BodyTooSlow        408
│   ├── Conflict           409, the name exists, or a concurrent change
│   ├── BodyTooLarge       413
│   ├── UnknownEncoding    415, the Content-Encoding of the body is unknown
│   ├── TooManyJobs        429, too many jobs of the user are waiting or PENDING
│   ├── TooManyQueries     429, too many queries of the client are waiting
│   ├── TooManySelections  429, the client starts too many selections of /hats per minute
│   ├── TooManyUploads     429, the client sends too many compressed bodies at once
│   ├── TooManyTokens      429, the user has too many tokens
│   ├── TooManyPasswords   429, too many passwords of the client are being checked, or were wrong
│   └── QuotaExceeded      507, the jobs or shares of the client, or of all clients, take too much disk space
├── ClientGone             499, the client closed the connection; nobody reads the message
├── ServiceBusy            503, too many queries of all clients are waiting
├── ServiceUnavailable     503, the engine, a store or the disk is unavailable
├── ServiceDraining        503, the operator drains the service
├── QueryStopped           503, the operator stopped the query
└── InternalError          500, a bug of Skyhouse
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from tap_service.constants import JOB_HEADER, JOBS_RETRY_AFTER_SECONDS, RETRY_AFTER_SECONDS


class ServiceError(Exception):
    """An error of a request, with the HTTP ``status`` and ``headers`` of its answer."""

    status = 500
    headers: Mapping[str, str] = MappingProxyType({})


class UserError(ServiceError):
    """An error that the client can correct."""

    status = 400


class ParameterError(UserError):
    pass


class UploadError(UserError):
    pass


class InvalidQueryError(UserError):
    """The query is invalid.

    Parameters
    ----------
    message : str
        The message.
    query : str
        The text of the query if the error has positions in it, and then its cause is an ``AdqlError``; otherwise ''.
    """

    def __init__(self, message: str, query: str = "") -> None:
        super().__init__(message)
        self.query = query


class QueryTooHeavy(UserError):
    pass


class QueryTimedOut(QueryTooHeavy):
    """The query exceeds the time limit; ``job_url`` is the URL of the job that it has become, '' for none."""

    def __init__(self, message: str, job_url: str = "") -> None:
        super().__init__(message)
        self.headers = {JOB_HEADER: job_url} if job_url else {}


class Unauthorized(UserError):
    status = 401


class Forbidden(UserError):
    status = 403


class NotFound(UserError):
    status = 404


class BodyTooSlow(UserError):
    status = 408
    headers: Mapping[str, str] = {"Connection": "close"}


class Conflict(UserError):
    status = 409


class BodyTooLarge(UserError):
    status = 413


class UnknownEncoding(UserError):
    """The Content-Encoding of a body is unknown; ``accepted`` lists the encodings that the service knows."""

    status = 415

    def __init__(self, message: str, accepted: str) -> None:
        super().__init__(message)
        self.headers = {"Accept-Encoding": accepted}


class TooManyJobs(UserError):
    """Too many jobs are waiting; the client may try again after ``seconds``."""

    status = 429

    def __init__(self, message: str, seconds: float = JOBS_RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class TooManyQueries(UserError):
    status = 429
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_SECONDS)}


class TooManySelections(UserError):
    """Too many selections of /hats; the client may try again after ``seconds``."""

    status = 429

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class TooManyUploads(UserError):
    status = 429
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_SECONDS)}


class TooManyTokens(UserError):
    status = 429


class TooManyPasswords(UserError):
    """Too many passwords; the client may try again after ``seconds``."""

    status = 429

    def __init__(self, message: str, seconds: float = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class QuotaExceeded(UserError):
    status = 507


class ClientGone(ServiceError):
    status = 499


class ServiceBusy(ServiceError):
    status = 503
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_SECONDS)}


class ServiceUnavailable(ServiceError):
    status = 503
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_SECONDS)}


class ServiceDraining(ServiceError):
    """The operator drains the service; the client may try again after ``retry_seconds``."""

    status = 503

    def __init__(self, message: str, retry_seconds: int) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(retry_seconds)}


class QueryStopped(ServiceError):
    """The operator stopped the query. There is no Retry-After, so that clients do not send it again automatically."""

    status = 503


class InternalError(ServiceError):
    pass
