"""Queries of queries/valid.adql are parsed; queries of queries/invalid.tsv give the listed errors."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adql.errors import AdqlSyntaxError, offset_to_line_column
from adql.syntax.lexer import tokenise
from adql.syntax.nodes import Node
from adql.syntax.parser import parse
from tests.adql.test_parser_depth import list_children

QUERIES = Path(__file__).parent / "queries"
PARAGRAPHS = (QUERIES / "valid.adql").read_text(encoding="utf-8").split("\n\n")
VALID = [text for text in PARAGRAPHS if len(tokenise(text).kinds) > 1]  # the others are only comments
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}


def read_invalid_queries() -> list[tuple[str, str, str]]:
    lines = (QUERIES / "invalid.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [
        (re.sub(r"\\([nt\\])", lambda m: _ESCAPED[m[1]], query), position, message) for position, message, query in rows
    ]


@pytest.mark.parametrize(("query", "position", "message"), read_invalid_queries())
def test_invalid(query: str, position: str, message: str) -> None:
    with pytest.raises(AdqlSyntaxError) as caught:
        parse(query)
    line, column = offset_to_line_column(query, caught.value.span.start)
    assert f"{line}:{column}" == position
    assert message in caught.value.describe(query)


def test_no_query_is_listed_twice() -> None:
    queries = [query for query, _, _ in read_invalid_queries()]
    assert len(set(queries)) == len(queries)
    assert len(set(VALID)) == len(VALID)


def check_spans(node: Node, borders: tuple[set[int], set[int]]) -> None:
    """Check that a node begins and ends with a token, and contains the nodes below it."""
    assert node.span.start in borders[0]
    assert node.span.end in borders[1]
    for child in list_children(node):
        assert node.span.start <= child.span.start <= child.span.end <= node.span.end
        check_spans(child, borders)


@pytest.mark.parametrize("query", VALID)
def test_spans_are_nested(query: str) -> None:
    tokens = tokenise(query)
    check_spans(parse(query), (set(tokens.starts), set(tokens.ends)))


def strip_spans(node: object) -> object:
    """Return a tree without its spans."""
    if isinstance(node, Node):
        fields = [field.name for field in dataclasses.fields(node) if field.name != "span"]
        return type(node).__name__, [strip_spans(getattr(node, name)) for name in fields]
    return [strip_spans(item) for item in node] if isinstance(node, tuple) else node


@pytest.mark.parametrize("query", VALID)
def test_layout_does_not_matter(query: str) -> None:
    """A query parses equally with each token on a line, with comments and with a semicolon."""
    texts = [text for text in tokenise(query).texts if text != ";"]
    joined = "\n-- a comment\n\t".join(texts) + ";"
    assert strip_spans(parse(joined)) == strip_spans(parse(query))


@given(st.sampled_from(VALID), st.data())
def test_damaged_queries_give_a_position(query: str, data: st.DataObject) -> None:
    """A query with tokens removed, doubled or moved gives a tree, or an error with a position in the text."""
    texts = list(tokenise(query).texts)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(texts) - 1))
        other = data.draw(st.integers(0, len(texts) - 1))
        texts[at : at + data.draw(st.integers(0, 2))] = [texts[other]]
    damaged = " ".join(texts)
    problem = None
    try:
        parse(damaged)
    except AdqlSyntaxError as error:
        problem = error
    if problem:
        assert 0 <= problem.span.start <= problem.span.end <= len(damaged)
        assert problem.describe(damaged)
