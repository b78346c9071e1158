"""XML text: escaping, and elements composed of strings.

All documents and VOTables of the service are written with these functions, so that no text of users can break them.
"""

from __future__ import annotations

import re

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

#: characters that XML 1.0 (section 2.2) forbids even as references; lone surrogates are not UTF-8
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT = "�"

#: characters that text or attributes may not contain unescaped
_SPECIAL = re.compile('[\x00-\x1f&<>"\ud800-\udfff\ufffe\uffff]')
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
#: parsers replace tabs and line ends in attributes by spaces unless they are references
_ATTRIBUTE = _TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


class Markup(str):
    """Text that is already XML."""

    __slots__ = ()


def escape_text(value: str) -> Markup:
    """Escape character data.

    Parameters
    ----------
    value : str
        Any text. Characters that XML 1.0 forbids become U+FFFD.

    Returns
    -------
    Markup
        Text that other functions of this module do not escape again.
    """
    return Markup(_escape(value, _TEXT))


def start_tag(name: str, attributes: dict[str, str]) -> Markup:
    """Return a start tag.

    Parameters
    ----------
    name : str
        The name of the element, with its prefix. It is not escaped.
    attributes : dict[str, str]
        The attributes, including empty ones. Values are escaped.

    Returns
    -------
    Markup
        ``<name key="value" ...>``.
    """
    return Markup(f"<{name}{_attributes_text(attributes)}>")


def element(name: str, /, *children: str, **attributes: str) -> Markup:
    """Return an element. Plain strings among the children are escaped; empty attributes are omitted.

    ``tag`` takes attributes with names that are not Python identifiers.
    """
    return tag(name, attributes, *children)


def tag(name: str, attributes: dict[str, str], /, *children: str) -> Markup:
    """Return an element like ``element``, with the attributes as a dictionary."""
    inside = "".join(child if isinstance(child, Markup) else escape_text(child) for child in children)
    opening = name + _attributes_text({key: value for key, value in attributes.items() if value})
    return Markup(f"<{opening}>{inside}</{name}>" if inside else f"<{opening}/>")


def optional_element(name: str, value: str) -> Markup:
    """Return ``<name>value</name>``, or an empty text for an empty value."""
    return element(name, value) if value else Markup("")


def join_lines(*children: str) -> Markup:
    """Join children, one per line."""
    return Markup("".join(f"\n{child}" for child in children if child) + "\n")


def _attributes_text(attributes: dict[str, str]) -> str:
    return "".join([f' {key}="{_escape(value, _ATTRIBUTE)}"' for key, value in attributes.items()])


def _escape(value: str, references: dict[int, str]) -> str:
    """Replace special characters; most values have none, which a search finds faster than ``translate``."""
    return _FORBIDDEN.sub(_REPLACEMENT, value).translate(references) if _SPECIAL.search(value) else value
