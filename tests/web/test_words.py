"""The portal and the service reserve the same words."""

from __future__ import annotations

import re
from pathlib import Path

from clickhouse_schema.words import RESERVED

_WORDS = Path(__file__).parents[2] / "web" / "src" / "editor" / "words.ts"


def test_the_editor_reserves_what_adql_does() -> None:
    lists = re.findall(r"const (?:ADQL|SQL)_WORDS = `([^`]+)`", _WORDS.read_text())
    assert len(lists) == 2
    assert {word for words in lists for word in words.split()} == RESERVED
