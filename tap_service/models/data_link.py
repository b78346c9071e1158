"""Links of data products: the rows of {links} (DataLink 1.1, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clickhouse_schema.column_links import PlacedService


class Link(NamedTuple):
    """A row of the table of links, with the names and order of columns of the standard; None stands for NULL."""

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
    """The links of a request, and the services to whose ``ident`` the ``service_def`` of a link refers."""

    links: tuple[Link, ...]
    services: tuple[PlacedService, ...] = ()
