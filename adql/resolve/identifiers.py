"""Identifiers: comparison by ADQL's rules, their text, and suggestions for misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from adql.errors import NO_HINT, Fix, Hint, Span
from adql.syntax import nodes

#: The least ratio (difflib) of two names that are taken for one
MIN_LIKENESS = 0.6


def is_same_name(identifier: nodes.Identifier, name: str) -> bool:
    """Whether it names ``name``: delimited identifiers are case-sensitive, regular ones not (ADQL 2.1, 2.1.3)."""
    return identifier.name == name if identifier.delimited else identifier.name.lower() == name.lower()


def find_close_name(name: str, known: Iterable[str], likeness: float = MIN_LIKENESS) -> str | None:
    """Return the one of ``known`` that is most like ``name``, ignoring case; None if none is."""
    by_lower_case = {k.lower(): k for k in known}
    close = get_close_matches(name.lower(), by_lower_case, n=1, cutoff=likeness)
    return by_lower_case[close[0]] if close else None


def suggest_name(name: str, known: Iterable[str], span: Span, likeness: float = MIN_LIKENESS) -> Hint:
    """Return the hint ``did you mean x?`` with its fix, or no hint; ``known`` names as a query must write them."""
    close = find_close_name(name, known, likeness)
    return NO_HINT if close is None else make_name_hint(close, span)


def make_name_hint(name: str, span: Span, where: str = "") -> Hint:
    """Return the hint to write ``name`` in place of ``span``; ``where`` follows the name in the question."""
    return Hint(f"did you mean {name}{where}?", (Fix(span, name),))


def parts_to_text(parts: Sequence[nodes.Identifier]) -> str:
    """Return a qualified name as the user wrote it."""
    return ".".join(delimit(p.name) if p.delimited else p.name for p in parts)


def delimit(name: str) -> str:
    """Return the name as a delimited identifier."""
    return '"' + name.replace('"', '""') + '"'
