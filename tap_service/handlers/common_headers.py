"""Headers of every response: the product, restrictions for browsers, and under /tap, /scs and /hats the permission for
scripts of any site (CORS).

CORS is safe because there are no cookies, and ``request_context.identify_user`` refuses passwords that a browser
remembers if another site's page sends them. Under these paths and under /mcp the headers also contain the login
methods, or the name of the user (IVOA AuthVO). Challenges come with 401, and with successful responses to anonymous
clients: TOPCAT offers a login if a 200 has a challenge, and browsers do not ask for a password then.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tap_service.constants import (
    JOB_HEADER,
    PRODUCT,
    RESULT_ROWS_HEADER,
    ROW_LIMIT_HEADER,
    STATUS_HEADER,
    TABLE_EXPIRES_HEADER,
    USER_HEADER,
)
from tap_service.handlers.allowed_methods import list_allowed_methods
from tap_service.handlers.protocol_paths import MCP, find_protocol
from tap_service.models.identity import Identity
from tap_service.services.site.authenticator import BASIC

_A_DAY = "86400"
_EXPOSED = (
    "Location, Content-Disposition, Content-Range, Accept-Ranges, ETag, Retry-After, WWW-Authenticate, "
    f"{USER_HEADER}, {ROW_LIMIT_HEADER}, {RESULT_ROWS_HEADER}, {STATUS_HEADER}, {JOB_HEADER}, {TABLE_EXPIRES_HEADER}"
)
#: the portal has its own policy; other pages may contain users' text and must neither run nor load anything
_FOR_BROWSERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)
_PRODUCT = (b"server", PRODUCT.encode())
_FOR_SCRIPTS = ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", _EXPOSED.encode()))


#: stands for the user of a request whose credentials were not checked, or were wrong
_UNKNOWN = object()
_USER = USER_HEADER.lower().encode()
#: characters that a header may contain; other characters in names of users are percent-encoded
_PRINTABLE = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")


class CommonHeaders:
    """ASGI middleware that adds these headers to each response, and answers preflight requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        protocol = find_protocol(scope["path"])
        is_for_scripts = protocol not in ("", MCP)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                present = {name for name, _ in headers}
                headers.append(_PRODUCT)
                headers += [header for header in _FOR_BROWSERS if header[0] not in present]
                if is_for_scripts:
                    headers += _FOR_SCRIPTS
                if protocol:
                    headers += _login_headers(scope, message["status"])
                message["headers"] = headers
            await send(message)

        is_preflight = is_for_scripts and scope["method"] == "OPTIONS"
        methods = list_allowed_methods(scope["app"], scope["path"]) if is_preflight else []
        await (_answer_preflight(methods) if methods else self._app)(scope, receive, with_headers)


def _login_headers(scope: Scope, status: int) -> list[tuple[bytes, bytes]]:
    user = scope.get("state", {}).get("user", _UNKNOWN)
    if status == 401 or (user is None and 200 <= status < 300):
        methods = scope["app"].state.services.authenticator.login_methods
        methods = methods or (BASIC,) * (status == 401)  # RFC 9110, section 15.5.2: 401 needs a challenge
        return [(b"www-authenticate", method.challenge.encode("latin-1")) for method in methods]
    if isinstance(user, Identity):
        return [(_USER, quote(user.name, safe=_PRINTABLE).encode("latin-1"))]
    return []


def _answer_preflight(methods: list[str]) -> Response:
    allowed = ", ".join((*methods, "OPTIONS"))
    headers = {
        "Allow": allowed,
        "Access-Control-Allow-Methods": allowed,
        "Access-Control-Allow-Headers": "*, Authorization",
        "Access-Control-Max-Age": _A_DAY,
    }
    return Response(status_code=204, headers=headers)
