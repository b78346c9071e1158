"""Headers of every response: the product, what browsers shall not do with it, and under /tap leave for scripts of any
site (CORS).

No cookie says who asks, and ``context.caller_of`` refuses what a browser would send with a password of its own accord.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tap_service.constants import PRODUCT, RESULT_ROWS_HEADER, ROW_LIMIT_HEADER, STATUS_HEADER, TABLE_EXPIRES_HEADER

_A_DAY = "86400"
_EXPOSED = (
    "Location, Content-Disposition, Content-Range, Accept-Ranges, ETag, Retry-After, "
    f"{ROW_LIMIT_HEADER}, {RESULT_ROWS_HEADER}, {STATUS_HEADER}, {TABLE_EXPIRES_HEADER}"
)
#: the portal has its own policy; other pages, which show what anybody may have written, run and load nothing
_FOR_BROWSERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


class CommonHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        under_tap = scope["path"] == "/tap" or scope["path"].startswith("/tap/")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Server"] = PRODUCT
                for name, value in _FOR_BROWSERS.items():
                    headers.setdefault(name, value)
                if under_tap:
                    headers["Access-Control-Allow-Origin"] = "*"
                    headers["Access-Control-Expose-Headers"] = _EXPOSED
            await send(message)

        app = _preflight if under_tap and scope["method"] == "OPTIONS" else self._app
        await app(scope, receive, with_headers)


_preflight = Response(
    status_code=204,
    headers={
        "Allow": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
        "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
        "Access-Control-Allow-Headers": "*, Authorization",
        "Access-Control-Max-Age": _A_DAY,
    },
)
