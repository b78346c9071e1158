"""A link of a data product: a row of the answer of {links} (DataLink 1.1, section 3.2)."""

from __future__ import annotations

from typing import NamedTuple


class Link(NamedTuple):
    """With the standard's names and order of columns; None is NULL."""

    ID: str
    access_url: str | None = None
    service_def: str | None = None
    error_message: str | None = None
    description: str | None = None
    semantics: str = "#this"
    content_type: str | None = None
    content_length: int | None = None
    content_qualifier: str | None = None
