"""Errors of a page that fail its test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Error, Request

from tests.e2e.browsers import SAMP_HOSTS

#: Console messages of the browser for refusals and missing answers, which the page reports itself. Failures (500) are errors.
_ANSWERED = re.compile(r"Failed to load resource: (the server responded with a status of (4\d\d|503)|net::ERR_)")

#: Without a graphics processor, the browser itself reads what WebGL has drawn into its own picture, and warns that this is slow.
_SOFTWARE_PICTURE = re.compile(r"GL Driver Message .* GPU stall due to ReadPixels")

#: the hash of the style that Playwright adds for a picture; Firefox reports that the page's policy refuses it
_PICTURE_STYLE = "sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA="


def list_errors(error: Error) -> Iterator[str]:
    if _PICTURE_STYLE not in error.message:
        yield f"a script failed: {error.stack or error}"


def list_complaints(message: ConsoleMessage, others: Sequence[str]) -> Iterator[str]:
    where = message.location["url"]
    parts = urlsplit(where)
    is_answer = parts.path.startswith("/tap") or parts.netloc in (*others, *SAMP_HOSTS)
    is_known = (is_answer and _ANSWERED.match(message.text)) or _SOFTWARE_PICTURE.search(message.text)
    if message.type in ("error", "warning") and not is_known:
        yield f"the console says ({where}): {message.text}"


def list_foreign_requests(request: Request, allowed: Sequence[str]) -> Iterator[str]:
    parts = urlsplit(request.url)
    if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc not in (*allowed, *SAMP_HOSTS):
        yield f"the page asks another host: {request.url}"
