"""The expressions that a text index sorts. A condition is answered by the index if it has exactly one of them.

An index of the bare column would be read for every LIKE, NOT LIKE and CASE, and there 26.9 fails: rows with NULL in a
part that has no index yet end the query. So the indexes are of expressions, which the translator writes only where a
row that is not found may as well be unknown (``docs/decisions/text-index.md``).
"""

from __future__ import annotations

#: Runs of letters and digits of any script, in lower case.
_WORDS = "extractAll(lowerUTF8({}), '[\\\\p{{L}}\\\\p{{N}}]+')"

#: Both are 5 bytes a row for texts of five words, instead of 8, and as fast.
_PACKED = "posting_list_codec = 'bitpacking'"


def words_sql(text: str) -> str:
    """Return the words of a text, [] for NULL."""
    return _WORDS.format(text)


def indexed_text_sql(column: str) -> str:
    """Return the text of a column, whose pieces between separators an index has; '' for NULL."""
    return f"ifNull({column}, '')"


def indexed_words_sql(column: str) -> str:
    """Return the words of a column, which an index has."""
    return words_sql(indexed_text_sql(column))


def text_index_sql(column: str) -> tuple[str, str]:
    """Return the definitions of the two indexes of a text column: by pieces for LIKE, by words for whole words.

    Pieces are runs of ASCII letters and digits and of all other characters that are not ASCII.
    """
    return (
        f"{indexed_text_sql(column)} TYPE text(tokenizer = splitByNonAlpha, {_PACKED})",
        f"{indexed_words_sql(column)} TYPE text(tokenizer = array, {_PACKED})",
    )
