"""The files of the portal, with headers that permit only what the portal needs.

Each file of the build has its own route, so that no path leads out of the build. The files are read at startup, and
compressed once at a higher level than streamed responses. Browsers revalidate index.html and cache the other files,
whose names contain a hash of their content.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import zlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from tap_service.handlers.compress_responses import choose_encoding, zstd

#: the placeholder of the nonce in index.html; the policy allows the editor's dynamic styles with this nonce
NONCE = "{csp-nonce}"

#: SAMP's Web Profile: a hub on the user's own machine
_SAMP = "http://127.0.0.1:21012 http://localhost:21012"

_INDEX = "index.html"
#: the page of Aladin Lite, and the operator's copy of it
_ALADIN_PAGE = "aladin.html"
_ALADIN = "aladin.js"
_READ = ["GET", "HEAD"]
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
_COMPRESSED_ALREADY = (".woff2",)
_IMMUTABLE = "public, max-age=31536000, immutable"
_GZIP_BITS = 31
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": lambda data: zstd.compress(data, level=15),
    "gzip": lambda data: zlib.compress(data, level=9, wbits=_GZIP_BITS),
}


def content_security_policy(nonce: str = "", surveys: Sequence[str] = ()) -> str:
    """Return the Content-Security-Policy of a page or of a worker script.

    Parameters
    ----------
    nonce : str
        The nonce of dynamic styles, '' to forbid them.
    surveys : Sequence[str]
        The URLs of HiPS surveys, the only resources of other hosts that the page may load.
    """
    styles = f"'self' 'nonce-{nonce}'" if nonce else "'self'"
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "worker-src 'self'",
            f"style-src {styles}",
            "img-src 'self' data: blob:",
            "font-src 'self'",
            " ".join(("connect-src 'self'", _SAMP, *surveys)),
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def aladin_policy(surveys: Sequence[str]) -> str:
    """Return the policy of the page of Aladin Lite, which runs WebAssembly, adds styles and loads the surveys."""
    pictures = " ".join(surveys)
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self' 'wasm-unsafe-eval'",
            "worker-src 'self' blob:",
            "style-src 'self' 'unsafe-inline'",
            f"img-src 'self' data: blob: {pictures}",
            "font-src 'self' data:",
            f"connect-src 'self' data: {pictures}",
            "base-uri 'self'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def portal_router(folder: Path, surveys: Sequence[str] = (), aladin: Path | None = None) -> APIRouter | None:
    """Return routes to the files of a build of the portal.

    Parameters
    ----------
    folder : Path
        The folder of the build.
    surveys : Sequence[str]
        The URLs of HiPS surveys that the map of the portal may show.
    aladin : Path, optional
        The script of an installed Aladin Lite.

    Returns
    -------
    APIRouter or None
        The routes; None if the folder contains no build.

    Raises
    ------
    OSError
        A file cannot be read.
    """
    if not (folder / _INDEX).is_file():
        return None
    router = APIRouter()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name == _INDEX:
            router.add_api_route("/", _index_route(path.read_text(encoding="utf-8"), surveys), methods=_READ)
        elif name == _ALADIN_PAGE:
            if aladin is not None:
                _add_file(router, name, path.read_bytes(), aladin_policy(surveys))
                _add_file(router, _ALADIN, aladin.read_bytes())
        elif path.is_file():
            _add_file(router, name, path.read_bytes())
    options = {"surveys": surveys, "aladinLite": aladin is not None}
    _add_file(router, "portal.json", json.dumps(options).encode())
    return router


def _add_file(router: APIRouter, name: str, data: bytes, policy: str = "") -> None:
    router.add_api_route(f"/{name}", _file_route(_PortalFile(name, data), policy), methods=_READ)


class _PortalFile:
    def __init__(self, name: str, data: bytes) -> None:
        suffix = Path(name).suffix
        self._encoded = {"": data}
        self.is_packable = suffix not in _COMPRESSED_ALREADY
        self.etag = hashlib.sha256(data).hexdigest()[:32]
        kind = _TYPES.get(suffix, "application/octet-stream")
        self.type = f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
        self.cached = _IMMUTABLE if name.startswith("assets/") else "no-cache"

    def encode_with(self, encoding: str) -> bytes:
        """Return the file in an encoding of ``_ENCODERS``, '' for none."""
        if encoding not in self._encoded:
            self._encoded[encoding] = _ENCODERS[encoding](self._encoded[""])
        return self._encoded[encoding]


def _file_route(portal_file: _PortalFile, policy: str) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        encoding = choose_encoding(request.headers.get("accept-encoding", "")) if portal_file.is_packable else ""
        etag = f'"{portal_file.etag}{"-" if encoding else ""}{encoding}"'
        headers = {
            "Content-Security-Policy": policy or content_security_policy(),
            "Cache-Control": portal_file.cached,
            "ETag": etag,
        }
        if _matches_etag(request.headers.get("if-none-match", ""), etag):
            return Response(status_code=304, headers=headers)
        if encoding:
            headers |= {"Content-Encoding": encoding, "Vary": "Accept-Encoding"}
        return Response(
            await run_in_threadpool(portal_file.encode_with, encoding), headers=headers, media_type=portal_file.type
        )

    return respond


def _matches_etag(header: str, etag: str) -> bool:
    """Return whether an If-None-Match names this tag, by RFC 9110's weak comparison."""
    tags = {tag.strip().removeprefix("W/") for tag in header.split(",")}
    return header.strip() == "*" or etag in tags


def _index_route(text: str, surveys: Sequence[str]) -> Callable[[], Awaitable[Response]]:
    async def respond() -> Response:
        nonce = secrets.token_urlsafe(16)
        headers = {"Content-Security-Policy": content_security_policy(nonce, surveys), "Cache-Control": "no-cache"}
        return Response(text.replace(NONCE, nonce), headers=headers, media_type="text/html")

    return respond
