"""The parser compared with a second grammar: both must agree on the validity of queries.

Queries are random derivations from the grammar, and valid queries with tokens removed, repeated or swapped. The grammar
omits the arguments of the geometry constructors, the limit on depth, comparisons with a bare NULL, and OVER without a
window.
"""

from __future__ import annotations

import random
import re
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from lark import Lark, LarkError, Token
from lark.grammar import NonTerminal, Symbol

from adql.errors import AdqlSyntaxError
from adql.syntax.lexer import tokenise
from adql.syntax.parser import parse
from clickhouse_schema.reserved_words import RESERVED

HERE = Path(__file__).parent
TEXT = (HERE / "grammar.lark").read_text(encoding="utf-8")
CONTEXTUAL = frozenset(
    {"OVER", "PARTITION", "RANGE", "UNBOUNDED", "PRECEDING", "FOLLOWING", "ROW"}
    | {"TABLESAMPLE", "BERNOULLI", "REPEATABLE"}
)
ONE_ARGUMENT = frozenset(
    {"ABS", "CEILING", "DEGREES", "EXP", "FLOOR", "LOG", "LOG10", "RADIANS", "SQRT", "ACOS", "ASIN", "ATAN", "COS"}
    | {"COT", "SIN", "TAN", "LOWER", "UPPER", "AREA", "CENTROID", "COORD1", "COORD2", "COORDSYS", "REGION"}
)
WORDS = frozenset(re.findall(r"\b[A-Z][A-Z0-9_]+\b", re.sub(r"(?m)//.*|^[A-Z].*|^%.*", "", TEXT)))
#: Errors about rules that the grammar omits
OMITTED = (
    "these arguments do not fit",
    "the query is nested too deeply",
    "a comparison with NULL",
    "expected the window of",
)
LEXED = frozenset({"WORD", "DELIMITED", "STRING", "DECIMAL", "INTEGER"})


def classify_token(token: Token) -> Token:
    """Turn a word into the terminal of its name if the grammar has one, else into RESERVED."""
    word = token.upper()
    if word in ONE_ARGUMENT:
        return token.update(type="ONE_ARGUMENT")
    if word == "INTEGER":
        return token.update(type="INTEGER_TYPE")
    if word in RESERVED or word in CONTEXTUAL:
        return token.update(type=word if word in WORDS else "RESERVED")
    return token


@lru_cache
def load_grammar() -> Lark:
    declared = " ".join(sorted(WORDS - LEXED | {"RESERVED"}))
    return Lark(
        f"{TEXT}\n%declare {declared}\n", parser="earley", lexer="basic", lexer_callbacks={"WORD": classify_token}
    )


def grammar_accepts(text: str) -> bool:
    try:
        load_grammar().parse(text)
    except LarkError:
        return False
    return True


def parser_accepts(text: str) -> bool:
    try:
        parse(text)
    except AdqlSyntaxError as error:
        assume(not error.message.startswith(OMITTED))
        return False
    return True


# --- queries derived from the grammar -------------------------------------------------------------------------------------

EXAMPLES = {
    "WORD": ["a", "t", "ra", "Dec", "source_id", "limit"],
    "DELIMITED": ['"a"', '"select"', '"x ""y"" z"', '"ö"'],
    "STRING": ["''", "'x'", "'it''s'", "'--'"],
    "DECIMAL": ["1.", ".5", "2.5", "1e1", "1.5E+1", "0x1F"],
    "INTEGER": ["1", "7", "42"],
    "ONE_ARGUMENT": sorted(ONE_ARGUMENT),
    "INTEGER_TYPE": ["INTEGER"],
}
MAX_DEPTH = 80
MAX_TOKENS = 80


@lru_cache
def list_expansions() -> dict[str, list[list[Symbol]]]:
    found: dict[str, list[list[Symbol]]] = {}
    for rule in load_grammar().rules:
        found.setdefault(str(rule.origin.name), []).append(list(rule.expansion))
    return found


@lru_cache
def compute_costs() -> dict[str, int]:
    """Return the minimal height of derivations from each symbol."""
    least: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for origin, choices in list_expansions().items():
            reachable = [cost for choice in choices if (cost := compute_cost(choice, least)) is not None]
            if reachable and min(reachable) + 1 < least.get(origin, 10**6):
                least[origin] = min(reachable) + 1
                changed = True
    return least


def compute_cost(choice: list[Symbol], least: dict[str, int]) -> int | None:
    heights = [least.get(str(symbol.name)) if isinstance(symbol, NonTerminal) else 0 for symbol in choice]
    known = [height for height in heights if height is not None]
    return max(known, default=0) if len(known) == len(heights) else None


@lru_cache
def name_symbols() -> dict[str, str]:
    return {terminal.name: terminal.pattern.value for terminal in load_grammar().terminals if terminal.pattern}


def derive_tokens(symbol: Symbol, dice: random.Random, depth: int, tokens: list[str]) -> None:
    """Append the tokens of a random derivation, which beyond a length or depth takes the lowest expansion."""
    name = str(symbol.name)
    if not isinstance(symbol, NonTerminal):
        tokens.append(dice.choice(EXAMPLES[name]) if name in EXAMPLES else name_symbols().get(name, name))
        return
    choices = list_expansions()[name]
    if depth > MAX_DEPTH or len(tokens) > dice.randrange(MAX_TOKENS):
        lowest = min(cost for choice in choices if (cost := compute_cost(choice, compute_costs())) is not None)
        choices = [choice for choice in choices if compute_cost(choice, compute_costs()) == lowest]
    for part in dice.choice(choices):
        derive_tokens(part, dice, depth + 1, tokens)


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
@given(st.integers(0, 2**32))
def test_derived_queries_are_parsed(seed: int) -> None:
    tokens: list[str] = []
    derive_tokens(NonTerminal("start"), random.Random(seed), 0, tokens)
    text = " ".join(tokens)
    assert parser_accepts(text), text


# --- damaged queries --------------------------------------------------------------------------------------------------

PARAGRAPHS = (HERE / "queries/valid.adql").read_text(encoding="utf-8").split("\n\n")
VALID = [" ".join(tokens) for text in PARAGRAPHS if (tokens := tokenise(text).texts[:-1])]
SHORT = [text for text in VALID if len(text) < 250]
TOKENS = sorted({token for text in VALID for token in tokenise(text).texts[:-1]})


@pytest.mark.parametrize("text", VALID)
def test_both_accept_the_valid_queries(text: str) -> None:
    assert grammar_accepts(text)


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
@given(st.sampled_from(SHORT), st.data())
def test_both_agree_on_damaged_queries(text: str, data: st.DataObject) -> None:
    tokens = list(tokenise(text).texts[:-1])
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(tokens)))
        cut = data.draw(st.integers(0, 2))
        tokens[at : at + cut] = data.draw(st.lists(st.sampled_from(TOKENS), max_size=2))
    damaged = " ".join(tokens)
    assert parser_accepts(damaged) == grammar_accepts(damaged), damaged
