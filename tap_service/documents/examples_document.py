"""DALI 1.1 examples (section 2.3) with the properties ``query`` and ``table`` of TAP 1.1.

The document is XHTML for people, with RDFa for clients.
"""

from __future__ import annotations

from collections.abc import Iterable

from tap_service.documents.service_description import Example
from tap_service.xml_text import DECLARATION, Markup, element, join_lines, tag

_DOCTYPE = "<!DOCTYPE html>\n"
VOCABULARY = "http://www.ivoa.net/rdf/examples#"


def examples_document(examples: Iterable[Example], title: str) -> bytes:
    """Return the XHTML document of /examples.

    Parameters
    ----------
    examples : Iterable[Example]
        The examples, in the order of the page.
    title : str
        The title of the page.
    """
    shown = tag("div", {"vocab": VOCABULARY}, join_lines(*(_example_element(example) for example in examples)))
    head = element("head", tag("meta", {"charset": "UTF-8"}), element("title", title))
    content = join_lines(head, element("body", join_lines(element("h1", title), shown)))
    page = tag("html", {"xmlns": "http://www.w3.org/1999/xhtml", "lang": "en"}, content)
    return (DECLARATION + _DOCTYPE + page + "\n").encode()


def _example_element(example: Example) -> Markup:
    tables = [tag("code", {"property": "table"}, name) for name in example.tables]
    used = Markup(", ".join(tables))
    return tag(
        "div",
        {"typeof": "example", "id": example.ident, "resource": f"#{example.ident}"},
        join_lines(
            tag("h2", {"property": "name"}, example.name),
            element("p", example.description) if example.description else "",
            tag("pre", {"property": "query"}, example.query),
            element("p", "Tables: ", used) if tables else "",
        ),
    )
