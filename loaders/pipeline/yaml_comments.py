"""Adds comments to YAML that is written from data, each above the line of a key or an entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clickhouse_schema.schema_files.yaml_document import read_document
from clickhouse_schema.schema_problem import YamlPath

_MAX_CHARACTERS = 500


def add_comments(text: str, comments: Mapping[YamlPath, Iterable[str]]) -> str:
    """Return a YAML document with comments.

    Parameters
    ----------
    text : str
        One document.
    comments : mapping of YamlPath to iterable of str
        Lines of text, by the path of the element above which they are written.
    """
    document = read_document(text, "the YAML")
    above: dict[int, list[str]] = {}
    for path, lines in comments.items():
        above.setdefault(document.find_location(path).line, []).extend(lines)
    written: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        indent = line[: len(line) - len(line.lstrip())]
        written += [f"{indent}# {make_printable(comment)}" for comment in above.get(number, ())]
        written.append(line)
    return "\n".join(written) + "\n"


def make_printable(text: str) -> str:
    """Return a text of another service as one line that neither ends a comment nor controls a terminal."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    return line if len(line) <= _MAX_CHARACTERS else line[: _MAX_CHARACTERS - 3] + "..."
