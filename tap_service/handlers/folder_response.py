"""Folders of HATS collections over HTTP: pages of links, from which fsspec reads the names of files."""

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

#: answers of folders other than their pages, for ``route_description``
FOLDER_ANSWERS = {307: "The address of a folder ends with a slash"}


def find_content_type(path: str) -> str:
    """Return the media type of a file by its name."""
    name = path.rpartition("/")[2]
    return _PARQUET if name.startswith("_") else _TYPES.get(name.rpartition(".")[2], "text/plain;charset=utf-8")


def send_folder(request: Request, title: str, names: Sequence[str], headers: dict[str, str]) -> Response:
    """Send a page of links to the contents of a folder.

    The address of the page ends with a slash, so that its relative links refer to the folder.

    Parameters
    ----------
    request : Request
        The request; an address without a slash at its end is redirected.
    title : str
        The title of the page.
    names : Sequence[str]
        The names in the folder; names of folders end with a slash.
    headers : dict of str to str
        Headers of the response.
    """
    path = request.url.path
    if not path.endswith("/"):
        return RedirectResponse(f"{quote(path.rpartition('/')[2])}/", 307, headers)
    links = "".join(f'<li><a href="{escape(quote(name, safe="/="))}">{escape(name)}</a></li>\n' for name in names)
    page = (
        f"<!DOCTYPE html>\n<html><head><title>{escape(title)}</title></head>\n<body><ul>\n{links}</ul></body></html>\n"
    )
    return HTMLResponse(page, headers=headers)
