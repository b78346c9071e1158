"""The plain page at /tap, and at / if the portal has not been built: a description of the service, and how to query."""

from __future__ import annotations

from collections.abc import Sequence

from tap_service.config import Config
from tap_service.constants import PRODUCT
from tap_service.services.announcements import Announced
from tap_service.xml_text import element, join_lines, tag

_MAX_TABLES = 100


def landing_page(config: Config, tap_url: str, tables: Sequence[str] | None, announced: Announced) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    config : Config
        The title, description and contact of the service.
    tap_url : str
        The URL of the TAP service, without a slash at its end.
    tables : Sequence[str] or None
        The tables that the client sees; None if the client must log in first.
    announced : Announced
        The announcements of the operator.
    """
    draining = [f"This service is not accepting new queries now: {announced.drain}"] if announced.drain else []
    messages = [*draining, *(each.describe() for each in announced.downtimes), *(note.text for note in announced.notes)]
    links = [("The tables", "tables"), ("Examples", "examples"), ("Capabilities", "capabilities")]
    body = join_lines(
        element("h1", config.title),
        *(element("p", element("strong", text)) for text in messages),
        element("p", config.description),
        element("p", "A TAP service: query it in ADQL with TOPCAT, pyvo, STILTS or any other client. Its URL is"),
        element("pre", tap_url),
        element("ul", *(element("li", tag("a", {"href": f"{tap_url}/{path}"}, text)) for text, path in links)),
        element("p", "Only users may query it: log in with a name and password, or a token.")
        if tables is None
        else _list_tables(tables),
        element("p", f"Contact: {config.contact}") if config.contact else "",
        element("p", element("small", PRODUCT)),
    )
    head = join_lines(tag("meta", {"charset": "UTF-8"}), element("title", config.title))
    return (
        "<!DOCTYPE html>\n"
        + tag("html", {"lang": "en"}, join_lines(element("head", head), element("body", body)))
        + "\n"
    )


def _list_tables(tables: Sequence[str]) -> str:
    more = len(tables) - _MAX_TABLES
    return join_lines(
        element("h2", "Tables"),
        element("ul", *(element("li", element("code", name)) for name in tables[:_MAX_TABLES])),
        element("p", f"and {more} more") if more > 0 else "",
    )
