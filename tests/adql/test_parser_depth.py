"""Deep and long queries give a tree of bounded height or an error with a position, never a RecursionError."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from adql.errors import AdqlSyntaxError
from adql.limits import MAX_DEPTH, MAX_HEIGHT
from adql.syntax.nodes import Node
from adql.syntax.parser import parse

#: Name -> text before, repeated opening, core, repeated closing, text after
NESTS = {
    "parentheses": ("SELECT ", "(", "1", ")", " FROM t"),
    "right operands": ("SELECT ", "1 + (", "1", ")", " FROM t"),
    "signs": ("SELECT ", "- ", "1", "", " FROM t"),
    "functions": ("SELECT ", "1 + f(", "1", ")", " FROM t"),
    "casts": ("SELECT ", "CAST(", "1", " AS REAL)", " FROM t"),
    "elements": ("SELECT ", "v[", "1", "]", " FROM t"),
    "windows": ("SELECT ", "f() OVER (ORDER BY ", "1", ")", " FROM t"),
    "case conditions": ("SELECT ", "CASE WHEN a = ", "1", " THEN 1 END", " FROM t"),
    "case results": ("SELECT ", "CASE WHEN a THEN ", "1", " END", " FROM t"),
    "not": ("SELECT a FROM t WHERE ", "NOT ", "a", "", ""),
    "and in parentheses": ("SELECT a FROM t WHERE ", "a AND (", "a", ")", ""),
    "scalar subqueries": ("SELECT ", "(SELECT ", "1", " FROM t)", " FROM t"),
    "exists": ("SELECT a FROM t WHERE ", "EXISTS (SELECT a FROM t WHERE ", "a", ")", ""),
    "in": ("SELECT a FROM t WHERE ", "a IN (SELECT a FROM t WHERE ", "a", ")", ""),
    "in parentheses": ("SELECT a FROM t WHERE a IN ", "(", "SELECT a FROM t", ")", ""),
    "derived tables": ("SELECT a FROM ", "(SELECT a FROM ", "t", ") AS q", ""),
    "joins from the left": ("SELECT a FROM ", "(", "t", " JOIN t USING (a))", ""),
    "joins from the right": ("SELECT a FROM ", "t JOIN (", "t JOIN t", ")", ""),
    "whole queries": ("", "(", "SELECT a FROM t", ")", ""),
    "unions": ("", "(", "SELECT a FROM t", ") UNION SELECT a FROM t", ""),
    "tables in parentheses": ("SELECT a FROM ", "(", "SELECT a FROM t", ")", " AS q"),
}
CHAINS = {
    "sum": ("SELECT 1", " + 1", " FROM t"),
    "product": ("SELECT 1", " * 1", " FROM t"),
    "elements": ("SELECT v", "[1]", " FROM t"),
    "joins": ("SELECT a FROM t", " JOIN t USING (a)", ""),
    "unions": ("SELECT a FROM t", " UNION SELECT a FROM t", ""),
    "intersections": ("SELECT a FROM t", " INTERSECT SELECT a FROM t", ""),
}
LISTS = {
    "and": ("SELECT a FROM t WHERE a = 1", " AND a = 1", ""),
    "or": ("SELECT a FROM t WHERE a = 1", " OR a = 1", ""),
    "concatenation": ("SELECT 'a'", " || 'a'", " FROM t"),
    "bits": ("SELECT a", " | 1", " FROM t"),
    "in": ("SELECT a FROM t WHERE a IN (1", ", 1", ")"),
    "columns": ("SELECT a", ", a", " FROM t"),
    "tables": ("SELECT * FROM t", ", t", ""),
    "arguments": ("SELECT f(a", ", a", ") FROM t"),
    "strings": ("SELECT 'a'", "\n'a'", " FROM t"),
}


def make_nest(name: str, depth: int) -> str:
    before, opening, kernel, closing, after = NESTS[name]
    return before + opening * depth + kernel + closing * depth + after


def list_children(node: Node) -> Iterator[Node]:
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Node))


def measure_height(tree: Node) -> int:
    """Count the levels of nodes without recursion."""
    level, found = [tree], 0
    while level:
        found += 1
        level = [child for node in level for child in list_children(node)]
    return found


@pytest.mark.parametrize("name", NESTS)
def test_moderate_nesting_is_parsed(name: str) -> None:
    parse(make_nest(name, 20))


@pytest.mark.parametrize("name", NESTS)
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 10_000])
def test_deep_nesting_is_refused(name: str, depth: int) -> None:
    text = make_nest(name, depth)
    with pytest.raises(AdqlSyntaxError, match="nested too deeply") as caught:
        parse(text)
    assert 0 < caught.value.span.start < len(text)
    assert caught.value.describe(text)


@pytest.mark.parametrize("name", CHAINS)
def test_left_associative_chains_are_limited(name: str) -> None:
    before, link, after = CHAINS[name]
    parse(before + link * (MAX_HEIGHT - 1) + after)
    with pytest.raises(AdqlSyntaxError, match="operators in a chain"):
        parse(before + link * 10_000 + after)


@pytest.mark.parametrize("name", LISTS)
def test_lists_and_balanced_chains_are_unlimited(name: str) -> None:
    before, link, after = LISTS[name]
    assert measure_height(parse(before + link * 10_000 + after)) < 30


def test_chains_at_the_head_of_chains_add_up() -> None:
    """Parentheses may each have a chain as first operand: the limit is on the sum."""
    for head, link in (("SELECT ", " + 1"), ("SELECT * FROM ", " JOIN t USING (a)")):
        text = head + "(" * 20 + "t" + (link * 50 + ")") * 20 + (" FROM t" if "+" in link else "")
        with pytest.raises(AdqlSyntaxError, match="nested too deeply"):
            parse(text)


@pytest.mark.parametrize(
    ("before", "link", "after"),
    [
        ("WITH a AS (SELECT a FROM t)", ", a AS (SELECT a FROM t)", " SELECT a FROM a"),
        ("(SELECT a FROM t)", " UNION (SELECT a FROM t)", ""),
        ("SELECT * FROM t", " JOIN (SELECT a FROM t) AS q USING (a)", ""),
        ("SELECT * FROM t", " JOIN (t JOIN t) USING (a)", ""),
        ("SELECT a FROM t WHERE a", " AND EXISTS (SELECT a FROM t)", ""),
        ("SELECT 1", " + f(a)", " FROM t"),
    ],
)
def test_siblings_do_not_add_up(before: str, link: str, after: str) -> None:
    parse(before + link * (MAX_HEIGHT - 10) + after)


@pytest.mark.parametrize("name", NESTS)
def test_tree_height_is_bounded(name: str) -> None:
    depth = MAX_DEPTH
    while depth:
        try:
            tree = parse(make_nest(name, depth))
        except AdqlSyntaxError:
            depth -= 1
        else:
            break
    assert measure_height(tree) <= 3 * MAX_HEIGHT


def test_exhausted_stack_gives_the_same_error() -> None:
    """A parser called with little stack left raises the error for deep nesting."""
    outcomes = set()

    def dive(levels: int) -> None:
        if levels:
            dive(levels - 1)
            return
        try:
            parse(make_nest("functions", 90))
            outcomes.add("read")
        except AdqlSyntaxError as error:
            outcomes.add(error.message.split(":")[0])

    for levels in (0, 600, 700):
        dive(levels)
    assert outcomes == {"read", "the query is nested too deeply"}
