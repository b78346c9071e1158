"""Syntax trees: precedence, and the nodes of each production."""

from __future__ import annotations

import pytest

from adql.errors import AdqlSyntaxError
from adql.syntax import nodes as n
from adql.syntax.parser import parse


def parse_select(text: str) -> n.Select:
    query = parse(text).query
    assert isinstance(query, n.Select)
    return query


def parse_value(text: str) -> n.Expression:
    return parse_select(f"SELECT {text} FROM t").items[0].expression


def parse_condition(text: str) -> n.Expression:
    where = parse_select(f"SELECT a FROM t WHERE {text}").where
    assert where is not None
    return where


def parse_table(text: str) -> n.TableReference:
    return parse_select(f"SELECT * FROM {text}").from_[0]


def format_tree(node: object) -> str:
    """Format an expression or table with all brackets."""
    match node:
        case n.ColumnRef(_, parts):
            return ".".join(part.name for part in parts)
        case n.NumberLiteral(_, _, text):
            return text
        case n.StringLiteral(_, text):
            return f"'{text}'"
        case n.Unary(_, op, operand):
            return f"({op} {format_tree(operand)})"
        case n.Binary(_, op, left, right):
            return f"({format_tree(left)} {op} {format_tree(right)})"
        case n.Element(_, array, index):
            return f"{format_tree(array)}[{format_tree(index)}]"
        case n.FunctionCall(_, name, args):
            return f"{name.name}({', '.join(map(format_tree, args))})"
        case n.Between(_, operand, low, high, negated):
            return f"({format_tree(operand)}{' NOT' * negated} BETWEEN {format_tree(low)} AND {format_tree(high)})"
        case n.InList(_, operand, items, negated):
            return f"({format_tree(operand)}{' NOT' * negated} IN {', '.join(map(format_tree, items))})"
        case n.IsNull(_, operand, negated):
            return f"({format_tree(operand)} IS{' NOT' * negated} NULL)"
        case n.Like(_, operand, pattern, negated, ignore_case):
            return f"({format_tree(operand)}{' NOT' * negated} {'I' * ignore_case}LIKE {format_tree(pattern)})"
        case n.TableName(_, parts):
            return ".".join(part.name for part in parts)
        case n.DerivedTable(_, _, alias):
            return f"<{alias.name}>"
        case n.Join(_, kind, _, left, right, _, _):
            return f"({format_tree(left)} {kind} {format_tree(right)})"
        case n.Select():
            return format_tree(node.from_[0])
        case n.SetOperation(_, _, _, op, keep, left, right):
            return f"({format_tree(left)} {op}{' ALL' * keep} {format_tree(right)})"
    raise AssertionError(node)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c + d", "(((a - b) - c) + d)"),
        ("a / b * c", "((a / b) * c)"),
        ("-a * b", "((- a) * b)"),
        ("- - a", "(- (- a))"),
        ("-v[1]", "(- v[1])"),
        ("(a + b) * c", "((a + b) * c)"),
        ("a || b + c || d", "((a || (b + c)) || d)"),
        ("a | b ^ c & d", "(a | (b ^ (c & d)))"),
        ("~a & b + 1", "((~ a) & (b + 1))"),
        ("a || b || c || d || e", "(((a || b) || c) || (d || e))"),
        ("f(a)[b + 1][2]", "f(a)[(b + 1)][2]"),
    ],
)
def test_precedence_of_values(text: str, tree: str) -> None:
    assert format_tree(parse_value(text)) == tree


@pytest.mark.parametrize(
    ("text", "string"),
    [
        ("'a' 'b'", "ab"),
        ("'a'\t'b'\r\n'c'", "abc"),
        ("'a'--c'\n'b'", "ab"),
        ("'a''b' '''' 'c'", "a'b'c"),
        ("'' ''", ""),
        ("'x' '' ' y'", "x y"),
    ],
)
def test_adjacent_strings_are_one(text: str, string: str) -> None:
    literal = parse_value(text)
    assert isinstance(literal, n.StringLiteral)
    assert literal.value == string
    assert literal.span == (7, 7 + len(text))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = 1 OR b = 2 AND c = 3", "((a = 1) OR ((b = 2) AND (c = 3)))"),
        ("NOT a = 1 AND b = 2", "((NOT (a = 1)) AND (b = 2))"),
        ("NOT (a = 1 AND b = 2)", "(NOT ((a = 1) AND (b = 2)))"),
        ("a BETWEEN b - 1 AND b + 1 AND c != 2", "((a BETWEEN (b - 1) AND (b + 1)) AND (c <> 2))"),
        ("a + 1 NOT IN (1, b * 2)", "((a + 1) NOT IN 1, (b * 2))"),
        ("a NOT LIKE 'x' || b OR c ILIKE 'y'", "((a NOT LIKE ('x' || b)) OR (c ILIKE 'y'))"),
        ("a & 4 = 4", "((a & 4) = 4)"),
        ("(a) IS NOT NULL AND b IS NULL", "((a IS NOT NULL) AND (b IS NULL))"),
        ("a AND b AND c AND d AND e", "(((a AND b) AND c) AND (d AND e))"),
        ("((a + 1) > b)", "((a + 1) > b)"),
    ],
)
def test_precedence_of_conditions(text: str, tree: str) -> None:
    assert format_tree(parse_condition(text)) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a JOIN b USING (x) LEFT JOIN c ON a.x = c.x", "((a INNER b) LEFT c)"),
        ("a RIGHT OUTER JOIN (b FULL JOIN c USING (x)) USING (x)", "(a RIGHT (b FULL c))"),
        ("((a JOIN b) JOIN c)", "((a INNER b) INNER c)"),
        ("(a JOIN b) AS q", "<q>"),
        ("((SELECT x FROM a) AS q JOIN b USING (x)) JOIN c", "((<q> INNER b) INNER c)"),
        ("((a JOIN b) q JOIN c)", "(<q> INNER c)"),
        ("(((SELECT x FROM a) UNION (SELECT x FROM b))) q", "<q>"),
    ],
)
def test_joins(text: str, tree: str) -> None:
    assert format_tree(parse_table(text)) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("{a} UNION {b} EXCEPT ALL {c}", "((a UNION b) EXCEPT ALL c)"),
        ("{a} UNION {b} INTERSECT {c}", "(a UNION (b INTERSECT c))"),
        ("{a} INTERSECT {b} UNION {c}", "((a INTERSECT b) UNION c)"),
        ("{a} EXCEPT ({b} UNION {c})", "(a EXCEPT (b UNION c))"),
    ],
)
def test_set_operations(text: str, tree: str) -> None:
    assert format_tree(parse(text.format(a="SELECT x FROM a", b="SELECT x FROM b", c="SELECT x FROM c")).query) == tree


def test_select() -> None:
    query = parse_select(
        'SELECT DISTINCT TOP 5 a AS "A b", t.*, * FROM s.t AS x GROUP BY a HAVING COUNT(*) > 1 ORDER BY 1 DESC OFFSET 7'
    )
    assert (query.distinct, query.top, query.offset) == (True, 5, 7)
    alias = query.items[0].alias
    assert alias is not None
    assert (alias.name, alias.delimited) == ("A b", True)
    assert isinstance(query.items[1].expression, n.Star)
    assert [part.name for part in query.items[1].expression.qualifier] == ["t"]
    assert query.having is not None
    assert query.order_by[0].descending


def test_order_by_belongs_to_the_union() -> None:
    query = parse("SELECT a FROM t UNION SELECT a FROM u ORDER BY a OFFSET 2").query
    assert isinstance(query, n.SetOperation)
    assert (len(query.order_by), query.offset) == (1, 2)
    assert query.right.order_by == ()


def test_order_around_a_query_with_its_own_limit() -> None:
    """TOP applies first, so the inner query becomes a table."""
    query = parse_select("(SELECT TOP 5 a FROM t ORDER BY b) ORDER BY a")
    assert (query.top, len(query.order_by)) == (None, 1)
    inner = query.from_[0]
    assert isinstance(inner, n.DerivedTable)
    assert isinstance(inner.query, n.Select)
    assert inner.query.top == 5


def test_in_with_brackets() -> None:
    assert isinstance(parse_condition("a IN ((SELECT a FROM t))"), n.InQuery)
    assert isinstance(parse_condition("a IN ((SELECT a FROM t) EXCEPT SELECT a FROM u)"), n.InQuery)
    assert isinstance(parse_condition("a IN ((SELECT MAX(a) FROM t) + 1)"), n.InList)
    assert isinstance(parse_condition("a IN ((SELECT MAX(a) FROM t), 1)"), n.InList)


def test_scalar_subquery_at_the_head_of_an_expression() -> None:
    assert isinstance(parse_value("((SELECT a FROM t))"), n.ScalarSubquery)
    sum_ = parse_value("((SELECT a FROM t) + 1)")
    assert isinstance(sum_, n.Binary)
    assert isinstance(sum_.left, n.ScalarSubquery)


def test_functions() -> None:
    count = parse_value("COUNT(*)")
    assert isinstance(count, n.FunctionCall)
    assert (count.star, count.args) == (True, ())
    distinct = parse_value("count(DISTINCT a)")
    assert isinstance(distinct, n.FunctionCall)
    assert (distinct.name.name, distinct.distinct, len(distinct.args)) == ("count", True, 1)


def test_window() -> None:
    call = parse_value("SUM(a) OVER (PARTITION BY b ORDER BY c DESC ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING)")
    assert isinstance(call, n.FunctionCall)
    assert call.over is not None
    assert (len(call.over.partition_by), call.over.order_by[0].descending) == (1, True)
    assert call.over.frame is not None
    assert (call.over.frame.unit, call.over.frame.start, call.over.frame.end) == (
        "ROWS",
        ("PRECEDING", 2),
        ("UNBOUNDED FOLLOWING", None),
    )


def test_casts_and_cases() -> None:
    cast = parse_value("CAST(a AS double precision)")
    assert isinstance(cast, n.Cast)
    assert (cast.target, cast.length) == ("DOUBLE PRECISION", None)
    text = parse_value("CAST(a AS varchar(12))")
    assert isinstance(text, n.Cast)
    assert (text.target, text.length) == ("VARCHAR", 12)
    case = parse_value("CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' END")
    assert isinstance(case, n.Case)
    assert (case.operand is not None, len(case.whens), case.otherwise) == (True, 2, None)


def test_strings() -> None:
    text = parse_value("'it''s' -- a piece\n ' one'")
    assert isinstance(text, n.StringLiteral)
    assert text.value == "it's one"
    backslash = parse_value(r"'a\'")
    assert isinstance(backslash, n.StringLiteral)
    assert backslash.value == "a\\"


def test_sample_and_common_tables() -> None:
    sampled = parse_table("s.t AS x TABLESAMPLE (2.5)")
    assert isinstance(sampled, n.TableName)
    assert sampled.sample is not None
    assert (sampled.sample.percent, sampled.sample.seed) == (2.5, 0)
    again = parse_table("t TABLESAMPLE BERNOULLI (1) REPEATABLE (7)")
    assert isinstance(again, n.TableName)
    assert again.sample is not None
    assert (again.alias, again.sample.percent, again.sample.seed) == (None, 1.0, 7)
    statement = parse('WITH x AS (SELECT a FROM t), "Y" AS (SELECT a FROM x) SELECT a FROM "Y"')
    names = [common.name for common in statement.common_tables]
    assert [(name.name, name.delimited) for name in names] == [("x", False), ("Y", True)]


def test_unknown_functions_are_refused() -> None:
    query = "SELECT Known(1), ABS(2) FROM t"
    parse(query, {"known"})
    with pytest.raises(AdqlSyntaxError, match="no function Known"):
        parse(query, set())
