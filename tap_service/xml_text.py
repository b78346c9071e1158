"""XML text: escaping, and elements put together from strings.

Every document and VOTable of the service is made with these few functions, so that user text can break none of them.
"""

from __future__ import annotations

import re

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

#: what XML 1.0 cannot carry, not even as a character reference (section 2.2 of XML 1.0); lone surrogates are not UTF-8
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT = "�"

_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
#: tab and line ends are written as references: a parser makes spaces of them in attributes
_ATTRIBUTE = _TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


class Markup(str):
    """Text that is XML already."""

    __slots__ = ()


def escape_text(value: str) -> Markup:
    """Character data. Characters that XML forbids become U+FFFD."""
    return Markup(_FORBIDDEN.sub(_REPLACEMENT, value).translate(_TEXT))


def start_tag(name: str, attributes: dict[str, str]) -> Markup:
    """``<name key="value" ...>`` with every attribute, empty ones too."""
    return Markup(f"<{name}{_attributes_text(attributes)}>")


def element(name: str, /, *children: str, **attributes: str) -> Markup:
    """One element. Plain strings among the children are escaped; empty attributes are left out.

    An attribute whose name is no Python name goes by ``tag``.
    """
    return tag(name, attributes, *children)


def tag(name: str, attributes: dict[str, str], /, *children: str) -> Markup:
    """As ``element``, with the attributes in a dictionary."""
    inside = "".join(child if isinstance(child, Markup) else escape_text(child) for child in children)
    said = name + _attributes_text({key: value for key, value in attributes.items() if value})
    return Markup(f"<{said}>{inside}</{name}>" if inside else f"<{said}/>")


def optional_element(name: str, value: str) -> Markup:
    """``<name>value</name>``, or nothing for an empty value."""
    return element(name, value) if value else Markup("")


def join_lines(*children: str) -> Markup:
    """Children one a line: documents are read by people too."""
    return Markup("".join(f"\n{child}" for child in children if child) + "\n")


def _attributes_text(attributes: dict[str, str]) -> str:
    return "".join(
        f' {key}="{_FORBIDDEN.sub(_REPLACEMENT, value).translate(_ATTRIBUTE)}"' for key, value in attributes.items()
    )
