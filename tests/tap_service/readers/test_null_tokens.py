"""Tokens of missing values in texts and numbers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tap_service.readers.null_tokens import replace_tokens


@pytest.mark.parametrize(
    ("values", "tokens", "expected"),
    [
        (pa.array(["-999", " -999 ", "-999.0", "x"]), ["-999"], [None, None, "-999.0", "x"]),
        (pa.array([b"N/A", b"\xff", b""]), ["N/A"], [None, b"\xff", b""]),
        (pa.array([-999, 1, None], pa.int16()), ["-999.0"], [None, 1, None]),
        (pa.array([2**63 - 1, 2**63 - 2], pa.int64()), [str(2**63 - 1)], [None, 2**63 - 2]),
        (pa.array([255, 1], pa.uint8()), ["-999", "x"], [255, 1]),
        (pa.array([-99.9, 1.5], pa.float32()), ["-99.9"], [None, 1.5]),
        (pa.array([-999.0, 1.5]), ["-999", "none"], [None, 1.5]),
        (pa.array([float("nan"), 1.5]), ["nan"], [None, 1.5]),
        (pa.array([True, False]), ["True"], [True, False]),
        (pa.array(["a"]), [], ["a"]),
    ],
)
def test_a_token_marks_its_value_in_every_spelling_of_a_number(
    values: pa.Array, tokens: list[str], expected: list[Any]
) -> None:
    replaced = replace_tokens(values, tokens)
    assert replaced.to_pylist() == expected
    assert replaced.type == values.type
