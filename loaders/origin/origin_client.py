"""The HTTP client for origins: servers anywhere that the operator names.

Addresses are http or https, without user and password; a few redirects are followed, only to such addresses. Answers
are streams of limited size and time. If the origin is busy or interrupts its answer, the request is repeated after the
pause that the origin asks for.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urlencode, urljoin, urlsplit

import urllib3
from urllib3.exceptions import HTTPError, LocationParseError, NewConnectionError, SSLError, TimeoutError

from loaders.origin.origin_error import OriginError, OriginMissing, OriginUnavailable
from tap_service.constants import MAX_REDIRECTS
from tap_service.hats.reading.folder_backend import Patience
from tap_service.http_connections import open_pool

_PIECE = 1 << 16

#: Statuses that may change with another attempt: timeouts, too many requests, errors of the server or its gateway
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_MISSING = frozenset({404, 410})
_ACCEPTED = frozenset({200, 206})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

#: Redirects after which a POST becomes a GET, as in browsers; 307 and 308 repeat it
_BECOMES_GET = frozenset({301, 302, 303})

#: The longest pause between two attempts: if an origin asks for a longer one, there is no other attempt
MAX_PAUSE_SECONDS = 120.0

#: TAP services may take a while before they answer
ORIGIN_PATIENCE = Patience(silence_seconds=60, pause_seconds=1)

_CONNECTIONS = 2
_FORM = "application/x-www-form-urlencoded"

_Result = TypeVar("_Result")


class OriginAnswer:
    """The answer to one request: its head, and its body as a stream of raw bytes.

    Attributes
    ----------
    address
        The address that answered, after redirects.
    status
        200 or 206, or another status that the request accepts.
    headers
        Names in any case.
    """

    def __init__(self, address: str, response: urllib3.BaseHTTPResponse, patience: Patience) -> None:
        self.address = address
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._patience = patience

    def read_pieces(self, max_bytes: int) -> Iterator[bytes]:
        """Yield the body in pieces, as the origin sends it (not decompressed).

        Parameters
        ----------
        max_bytes : int
            Maximum number of bytes of the body.

        Yields
        ------
        bytes
            Pieces of at most 64 KiB.

        Raises
        ------
        OriginError
            The body is larger than ``max_bytes``.
        OriginUnavailable
            The answer is interrupted, or is slower than ``Patience`` allows.
        """
        started = time.monotonic()
        size = 0
        try:
            while piece := self._response.read1(_PIECE, decode_content=False):
                size += len(piece)
                if size > max_bytes:
                    raise OriginError(f"{self.address} sends more than {max_bytes:,} bytes")
                if time.monotonic() - started > self._patience.limit_seconds(size):
                    raise OriginUnavailable(
                        f"{self.address} is too slow: only {size:,} bytes arrived within the time limit"
                    )
                yield piece
        except HTTPError as error:
            raise OriginUnavailable(
                f"{self.address} was interrupted after {size:,} bytes{_describe_cause(error)}"
            ) from None


class OriginClient:
    """Requests to one origin or several. Thread-safe.

    Parameters
    ----------
    patience : Patience, optional
        Timeouts, and the number of attempts of ``repeat``.
    say : callable, optional
        Is called with a message before each long pause.
    """

    def __init__(self, patience: Patience = ORIGIN_PATIENCE, say: Callable[[str], None] = lambda _text: None) -> None:
        self._patience = patience
        self._say = say
        self._pool = open_pool(_CONNECTIONS, patience.connect_seconds, patience.silence_seconds)

    def get(
        self, address: str, take: Callable[[OriginAnswer], _Result], headers: Mapping[str, str] | None = None
    ) -> _Result:
        """Send a GET request, and return what a function makes of the answer.

        Parameters
        ----------
        address : str
            http or https address; redirects are followed.
        take : callable
            Reads the answer within the call. After an interruption the request and ``take`` are repeated.
        headers : mapping of str to str, optional
            Additional headers.

        Returns
        -------
        Any
            The result of ``take``.

        Raises
        ------
        OriginMissing
            The answer is 404 or 410.
        OriginUnavailable
            The server does not answer, or is interrupted, in all attempts.
        OriginError
            The address is not allowed, or the server rejects the request.
        """
        return self.repeat(lambda: self._take(take, "GET", address, headers or {}))

    def post(self, address: str, form: Mapping[str, str], take: Callable[[OriginAnswer], _Result]) -> _Result:
        """Send a form, and return what a function makes of the answer.

        Parameters
        ----------
        address : str
            http or https address; redirects are followed.
        form : mapping of str to str
            Parameters by name. The request may be repeated, so it must be a query.
        take : callable
            Reads the answer within the call. After an interruption the request and ``take`` are repeated.

        Returns
        -------
        Any
            The result of ``take``.

        Raises
        ------
        OriginMissing
            The answer is 404 or 410.
        OriginUnavailable
            The server does not answer, or is interrupted, in all attempts.
        OriginError
            The address is not allowed, or the server rejects the request.
        """
        return self.repeat(lambda: self._take(take, "POST", address, {"Content-Type": _FORM}, urlencode(form).encode()))

    def repeat(self, work: Callable[[], _Result]) -> _Result:
        """Call a function until it does not raise ``OriginUnavailable``.

        Pauses double, unless the origin asks for another pause (RFC 9110, section 10.2.3).

        Parameters
        ----------
        work : callable
            Sends requests that may be repeated.

        Returns
        -------
        Any
            The result of ``work``.

        Raises
        ------
        OriginUnavailable
            The last attempt failed, or the origin asks for a pause of more than ``MAX_PAUSE_SECONDS``.
        """
        for attempt in range(1, self._patience.attempts):
            try:
                return work()
            except OriginUnavailable as error:
                pause = error.retry_seconds
                if pause is None:
                    pause = min(self._patience.pause_seconds * 2 ** (attempt - 1), MAX_PAUSE_SECONDS)
                if pause > MAX_PAUSE_SECONDS:
                    raise OriginUnavailable(f"{error}; it asks for a pause of {pause:,.0f} seconds") from None
                if pause >= 1:
                    self._say(f"{error}: trying again in {pause:,.0f} s")
                time.sleep(pause)
        return work()

    def _take(
        self,
        take: Callable[[OriginAnswer], _Result],
        method: str,
        address: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> _Result:
        with self.stream(method, address, headers, body) as answer:
            return take(answer)

    @contextmanager
    def stream(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        accepts: frozenset[int] = _ACCEPTED,
    ) -> Iterator[OriginAnswer]:
        """Send one request and follow redirects, without repeating it.

        Parameters
        ----------
        method : str
            'GET' or 'POST'; a POST may become a GET by a redirect.
        address : str
            http or https address.
        headers : mapping of str to str, optional
            Additional headers.
        body : bytes, optional
            Content of the request.
        accepts : frozenset of int, optional
            Statuses that an answer may have.

        Yields
        ------
        OriginAnswer
            The answer, whose body has not been read. Leaving the context closes the connection.

        Raises
        ------
        OriginMissing
            The answer is 404 or 410.
        OriginUnavailable
            The server does not answer, or is unavailable now.
        OriginError
            The address is not allowed, or the status is not accepted.
        """
        at = address
        for _ in range(MAX_REDIRECTS + 1):
            check_address(at)
            response = self._request(method, at, headers or {}, body)
            try:
                if response.status not in _REDIRECTS:
                    _check_status(at, response, accepts)
                    yield OriginAnswer(at, response, self._patience)
                    return
                if method == "POST" and response.status in _BECOMES_GET:
                    method, body = "GET", None
                at = urljoin(at, response.headers.get("Location", ""))
            finally:
                response.close()  # has no effect on a connection that was returned to the pool at the end of the body
        raise OriginError(f"{address} redirects more than {MAX_REDIRECTS} times")

    def _request(
        self, method: str, address: str, headers: Mapping[str, str], body: bytes | None
    ) -> urllib3.BaseHTTPResponse:
        try:
            return self._pool.request(
                method,
                address,
                body=body,
                headers={**self._pool.headers, **headers},
                redirect=False,
                preload_content=False,
            )
        except (SSLError, LocationParseError) as error:
            raise OriginError(f"{address}: {error}") from None
        except HTTPError as error:
            raise OriginUnavailable(f"{address} does not answer{_describe_cause(error)}") from None


def check_address(address: str) -> None:
    """Check an address before a request is sent to it.

    Parameters
    ----------
    address : str
        An address that an operator or an origin has written.

    Raises
    ------
    OriginError
        The address is not http or https, has no host, or has a user or password.
    """
    try:
        parts = urlsplit(address)
        is_hosted = bool(parts.hostname)
        _ = parts.port
    except ValueError as error:
        raise OriginError(f"{address[:200]!r} is not an address: {error}") from None
    if "@" in parts.netloc:
        raise OriginError("an address must not contain a user or password, because it is stored and shown")
    if parts.scheme not in ("http", "https") or not is_hosted:
        raise OriginError(
            f"{address[:200]!r} is not the address of an origin: write http://host/path or https://host/path"
        )


def _describe_cause(error: HTTPError) -> str:
    """Return the cause for a message without urllib3's names of its objects; '' if it adds nothing."""
    if isinstance(error, NewConnectionError):  # which is a TimeoutError too
        return f": {str(error).rpartition('): ')[2]}"
    return ": it was silent for too long" if isinstance(error, TimeoutError) else ""


def _check_status(address: str, response: urllib3.BaseHTTPResponse, accepts: frozenset[int]) -> None:
    reason = "".join(sign for sign in response.reason or "" if sign.isprintable())
    status = f"{response.status} {reason}".strip()
    if response.status in _PASSING:
        raise OriginUnavailable(f"{address} answers {status}", _read_retry_after(response))
    if response.status in _MISSING:
        raise OriginMissing(f"{address} does not exist: the server answers {status}")
    if response.status not in accepts:
        raise OriginError(f"{address} answers {status}")


def _read_retry_after(response: urllib3.BaseHTTPResponse) -> float | None:
    """Return the pause of Retry-After in seconds, which is a number or a date (RFC 9110, section 10.2.3)."""
    text = response.headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}", text):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
