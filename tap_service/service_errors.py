"""Errors of the service with their HTTP status; users read the message.

ServiceError
├── UserFault             400, a fault of the request
│   ├── ParameterFault    a parameter is wrong, missing or repeated
│   ├── UploadFault       an upload cannot be used
│   ├── QueryFault        the query is invalid: not ADQL, an unknown name, a value that does not fit
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
└── InternalFault         500, a bug of Skyhouse
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from tap_service.constants import JOB_HEADER, JOBS_RETRY_AFTER_SECONDS, RETRY_AFTER_SECONDS


class ServiceError(Exception):
    status = 500
    headers: Mapping[str, str] = MappingProxyType({})


class UserFault(ServiceError):
    status = 400


class ParameterFault(UserFault):
    pass


class UploadFault(UserFault):
    pass


class QueryFault(UserFault):
    """``query``: the text, if the fault has positions in it; its cause is then an ``AdqlError``."""

    def __init__(self, message: str, query: str = "") -> None:
        super().__init__(message)
        self.query = query


class QueryTooHeavy(UserFault):
    pass


class QueryTimedOut(QueryTooHeavy):
    """``job_url``: the job that the query has become, or empty."""

    def __init__(self, message: str, job_url: str = "") -> None:
        super().__init__(message)
        self.headers = {JOB_HEADER: job_url} if job_url else {}


class Unauthorized(UserFault):
    status = 401


class Forbidden(UserFault):
    status = 403


class NotFound(UserFault):
    status = 404


class BodyTooSlow(UserFault):
    status = 408
    headers: Mapping[str, str] = {"Connection": "close"}


class Conflict(UserFault):
    status = 409


class BodyTooLarge(UserFault):
    status = 413


class UnknownEncoding(UserFault):
    """``accepted``: the encodings that the service knows."""

    status = 415

    def __init__(self, message: str, accepted: str) -> None:
        super().__init__(message)
        self.headers = {"Accept-Encoding": accepted}


class TooManyJobs(UserFault):
    """``seconds``: until the client may try again."""

    status = 429

    def __init__(self, message: str, seconds: float = JOBS_RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class TooManyQueries(UserFault):
    status = 429
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_SECONDS)}


class TooManySelections(UserFault):
    """``seconds``: until the client may try again."""

    status = 429

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class TooManyUploads(UserFault):
    status = 429
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_SECONDS)}


class TooManyTokens(UserFault):
    status = 429


class TooManyPasswords(UserFault):
    """``seconds``: until the client may try again."""

    status = 429

    def __init__(self, message: str, seconds: float = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(math.ceil(seconds))}


class QuotaExceeded(UserFault):
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


class InternalFault(ServiceError):
    pass
