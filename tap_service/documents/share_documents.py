"""A share as JSON, as a page for browsers, and as references in BibTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tap_service.constants import PRODUCT
from tap_service.models.result_provenance import TableVersion
from tap_service.models.share import Share
from tap_service.models.timestamps import format_instant
from tap_service.xml_text import Markup, element, join_lines, tag

_BIBCODE = re.compile(r"\d{4}[A-Za-z&.]{5}[\w.]{9}[A-Z:]", re.ASCII)
_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        # BibTeX counts braces after a backslash too
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        **{sign: "\\" + sign for sign in "&%$#_"},
    }
)


def describe_share(share: Share, url: str, service: str) -> dict[str, Any]:
    """Return the JSON of a share, as its readers see it.

    Parameters
    ----------
    share : Share
        The share.
    url : str
        The URL of the share.
    service : str
        The title of the service.
    """
    result = share.result
    return {
        "id": share.share_id,
        "url": url,
        "title": share.title,
        "note": share.note,
        "created": format_instant(share.creation_time),
        "creator": share.owner if share.is_named else None,
        "expires": format_instant(share.expiry),
        "query": share.query,
        "maxrec": share.maxrec,
        "rows": share.provenance.rows,
        "overflow": share.provenance.is_cut,
        "checksum": share.provenance.checksum,
        "tables": describe_versions(share.provenance.tables),
        "uploads": {
            file.name: {"url": f"{url}/uploads/{file.name}", "bytes": file.size, "sha256": file.digest}
            for file in share.files
        },
        "omitted": share.omitted,
        "result": result
        and {
            "url": f"{url}/result",
            "bytes": result.size,
            "type": result.content_type,
            "expires": format_instant(share.result_expiry),
        },
        "layout": share.layout,
        "bibtex": write_bibtex(share, url, service),
    }


def describe_versions(tables: Sequence[TableVersion]) -> dict[str, Any]:
    """Return the JSON of versions of tables.

    Parameters
    ----------
    tables : Sequence[TableVersion]
        The versions.

    Returns
    -------
    dict[str, Any]
        By the name of the table: ``version``, ``changed`` (an instant, or null) and ``rows``.
    """
    return {
        table.name: {
            "version": table.version,
            "changed": table.changed and format_instant(table.changed),
            "rows": table.rows,
        }
        for table in tables
    }


def write_bibtex(share: Share, url: str, service: str) -> str:
    """Return BibTeX entries for the share and for each reference that its tables ask to cite; parameters as above."""
    made = format_instant(share.creation_time)[:10]
    versions = ", ".join(f"{table.name} of {_say_date(table)}" for table in share.provenance.tables)
    fields = {
        "title": share.title or f"Query of {service}",
        **({"author": share.owner} if share.is_named and share.owner else {}),
        "year": made[:4],
        "howpublished": service,
        "url": url,
        "note": f"{share.provenance.rows} rows{versions and ' from '}{versions}; made on {made}; SHA-256 of the rows "
        f"{share.provenance.checksum}",
    }
    entries = [_write_entry(f"share_{share.share_id}", fields)]
    for number, citation in enumerate(share.provenance.citations, 1):
        bibcode = {"note": f"Bibcode {citation}", "url": f"https://ui.adsabs.harvard.edu/abs/{citation}"}
        about = bibcode if _BIBCODE.fullmatch(citation) else {"note": citation}
        entries.append(_write_entry(f"table{number}", about))
    return "\n".join(entries)


def _say_date(table: TableVersion) -> str:
    return format_instant(table.changed) if table.changed else "unknown version"


def _write_entry(key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value if name == 'url' else _escape_tex(value)}}}" for name, value in fields.items()]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _escape_tex(text: str) -> str:
    return " ".join(text.split()).translate(_TEX)


def share_page(share: Share, url: str, service: str, portal: str) -> str:
    """Return the HTML page of a share.

    Parameters
    ----------
    share, url, service
        As in ``describe_share``.
    portal : str
        The URL of the share in the portal.
    """
    title = share.title or f"Query of {service}"
    made = f"Made on {format_instant(share.creation_time)}" + (f" by {share.owner}" if share.is_named else "")
    cut = ", cut at the row limit" if share.provenance.is_cut else ""
    body = join_lines(
        element("h1", title),
        element("p", f"{made}; kept until {format_instant(share.expiry)[:10]}. A query of {service}."),
        *(element("p", line) for line in share.note.splitlines() if line.strip()),
        element("p", tag("a", {"href": portal}, "Open in the portal")),
        element("h2", "Query"),
        element("pre", share.query),
        element("h2", "Result"),
        element("p", f"{share.provenance.rows:,} rows{cut}. SHA-256 of the rows:"),
        element("pre", share.provenance.checksum),
        _describe_result(share, url),
        element("h2", "Tables"),
        element("ul", *(element("li", f"{table.name}, as of {_say_date(table)}") for table in share.provenance.tables)),
        _list_uploads(share, url),
        element("p", tag("a", {"href": f"{url}/check"}, "Have the tables changed since?")),
        element("h2", "How to cite it"),
        element("pre", write_bibtex(share, url, service)),
        element("p", element("small", PRODUCT)),
    )
    head = join_lines(tag("meta", {"charset": "UTF-8"}), element("title", title))
    return (
        "<!DOCTYPE html>\n"
        + tag("html", {"lang": "en"}, join_lines(element("head", head), element("body", body)))
        + "\n"
    )


def _describe_result(share: Share, url: str) -> Markup:
    if share.result is None:
        return element("p", "The rows are no longer stored: run the query again, and compare the checksum.")
    link = tag("a", {"href": f"{url}/result"}, "The rows as they were")
    until = format_instant(share.result_expiry)[:10]
    return element("p", link, f" ({share.result.content_type}, {share.result.size:,} bytes), kept until {until}.")


def _list_uploads(share: Share, url: str) -> Markup:
    parts = []
    if share.files:
        addresses = {f"TAP_UPLOAD.{file.name}": f"{url}/uploads/{file.name}" for file in share.files}
        links = (element("li", tag("a", {"href": address}, name)) for name, address in addresses.items())
        parts += [element("p", "Uploaded with the query:"), element("ul", *links)]
    if share.omitted:
        names = ", ".join(f"TAP_UPLOAD.{name}" for name in share.omitted)
        files = "file" if len(share.omitted) == 1 else "files"
        sentence = f"The query also reads {names}. To run it again, ask the author for the missing {files}."
        parts.append(element("p", sentence))
    return join_lines(*parts)
