"""The answer of {links} (DataLink 1.1, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clickhouse_schema.column_links import PlacedService


class Link(NamedTuple):
    """A row, with the standard's names and order of columns; None is NULL."""

    ID: str
    access_url: str | None = None
    service_def: str | None = None
    error_message: str | None = None
    description: str | None = None
    semantics: str = "#this"
    content_type: str | None = None
    content_length: int | None = None
    content_qualifier: str | None = None


@dataclass(frozen=True, slots=True)
class DataLinks:
    """``services``: those to whose ``ident`` the links' ``service_def`` refers."""

    links: tuple[Link, ...]
    services: tuple[PlacedService, ...] = ()
