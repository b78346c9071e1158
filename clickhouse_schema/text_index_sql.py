"""The expressions of a text index. ClickHouse uses the index for a condition if it contains exactly one of them.

ClickHouse would use an index of the bare column for every LIKE, NOT LIKE and CASE, and 26.9 fails for these: rows with
NULL in a part that has no index yet end the query. Therefore the indexes are of expressions, which the translator
writes only where a row that is not found may also be unknown (``docs/decisions/text-index.md``).
"""

from __future__ import annotations

#: Runs of letters and digits of any script, in lower case
_WORDS = "extractAll(lowerUTF8({}), '[\\\\p{{L}}\\\\p{{N}}]+')"

#: With this codec both take 5 bytes per row for texts of five words instead of 8, and are equally fast
_PACKED = "posting_list_codec = 'bitpacking'"


def words_sql(text: str) -> str:
    """Return the SQL of the words of a text.

    Parameters
    ----------
    text : str
        SQL of a String.

    Returns
    -------
    str
        SQL of the runs of letters and digits of any script in lower case, Array(String), in their order; [] for NULL.
    """
    return _WORDS.format(text)


def indexed_text_sql(column: str) -> str:
    """Return the expression whose index has the pieces of a text, for LIKE.

    Parameters
    ----------
    column : str
        Quoted name of the column.

    Returns
    -------
    str
        SQL of the text, '' for NULL. ClickHouse uses the index only for conditions with exactly this expression.
    """
    return f"ifNull({column}, '')"


def indexed_words_sql(column: str) -> str:
    """Return the expression whose index has the words of a text.

    Parameters
    ----------
    column : str
        Quoted name of the column.

    Returns
    -------
    str
        SQL of the words (``words_sql``). ClickHouse uses the index only for conditions with exactly this expression.
    """
    return words_sql(indexed_text_sql(column))


def text_index_sql(column: str) -> tuple[str, str]:
    """Return the definitions of the two indexes of a text column: by pieces for LIKE, by words for whole words.

    Pieces are runs of ASCII letters, ASCII digits and characters that are not ASCII.
    """
    return (
        f"{indexed_text_sql(column)} TYPE text(tokenizer = splitByNonAlpha, {_PACKED})",
        f"{indexed_words_sql(column)} TYPE text(tokenizer = array, {_PACKED})",
    )
