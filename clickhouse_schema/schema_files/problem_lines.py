"""Problems as lines for the user: ``FILE:LINE: message``."""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.schema_files.yaml_document import Document
from clickhouse_schema.schema_problem import Problem

_MAX_LINES = 3


def format_problems(document: Document, problems: Iterable[Problem]) -> list[str]:
    """Return a line for each problem, in the order of the file."""
    ordered = document.sort_problems(problems)
    return list(dict.fromkeys(document.format_problem(problem) for problem in ordered))


def format_notes(document: Document, notes: Iterable[Problem]) -> list[str]:
    """Return a line for each kind of note; a note for several lines has their count and the next line numbers."""
    lines: dict[tuple[str, str], list[int]] = {}
    for note in document.sort_problems(notes):
        source, line = document.find_location(note.path)
        lines.setdefault((source, note.message), []).append(line)
    return [f"{source}:{found[0]}: {message}{_count(found)}" for (source, message), found in lines.items()]


def _count(lines: list[int]) -> str:
    if len(lines) == 1:
        return ""
    others = [line for line in dict.fromkeys(lines) if line != lines[0]][:_MAX_LINES]
    where = f"; next on line {', '.join(map(str, others))}" if others else ""
    return f" ({len(lines):,} times{where})"
