"""Every declared extension of ADQL works, is documented, and reserves no name."""

from __future__ import annotations

import re

import pytest

from adql.syntax.extensions import EXTENSIONS
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.reserved_words import RESERVED
from clickhouse_schema.schema_model import Column, Schema, Table
from tests.support.adql_rows import Ask, Rows
from tests.support.environment import ROOT

_TEXT = (ROOT / "docs" / "adql.md").read_text(encoding="utf-8")
_EXTENSIONS = _TEXT.split("## Extensions")[1].split("\n## ")[0]

#: The form of each extension -> a query and its answer
EXAMPLES: dict[str, tuple[str, Rows]] = {
    "CROSS JOIN": ("SELECT COUNT(*) FROM small.stars CROSS JOIN small.spectra", [(81,)]),
    "CASE": ("SELECT CASE WHEN id = 1 THEN 'x' ELSE 'y' END, CASE id WHEN 2 THEN 5 END FROM small.stars WHERE id = 1", [("x", None)]),
    "OVER": ("SELECT id, SUM(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM small.stars WHERE id < 3", [(1, 1), (2, 3)]),
    "TABLESAMPLE": ("SELECT COUNT(*) FROM small.stars TABLESAMPLE (100) REPEATABLE (4)", [(9,)]),
    "TRUE": ("SELECT id FROM small.stars WHERE variable AND TRUE", [(1,), (4,), (7,)]),
    "0x1F": ("SELECT 0x1F, 0XfF FROM small.stars WHERE id = 1", [(31, 255)]),
    "~ & | ^": ("SELECT ~1, 6 & 3, 6 | 3, 6 ^ 3 FROM small.stars WHERE id = 1", [(-2, 2, 7, 5)]),
    "v[i]": ("SELECT POINT(id, 2)[1] FROM small.stars WHERE id = 1", [(1.0,)]),
    "(SELECT ...)": ("SELECT (SELECT MAX(id) FROM small.stars) + 1 FROM small.stars WHERE id = 1", [(10,)]),
    "GROUP BY name": ("SELECT id / 5 AS half, COUNT(*) FROM small.stars GROUP BY half", [(0, 4), (1, 5)]),
}  # fmt: skip

#: The unreserved words of the extensions, and some of their functions
WORDS = (
    "over", "partition", "range", "row", "unbounded", "preceding", "following", "tablesample", "bernoulli",
    "repeatable", "row_number", "rank", "lag", "lead", "ntile", "first_value", "limit", "window", "extension",
)  # fmt: skip


def test_every_extension_has_an_example() -> None:
    """The examples of arithmetic on arrays are in test_kinds."""
    assert [*EXAMPLES, "v + w"] == [extension.form for extension in EXTENSIONS]


@pytest.mark.parametrize("form", EXAMPLES)
def test_example(form: str, ask: Ask) -> None:
    query, rows = EXAMPLES[form]
    assert sorted(ask(query), key=repr) == sorted(rows, key=repr)


@pytest.mark.parametrize("form", [extension.form for extension in EXTENSIONS])
def test_extension_is_documented(form: str) -> None:
    assert re.search(rf"`[^`]*{re.escape(form)}[^`]*`", _EXTENSIONS)


@pytest.fixture(scope="module")
def words() -> Catalogue:
    """A table and columns with these words as names."""
    columns = tuple(Column(name=word, datatype="int") for word in WORDS)
    tables = [Table(name=word, columns=columns) for word in ("tablesample", "over", "partition")]
    return Catalogue((Schema(name="words", tables=tuple(tables)),))


@pytest.mark.parametrize("word", WORDS)
def test_unreserved_words_remain_names(word: str, words: Catalogue) -> None:
    assert word.upper() not in RESERVED
    query = (
        f"SELECT {word}, t.{word} AS {word}, COUNT(*) OVER (PARTITION BY {word} ORDER BY {word}) AS {word}"
        f" FROM words.over AS t WHERE {word} > 0 ORDER BY t.{word}"
    )
    assert [field.name for field in translate(query, words).fields] == [word] * 3
    for table in ("tablesample", "over", "partition"):
        query = f"SELECT {word}.{word} FROM {table} AS {word} TABLESAMPLE (5) JOIN {table} {table}s ON {word}.over = 1"
        assert translate(query, words).fields[0].name == word
        assert translate(f"SELECT {word} {word} FROM words.{table} {word}", words).fields[0].name == word


def test_quoted_reserved_words_are_names(ask: Ask) -> None:
    assert ask('SELECT "case"."true" FROM (SELECT id AS "true" FROM small.stars WHERE id = 1) AS "case"') == [(1,)]
