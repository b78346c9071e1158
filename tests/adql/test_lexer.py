from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adql.errors import AdqlSyntaxError, Span
from adql.limits import MAX_CHARACTERS, MAX_TOKENS
from adql.syntax.lexer import Tokens, token_to_number, tokenise
from adql.syntax.token_kinds import COMMENT, END, NAME, NUMBER, STRING, WORD


def read_kinds(text: str) -> list[str]:
    return tokenise(text).kinds[:-1]


def test_kinds() -> None:
    assert read_kinds("""select Abc "Ab""c" 'it''s' 1.5e-3 <> !=||[""") == [
        *("SELECT", WORD, NAME, STRING, NUMBER, "<>", "!=", "||", "[")
    ]


def test_reserved_words_in_any_case_and_contextual_ones() -> None:
    assert read_kinds("From fROM FROM over TableSample LIMIT") == ["FROM", "FROM", "FROM", WORD, WORD, WORD]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a.b", ["a", ".", "b"]),
        ("a.5", ["a", ".5"]),
        ("1.*2", ["1.", "*", "2"]),
        ("1.5.2", ["1.5.2"]),
        ("1e+5+1", ["1e+5", "+", "1"]),
        ("0x1e+5", ["0x1e", "+", "5"]),
        ("10abc", ["10abc"]),
        ("a<=b", ["a", "<=", "b"]),
        ("a<-1", ["a", "<", "-", "1"]),
        ("'a'as", ["'a'", "as"]),
        ("a--b\n-c", ["a", "-", "c"]),
        ("a- -b", ["a", "-", "-", "b"]),
        ("'--'", ["'--'"]),
        ("--'\n'x'", ["'x'"]),
        ("''''", ["''''"]),
        ("'a\\'", ["'a\\'"]),
    ],
)
def test_token_borders(text: str, tokens: list[str]) -> None:
    assert tokenise(text).texts[:-1] == tokens


def test_offsets_and_end() -> None:
    tokens = tokenise("-- c\n a  'ö' -- end\n")
    assert list(zip(tokens.starts, tokens.ends, strict=True)) == [(6, 7), (9, 12), (12, 12)]
    assert tokens.kinds[-1] == END


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e5", 1e5),
        ("1.E-2", 0.01),
        ("0xFf", 255),
        ("0X10", 16),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("007", 7),
    ],
)
def test_numbers(text: str, value: float) -> None:
    read = token_to_number(text, Span(0, len(text)))
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("text", ["1e", "0x", "0xG", "1_0", "1e5e5", "1..2", "10abc", "1e999", "9" * 401, "0xF" * 200])
def test_malformed_numbers(text: str) -> None:
    with pytest.raises(AdqlSyntaxError):
        token_to_number(text, Span(0, len(text)))


@pytest.mark.parametrize("character", ["\0", "\x07", "\x1b", "\x7f", chr(0xD800), chr(0xDFFF)])
@pytest.mark.parametrize("template", ["a {} b", "'{}'", '"{}"', "-- {}"])
def test_control_characters_and_surrogates_are_refused(character: str, template: str) -> None:
    text = template.format(character)
    with pytest.raises(AdqlSyntaxError, match=f"U.{ord(character):04X}") as caught:
        tokenise(text)
    assert caught.value.span == Span(text.index(character), text.index(character) + 1)
    assert character not in caught.value.describe(text)


def test_length_is_limited() -> None:
    tokenise("a" * MAX_CHARACTERS)
    with pytest.raises(AdqlSyntaxError, match=f"at most {MAX_CHARACTERS}"):
        tokenise("a" * (MAX_CHARACTERS + 1))


def test_number_of_tokens_is_limited() -> None:
    assert len(read_kinds("a," * (MAX_TOKENS // 2))) == MAX_TOKENS
    with pytest.raises(AdqlSyntaxError, match=f"more than {MAX_TOKENS}"):
        tokenise("a," * (MAX_TOKENS // 2) + "a")


def test_first_unreadable_character_is_reported() -> None:
    with pytest.raises(AdqlSyntaxError, match="`") as caught:
        tokenise("SELECT a, `b` FROM t WHERE 'x")
    assert caught.value.span == Span(10, 11)


@given(st.text())
def test_any_text_is_tokenised_or_refused_with_a_position(text: str) -> None:
    found: Tokens | AdqlSyntaxError
    try:
        found = tokenise(text)
    except AdqlSyntaxError as error:
        found = error
    if isinstance(found, AdqlSyntaxError):
        assert 0 <= found.span.start <= found.span.end <= len(text)
        assert found.describe(text).startswith("line ")
    else:
        assert COMMENT not in found.kinds
        tokens = zip(found.texts, found.starts, found.ends, strict=True)
        assert all(text[start:end] == token for token, start, end in tokens)
