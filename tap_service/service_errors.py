"""Errors of the service with their HTTP status; users read the message.

ServiceError
├── UserError             400, a fault of the request
│   ├── ParameterError    a parameter is wrong, missing or repeated
│   ├── UploadError       an upload cannot be used
│   ├── InvalidQueryError        the query is invalid: not ADQL, an unknown name, a value that does not fit
│   ├── QueryTooHeavy     the query exceeds its memory or space
│   │   └── QueryTimedOut     or the time of /sync
│   ├── Unauthorized      401, credentials are missing or wrong
│   ├── Forbidden         403, not the owner, or not in this phase
│   ├── NotFound          404
│   ├── Conflict          409, the name exists, or a concurrent change
│   ├── BodyTooSlow       408
│   ├── BodyTooLarge      413
│   ├── UnknownEncoding   415, the Content-Encoding of the body
│   ├── TooManyJobs       429, too many jobs of the user wait or are PENDING
│   ├── TooManyQueries    429, too many queries of the client wait
│   ├── TooManyUploads    429, the client sends too many compressed bodies at once
│   ├── TooManyTokens     429, the user has too many tokens
│   ├── TooManyPasswords  429, too many passwords of the client wait for their check, or were wrong
│   └── QuotaExceeded     507, the client's jobs, or those of all, take too much disk
├── ClientGone            the client closed the connection; nobody reads the message
├── ServiceBusy           503, too many queries of all clients wait
├── ServiceUnavailable    503, the engine or the disk does not work
├── ServiceDraining       503, the operator lets what runs finish
├── QueryStopped          503, the operator has stopped the query
└── InternalError         500, a bug of Skyhouse
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from tap_service.constants import JOB_HEADER, JOBS_RETRY_AFTER_SECONDS, RETRY_AFTER_SECONDS


class ServiceError(Exception):
    status = 500
    headers: Mapping[str, str] = MappingProxyType({})


class UserError(ServiceError):
    status = 400


class ParameterError(UserError):
    pass


class UploadError(UserError):
    pass


class InvalidQueryError(UserError):
    """``query``: the text, if the fault has positions in it; its cause is then an ``AdqlError``."""

    def __init__(self, message: str, query: str = "") -> None:
        super().__init__(message)
        self.query = query


class QueryTooHeavy(UserError):
    pass


class QueryTimedOut(QueryTooHeavy):
    """``job_url``: the job that the query has become, or empty."""

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
    """``accepted``: the encodings that the service knows."""

    status = 415

    def __init__(self, message: str, accepted: str) -> None:
        super().__init__(message)
        self.headers = {"Accept-Encoding": accepted}


class TooManyJobs(UserError):
    """``seconds``: until the client may try again."""

    status = 429

    def __init__(self, message: str, seconds: float = JOBS_RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class TooManyQueries(UserError):
    status = 429
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_SECONDS)}


class TooManySelections(UserError):
    """``seconds``: until the client may try again."""

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
    """``seconds``: until the client may try again."""

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
    status = 503

    def __init__(self, message: str, retry_seconds: int) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(retry_seconds)}


class QueryStopped(ServiceError):
    """Without Retry-After: clients shall not send it again by themselves."""

    status = 503


class InternalError(ServiceError):
    pass
