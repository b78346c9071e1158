"""Errors about values use the terms of ADQL."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("CAST(n + 9e17 AS BIGINT) * 100", "an integer result does not fit BIGINT"),
        ("CAST(n + 100000 AS SMALLINT)", "a value does not fit SMALLINT"),
        ("CAST(SQRT(-1 - n) AS INTEGER)", "CAST of NaN or infinity to an integer"),
        ("CAST(word AS INTEGER)", "is no INTEGER: leave such rows out"),
        ("CAST(LOWER('') AS SMALLINT)", "a text is no SMALLINT, or beyond its range"),
        ("CAST('70000' AS SMALLINT)", "a text is no SMALLINT, or beyond its range"),
        ("CAST(word AS DOUBLE PRECISION)", "a text is no number"),
        ("CAST(word AS TIMESTAMP)", "a text is no timestamp"),
        ("(SELECT n FROM svc.numbers WHERE n < 2)", "gave several rows"),
        ("gavo_match('a(b', word)", "'a(b' is no regular expression: missing ); write it in the syntax of RE2"),
        (
            "ivo_epoch_prop_pos(half, n, 1, 1, 1, 1, CASE WHEN n > 0 THEN 2000 END, 2016)",
            "ivo_epoch_prop_pos takes no NULL as ra, dec",
        ),
    ],
)
def test_the_message_is_in_words_of_adql(service: Any, expression: str, said: str) -> None:
    response = service.ask(f"SELECT {expression} FROM svc.numbers WHERE n < 3")
    assert response.status_code == 400
    assert "the query fails on a value: " in response.text
    assert said in response.text
    assert "Int" not in response.text.split("fails on a value")[1]
