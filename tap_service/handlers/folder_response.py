"""Folders and files of HATS collections over HTTP: folders as pages of links, from which fsspec learns their names."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

_PARQUET = "application/vnd.apache.parquet"
_TYPES = {
    "parquet": _PARQUET,
    "properties": "text/plain;charset=utf-8",
    "csv": "text/csv;charset=utf-8",
    "fits": "application/fits",
}

FILE_TYPES = tuple(_TYPES.values())

#: answers of folders beside their pages, for ``route_description``
FOLDER_ANSWERS = {307: "The address of a folder ends with a slash"}


def find_content_type(path: str) -> str:
    """Return the media type of a file by its name."""
    name = path.rpartition("/")[2]
    return _PARQUET if name.startswith("_") else _TYPES.get(name.rpartition(".")[2], "text/plain;charset=utf-8")


def send_folder(request: Request, title: str, names: Sequence[str], headers: dict[str, str]) -> Response:
    """Send a page of links, at an address that ends with a slash, so that links begin in the folder."""
    path = request.url.path
    if not path.endswith("/"):
        return RedirectResponse(f"{quote(path.rpartition('/')[2])}/", 307, headers)
    links = "".join(f'<li><a href="{escape(quote(name, safe="/="))}">{escape(name)}</a></li>\n' for name in names)
    page = (
        f"<!DOCTYPE html>\n<html><head><title>{escape(title)}</title></head>\n<body><ul>\n{links}</ul></body></html>\n"
    )
    return HTMLResponse(page, headers=headers)
